# SPDX-License-Identifier: BSD-3-Clause
"""The estimator that was asked for, with its parameters."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import streamtopics

NAMES = (
    "StreamingLDA", "StreamingMixture", "GuidedTopics", "GibbsOnlineEM", "VariationalOnlineEM",
    "SVBLDA", "BPSLDA", "SVBHPP", "HDPGibbsOnlineEM", "HDPVarGibbs",
)  # fmt: skip
N_TOPICS = 20


def estimator(options: Namespace) -> Any:
    """Return an estimator as the options say."""
    seeds = getattr(options, "seeds", None)
    name = options.estimator or ("GuidedTopics" if seeds else "StreamingLDA")
    if name not in NAMES:
        raise ValueError(f"there is no estimator {name!r} of topics; use one of {', '.join(NAMES)}")
    if (name == "GuidedTopics") != bool(seeds):
        raise ValueError(
            "GuidedTopics goes with --seeds FILE of `streamtopics fit`, and nothing else"
        )
    if seeds:
        named = read_seeds(seeds)
        others = max(0, (options.topics or 0) - len(named))
        made: Any = streamtopics.GuidedTopics(named, n_unseeded=others)
    else:
        made = getattr(streamtopics, name)(n_components=options.topics or N_TOPICS)
    made.set_params(random_state=options.seed, n_jobs=options.jobs)
    for parameter, value in _known_before(options) + sorted(
        options.settings, key=lambda pair: pair[0].count("__")
    ):
        known = made.get_params()
        if parameter not in known:
            raise ValueError(
                f"{name} has no parameter {parameter!r}; there are {', '.join(sorted(known))}"
            )
        made.set_params(**{parameter: value})
    return made


def _known_before(options: Namespace) -> list[tuple[str, Any]]:
    """Parameters that the options of knowledge stand for."""
    found: list[tuple[str, Any]] = []
    if getattr(options, "rounds", None):
        found.append(("n_rounds", options.rounds))
    if getattr(options, "document_prior", None):
        found.append(("doc_topic_prior", options.document_prior))
    scale = getattr(options, "boosting_scale", None)
    prior, mass = getattr(options, "prior", None), getattr(options, "prior_mass", None)
    if prior is None and mass is None and scale is None:
        return found
    if prior == "zipf":
        from streamtopics.priors import ZipfPrior

        found.append(("topic_word_prior", ZipfPrior(mass=mass)))
    elif mass is not None:
        from streamtopics.priors import Symmetric

        found.append(("topic_word_prior", Symmetric(mass=mass)))
    if not options.estimator or options.estimator == "StreamingLDA":
        found += [("update", "bps"), ("update__scale", 0.1 if scale is None else scale)]
    elif scale is not None:
        found.append(("boosting_scale", scale))
    return found


def read_seeds(path: Path) -> dict[str, list[str]]:
    """Return the seed words by topic that a file has."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f'{path} is not JSON ({error}); write {{"sea": ["ship"]}}') from error
    right = isinstance(found, dict) and all(
        isinstance(words, list) and words and all(isinstance(word, str) for word in words)
        for words in found.values()
    )
    if not right or not found:
        raise ValueError(
            f'{path} must have an object of names, each with a list of words: {{"sea": ["ship"]}}'
        )
    return dict(found)
