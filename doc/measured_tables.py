# SPDX-License-Identifier: BSD-3-Clause
"""Write the tables of the documentation that are made from measurements.

python doc/measured_tables.py

Figures come from benchmarks/*.csv, or, where a benchmark keeps no file, from a page of
doc/measured/ on which each of them must stand.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from typing import NamedTuple

DOC = Path(__file__).parent
BENCHMARKS = DOC.parent / "benchmarks"
HEADLINE = DOC / "measured" / "headline.inc"
ALARM = DOC / "measured" / "alarm.inc"
WHICH = DOC / "user_guide" / "which_table.inc"

SHORT = {"commit_subjects": "commit subjects", "health_tweets": "tweets on health"}
TEXTS = SHORT | {
    "search_snippets": "search snippets",
    "bbc_news": "BBC news",
    "webkb": "web pages",
    "nips_abstracts": "abstracts",
    "reuters21578": "newswire",
    "rated_movie_reviews": "film reviews",
    "presidential_speeches": "speeches",
}
MEASURES = "score_common", "score_own", "seconds"
OURS, SAMPLER = "StreamingLDA", "tomotopy, 200 sweeps"
BATCH = ("scikit-learn", "scikit-learn, tuned priors", "gensim", "gensim, alpha learnt")
PEERS = (*BATCH, SAMPLER, "tomotopy, equal time", "NMF", "GSDMM", "bitermplus")
GUIDED_CONFIRMED = ("search_snippets", "webkb", "bbc_news", "reuters21578")


class Figure(NamedTuple):
    """Mean score, at the better of both inferences, and seconds of the processor."""

    score: float
    seconds: float


class Row(NamedTuple):
    """A row of the table of estimators: `page` is the annex that its figures stand on, if any."""

    task: str
    estimators: str
    measured: str
    avoid: str
    page: str = ""


def main() -> None:
    """Write all tables."""
    HEADLINE.write_text(headline(), encoding="utf-8")
    ALARM.write_text(alarm(), encoding="utf-8")
    WHICH.write_text(which(), encoding="utf-8")


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of measurements."""
    with (BENCHMARKS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def qualities() -> dict[str, dict[str, Figure]]:
    """Return the figures of each model on each set that the defaults were not chosen on."""
    found: dict[str, dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows("text_quality.csv"):
        if row["corpus"] in TEXTS and row["seconds"]:
            found[row["corpus"]][row["model"]].append(row)
    return {text: {model: figure(runs) for model, runs in found[text].items()} for text in TEXTS}


def figure(runs: list[dict[str, str]]) -> Figure:
    """Return the means over the seeds, of the inference that is better on average."""
    means = {name: mean(float(run[name]) for run in runs) for name in MEASURES}
    return Figure(max(means["score_common"], means["score_own"]), means["seconds"])


def headline() -> str:
    """Return the table of scores beside the peers."""
    head = (
        "texts",
        "``StreamingLDA()``",
        "tomotopy, 200 sweeps",
        "scikit-learn or gensim",
        "NMF, KL loss",
        "GSDMM or biterms",
    )
    lines = []
    for text, models in qualities().items():
        groups = ([OURS], [SAMPLER], BATCH, ["NMF"], ["GSDMM", "bitermplus"])
        cells = [best([models[m] for m in group if m in models]) for group in groups]
        top = max(cell.score for cell in cells if cell)
        lines.append((TEXTS[text], *(score_cell(cell, top) for cell in cells)))
    return list_table([head, *lines])


def best(figures: list[Figure]) -> Figure | None:
    """Return the figure with the best score."""
    return max(figures, default=None)


def score_cell(figure: Figure | None, top: float) -> str:
    """Return a score, in bold if it is the best, and seconds."""
    if figure is None:
        return ""
    mark = "**" if figure.score == top else ""
    seconds = f"{figure.seconds:.{0 if figure.seconds >= 1 else 1}f}"
    return f"{mark}{figure.score:.3f}{mark} ({seconds})"


def alarm() -> str:
    """Return how often the alarm rings, by the table of `benchmarks.alarm`."""
    lines = (DOC / "alarm_table.rst").read_text(encoding="utf-8").splitlines()
    table = [re.findall('"([^"]*)"', line) for line in lines]
    rung = {kind: [0, 0] for kind in ("project", "injected")}
    for row in table:
        if row and row[0] in rung and row[2] in ("1.0", "0.2"):
            hits, streams = map(int, row[5].split(" of "))
            rung[row[0]] = [rung[row[0]][0] + hits, rung[row[0]][1] + streams]
    (false,) = (row[3].split()[0] for row in table if row[:2] == ["shuffled", "all"])
    whole, part = (f"{hits} of {streams}" for hits, streams in rung.values())
    return (
        f"the alarm rings in {whole} streams that change from the commits of one project to those "
        f"of another, and in {part} streams in which a new class becomes a fifth of "
        f"the documents; false alarms: {false} % of the minibatches (:doc:`/user_guide/drift`)\n"
    )


def which() -> str:
    """Return the table of estimators by task."""
    head = ("you have, or want", "take", "measured", "do not take it")
    table = [head]
    for row in (*from_files(), *QUOTED):
        page = f" (:doc:`{row.page} </measured/{row.page}>`)" if row.page else ""
        table.append((row.task, row.estimators, row.measured + page, row.avoid))
    return list_table(table, ("   :widths: 22 22 34 22", "   :class: which"))


def from_files() -> list[Row]:
    """Return the rows whose figures are in files."""
    models = qualities()
    return [
        Row(
            "raw text, with times or groups, to find changes and differences",
            ":class:`~streamtopics.TopicStream`",
            "three lines of code give counts, topics, alarms, shares by period and group, and "
            "findings in sentences",
            "if you have counts or vectors without texts, or need only one of the parts",
        ),
        Row(
            "documents of any length, in a corpus or a stream",
            ":class:`~streamtopics.StreamingLDA`",
            default_beside_peers(models),
            "if all documents are at hand and topics should share few top words: the topics of 200 "
            "sweeps of tomotopy share fewer on seven of the nine sets",
        ),
        Row(
            "titles, tweets, first lines: clusters of short texts, with births and deaths",
            ":class:`~streamtopics.StreamingMixture`",
            "score minus that of ``StreamingLDA()``: "
            f"{differences(models, 'StreamingMixture', SHORT)} on short texts, "
            f"{differences(models, 'StreamingMixture', long_texts())} on longer ones",
            "if documents have several topics: predictions are worse",
        ),
        Row(
            "topics whose names you know, with a few words of each",
            ":class:`~streamtopics.GuidedTopics`",
            guided(),
            "to predict words: the defaults are for names, not for scores",
        ),
        Row(
            "a stream with changing words",
            ":class:`StreamingLDA(update=PowerPrior(Memory(20_000))) <streamtopics.StreamingLDA>`",
            forgetting(),
            "if the stream is steady, or old subjects come back: compare scores by "
            ":class:`~streamtopics.streams.ScoreHistory`",
        ),
        Row(
            "a prior of words that does not fade along a stream",
            ":class:`StreamingLDA(update='bps') <streamtopics.StreamingLDA>`, "
            ":class:`~streamtopics.BPSLDA`",
            "score of ``update='bps'`` minus that of the default: "
            f"{differences(models, 'StreamingLDA, bps', TEXTS)}",
            "to smooth short texts: a flat prior of the right size is better",
        ),
        Row(
            "a method as published: online EM by Gibbs sampling, or streaming variational Bayes",
            "``preset`` of :class:`~streamtopics.GibbsOnlineEM` or :class:`~streamtopics.SVBLDA` "
            "(:doc:`methods`)",
            "score minus that of ``StreamingLDA()``: ``GibbsOnlineEM`` "
            f"{differences(models, 'GibbsOnlineEM', TEXTS)}, ``SVBLDA`` "
            f"{differences(models, 'SVBLDA', TEXTS)}",
            "to read topics, unless you need the published method",
        ),
    ]


QUOTED = (
    Row(
        "long documents, if you make many passes or have little time",
        ":class:`~streamtopics.VariationalOnlineEM`",
        "one pass over newsgroups with 20 topics takes 0.41 seconds and scores -7.204 "
        "(``GibbsOnlineEM``: 0.60 seconds, -7.216); with 100 topics the score is -6.981 "
        "(``GibbsOnlineEM``: -6.930)",
        "for titles and tweets: variational steps find little in five words",
        "online_em",
    ),
    Row(
        "the number of topics is unknown",
        ":class:`~streamtopics.HDPGibbsOnlineEM`, :class:`~streamtopics.HDPVarGibbs`",
        "found 9 to 11 active topics in documents drawn from ten; perplexity on one stream (lower "
        "is better): ``HDPVarGibbs`` 539.27, ``GibbsOnlineEM(10)`` 551.18, the true topics 537.05",
        "to learn the true number of a real corpus, which does not exist: :doc:`n_components`",
        "quality",
    ),
    Row(
        "a classifier with topics of each class as explanation",
        ":class:`~streamtopics.MultiViewLDA`",
        "accuracy .811 on newsgroups and .848 on web pages; a linear model on tf-idf has .825 and "
        ".926",
        "if only the accuracy counts",
        "knowledge",
    ),
    Row(
        "praise and blame in reviews without labels",
        ":class:`~streamtopics.AspectSentimentModel`",
        "accuracy .770 on electronics and .805 on films; counting the seed words has .731 and .705",
        "if reviews are rated or labelled, or the stream has only few reviews",
        "knowledge",
    ),
    Row(
        "reviews with ratings, items or users",
        ":class:`~streamtopics.RatingLDA`, :class:`~streamtopics.SupervisedLDA`, "
        ":class:`~streamtopics.HiddenFactorsTopics`",
        "log-perplexity of film reviews with 32 topics (lower is better): "
        "8.427 with ratings (``RatingLDA``), 8.441 without, 8.415 by ``HiddenFactorsTopics``",
        "to predict words if ratings say little: the gain is small",
        "knowledge",
    ),
    Row(
        "topics of single sentences, also rare topics",
        ":class:`~streamtopics.WASTopicModel`",
        "perplexity on the source code of two programs 79 and 226 (lower is better), of LDA of "
        "whole documents 107 and 277; compared with the default prior, ``prior='hdp'`` is level on "
        "the first program and 5.0 ± 1.6 worse on the second",
        "if time matters: 900 documents, 338,693 words in all, took 101 seconds for 100 sweeps",
        "sentences",
    ),
    Row(
        "a summary of a document, or a digest of many",
        ":class:`~streamtopics.DPPSummarizer`",
        "two sentences of each collection of opinions: ROUGE-1 .307 without training (TextRank "
        ".309, the first two sentences .191); ROUGE-1 between the two sentences .370 "
        "(TextRank .530), where less is better",
        "if sentences must be written anew: a summary quotes sentences",
        "summaries",
    ),
    Row(
        "sets of dissimilar items: baskets, points",
        ":class:`~streamtopics.LowRankDPP`",
        "log-likelihood after 5,000 sets: a model of seven columns is .08 nats a set below the "
        "true kernel; Picard iteration, which learns a full kernel, is .66 below",
        "if there are few sets: after 1,000 sets Picard iteration was ahead",
        "determinantal",
    ),
    Row(
        "a coin, a regression, a mixture of Gaussians or naive Bayes on a changing stream",
        ":class:`~streamtopics.StreamingBayes`",
        "error of the estimated probability of a coin with two jumps: .018 with a hierarchical "
        "power prior, .025 with a power prior that keeps a half, .201 without forgetting",
        "for text with many words: take a topic model",
        "change",
    ),
    Row(
        "a rate of forgetting set by the stream",
        ":class:`~streamtopics.SVBHPP`",
        "for coins and regressions see ``StreamingBayes``; on three streams of text the rule kept "
        "nearly all counts: score on tweets -8.137, without forgetting -8.140",
        "as an alarm on text, because the rate hardly moves: take "
        ":class:`~streamtopics.streams.DriftMonitor`",
        "change",
    ),
)


def default_beside_peers(models: dict[str, dict[str, Figure]]) -> str:
    """Return on how many sets the default is first, and the time of the sampler."""
    first = sum(
        here[OURS].score > max(here[peer].score for peer in PEERS if peer in here)
        for here in models.values()
    )
    ratio = mean(here[SAMPLER].seconds / here[OURS].seconds for here in models.values())
    return (
        f"the best score of all packages on {first} of {len(models)} sets of texts; 200 sweeps of "
        f"tomotopy take {ratio:.0f} times as long"
    )


def differences(models: dict[str, dict[str, Figure]], name: str, texts: Iterable[str]) -> str:
    """Return the least and the largest difference of a model's score to that of the default."""
    found = [models[text][name].score - models[text][OURS].score for text in texts]
    return f"{min(found):+.3f} to {max(found):+.3f}"


def long_texts() -> list[str]:
    """Return the sets of texts that are not short."""
    return [text for text in TEXTS if text not in SHORT]


def guided() -> str:
    """Return the accuracy of guided topics on the sets that they were confirmed on."""
    of: dict[str, list[float]] = defaultdict(list)
    for row in rows("guided.csv"):
        if row["corpus"] in GUIDED_CONFIRMED:
            of[row["method"]].append(float(row["accuracy"]))
    names = ("GuidedTopics", "naive Bayes on seed hits", "counting seeds")
    ours, bayes, counting = (f"{mean(of[name]):.3f}" for name in names)
    return (
        f"mean accuracy on four sets {ours}; naive Bayes learnt from documents with a seed word "
        f"has {bayes}, counting the seed words {counting}"
    )


def forgetting() -> str:
    """Return what a memory of 20,000 documents gains on streams by time."""
    scores = {
        (row["stream"], row["model"]): float(row["score"])
        for row in rows("forgetting_streams.csv")
        if row["inference"] == "auto" and row["seed"] == "0"
    }
    gains = [
        f"{scores[text, 'power prior, 20,000 documents'] - scores[text, 'SVB']:+.3f} on {name}"
        for text, name in (*SHORT.items(), ("nips_abstracts", "abstracts"))
    ]
    return "score minus the score without forgetting: " + ", ".join(gains)


def list_table(table: list[tuple[str, ...]], options: Iterable[str] = ()) -> str:
    """Return rows of cells as reStructuredText; the first row is the head."""
    lines = [".. list-table::", "   :header-rows: 1", *options, ""]
    for row in table:
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}".rstrip() for i, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def not_on_their_page(read: Callable[[str], str]) -> list[str]:
    """Return the quoted figures that do not stand on the page that they are said to stand on."""
    lost = []
    for row in QUOTED:
        text = read(row.page)
        figures = re.findall(r"-?\d*\.\d+|\b\d{2,3}\b(?! (?:topics|nats))", row.measured)
        lost += [f"{row.page}: {figure}" for figure in figures if figure.lstrip("-") not in text]
    return lost


if __name__ == "__main__":
    main()
