# SPDX-License-Identifier: BSD-3-Clause
"""A fitted model learns the texts of a Spark DataFrame."""

import pickle

import pandas as pd
from pyspark import TaskContext

from streamtopics.distributed import apply_update, compute_update


def learn_frame(model, frame):
    """Apply the update of each partition to the model, in the order of the partitions."""
    sent = frame.sparkSession.sparkContext.broadcast(pickle.dumps(model))

    def learn(parts):
        texts = [text for part in parts for text in part["text"]]
        if texts:
            number = TaskContext.get().partitionId()
            update = compute_update(pickle.loads(sent.value), texts, n_ahead=number * 1_000_000)
            yield pd.DataFrame({"number": [number], "update": [pickle.dumps(update)]})

    for row in sorted(frame.mapInPandas(learn, "number int, update binary").collect()):
        apply_update(model, pickle.loads(row["update"]))
    sent.destroy()


# model = make_pipeline(words.fit(first), GibbsOnlineEM(100).partial_fit(words.transform(first)))
# for wave in waves:
#     learn_frame(model, spark.read.text(wave).withColumnRenamed("value", "text"))
