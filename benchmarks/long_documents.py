# SPDX-License-Identifier: BSD-3-Clause
"""Whether `streamtopics fit` may keep words that are in many documents, if these are long.

    STREAMTOPICS_DATA=... python -m benchmarks.long_documents [CORPUS ...] [--seeds 0 1 2 3 4]
    python -m benchmarks.long_documents --table

Two rules of `streamtopics fit FILE --topics 10 --set start=spectral`: "kept" is its default,
`--max-share 1 --relevance 0.4`; "left out" was its default before, `--max-share 0.2
--relevance 0.6`. A corpus has at most 6,000 documents, spread evenly over the
file. The seed chooses the fifth of them that is held out, and starts the model.

    left_out   share of the tokens that are no stop words which have no column
    npmi       of the ten words that the command prints of a topic, over all documents
    windows    the same over windows of ten tokens, stop words among them: in documents of
               thousands of words nearly all words meet
    score      nats per held-out token over one vocabulary, the words of both rules: proportions
               are found from half of the tokens of these words, by one fold-in for both rules,
               and the other half is scored, with topics cut to the words
    score_own  the same held-out tokens, with proportions from the observed half of all the words
               that the rule keeps

The rule was chosen on the first three corpora and is confirmed on the others. The table has means
over the seeds, and the mean of the paired differences with its 95 % interval, by Student's t.
"""

import argparse
import warnings
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from benchmarks.results import append, read
from benchmarks.text_models import Counts
from benchmarks.text_quality import fold_in, halves, score
from streamtopics.cli.estimators import estimator
from streamtopics.cli.models import pipeline, rows_of
from streamtopics.cli.parsers import parser
from streamtopics.cli.tally import Tally
from streamtopics.cli.words import fit_words, vectorizer_for
from streamtopics.metrics import topic_coherence

CHOOSE = ("state_of_the_union", "webkb", "bbc_news")
CONFIRM = ("presidential_speeches", "imdb_train", "nips_abstracts")
RULES = {
    "left out": ["--max-share", "0.2", "--relevance", "0.6"],
    "kept": ["--max-share", "1", "--relevance", "0.4"],
}
MOST_DOCUMENTS, N_PRINTED, HELD_OUT = 6000, 10, 5
KEY, FIGURES = ("corpus", "seed", "rule"), ("left_out", "npmi", "windows", "score", "score_own")
RESULTS = Path(__file__).with_suffix(".csv")


def options_of(rule: str, seed: int) -> Namespace:
    """The options of the command with a rule."""
    given = ["fit", "-", "--topics", "10", "--set", "start=spectral", "--jobs", "1"]
    return parser().parse_args([*given, "--seed", str(seed), *RULES[rule]])


def cut(texts: Sequence[str]) -> list[str]:
    """So many of the texts, spread evenly."""
    chosen = np.linspace(0, len(texts) - 1, min(MOST_DOCUMENTS, len(texts))).astype(int)
    return [texts[i] for i in chosen]


def measured(texts: Sequence[str], seed: int) -> dict[str, dict[str, float]]:
    """The figures of each rule on the documents of a corpus."""
    order = np.random.default_rng(seed).permutation(len(texts))
    n_held_out = len(texts) // HELD_OUT
    test, train = ([texts[i] for i in part] for part in np.split(order, [n_held_out]))
    options = {rule: options_of(rule, seed) for rule in RULES}
    words = {rule: vectorizer_for(options[rule], len(texts)) for rule in RULES}
    for one in words.values():
        fit_words(one, texts)
    names = {rule: one.get_feature_names_out() for rule, one in words.items()}
    every = max(words, key=lambda rule: len(names[rule]))
    counts, tokens = words[every].transform(texts), tokens_of(words[every], texts)
    observed, held_out = halves(words[every].transform(test))
    place = {word: column for column, word in enumerate(names[every])}
    common = set.intersection(*(set(own) for own in names.values()))
    found = {}
    for rule, one in words.items():
        model = estimator(options[rule]).fit(one.transform(train))
        rows = rows_of(pipeline(Pipeline, one, model), N_PRINTED, options[rule].relevance)
        printed = [row.words for row in rows]
        npmi = topic_coherence(printed, counts, feature_names=names[every])
        windows = topic_coherence(printed, tokens, window="auto")
        tally = Tally()
        tally.add(one, list(texts), learnt=True)
        own = [place[word] for word in names[rule]]
        shared = np.array([word in common for word in names[rule]])
        both = scores(model, shared, observed[:, own], held_out[:, own])
        figures = (tally.left_out, float(npmi.mean()), float(windows.mean()), *both)
        found[rule] = dict(zip(FIGURES, figures, strict=True))
    return found


def tokens_of(words: Any, texts: Sequence[str]) -> list[list[str]]:
    """The tokens of each text, stop words and all."""
    analyze = clone(words).set_params(stop_words=None).build_analyzer()
    return [analyze(text) for text in texts]


def scores(
    model: Any, shared: np.ndarray, observed: Counts, held_out: Counts
) -> tuple[float, float]:
    """Nats per held-out token of the shared words: seen these alone, and seen all words."""
    alpha, topics = model.doc_topic_prior_, model.topic_word_.astype(np.float64)
    masses = topics[:, shared].sum(axis=1)
    cut_to = topics[:, shared] / masses[:, np.newaxis]
    theta = fold_in(observed[:, shared], cut_to, alpha)
    of_all = fold_in(observed, topics, alpha) * masses
    of_all /= of_all.sum(axis=1, keepdims=True)
    held_out = held_out[:, shared]
    return score(theta, cut_to, held_out), score(of_all, cut_to, held_out)


def run(names: Sequence[str], seeds: Sequence[int], results: Path) -> None:
    """Add what is missing in the results."""
    for name in names:
        done = {(row["corpus"], row["seed"]) for row in read(results)}
        missing = [seed for seed in seeds if (name, str(seed)) not in done]
        texts = cut(corpora.texts(name)) if missing else []
        for seed in missing:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = measured(texts, seed)
            for rule, figures in found.items():
                key = {"corpus": name, "seed": str(seed), "rule": rule}
                shown = {figure: f"{value:.4f}" for figure, value in figures.items()}
                append(results, (*KEY, *FIGURES), key | shown)


def table(results: Path) -> str:
    """Rows of CSV: figures of each rule on each corpus, and paired differences."""
    rows = read(results)
    lines = ["corpus,rule," + ",".join(FIGURES)]
    for name in dict.fromkeys(row["corpus"] for row in rows):
        of = {
            rule: np.array(
                [
                    [float(row[figure]) for figure in FIGURES]
                    for row in sorted(rows, key=lambda row: int(row["seed"]))
                    if (row["corpus"], row["rule"]) == (name, rule)
                ]
            )
            for rule in RULES
        }
        for rule, values in of.items():
            lines.append(f"{name},{rule}," + ",".join(f"{x:.3f}" for x in values.mean(axis=0)))
        cells = [interval(column) for column in (of["kept"] - of["left out"]).T]
        lines.append(f"{name},  difference," + ",".join(cells))
    return "\n".join(lines)


def interval(differences: np.ndarray) -> str:
    """A mean with its 95 % interval by Student's t; the mean alone of a single one."""
    if len(differences) < 2:
        return f"{differences.mean():+.3f}"
    half = stats.t.ppf(0.975, len(differences) - 1) * stats.sem(differences)
    return f"{differences.mean():+.3f} ± {half:.3f}"


def main() -> None:
    """Run what is missing, and print the table."""
    text = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    text.add_argument("corpora", nargs="*", default=[*CHOOSE, *CONFIRM])
    text.add_argument("--results", type=Path, default=RESULTS)
    text.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    text.add_argument("--table", action="store_true")
    options = text.parse_args()
    if not options.table:
        with threadpool_limits(1):
            run(options.corpora, options.seeds, options.results)
    print(table(options.results))


if __name__ == "__main__":
    main()
