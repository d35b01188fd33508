# SPDX-License-Identifier: BSD-3-Clause
"""Text without an end, made as fast as memory is read: Zipf's words, topics that drift, new words.

A document has three of 300 topics and a length of about a hundred words. Of its words three in ten
are those of all topics. The probability of a topic's r-th word is in proportion to 1 / r; which
word of 60,000 that is depends on topic and rank, and changes every 50 million tokens. One word in a
hundred is new: every thousand tokens a word enters that was never there, in a topic of its own, and
the longer ago that was the rarer it is. Words have seven letters.
"""

import numpy as np

N_TOPICS, N_WORDS, N_NEW_WORDS = 300, 60_000, 20_000
RANKS, RANKS_OF_ALL = 5000, 20_000
SHARE_OF_ALL, SHARE_OF_NEW = 0.3, 0.01
TOKENS_A_NEW_WORD, TOKENS_OF_A_RANK = 1000, 50_000_000
LETTERS = 26**7
ODD = np.uint64(0x9E3779B97F4A7C15)


class EndlessText:
    """A generator of documents.

    Parameters
    ----------
    seed : int
        The same one makes the same documents, when these are asked for in the same portions.
    """

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.n_tokens = 0

    def documents(self, n_documents: int) -> list[str]:
        """Return the next documents."""
        lengths = np.exp(self.random.normal(4.42, 0.6, n_documents)).astype(np.int64) + 1
        ids = self._ids(lengths)
        self.n_tokens += len(ids)
        text = spelled(ids)
        text[8 * np.cumsum(lengths) - 1] = ord("\n")
        return text.tobytes().decode("ascii").split("\n")[:-1]

    def _ids(self, lengths: np.ndarray) -> np.ndarray:
        """The words of documents of these lengths, one after the other."""
        n, random = int(lengths.sum()), self.random
        of_documents = random.integers(0, N_TOPICS, (len(lengths), 3))
        documents = np.repeat(np.arange(len(lengths)), lengths)
        kind = random.random(n, dtype=np.float32)
        place = (kind > 0.6).astype(np.int64) + (kind > 0.9)
        topics = of_documents[documents, place]
        new = np.flatnonzero(random.random(n, dtype=np.float32) < SHARE_OF_NEW)
        own_topics = topics[new]
        topics[random.random(n, dtype=np.float32) < SHARE_OF_ALL] = N_TOPICS
        most = np.where(topics == N_TOPICS, np.log(RANKS_OF_ALL), np.log(RANKS))
        ranks = np.exp(random.random(n, dtype=np.float32) * most).astype(np.uint64)
        ids = self._known(topics.astype(np.uint64), ranks)
        lags = np.exp(random.random(len(new)) * np.log(N_NEW_WORDS)).astype(np.int64)
        newest = self.n_tokens // TOKENS_A_NEW_WORD + N_NEW_WORDS - lags
        ids[new] = N_WORDS + newest // N_TOPICS * N_TOPICS + own_topics
        return ids

    def _known(self, topics: np.ndarray, ranks: np.ndarray) -> np.ndarray:
        """Words by topic and rank, as they are now."""
        places = topics * np.uint64(RANKS_OF_ALL) + ranks
        phases = places * ODD >> np.uint64(40)
        now = np.uint64(self.n_tokens * (1 << 24) // TOKENS_OF_A_RANK)
        lives = (phases + now) >> np.uint64(24)
        mixed = (places + (lives << np.uint64(24))) * ODD
        mixed = (mixed ^ (mixed >> np.uint64(29))) * ODD >> np.uint64(40)
        # Some words are in more topics than others.
        return (N_WORDS * (mixed / np.float64(1 << 24)) ** 3).astype(np.int64)


def spelled(ids: np.ndarray) -> np.ndarray:
    """Words, seven letters and a space each, as bytes in a row.

    Each is spelled anew, so that a word costs the same wherever a text has come to.
    """
    # Prime to 26, so that no two words are the same.
    left = ids.astype(np.uint64) * np.uint64(3_141_592_653) % LETTERS
    letters = np.full((len(ids), 8), ord(" "), dtype=np.uint8)
    for place in range(7):
        left, letter = np.divmod(left, 26)
        letters[:, place] = letter + ord("a")
    return letters.ravel()
