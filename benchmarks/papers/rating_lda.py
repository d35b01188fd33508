# SPDX-License-Identifier: BSD-3-Clause
"""The models of chapter 2 of Dupuy's thesis, as in its Figure 4 and its Table 2.

Priors are learnt, as in the source, and beside that this package's defaults, which do not.
Log-perplexity per word of held-out reviews whose ratings are not known, in nats (lower is
better): left-to-right where the proportions are not known either, exact in them where they
are those of the item or the user. As in the source stop words go, words in more than a fifth
of the reviews, and all but the 10,000 most frequent others; a tenth of the reviews is held out.

The corpora have neither items nor users, so that there each review is an item of its own. The
synthetic reviews have both, and there each test review is of an item and a user that were seen.

    STREAMTOPICS_DATA=... python benchmarks/papers/rating_lda.py [CORPUS] --output FOLDER
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics import HiddenFactorsTopics, RatingLDA, SupervisedLDA
from streamtopics.datasets import make_rated_reviews
from streamtopics.reviews.base import RatedTopicModel


class Reviews(NamedTuple):
    """Counts and ratings, with items and users where there are any."""

    X: sparse.csr_matrix
    ratings: np.ndarray
    whose: dict[str, np.ndarray]
    words: np.ndarray | None

    def rows(self, chosen: np.ndarray) -> "Reviews":
        """Some of the reviews."""
        whose = {name: labels[chosen] for name, labels in self.whose.items()}
        return Reviews(self.X[chosen], self.ratings[chosen], whose, self.words)


def real(name: str, n_documents: int) -> Reviews:
    """Reviews spread evenly over a corpus."""
    with gzip.open(corpora.folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    places = np.linspace(0, len(rows) - 1, min(n_documents, len(rows))).astype(int)
    rows = [rows[i] for i in places]
    vectorizer = CountVectorizer(
        stop_words="english",
        token_pattern=corpora.PROSE_WORD,
        max_df=0.2,
        max_features=10_000,
        dtype=np.float32,
    )
    X = vectorizer.fit_transform([row["text"] for row in rows])
    ratings = np.array([float(row["label"]) for row in rows])
    return Reviews(X, ratings, {}, vectorizer.get_feature_names_out())


def synthetic(n_documents: int) -> Reviews:
    """Reviews of a hundred items by two hundred users, of 30 descriptive topics."""
    data = make_rated_reviews(
        n_documents,
        n_items=100,
        n_users=200,
        n_components=30,
        n_features=1000,
        qualitative_share=0.1,
        doc_topic_prior=0.1,
        random_state=0,
    )
    X = data.X.astype(np.float32)
    return Reviews(X, data.ratings, {"items": data.item, "users": data.user}, None)


def models(K: int, seed: int, has_whose: bool) -> Iterator[tuple[str, RatedTopicModel]]:
    """What is compared, by name."""
    common = {"n_components": K, "random_state": seed, "n_jobs": 1}
    learnt = {"learn_priors": True} | common
    profiles = {"": "document", "-C": "item", "-U": "user"} if has_whose else {"": "document"}
    for suffix, profile in profiles.items():
        yield f"LDA{suffix or '-0'}", RatingLDA(profile=profile, qualitative=False, **learnt)
        yield f"LDA-R{suffix}", RatingLDA(profile=profile, **learnt)
    yield "SLDA", SupervisedLDA(**learnt)
    yield "HFT", HiddenFactorsTopics(**common)
    for suffix, profile in profiles.items():
        plain = RatingLDA(profile=profile, qualitative=False, **common)
        yield f"LDA{suffix or '-0'}, defaults", plain
        yield f"LDA-R{suffix}, defaults", RatingLDA(profile=profile, **common)
        yield f"LDA-R{suffix}, refined", RatingLDA(profile=profile, refine=True, **common)
    yield "SLDA, defaults", SupervisedLDA(**common)


def study(
    reviews: Reviews, K: int, seed: int, n_particles: int, n_test: int, only: list[str] | None
) -> dict[str, tuple[float, float]]:
    """Log-perplexity per word, and the processor's seconds of the fit, of each model."""
    rng = np.random.default_rng(seed)
    held_out = rng.permutation(reviews.X.shape[0])[: reviews.X.shape[0] // 10]
    train = reviews.rows(np.setdiff1d(np.arange(reviews.X.shape[0]), held_out))
    test = reviews.rows(held_out[:n_test])
    results = {}
    for name, model in models(K, seed, bool(reviews.whose)):
        if only is not None and name not in only:
            continue
        own = {} if isinstance(model, SupervisedLDA) else train.whose
        start = time.process_time()
        model.fit(train.X, train.ratings, **own)
        seconds = time.process_time() - start
        accepted = own.keys() if isinstance(model, RatingLDA) else own.keys() & {"items"}
        known = {label: test.whose[label] for label in accepted}
        log_likelihood = model.log_likelihood(test.X, n_particles=n_particles, **known)
        value = -float(log_likelihood.sum() / test.X.sum(dtype=np.float64))
        results[name] = value, seconds
        print(f"K = {K}, seed {seed}, {name:<18} {value:.4f} {seconds:6.1f} s", flush=True)
    return results


def table(results: dict[int, list[dict[str, tuple[float, float]]]]) -> str:
    """Mean log-perplexities, and the mean processor's seconds of the fit, a row for each model."""
    lines = ["| model | " + " | ".join(f"K = {K}" for K in results) + " |"]
    lines.append("|---" * (len(results) + 1) + "|")
    for name in next(iter(results.values()))[0]:
        cells = []
        for runs in results.values():
            values = np.array([run[name] for run in runs])
            cells.append(f"{values[:, 0].mean():.3f} ({values[:, 1].mean():.0f} s)")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def opinions(reviews: Reviews, K: int) -> str:
    """The positive and the negative topic, as in Table 2."""
    lines = []
    for refine in (False, True):
        model = RatingLDA(K, refine=refine, random_state=0).fit(reviews.X, reviews.ratings)
        positive, negative = model.top_words(reviews.words, n_words=12)[-2:]
        omega = model.qualitative_prior_
        title = "LDA-R, refined" if refine else "LDA-R"
        share = omega[1] / omega.sum()
        lines.append(f"{title}, K = {K}: {share:.0%} of the words are expected to be qualitative")
        lines.append("positive: " + " ".join(positive))
        lines.append("negative: " + " ".join(negative))
    return "\n".join(lines) + "\n"


def draw_picture(results: dict[int, list[dict[str, tuple[float, float]]]], path: Path) -> None:
    """A line for each model."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    for name in next(iter(results.values()))[0]:
        means = [np.mean([run[name][0] for run in runs]) for runs in results.values()]
        ax.plot([str(K) for K in results], means, "o-", label=name)
    ax.set_xlabel("topics")
    ax.set_ylabel("log-perplexity per word")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", default="synthetic")
    parser.add_argument("--components", type=int, nargs="+", default=[8, 32, 128])
    parser.add_argument("--documents", type=int, default=3000, help="25,000 for all of imdb_train")
    parser.add_argument("--test", type=int, default=300, help="of the tenth that is held out")
    parser.add_argument("--particles", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--opinions", type=int, default=None, help="Table 2 for so many topics")
    parser.add_argument("--only", nargs="+", metavar="MODEL", help="by names, such as LDA-R HFT")
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.corpus == "synthetic":
        reviews = synthetic(options.documents)
    else:
        reviews = real(options.corpus, options.documents)
    if options.opinions is not None:
        print(opinions(reviews, options.opinions))
        return
    results = {
        K: [
            study(reviews, K, seed, options.particles, options.test, options.only)
            for seed in range(options.seeds)
        ]
        for K in options.components
    }
    text = table(results)
    print(text)
    (options.output / f"rating_lda_{options.corpus}.md").write_text(text, encoding="utf-8")
    draw_picture(results, options.output / f"rating_lda_{options.corpus}.png")


if __name__ == "__main__":
    main()
