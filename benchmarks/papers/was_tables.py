# SPDX-License-Identifier: BSD-3-Clause
"""Tables I and II and Figure 4 of the WAS paper in kind: perplexity and coherence.

Source code cut into statements, presidential speeches and abstracts of NIPS; a third of the
documents is held out, anew for each seed. Perplexity is that of half of the words of each
held-out sentence, drawn at random, given the other halves of all sentences of the document;
the vocabulary is that of the whole corpus. Coherence is UMass over the training documents, of
the top five words, in nats per pair of words: the paper's figures look like sums over ten pairs.
Beside it stands the share of distinct words among these, since all topics can repeat the same
ones. The sticks of SBP are cut to eight, which the paper leaves open. LDA over documents has one
mixture for all sentences of a document; LDA over sentences has one for each sentence and none
for documents.

    STREAMTOPICS_DATA=... python benchmarks/papers/was_tables.py [CORPUS ...] --output FOLDER
    STREAMTOPICS_DATA=... python benchmarks/papers/was_tables.py --sweep presidential_speeches
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics import WASTopicModel
from streamtopics.metrics import topic_coherence, topic_diversity
from streamtopics.metrics.predictive import token_log_probability
from streamtopics.was import HDP, SBP, WAS
from streamtopics.was.prior import SentencePrior

CORPORA = {
    "jhotdraw_statements": {},
    "berkeleydb_je_statements": {},
    "presidential_speeches": {"n_documents": 150},
    "nips_abstracts": {"n_documents": 1000},
}
# The b of the sticks and the other parameters. The paper has the table concentration of the HDP at
# 0.5 beside sticks of b = 1.
SETTINGS = {
    "paper": (1.0, {"atom_prior": 1.0, "topic_word_prior": 1.0}),
    "defaults": (0.5, {}),
}
MODELS: dict[str, Callable[[float], SentencePrior]] = {
    "WAS": lambda b: WAS(b=b),
    "HDP": lambda b: HDP(table_concentration=0.5),
    "SBP": lambda b: SBP(b=b, truncation=8),
    "LDA, documents": lambda b: SBP(b=b, truncation=1),
    "LDA, sentences": lambda b: SBP(b=b, truncation=1),
}
# At the paper's setting only: its sampler as it may have been, and fewer tables per sentence.
VARIANTS = {
    "WAS, as last": lambda b: WAS(b=b, exact=False),
    "WAS, b = 0.5": lambda b: WAS(b=0.5),
}
TOP_WORDS, PAPER_TRUNCATIONS = 5, range(1, 11)


class Result(NamedTuple):
    """What is measured of a fit; atoms and tables are means over the training documents."""

    perplexity: float
    coherence: float
    diversity: float
    atoms: float
    tables: float
    seconds: float


class Split(NamedTuple):
    """Training and test documents, and the halves of the latter's sentences."""

    train: corpora.SentenceCounts
    test: corpora.SentenceCounts
    observed: sparse.csr_matrix
    hidden: sparse.csr_matrix


def split(corpus: corpora.SentenceCounts, seed: int) -> Split:
    """A third of the documents held out, and half of the words of their sentences."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(corpus.n_documents)
    n_test = corpus.n_documents // 3
    train, test = corpus.documents(order[n_test:]), corpus.documents(order[:n_test])
    return Split(train, test, *halves(test.X, rng))


def halves(
    X: sparse.csr_matrix, rng: np.random.Generator
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The words of each row, split at random; of an odd number one more is observed."""
    word = np.repeat(X.indices, X.data)
    length = X.sum(axis=1).A1
    row = np.repeat(np.arange(X.shape[0]), length)
    order = np.lexsort((rng.random(len(word)), row))
    place = np.arange(len(word)) - np.repeat(np.cumsum(length) - length, length)
    hidden = np.empty(len(word), bool)
    hidden[order] = place < length[row] // 2
    return tuple(
        sparse.csr_matrix((np.ones(part.sum(), np.int64), (row[part], word[part])), X.shape)
        for part in (~hidden, hidden)
    )


def measure(model: WASTopicModel, parts: Split, *, of_sentences: bool) -> Result:
    """Fit and evaluate; `of_sentences` makes each sentence a document of its own."""
    train, test = parts.train, parts.test
    groups = [np.arange(len(x.groups)) if of_sentences else x.groups for x in (train, test)]
    started = time.process_time()
    model.fit(train.X, groups=groups[0])
    seconds = time.process_time() - started
    theta = model.transform_sentences(parts.observed, groups=groups[1])
    log_probability = token_log_probability(theta, model.topic_word_, parts.hidden)
    top = np.argsort(-model.components_, axis=1)[:, :TOP_WORDS]
    membership = sparse.csr_matrix(
        (np.ones(len(train.groups)), (train.groups, np.arange(len(train.groups))))
    )
    coherence = topic_coherence(top, membership @ train.X, measure="umass")
    return Result(
        float(np.exp(-log_probability.sum() / parts.hidden.sum())),
        float(coherence.mean()),
        topic_diversity(top),
        float(model.n_atoms_.mean()),
        float(model.n_tables_.mean()),
        seconds,
    )


def estimator(
    setting: str,
    prior: Callable[[float], SentencePrior],
    seed: int,
    options: argparse.Namespace,
) -> WASTopicModel:
    """One of the models, at one of the settings."""
    b, others = SETTINGS[setting]
    return WASTopicModel(
        options.components,
        n_sweeps=options.sweeps,
        n_burn_in=options.sweeps // 2,
        random_state=seed,
        prior=prior(b),
        **others,
    )


def run(
    corpus: corpora.SentenceCounts,
    setting: str,
    models: dict[str, Callable[[float], SentencePrior]],
    options: argparse.Namespace,
) -> dict[str, list[Result]]:
    """Results of each model, one for each seed."""
    results: dict[str, list[Result]] = {name: [] for name in models}
    for seed in range(options.seeds):
        parts = split(corpus, seed)
        for name, prior in models.items():
            fitted = estimator(setting, prior, seed, options)
            result = measure(fitted, parts, of_sentences=name == "LDA, sentences")
            results[name].append(result)
            print(f"# {setting}, seed {seed}, {name}: {result}", file=sys.stderr, flush=True)
    return results


def spread(values: Any, digits: int) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(values):.{digits}f} ± {np.std(values, ddof=1):.{digits}f}"


def as_table(results: dict[str, list[Result]]) -> str:
    """A row for each model; perplexities also against WAS on the same split."""
    was = np.array([result.perplexity for result in results["WAS"]])
    lines = [
        "| model | perplexity | against WAS, % | coherence | diversity | atoms | tables "
        "| seconds |",
        "|---" * 8 + "|",
    ]
    for name, values in results.items():
        columns = Result(*map(np.array, zip(*values, strict=True)))
        ratio = 100 * (columns.perplexity / was - 1)
        cells = [name, spread(columns.perplexity, 1), spread(ratio, 1)]
        cells += [spread(columns.coherence, 2), f"{columns.diversity.mean():.2f}"]
        cells += [f"{columns.atoms.mean():.1f}", f"{columns.tables.mean():.1f}"]
        cells += [f"{columns.seconds.mean():.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(results: dict[str, list[Result]], title: str, path: Path) -> None:
    """Perplexity of SBP by its truncation, beside the others."""
    figure = Figure(figsize=(5.5, 3.4), layout="constrained")
    ax = figure.subplots()
    by_truncation = np.array(
        [[result.perplexity for result in results[f"SBP {j}"]] for j in PAPER_TRUNCATIONS]
    )
    deviation = by_truncation.std(axis=1, ddof=1)
    ax.errorbar(
        PAPER_TRUNCATIONS, by_truncation.mean(axis=1), deviation, fmt="o-", capsize=3, label="SBP"
    )
    for name, style in (("WAS", "-"), ("HDP", "--")):
        value = np.mean([result.perplexity for result in results[name]])
        ax.axhline(value, linestyle=style, color="black", linewidth=1, label=name)
    ax.set_xticks(PAPER_TRUNCATIONS)
    ax.set_xlabel("truncation of SBP")
    ax.set_ylabel("perplexity")
    ax.set_title(title)
    ax.legend(frameon=False)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", default=list(CORPORA), metavar="CORPUS")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--sweep", action="store_true", help="truncations of SBP, not the tables")
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.corpora:
        corpus = corpora.sentences(name, **CORPORA[name])
        print(
            f"{name}: {corpus.n_documents} documents, {corpus.X.shape[0]:,} sentences, "
            f"{corpus.X.sum():,} words, vocabulary {len(corpus.words):,}; K = "
            f"{options.components}, {options.sweeps} sweeps, {options.seeds} seeds",
            flush=True,
        )
        for setting in options.settings:
            models = {name: MODELS[name] for name in ("WAS", "HDP")} if options.sweep else MODELS
            if options.sweep:
                models |= {
                    f"SBP {j}": lambda b, j=j: SBP(b=b, truncation=j) for j in PAPER_TRUNCATIONS
                }
            elif setting == "paper":
                models = models | VARIANTS
            results = run(corpus, setting, models, options)
            text = as_table(results)
            print(f"\n{setting}\n{text}", flush=True)
            stem = f"was_{'truncation' if options.sweep else 'tables'}_{name}_{setting}"
            (options.output / f"{stem}.md").write_text(text, encoding="utf-8")
            if options.sweep:
                title = f"{name}, {setting}"
                draw(results, title, options.output / f"{stem}.png")


if __name__ == "__main__":
    main()
