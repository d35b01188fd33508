# SPDX-License-Identifier: BSD-3-Clause
"""Case study 3 of the BPS paper: LDA with a Zipf prior on streams of text.

K = 100, alpha = 0.01, one pass, English stop words left out, the log predictive
probability on held-out documents through the stream, in nats per token. The Zipf
prior (exponent 1.07, mass 1 for each topic) takes its ranks from an English word
list or from the corpus itself; s is the boosting scale. Beside the paper's
comparison stands what it leaves out: SVB with flat priors and with this package's
defaults, a flat boost, and the unigram model.

    STREAMTOPICS_DATA=... python benchmarks/papers/bps_case_3.py --output FOLDER [SET ...]
"""

import argparse
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics import BPSLDA, SVBLDA
from streamtopics.metrics import completion_split
from streamtopics.priors import word_ranks, zipf_prior

SETS = {
    "dblp_titles": 5000,
    "health_tweets": 5000,
    "wordnet_glosses": 5000,
    "commit_subjects": 5000,
    "imdb_train": 1000,
}
SCALES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
FLAT = (0.01, 0.1, 1.0)
FLAT_BOOST = (0.1, 0.5)


def settings(split: corpora.Split) -> Iterator[tuple[str, BPSLDA | SVBLDA]]:
    """What is compared, by name."""
    with gzip.open(corpora.folder() / "word_ranks.txt.gz", "rt", encoding="utf-8") as lines:
        english = [line.split()[1] for line in lines if len(line.split()) > 1]
    counts = np.asarray(split.train.sum(axis=0)).ravel()
    priors = {
        "Zipf, English ranks": zipf_prior(word_ranks(english, list(split.words)), mass=1.0),
        "Zipf, corpus ranks": zipf_prior(counts=counts, mass=1.0),
    }
    common = {"n_components": 100, "doc_topic_prior": 0.01, "n_jobs": 2}
    for name, prior in priors.items():
        for scale in SCALES:
            model = BPSLDA(boosting_scale=scale, topic_word_prior=prior, **common)
            yield f"{name}, s = {scale:g}" + (" (SVB)" if scale == 0 else ""), model
    for eta in FLAT:
        yield f"flat {eta:g}, SVB", SVBLDA(topic_word_prior=eta, **common)
    for scale in FLAT_BOOST:
        flat = np.full(len(split.words), 1 / len(split.words))
        model = BPSLDA(boosting_scale=scale, topic_word_prior=flat, **common)
        yield f"flat, mass 1, s = {scale:g}", model
    yield "default priors of this package, SVB", SVBLDA(100, n_jobs=2)


def curve(model: BPSLDA | SVBLDA, split: corpora.Split, batch_size: int) -> list[float]:
    """Score on the test documents after each minibatch."""
    scores = []
    for start in range(0, split.train.shape[0], batch_size):
        model.partial_fit(split.train[start : start + batch_size])
        scores.append(model.score(split.test))
    return scores


def study(name: str, n_seeds: int, limit: int | None) -> tuple[float, dict[str, np.ndarray]]:
    """The unigram score and, for each setting, scores of shape (n_seeds, n_batches)."""
    split = corpora.split(name, n_test=2000, min_df=5)
    split = split._replace(train=split.train[:limit])
    unigram = corpora.unigram_score(split.train, completion_split(split.test)[1])
    length = split.train.sum() / split.train.shape[0]
    print(f"{name}: {split.train.shape}, {length:.1f} tokens a document", flush=True)
    results = {}
    for setting, model in settings(split):
        runs = []
        for seed in range(n_seeds):
            fresh = type(model)(**model.get_params()).set_params(random_state=seed)
            runs.append(curve(fresh, split, SETS[name]))
        results[setting] = np.array(runs)
        last = results[setting][:, -1]
        print(f"  {setting:<36} {last.mean():8.3f} +- {last.std():.3f}", flush=True)
    print(f"  {'unigram model':<36} {unigram:8.3f}", flush=True)
    return unigram, results


def draw(studies: dict[str, tuple[float, dict[str, np.ndarray]]], path: Path) -> None:
    """Scores through the stream: one panel for each set."""
    figure = Figure(figsize=(4.2 * len(studies), 4.6), layout="constrained")
    axes = figure.subplots(1, len(studies), squeeze=False)[0]
    shown = [f"Zipf, corpus ranks, s = {scale}" for scale in ("0 (SVB)", "0.1", "0.5")]
    shown += ["flat 0.1, SVB", "flat 1, SVB", "flat, mass 1, s = 0.5"]
    shown += ["default priors of this package, SVB"]
    for ax, (name, (unigram, results)) in zip(axes, studies.items(), strict=True):
        for setting in shown:
            mean = results[setting].mean(axis=0)
            ax.plot(np.arange(1, len(mean) + 1) * SETS[name], mean, label=setting)
        ax.axhline(unigram, color="black", linewidth=1, linestyle=":", label="unigram model")
        ax.set_title(name)
        ax.set_xlabel("documents seen")
    axes[0].set_ylabel("nats per held-out token")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"all of: {', '.join(SETS)}")
    parser.add_argument("--output", type=Path, default=Path())
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, help="documents to learn from, at most")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if unknown := set(options.sets) - set(SETS):
        parser.error(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    names = options.sets or list(SETS)
    studies = {name: study(name, options.seeds, options.limit) for name in names}
    lines = ["| setting | " + " | ".join(studies) + " |", "|---" * (len(studies) + 1) + "|"]
    for setting in next(iter(studies.values()))[1]:
        last = [results[setting][:, -1] for _, results in studies.values()]
        cells = [f"{scores.mean():.3f} ± {scores.std():.3f}" for scores in last]
        lines.append(f"| {setting} | " + " | ".join(cells) + " |")
    cells = [f"{unigram:.3f}" for unigram, _ in studies.values()]
    lines.append("| unigram model | " + " | ".join(cells) + " |")
    table = "\n".join(lines) + "\n"
    (options.output / "bps_case_3.md").write_text(table, encoding="utf-8")
    print(table)
    draw(studies, options.output / "bps_case_3.png")


if __name__ == "__main__":
    main()
