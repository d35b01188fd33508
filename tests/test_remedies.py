# SPDX-License-Identifier: BSD-3-Clause
"""The advice of messages is taken: what it names is read out of the message, and done."""

import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import BPSLDA, GuidedTopics, StreamingLDA, load
from streamtopics.cli import main
from streamtopics.datasets import ReadingError, read_texts
from streamtopics.estimators import Schedule
from streamtopics.priors import SeedWords
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer

WORDS = ["ship sailor wave anchor tide", "plane pilot cloud wing airport"]
TEXTS = [f"{WORDS[i % 2]} {WORDS[i % 2].split()[i % 5]}" for i in range(40)]
OTHERS = ["wolf raven otter badger", "bread butter cheese olive"] * 20


def run(capsys, *arguments):
    """Return the exit status, and what was said on standard error."""
    status = main([*map(str, arguments), "--quiet"])
    return status, capsys.readouterr().err


def fit(capsys, path, *more):
    """Fit from the command line; of a mistake return what is said of it."""
    model = path.with_suffix(".model")
    status, said = run(
        capsys, "fit", path, "--topics", 2, "--max-share", 1, "--model", model, *more
    )
    assert (status == 0) == model.exists()
    if status == 0:
        names = set(load(model)[0].get_feature_names_out())
        assert names >= {"ship", "plane"} or names >= {"wolf", "cheese"}
    return None if status == 0 else said


def named(pattern, said):
    """What a message names, the groups of a pattern that it must match."""
    match = re.search(pattern, said)
    assert match, said
    return match.groups()


def write(path, texts, form):
    path.write_text("\n".join(form(i, text) for i, text in enumerate(texts)), encoding="utf-8")
    return path


# Files that cannot be read as they are


@pytest.mark.parametrize(
    ("suffix", "form", "head"),
    [
        (".jsonl", lambda i, text: json.dumps({"id": f"a{i}", "comment_text": text}), None),
        (".jsonl", lambda i, text: json.dumps({"n": i, "what": text}), None),
        (".jsonl", lambda i, text: json.dumps({"lang": "en", "said": text, "by": None}), None),
        (".csv", lambda i, text: f"{i},{text}", "id,review"),
        (".csv", lambda i, text: f"{i},{text}", "id,review_text"),
        (".tsv", lambda i, text: f"{i}\t{text}", "id\tText"),
    ],
)
def test_the_field_of_the_texts(tmp_path, capsys, suffix, form, head):
    path = write(tmp_path / f"a{suffix}", TEXTS, form)
    if head:
        path.write_text(f"{head}\n{path.read_text()}")
    (key,) = named(r"pass --text-key (\w+)", fit(capsys, path))
    assert fit(capsys, path, "--text-key", key) is None
    with pytest.raises(ReadingError) as error:
        list(read_texts(path))
    (key,) = named(r"pass text_key='(\w+)'", str(error.value))
    assert list(read_texts(path, text_key=key)) == TEXTS


def test_texts_within_objects(tmp_path, capsys):
    path = write(tmp_path / "a.jsonl", TEXTS, lambda i, text: json.dumps(
        {"_index": "tweets", "_source": {"text": text, "lang": "en"}}
    ))  # fmt: skip
    outer, command = named(r"it is within '(\w+)'; .*`(jq -c \.\w+)`", fit(capsys, path))
    inner = [json.loads(line)[outer] for line in path.read_text().splitlines()]
    assert list(read_texts(inner)) == TEXTS
    alone = write(tmp_path / "b.jsonl", inner, lambda i, one: json.dumps(one))
    if shutil.which("jq"):
        alone.write_bytes(subprocess.run([*command.split(), path], stdout=-1, check=True).stdout)
    assert fit(capsys, alone) is None


@pytest.mark.parametrize("row", ["{text}", "{i},{text}"])
def test_a_table_without_names_of_columns(tmp_path, capsys, row):
    path = write(tmp_path / "a.csv", TEXTS, lambda i, text: row.format(i=i, text=text))
    said = fit(capsys, path)
    assert "these are no names, write such a row; if each line is a text" in said
    if "," not in row:
        (suffix,) = named(r"the file should end in (\.\w+)", said)
        assert fit(capsys, path.rename(path.with_suffix(suffix))) is None
    else:
        path.write_text(f"number,text\n{path.read_text()}")
        assert fit(capsys, path) is None


def test_an_encoding(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(f"{text} café" for text in TEXTS), encoding="latin-1")
    (encoding,) = named(r"pass --encoding (\S+),", fit(capsys, path))
    assert fit(capsys, path, "--encoding", encoding) is None
    assert "café" in load(path.with_suffix(".model"))[0].get_feature_names_out()


def test_an_encoding_of_two_bytes(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-16")
    source, target = named(r"`iconv -f (\S+) -t (\S+) FILE`", fit(capsys, path))
    path.write_text(path.read_text(encoding=source), encoding=target)
    assert fit(capsys, path) is None


# Words


def test_words_that_are_in_too_few_documents(tmp_path, capsys):
    path = write(tmp_path / "a.txt", TEXTS + OTHERS, lambda i, text: text)
    option, value = named(r"try (--min-documents) (\d+)", fit(capsys, path, "--min-documents", 39))
    assert fit(capsys, path, option, value) is None


def test_a_vocabulary_that_is_closed(tmp_path, capsys):
    path = write(tmp_path / "a.txt", TEXTS, lambda i, text: text)
    other = write(tmp_path / "b.txt", OTHERS, lambda i, text: text)
    assert fit(capsys, path) is None
    status, said = run(capsys, "update", path.with_suffix(".model"), other)
    assert status != 0
    (verb,) = named(r"`streamtopics (\w+)` begins a model with other words", said)
    assert verb == "fit"
    assert fit(capsys, other) is None


def guided(seeds, **others):
    return GuidedTopics(seeds, random_state=0, **others)


def boosted(seeds, **others):
    return BPSLDA(
        2,
        boosted_prior=SeedWords(seeds, 5.0, **others),
        schedule=Schedule(n_rounds=10),
        batch_size=10,
        random_state=0,
    )


def of_texts(model):
    return make_pipeline(NamedVectorizer(CountVectorizer()), model)


@pytest.mark.parametrize("make", [guided, boosted])
def test_seeds_that_are_not_in_the_vocabulary(make):
    seeds = {"sea": ["ship", "schooner"], "sky": ["plane"]}
    with pytest.raises(ValueError, match="not in the vocabulary") as error:
        of_texts(make(seeds)).fit(TEXTS)
    (missing,) = named(r"missing='(\w+)'", str(error.value))
    expected = of_texts(make(seeds, missing=missing)).fit(TEXTS)[-1].components_
    (words,) = named(r"vocabulary: \[(.*)\]; leave them out", str(error.value))
    left = {topic: [word for word in some if repr(word) != words] for topic, some in seeds.items()}
    assert (of_texts(make(left)).fit(TEXTS)[-1].components_ == expected).all()


def test_a_seed_of_two_topics():
    seeds = {"sea": ["ship", "cloud"], "sky": ["plane", "cloud"]}
    with pytest.raises(ValueError, match="leave it out of all but one") as error:
        of_texts(boosted(seeds)).fit(TEXTS)
    word, topic = named(r"'(\w+)' is a seed of the topics '(\w+)' and", str(error.value))
    seeds[topic].remove(word)
    assert len(of_texts(boosted(seeds)).fit(TEXTS).transform(TEXTS)) == len(TEXTS)


# Documents in Python


def test_texts_that_are_missing():
    texts = pd.Series([*TEXTS, np.nan, *TEXTS])
    expected = StreamingCountVectorizer().fit_transform(TEXTS + TEXTS)
    for missing in (np.nan, float("nan"), None):
        texts[len(TEXTS)] = missing
        with pytest.raises((TypeError, ValueError), match="fill missing texts by ''") as error:
            StreamingCountVectorizer().fit(texts)
        (value,) = named(r"by '(.*?)', or leave them out", str(error.value))
        filled = StreamingCountVectorizer().fit_transform(texts.fillna(value))
        assert (filled.sum(axis=0) == expected.sum(axis=0)).all()
        left = StreamingCountVectorizer().fit_transform(texts.dropna())
        assert (left != expected).nnz == 0
    with pytest.raises(ReadingError, match=r"item 41 of source.*or leave it out"):
        list(read_texts(texts.tolist()))
    assert list(read_texts(texts.dropna().tolist())) == TEXTS + TEXTS


def test_lists_of_words():
    tokens = [text.split() for text in TEXTS]
    with pytest.raises(TypeError) as error:
        StreamingCountVectorizer().fit(tokens)
    (analyzer,) = named(r"pass analyzer=(\w+) for lists of words", str(error.value))
    vectorizer = StreamingCountVectorizer(analyzer={"list": list}[analyzer])
    expected = StreamingCountVectorizer().fit_transform(TEXTS)
    assert (vectorizer.fit_transform(tokens) != expected).nnz == 0


def test_lists_of_words_in_a_file(tmp_path, capsys):
    path = write(tmp_path / "a.jsonl", TEXTS, lambda i, text: json.dumps({"text": text.split()}))
    named("(If these are words join them)", fit(capsys, path))
    write(path, TEXTS, lambda i, text: json.dumps({"text": " ".join(text.split())}))
    assert fit(capsys, path) is None


def test_what_is_not_fitted():
    X = CountVectorizer().fit_transform(TEXTS)
    for model, given in [
        (StreamingLDA(2, random_state=0), X),
        (StreamingCountVectorizer(), TEXTS),
        (make_pipeline(StreamingCountVectorizer(), StreamingLDA(2, random_state=0)), TEXTS),
    ]:
        with pytest.raises(NotFittedError) as error:
            model.transform(given)
        (method,) = named(r"(?:Call '|by )(fit)\b", str(error.value))
        assert getattr(model, method)(given).transform(given).shape[0] == len(TEXTS)


def test_texts_where_counts_are_needed():
    with pytest.raises(TypeError, match="turn the documents into counts first") as error:
        StreamingLDA(2, random_state=0).fit(TEXTS)
    (name,) = named(r"sklearn\.feature_extraction\.text\.(\w+)\(\)", str(error.value))
    counts = {"CountVectorizer": CountVectorizer}[name]().fit_transform(TEXTS)
    assert StreamingLDA(2, random_state=0).fit(counts).n_documents_seen_ >= len(TEXTS)
