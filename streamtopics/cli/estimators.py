# SPDX-License-Identifier: BSD-3-Clause
"""The estimator that was asked for, with its parameters."""

from __future__ import annotations

from argparse import Namespace
from difflib import get_close_matches
from typing import Any

import streamtopics
from streamtopics.cli.seeds import read_seeds
from streamtopics.estimators.presets import PRESETS

NAMES = (
    "StreamingLDA", "StreamingMixture", "GuidedTopics", "GibbsOnlineEM", "VariationalOnlineEM",
    "SVBLDA", "BPSLDA", "SVBHPP", "HDPGibbsOnlineEM", "HDPVarGibbs",
)  # fmt: skip
N_TOPICS = 20


def estimator(options: Namespace) -> Any:
    """Return an estimator as the options say."""
    seeds = getattr(options, "seeds", None)
    name = options.estimator or ("GuidedTopics" if seeds else "StreamingLDA")
    if (name == "GuidedTopics") != bool(seeds):
        raise ValueError(
            "GuidedTopics goes with --seeds FILE, and other estimators without; leave out one of "
            "--estimator and --seeds"
        )
    if seeds:
        named = read_seeds(seeds)
        others = max(0, (options.topics[0] if options.topics else 0) - len(named))
        made: Any = streamtopics.GuidedTopics(named, n_unseeded=others)
    else:
        made = by_name(name, options.topics[0] if options.topics else N_TOPICS)
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


def by_name(name: str, n_components: int) -> Any:
    """Return the estimator of a class, or else of a preset of `StreamingLDA`."""
    if name in NAMES:
        return getattr(streamtopics, name)(n_components=n_components)
    if name in PRESETS:
        return streamtopics.StreamingLDA.preset(name, n_components)
    lower = {known.lower(): known for known in (*NAMES, *PRESETS)}
    near = [lower[found] for found in get_close_matches(name.lower(), lower, n=3)]
    meant = f"did you mean {' or '.join(near)}? There are" if near else "use one of"
    raise ValueError(
        f"there is no estimator {name!r} of topics; {meant} {', '.join(sorted(lower.values()))}"
    )


def _known_before(options: Namespace) -> list[tuple[str, Any]]:
    """Parameters that the options of knowledge stand for."""
    found: list[tuple[str, Any]] = []
    if getattr(options, "max_iter", None):
        found.append(("max_iter", options.max_iter))
    if getattr(options, "rounds", None):
        found.append(("schedule__n_rounds", options.rounds))
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
