# SPDX-License-Identifier: BSD-3-Clause
"""Stop words, tokenizers by name, and scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from streamtopics.utils.checks import check_whole

# Halves of "don't" and "we've" after an apostrophe is cut; without "won", a word.
HALVES = """
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren
    wouldn ll re ve d m s t
"""
# Scripts without spaces between words, with a function to cut words.
SCRIPTS = {
    "Japanese": ("\u3040-\u30ff", "nagisa:wakati"),
    "Chinese": ("\u3400-\u4dbf\u4e00-\u9fff", "jieba:lcut"),
    "Thai": ("\u0e00-\u0e7f", "pythainlp.tokenize:word_tokenize"),
    "Lao": ("\u0e80-\u0eff", ""),
    "Burmese": ("\u1000-\u109f", ""),
    "Khmer": ("\u1780-\u17ff", ""),
}
UNSPACED = re.compile(f"[{''.join(letters for letters, _ in SCRIPTS.values())}]+")
# Number of texts to look at, characters of each, and characters of a run of several words.
N_TEXTS, N_CHARACTERS, LONG_RUN = 1000, 500, 6
# A file that is being loaded can call a tokenizer before its name is checked.
IS_LOADING = ContextVar("IS_LOADING", default=False)


def stop_words(source: str | PathLike[str]) -> list[str]:
    """Return the stop words of a language or of a file.

    Parameters
    ----------
    source : str or path-like
        A file in UTF-8 with a word on each line, or a language. "english" is scikit-learn's list
        and halves of contractions such as "didn". Other languages need the package ``stop-words``.

    Returns
    -------
    words : list of str
        In lower case, sorted.

    Examples
    --------
    >>> from streamtopics.text import StreamingCountVectorizer, stop_words
    >>> words = StreamingCountVectorizer(stop_words=stop_words("english"))
    >>> words.fit(["They didn't see the ship"]).get_feature_names_out()
    array(['ship'], dtype=object)
    """
    path = Path(source)
    if path.is_file():
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        return sorted({line.strip().lower() for line in lines} - {""})
    if str(source) == "english":
        return sorted(ENGLISH_STOP_WORDS.union(HALVES.split()))
    try:
        lists = import_module("stop_words")
    except ImportError as error:
        raise ValueError(
            f"there is no file {str(source)!r} of stop words; lists of languages other than "
            "'english' need: pip install stop-words"
        ) from error
    try:
        return sorted(lists.get_stop_words(str(source)))
    except lists.StopWordError as error:
        known = ", ".join(lists.AVAILABLE_LANGUAGES)
        raise ValueError(
            f"{str(source)!r} is neither a file of stop words nor a language; use one of {known}"
        ) from error


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer by name, so that models can be saved; words without a letter are left out.

    Parameters
    ----------
    name : str
        Module and name of a function from a str to a list of words, for example "jieba:lcut". To
        load a model call ``load(path, trusted=["jieba:lcut"])``.
    shortest : int, default=1
        Least number of characters of a word.

    Examples
    --------
    >>> from streamtopics.text import StreamingCountVectorizer, Tokenizer
    >>> tokenizer = Tokenizer("shlex:split", shortest=2)
    >>> words = StreamingCountVectorizer(tokenizer=tokenizer, token_pattern=None)
    >>> words.fit(["a 'red sky' at 7"]).get_feature_names_out()
    array(['at', 'red sky'], dtype=object)
    """

    name: str
    shortest: int = 1

    def __post_init__(self) -> None:
        check_whole(self, shortest=self.shortest)
        module, _, function = str(self.name).partition(":")
        if not module or not function:
            raise ValueError(
                f"name must be 'module:function', such as 'jieba:lcut'; got {self.name!r:.60}"
            )

    def __call__(self, text: str) -> list[str]:
        if IS_LOADING.get():
            raise RuntimeError(f"the file runs the tokenizer {self.name!r} while it is loaded")
        try:
            cut = resolve_name(self.name)
        except (AttributeError, ImportError) as error:
            raise ValueError(
                f"the tokenizer {self.name!r} cannot be imported: {error}; install its package"
            ) from error
        return [w for w in cut(text) if len(w) >= self.shortest and any(map(str.isalpha, w))]


def unspaced_script(texts: Iterable[str]) -> tuple[str, str] | None:
    """Return the script of texts without spaces and a tokenizer's name, or None with spaces."""
    some = "\n".join(text[:N_CHARACTERS] for text in islice(texts, N_TEXTS))
    runs = [run for run in UNSPACED.findall(some) if len(run) >= LONG_RUN]
    if 2 * sum(map(len, runs)) <= sum(map(str.isalnum, some)):
        return None
    n = {name: len(re.findall(f"[{of}]", "".join(runs))) for name, (of, _) in SCRIPTS.items()}
    # Japanese uses Chinese characters, too.
    script = "Japanese" if 10 * n["Japanese"] > n["Chinese"] > 0 else max(n, key=n.__getitem__)
    return script, SCRIPTS[script][1]
