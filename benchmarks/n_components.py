# SPDX-License-Identifier: BSD-3-Clause
"""How many topics: the comparison of `compare_n_components` on a corpus of texts.

    python -m benchmarks.n_components [CORPUS] [--numbers 5 10 20 40 80]

Words are those of at least five documents, without English stop words. Prints the table of means
over three parts.
"""

import argparse

from benchmarks.corpora import texts
from streamtopics import StreamingLDA
from streamtopics.inspection import compare_n_components
from streamtopics.text import StreamingCountVectorizer


def main() -> None:
    """Fit each number of topics three times, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="?", default="bbc_news")
    parser.add_argument("--numbers", type=int, nargs="+", default=[5, 10, 20, 40, 80])
    arguments = parser.parse_args()
    X = StreamingCountVectorizer(stop_words="english", min_df=5).fit_transform(
        texts(arguments.corpus)
    )
    print(compare_n_components(StreamingLDA(), X, arguments.numbers, random_state=0))


if __name__ == "__main__":
    main()
