# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics show`: what a model has learnt."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from streamtopics.cli.models import (
    has_open_vocabulary,
    load_model,
    n_words_of,
    rows_of,
    topics_of,
)
from streamtopics.cli.tables import print_topics
from streamtopics.cli.telling import counted, safe
from streamtopics.saving import container

MORE = 5


def run(options: Namespace) -> None:
    """Print the topics, or one of them, and what is known of the model."""
    model = load_model(options.model_file)
    topics = topics_of(model)
    n = options.words * (1 if options.topic is None else MORE)
    rows = rows_of(model, n, options.relevance)
    if options.topic is not None:
        rows = [row for row in rows if row.topic == options.topic]
        if not rows:
            most = topics.topic_word_.shape[0] - 1
            raise ValueError(f"there is no topic {options.topic}; they are 0 to {most}")
    known: dict[str, Any] = {
        "estimator": type(topics).__name__,
        "parameters": {k: repr(v) for k, v in sorted(topics.get_params(deep=False).items())},
        "documents": int(topics.n_documents_seen_),
        "words": float(topics.n_tokens_seen_),
        "vocabulary": n_words_of(model),
        "open_vocabulary": has_open_vocabulary(model),
        "versions": versions_of(options.model_file),
    }
    if options.json:
        print(json.dumps(known | {"topics": [row._asdict() for row in rows]}, indent=1))
        return
    print_topics(rows, model, 100 if options.topic is None else 10_000)
    print(
        f"\n{known['estimator']}: {counted(known['documents'], 'document')} in all passes, "
        f"{counted(known['words'], 'word')} over a vocabulary of {known['vocabulary']:,}"
        f"{', which follow the stream' if known['open_vocabulary'] else ''}"
    )
    for name, value in known["parameters"].items():
        print(f"  {name} = {safe(value)[:200]}")
    print(
        "written with " + ", ".join(f"{name} {value}" for name, value in known["versions"].items())
    )


def versions_of(path: Path) -> dict[str, str]:
    """Return the versions that a model was written with."""
    with path.open("rb") as file:
        versions: dict[str, str] = container.read(file, str(path))[1]["versions"]
    return versions
