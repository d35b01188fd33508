# SPDX-License-Identifier: BSD-3-Clause
"""One pass over corpora by the online LDA of Spark MLlib, and by one process of ours.

    pip install pyspark; STREAMTOPICS_DATA=... python -m benchmarks.cluster_spark
        [newsgroups_train imdb_unlabelled commit_subjects] [--components 100] [--threads 2]
        [--results FILE]

Spark has `local[threads]`, ours one thread. Both are given the same counts: Spark as a data frame
that is in its memory before the clock starts, in as many partitions as it has threads. It learns
by its defaults (20 steps with a twentieth of the documents each: about one pass), and with the
steps that suit it better (`learningOffset` 10, `learningDecay` .7); ours in minibatches of 100.
Seconds are by the clock. The score is the log predictive probability by document completion with
each model's own inference of the proportions, nats per token. Needs Java 17.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before numpy: one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from pyspark.ml.clustering import LDA
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType
from scipy import sparse

from benchmarks import corpora
from benchmarks.results import append, read
from streamtopics import StreamingLDA
from streamtopics.metrics.predictive import completion_split, per_token, token_log_probability
from tests.plain import GibbsOnlineEM, VariationalOnlineEM

FIELDS = ("corpus", "method", "components", "documents", "words", "tokens", "seconds", "score")
OURS = {
    "StreamingLDA": StreamingLDA,
    "GibbsOnlineEM": GibbsOnlineEM,
    "VariationalOnlineEM": VariationalOnlineEM,
}
SPARK = {
    "Spark, its defaults": {},
    "Spark, offset 10, decay .7": {"learningOffset": 10.0, "learningDecay": 0.7},
}
LEAST = 1e-12
# Of documents and their proportions, and of the topics.
Found = tuple[Callable[[sparse.csr_matrix], np.ndarray], np.ndarray]


def frame(spark: SparkSession, X: sparse.csr_matrix, threads: int) -> DataFrame:
    """Counts as a data frame in memory."""
    rows = [
        (i, Vectors.sparse(X.shape[1], row.indices.tolist(), row.data.astype(float).tolist()))
        for i, row in enumerate(X.sorted_indices())
    ]
    schema = StructType([StructField("id", IntegerType()), StructField("features", VectorUDT())])
    found = spark.createDataFrame(rows, schema).repartition(threads).cache()
    found.count()
    return found


def by_spark(table: DataFrame, spark: SparkSession, options: Any, settings: dict[str, Any]) -> Any:
    """Learn, and return what makes proportions of documents, and the topics."""
    model = LDA(k=options.components, maxIter=20, seed=0, **settings).fit(table)

    def proportions(X: sparse.csr_matrix) -> np.ndarray:
        rows = model.transform(frame(spark, X, options.threads)).select("id", "topicDistribution")
        found = {row[0]: row[1].toArray() for row in rows.collect()}
        theta = np.array([found[i] for i in range(X.shape[0])])
        # Of documents without words Spark says nothing.
        theta[theta.sum(axis=1) == 0] = 1 / options.components
        return theta

    topics = model.topicsMatrix().toArray().T
    # Words that Spark holds to be impossible are nearly so.
    return proportions, np.maximum(topics / topics.sum(axis=1, keepdims=True), LEAST)


def by_us(X: sparse.csr_matrix, kind: type, options: Any) -> Found:
    """Learn, and return what makes proportions of documents, and the topics."""
    model = kind(options.components, batch_size=100, random_state=0)
    for start in range(0, X.shape[0], 100):
        model.partial_fit(X[start : start + 100])
    return model.transform, model.topic_word_


def run(corpus: str, options: argparse.Namespace, spark: SparkSession) -> None:
    """All methods on a corpus."""
    train, test, _ = corpora.split(corpus)
    observed, held_out = completion_split(test)
    known = {(row["corpus"], row["method"]) for row in read(options.results)}
    table = None
    for method in (*OURS, *SPARK):
        if (corpus, method) in known:
            continue
        if method in SPARK and table is None:
            table = frame(spark, train, options.threads)
        started = time.perf_counter()
        if method in OURS:
            proportions, topics = by_us(train, OURS[method], options)
        else:
            proportions, topics = by_spark(table, spark, options, SPARK[method])
        seconds = time.perf_counter() - started
        log_probability = token_log_probability(proportions(observed), topics, held_out)
        row = {
            "corpus": corpus, "method": method, "components": options.components,
            "documents": train.shape[0], "words": train.shape[1], "tokens": int(train.sum()),
            "seconds": f"{seconds:.2f}",
            "score": f"{per_token(log_probability, float(held_out.sum())):.4f}",
        }  # fmt: skip
        append(options.results, FIELDS, row)


def main() -> None:
    """Run what is not on file yet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    names = ["newsgroups_train", "commit_subjects", "imdb_unlabelled"]
    parser.add_argument("corpora", nargs="*", default=names)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "cluster_spark.csv")
    options = parser.parse_args()
    spark = (
        SparkSession.builder.master(f"local[{options.threads}]")
        .config("spark.driver.memory", "8g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    for corpus in options.corpora:
        run(corpus, options, spark)
    spark.stop()


if __name__ == "__main__":
    main()
