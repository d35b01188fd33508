# SPDX-License-Identifier: BSD-3-Clause
"""`python -m streamtopics`: stream texts through a vectorizer and topic models."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, StreamingLDA
from streamtopics.datasets import ReadingError, iter_minibatches, load_docstrings, read_texts
from streamtopics.inspection import format_topics, picture_formats, plot_topics, topic_table
from streamtopics.priors import MASS_PER_WORD, zipf_prior
from streamtopics.progress import progress
from streamtopics.text import StreamingCountVectorizer

DESCRIPTION = """\
Find the topics of a stream of documents, in one pass.

Without files it reads the documentation strings of the installed scientific
Python packages. The vocabulary is learnt from the first documents; every tenth
document is held out (as many as a minibatch) to compare StreamingLDA, with a prior
that is boosted, with SVBLDA, plain streaming variational Bayes.
"""
EPILOG = """\
Files: plain text with a document on each line, JSON lines (.jsonl) or an array
(.json) with a field "text", tables (.csv, .tsv, .parquet) with a column "text",
each of them perhaps compressed (.gz, .bz2, .xz, .zst), or folders of such files.
"""
HOLD_OUT_EVERY = 10


class Corpus(NamedTuple):
    """A vectorizer, the documents held out, and the rest as a stream of texts."""

    vectorizer: StreamingCountVectorizer
    counts: np.ndarray
    held_out: sparse.csr_matrix
    stream: Iterator[str]


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    result = argparse.ArgumentParser(
        prog="python -m streamtopics",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    add("files", nargs="*", metavar="FILE", help="documents to read; see below")
    add("--topics", type=_positive, default=20, metavar="N", help="number of topics (20)")
    add("--words", type=_positive, default=10, metavar="N", help="words to show of each (10)")
    add(
        "--relevance", type=_share, default=1.0, metavar="X",
        help="1 shows words by probability; less, such as 0.6, those that other topics lack (1)",
    )  # fmt: skip
    add("--prior", choices=["flat", "zipf"], default="flat", help="word prior (flat)")
    add(
        "--prior-mass", type=_positive_float, default=None, metavar="X",
        help=f"pseudo-counts of the prior for each topic ({MASS_PER_WORD} for each word)",
    )  # fmt: skip
    add(
        "--boosting-scale", type=_non_negative_float, default=0.1, metavar="S",
        help="prior pseudo-counts added for each token (0.1)",
    )  # fmt: skip
    add("--rounds", type=_positive, default=1, metavar="N", help="over each minibatch (1)")
    add(
        "--document-prior", type=_positive_float, default=None, metavar="X",
        help="pseudo-count of each topic in a document; less means fewer topics in each "
        "(of StreamingLDA 3 / the number of topics, which is learnt on the way)",
    )  # fmt: skip
    _add_reading(add)
    add("--jobs", type=_threads, default=-1, metavar="N", help="threads; -1 is all (-1)")
    add("--seed", type=int, default=0, metavar="N", help="of the random start (0)")
    add("--picture", type=Path, metavar="FILE", help="write a picture of the topics, as .png ...")
    add("--model", type=Path, metavar="FILE", help="write the fitted pipeline, for joblib.load")
    add("--quiet", action="store_true", help="no progress on standard error")
    return result


def _add_reading(add: Callable[..., Any]) -> None:
    """Options of reading and counting."""
    add("--batch-size", type=_positive, default=2500, metavar="N", help="documents (2500)")
    add(
        "--vocabulary-from", type=_positive, default=100_000, metavar="N",
        help="documents that the vocabulary is learnt from (100000)",
    )  # fmt: skip
    add("--max-words", type=_positive, default=20_000, metavar="N", help="vocabulary (20000)")
    add("--min-documents", type=_positive, default=5, metavar="N", help="of a word (5)")
    add(
        "--max-share", type=_positive_float, default=0.2, metavar="X",
        help="share of the documents beyond which a word is too common (0.2)",
    )  # fmt: skip
    add("--keep-stop-words", action="store_true", help="keep English function words")
    add("--text-key", default="text", metavar="KEY", help='field or column of texts ("text")')
    add(
        "--encoding", type=_encoding, default="utf-8", metavar="NAME",
        help="of the files, such as latin-1 (utf-8)",
    )  # fmt: skip


def _number(text: str, kind: type, strictly: bool) -> float:
    try:
        value: float = kind(text)
    except ValueError:
        value = np.nan
    if not (0 < value < np.inf or (value == 0 and not strictly)):
        above = "above" if strictly else "at or above"
        raise argparse.ArgumentTypeError(f"{text!r} is not a number {above} 0")
    return value


def _share(text: str) -> float:
    value = _number(text, float, False)
    if value > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 1")
    return value


def _threads(text: str) -> int:
    if not text.lstrip("-").isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of threads, or -1 for all")
    return int(text)


def _encoding(text: str) -> str:
    try:
        b"text".decode(text)
    except LookupError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no encoding that Python knows, such as utf-8, latin-1 or cp1252"
        ) from None
    return text


_positive = partial(_number, kind=int, strictly=True)
_positive_float = partial(_number, kind=float, strictly=True)
_non_negative_float = partial(_number, kind=float, strictly=False)


def read(options: argparse.Namespace) -> Corpus:
    """The corpus as the options say; reads as much as the vocabulary needs."""
    if options.files:
        paths = [Path(name) for name in options.files]
        texts = read_texts(paths, text_key=options.text_key, encoding=options.encoding)
    else:
        texts = iter(load_docstrings().data)
    first = list(islice(texts, options.vocabulary_from))
    vectorizer = StreamingCountVectorizer(
        stop_words=None if options.keep_stop_words else "english",
        token_pattern=r"(?u)\b[^\W\d_]{3,}\b",
        min_df=min(options.min_documents, max(1, len(first) // 2)),
        max_df=min(1.0, options.max_share),
        max_features=options.max_words,
        dtype=np.float32,
        n_jobs=options.jobs,
    )
    if not first:
        raise ValueError("there are no documents to read; check the files")
    try:
        X = vectorizer.fit_transform(first)
    except ValueError as error:
        raise ValueError(
            f"no vocabulary could be made from the first {len(first)} documents ({error}); try "
            "--min-documents 1, --max-share 1 or --keep-stop-words"
        ) from error
    chosen = np.arange(HOLD_OUT_EVERY - 1, len(first), HOLD_OUT_EVERY)[: options.batch_size]
    kept = np.delete(np.arange(len(first)), chosen)
    stream = chain((first[i] for i in kept), texts)
    return Corpus(vectorizer, np.asarray(X[kept].sum(axis=0)).ravel(), X[chosen], stream)


def learn(options: argparse.Namespace, corpus: Corpus) -> dict[str, StreamingLDA | SVBLDA]:
    """The models to compare, after one pass over the stream."""
    n_features = len(corpus.counts)
    mass = options.prior_mass or MASS_PER_WORD * n_features
    flat = np.full(n_features, mass / n_features)
    prior = zipf_prior(counts=corpus.counts, mass=mass) if options.prior == "zipf" else flat
    common: dict[str, Any] = {
        "doc_topic_prior": options.document_prior,
        "topic_word_prior": prior,
        "n_rounds": options.rounds,
        "n_jobs": options.jobs,
        "random_state": options.seed,
    }
    models: dict[str, StreamingLDA | SVBLDA] = {
        "StreamingLDA": StreamingLDA(options.topics, update="bps", **common).set_params(
            update__scale=options.boosting_scale
        ),
        "SVBLDA": SVBLDA(options.topics, **common),
        "one topic": SVBLDA(1, **common),
    }
    batches = iter_minibatches(corpus.stream, options.batch_size, vectorizer=corpus.vectorizer)
    with progress("streaming", None, enabled=not options.quiet) as line:
        for X in batches:
            for model in models.values():
                model.partial_fit(X)
            line.score(models["StreamingLDA"].score(corpus.held_out))
            line.advance(X.shape[0], float(X.sum()))
    return models


def check_targets(options: argparse.Namespace) -> None:
    """Refuse what could not be written at the end."""
    for path in (options.model, options.picture):
        if path is not None and not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
        if path is not None and path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; name a file to write to")
    if options.picture and options.picture.suffix[1:].lower() not in (known := picture_formats()):
        raise ValueError(f"{options.picture} is no kind of picture; use one of {', '.join(known)}")


def report(options: argparse.Namespace) -> None:
    """Read, learn, print the tables and write what was asked for."""
    check_targets(options)
    if not options.quiet:
        print("reading the documents", file=sys.stderr)
    corpus = read(options)
    models = learn(options, corpus)
    model = models["StreamingLDA"]
    names = corpus.vectorizer.get_feature_names_out()
    print(
        f"{model.n_documents_seen_:,} documents, {model.n_tokens_seen_:,.0f} words of "
        f"{len(names):,}, in {model.n_batch_iter_} minibatches; {corpus.held_out.shape[0]:,} "
        "documents held out\n"
    )
    shown = topic_table(model, names, options.words, relevance=options.relevance)
    print(format_topics(shown))
    print(f"\n{'model':<12} {'held-out nats/word':>18} {'perplexity':>11} {'prior kept':>11}")
    for name, fitted in models.items():
        score = fitted.score(corpus.held_out)
        kept = np.average(fitted.prior_retention_, weights=fitted.components_.sum(axis=1))
        print(f"{name:<12} {score:>18.4f} {np.exp(-score):>11,.0f} {kept:>11.1%}")
    if options.model:
        joblib.dump(make_pipeline(corpus.vectorizer, model), options.model)
        print(f"\nfitted pipeline written to {options.model}")
    if options.picture:
        picture = plot_topics(model, names, relevance=options.relevance)
        picture[0].figure.savefig(options.picture, dpi=150)
        print(f"\npicture written to {options.picture}")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        report(options)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError, ImportError, MemoryError) as error:
        told = str(error)
        if isinstance(error, ReadingError) and error.setting in {"encoding", "text_key"}:
            told = error.for_command_line()
        print(f"streamtopics: {told}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
