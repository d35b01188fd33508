# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be kept is refused by name, and so is a file with anything wrong in it."""

import json
import pickle
import sys
from collections import defaultdict, deque
from functools import partial
from importlib import import_module
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, StreamingBayes, StreamingLDA, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.models import BetaBinomial
from streamtopics.saving import LoadError
from streamtopics.streams import Checkpointer, resume, stream
from streamtopics.text import Tokenizer
from streamtopics.updates import BPS
from tests.saving.state import is_same

X = make_lda_corpus(n_documents=60, n_features=30, n_components=3, random_state=0).X


@pytest.fixture
def path(tmp_path):
    """A file with a small model."""
    save(SVBLDA(2, random_state=0).partial_fit(X), tmp_path / "a.model")
    return tmp_path / "a.model"


def noted(value):
    model = SVBLDA()
    model.note = value
    return model


@pytest.mark.parametrize(("model", "said"), [
    (StreamingLDA(3, topic_word_prior=lambda names, X: 1.0), "test_refusals.<lambda>"),
    (make_pipeline(CountVectorizer(analyzer=str.split), SVBLDA()), "method_descriptor"),
    (StreamingLDA(3, update=type("Own", (), {})), "test_refusals.Own"),
    (noted(deque([1])), "collections.deque"),
    (noted(1 + 2j), "complex"),
    (noted(json), "module"),
    (noted({("a", 1): 2}), "keys must be"),
])  # fmt: skip
def test_what_cannot_be_kept_is_named(model, said, tmp_path):
    save(SVBLDA(), path := tmp_path / "a.model")
    before = path.read_bytes()
    with pytest.raises(TypeError, match=said):
        save(model, path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.model": before}


def test_a_class_of_a_notebook_is_not_saved(tmp_path, monkeypatch):
    """No other process could load it."""
    own = type("Own", (BPS,), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Own", own, raising=False)
    with pytest.raises(TypeError, match=r"__main__\.Own, but files keep only"):
        save(StreamingLDA(3, update=own(0.1)), tmp_path / "a.model")


STRANGER = """
from dataclasses import dataclass

from streamtopics.updates import BPS


@dataclass(frozen=True)
class Own(BPS):
    pass


def tokens(text):
    return text.split()
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module that is not of the package."""
    (tmp_path / "of_a_stranger.py").write_text(STRANGER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("of_a_stranger")
    sys.modules.pop("of_a_stranger", None)


def test_what_is_of_a_stranger_is_loaded_if_it_is_trusted(own, path):
    learnt = StreamingLDA(2, update=own.Own(0.1), random_state=0).partial_fit(X)
    counts = make_pipeline(CountVectorizer(analyzer=own.tokens), SVBLDA())
    for model, name in ((learnt, "Own"), (counts, "tokens")):
        save(model, path)
        with pytest.raises(LoadError, match=rf"names of_a_stranger\.{name}.*trusted=\['of_a"):
            load(path)
        text = f"of_a_stranger.{name}"
        for trusted in ([text], text, [getattr(own, name)]):
            assert is_same(load(path, trusted=trusted), model)


def test_a_module_that_is_gone_is_named(own, path, tmp_path, monkeypatch):
    save(StreamingLDA(2, update=own.Own(0.1)), path)
    (tmp_path / "of_a_stranger.py").unlink()
    monkeypatch.delitem(sys.modules, "of_a_stranger")
    with pytest.raises(LoadError, match=r"of_a_stranger.*PYTHONPATH"):
        load(path, trusted="of_a_stranger.Own")


def test_a_class_that_its_module_lacks_now_is_to_be_defined(own, path, monkeypatch):
    save(StreamingLDA(2, update=own.Own(0.1)), path)
    monkeypatch.delattr(own, "Own")
    with pytest.raises(LoadError, match=r"'Own'.*; define the class"):
        load(path, trusted="of_a_stranger.Own")


def test_a_stream_by_the_rule_of_a_stranger_goes_on(own, tmp_path):
    uncut, model = (StreamingLDA(2, update=own.Own(0.1), random_state=0) for _ in range(2))
    batches = [X[:20], X[20:40], X[40:]]
    stream(model, batches[:2], callbacks=[Checkpointer(tmp_path / "run", every=1)])
    with pytest.raises(LoadError, match=r"none of the checkpoints.*\n.*of_a_stranger\.Own"):
        resume(tmp_path / "run")
    found = resume(tmp_path / "run", trusted=["of_a_stranger.Own"])
    again = stream(found.model, batches, skip=found.n_batches)
    assert is_same(again, stream(uncut, batches))


def test_estimators_of_scikit_learn_are_kept_beside_ours(path):
    y = np.arange(X.shape[0]) % 2
    model = make_pipeline(SVBLDA(random_state=0), LogisticRegression()).fit(X, y)
    save(model, path)
    np.testing.assert_array_equal(load(path).predict_proba(X), model.predict_proba(X))


def test_a_file_that_is_cut_anywhere_is_refused(path):
    content = path.read_bytes()
    ends = np.random.default_rng(0).integers(len(content), size=50).tolist()
    said = r"a\.model cannot be loaded: BadZipFile.* damaged or cut"
    # At the end is the version that wrote it, which nothing hangs on.
    for end in [0, 1, *(end for end in ends if end < len(content) - 50)]:
        path.write_bytes(content[:end])
        with pytest.raises(LoadError, match=said):
            load(path)


def test_a_bit_that_is_flipped_in_an_array_is_found(path):
    content = path.read_bytes()
    with ZipFile(path) as archive:
        sections = [(one.header_offset + 30 + len(one.filename), one.file_size)
                    for one in archive.infolist()]  # fmt: skip
    rng = np.random.default_rng(0)
    for begin, size in sections:
        flipped = bytearray(content)
        flipped[begin + int(rng.integers(size))] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        with pytest.raises(LoadError, match="is damaged"):
            load(path)


@pytest.mark.parametrize("content", [b"", pickle.dumps(SVBLDA()), b"PK\3\4", b"streamtopics file!"])
def test_other_files_and_archives_are_refused(content, path):
    said = r"a\.model cannot be loaded.*written by another program"
    path.write_bytes(content)
    with pytest.raises(LoadError, match=said):
        load(path)
    with ZipFile(path, "w") as archive:
        archive.writestr("content.xml", content)
    with pytest.raises(LoadError, match=said):
        load(path)


def rewritten(path, how):
    """Write a file whose description was changed."""
    with ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(contents["schema.json"])
    contents["schema.json"] = json.dumps(how(schema) or schema).encode()
    with ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def put(value):
    """Put the description of a value in the place of a parameter's."""
    return lambda schema: schema["content"]["content"].update(n_jobs=value)


def node(loader, name, **more):
    module, _, last = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": last, **more}


EMPTY = node("TupleNode", "builtins.tuple", content=[])
NAMED = node("JsonNode", "builtins.str", content='["sys:exit"]')
EXIT = node("ConstructorFromReduceNode", "streamtopics.text.languages.Tokenizer", content=NAMED)
KEYS = node("ListNode", "builtins.list", content=[EXIT])
BAD = {
    "a function of Python": put(node("FunctionNode", "os.system")),
    "a call": put(node("ConstructorFromReduceNode", "os.getcwd", content=EMPTY)),
    "a function of ours that writes": put(node("FunctionNode", "streamtopics.saving.models.save")),
    "a function by way of ours": put(node("FunctionNode", "streamtopics.saving.files.shutil")),
    "a class that is not listed": put(node("ObjectNode", "streamtopics.streams.Checkpointer")),
    "a called key": put(node("DictNode", "builtins.dict", content={"a": EMPTY}, key_types=KEYS)),
    "an unknown kind": put(node("PickleNode", "builtins.int")),
    "no such array": put(node("NdArrayNode", "numpy.ndarray", type="numpy", file="x.npy")),
    "a later format": lambda schema: schema.update(protocol=99),
    "no value": lambda schema: {"protocol": schema["protocol"]},
    "no attributes": lambda schema: schema.update(content=None),
}  # fmt: skip


@pytest.mark.parametrize("how", BAD.values(), ids=BAD)
def test_whatever_a_file_says_is_refused_by_name(how, path):
    rewritten(path, how)
    if how is BAD["no attributes"]:
        # An estimator that lacks its parameters is an error of Python when it is used.
        with pytest.raises(AttributeError):
            load(path).partial_fit(X)
        return
    with pytest.raises(LoadError, match=r"a\.model (cannot be loaded|names)"):
        load(path)


def test_a_tokenizer_in_another_object_is_named(path):
    words = Tokenizer("shlex:split")
    for within in (partial(words), partial(partial, words), defaultdict(words)):
        save(noted(within), path)
        with pytest.raises(LoadError, match="names shlex:split"):
            load(path)


def test_no_module_is_imported_for_a_family_unless_it_is_trusted(path, monkeypatch):
    save(StreamingBayes(BetaBinomial()).partial_fit(X[:, :1].toarray() > 0), path)
    (path.parent / "own_beta.py").write_text("from streamtopics.families.beta import *")
    monkeypatch.syspath_prepend(path.parent)
    theirs = "streamtopics.families.beta"
    rewritten(path, lambda schema: json.loads(json.dumps(schema).replace(theirs, "own_beta")))
    with pytest.raises(LoadError, match="own_beta"):
        load(path)
    assert "own_beta" not in sys.modules
    import_module("own_beta")
    with pytest.raises(LoadError, match=r"names own_beta, .* trusted=\['own_beta'\]"):
        load(path)
    del sys.modules["own_beta"]
    assert load(path, trusted=["own_beta"]).n_samples_seen_ == X.shape[0]
    del sys.modules["own_beta"]
