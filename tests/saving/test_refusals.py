# SPDX-License-Identifier: BSD-3-Clause
"""What is not kept is refused by name, and so is a file with anything wrong in it."""

import hashlib
import json
import pickle
import struct
from inspect import signature

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.saving import LoadError, container, fields, models, upgrades
from streamtopics.saving.known import named
from streamtopics.updates import Boost, PowerPrior

X = make_lda_corpus(n_documents=60, n_features=30, n_components=3, random_state=0).X


@pytest.fixture
def path(tmp_path):
    """A file with a small model."""
    save(SVBLDA(2, random_state=0).partial_fit(X), tmp_path / "a.model")
    return tmp_path / "a.model"


def description_of(path):
    content = path.read_bytes()
    n_text = struct.unpack("<Q", content[40:48])[0]
    return json.loads(content[48 : 48 + n_text]), content[48 + n_text : -32]


def rewrite(path, description, arrays, number=1):
    """Write a file with a right checksum, whatever it says."""
    text = json.dumps(description).encode()
    content = f"streamtopics file, format {number:05d}\n".encode()
    content += struct.pack("<QQ", 48 + len(text) + len(arrays) + 32, len(text)) + text + arrays
    path.write_bytes(content + hashlib.sha256(content).digest())


# What is not saved


class Own:
    pass


class OwnModel(GibbsOnlineEM):
    pass


@pytest.mark.parametrize(("model", "where", "remedy"), [
    (StreamingLDA(3, topic_word_prior=lambda names, X: 1.0), "topic_word_prior", "set it to None"),
    (make_pipeline(CountVectorizer(analyzer=str.split), SVBLDA()), r"steps\[0\]\[1\].analyzer", ""),
    (make_pipeline(SVBLDA(), LogisticRegression()), r"LogisticRegression.*not kept", "joblib"),
    (StreamingLDA(3, update=Own), "update", "classes of your own"),
    (StreamingLDA(3, random_state=np.random.default_rng(0)), "random_state", "pickle"),
    (OwnModel(3), "OwnModel", "pickle"),
    (StreamingLDA(3, n_jobs=np.empty(2, [("a", "f8")])), "n_jobs is an array", ""),
])  # fmt: skip
def test_what_cannot_be_kept_is_named(model, where, remedy, tmp_path):
    path = tmp_path / "a.model"
    save(SVBLDA(), path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match=where) as caught:
        save(model, path)
    assert remedy in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["a.model"]
    assert path.read_bytes() == before


def test_a_field_that_is_wrong_is_found_before_it_is_too_late(tmp_path):
    update = PowerPrior(0.9)
    object.__setattr__(update, "rho", "often")
    with pytest.raises(TypeError, match=r"update cannot be kept: the field 'rho'.*is a str"):
        save(StreamingLDA(3, update=update), tmp_path / "a.model")


@pytest.mark.parametrize("model", [SVBLDA, None, {"a": 1}, X])
def test_only_estimators_are_saved(model, tmp_path):
    with pytest.raises(TypeError, match="model must be an estimator"):
        save(model, tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


def test_a_tuple_in_itself_is_refused(tmp_path):
    inner = []
    model = SVBLDA()
    model.note = (inner,)
    inner.append(model.note)
    with pytest.raises(TypeError, match="refers to itself"):
        save(model, tmp_path / "a.model")


# Damaged files


def test_a_file_that_is_cut_anywhere_is_refused(path):
    content = path.read_bytes()
    n_text = struct.unpack("<Q", content[40:48])[0]
    sections = [0, 1, 10, 31, 32, 33, 40, 47, 48, 49, 48 + n_text - 1, 48 + n_text, 48 + n_text + 1]
    sections += [len(content) - n for n in (33, 32, 31, 1)]
    rng = np.random.default_rng(0)
    for end in [*sections, *rng.integers(len(content), size=50).tolist()]:
        path.write_bytes(content[:end])
        with pytest.raises(LoadError, match=r"a\.model (is cut|was not written)"):
            load(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(LoadError, match="damaged"):
        load(path)


def test_a_bit_that_is_flipped_anywhere_is_found(path):
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    places = [*range(48), *rng.integers(48, len(content), size=200).tolist()]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        with pytest.raises(LoadError, match=r"a\.model (is|was not)"):
            load(path)


@pytest.mark.parametrize("content", [b"", pickle.dumps(SVBLDA()), b"PK\3\4", b"streamtopics file!"])
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(LoadError, match=r"a\.model was not written by streamtopics\.save"):
        load(path)


def test_no_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


# Files with a right checksum that say something else


def test_a_later_format_is_refused(path):
    rewrite(path, *description_of(path), number=2)
    with pytest.raises(LoadError, match=r"format 2.*up to 1; update streamtopics"):
        load(path)


def test_an_earlier_format_is_upgraded(path, monkeypatch):
    def renamed(description):
        description["value"]["object"][1]["n_components"] = 9
        return description

    monkeypatch.setattr(upgrades, "FORMAT", 3)
    monkeypatch.setattr(container, "FORMAT", 3)
    monkeypatch.setattr(upgrades, "UPGRADES", {1: lambda d: d, 2: renamed})
    assert load(path).n_components == 9


def test_a_class_keeps_its_name_in_files(path, monkeypatch):
    description, arrays = description_of(path)
    description["value"]["object"][0] = "streamtopics.before.LDA"
    rewrite(path, description, arrays)
    with pytest.raises(LoadError, match=r"no class or function 'streamtopics\.before\.LDA'"):
        load(path)
    now = "streamtopics.estimators.svb_lda.SVBLDA"
    monkeypatch.setitem(upgrades.RENAMED, "streamtopics.before.LDA", now)
    assert type(load(path)) is SVBLDA


def test_a_parameter_keeps_its_value_under_a_new_name(path):
    description, arrays = description_of(path)
    state = description["value"]["object"][1]
    del state["local_tol"]
    state["tol"] = 0.25
    rewrite(path, description, arrays)
    loaded = load(path)
    assert loaded.local_tol == 0.25
    assert "tol" not in vars(loaded)


@pytest.mark.parametrize("name", upgrades.RENAMED_FIELDS)
def test_what_was_renamed_has_the_new_name_and_not_the_old_one(name):
    known = set(signature(named(name)).parameters)
    for before, now in upgrades.RENAMED_FIELDS[name].items():
        assert now in known
        assert before not in known


def test_parameters_and_fields_that_are_new_have_their_defaults(path):
    description, arrays = description_of(path)
    state = description["value"]["object"][1]
    del state["max_local_iter"]
    del state["_commit"]["object"][1]["n_iter"]
    # A number that is not there any more is not counted.
    rewrite(path, description, arrays)
    loaded = load(path)
    assert loaded.max_local_iter == SVBLDA().max_local_iter
    assert loaded._commit.n_iter == 0


@pytest.mark.parametrize(("value", "loads"), [([0, 0.0], True), ([2, 9.0], False)])
def test_a_field_that_is_gone_is_left_out_only_if_it_said_nothing(value, loads, path):
    description, arrays = description_of(path)
    description["value"]["object"][1]["_commit"]["object"][1]["uncounted"] = {"tuple": value}
    rewrite(path, description, arrays)
    if loads:
        assert not hasattr(load(path)._commit, "uncounted")
        return
    with pytest.raises(LoadError, match="Commit has no field 'uncounted'"):
        load(path)


def changed(description, how):
    """Change a description by a function of the estimator's state."""
    how(description["value"]["object"][1], description)
    return description


def put(name, value):
    return lambda state, description: state.update({name: value})


def posterior_of(state):
    return state["_commit"]["object"][1]["posterior"]["object"][1]


def rows_of(state):
    return posterior_of(state)["_state"]["object"][1]["S"]["object"][1]


DEEP = json.loads("[" * 900 + "]" * 900)
BAD = {
    "a function of Python": put("n_jobs", {"name": "os.system"}),
    "a module of ours": put("n_jobs", {"name": "streamtopics.saving.models.load"}),
    "a class that is not listed": put("n_jobs", {"object": ["builtins.object", {}]}),
    "no name": put("n_jobs", {"name": None}),
    "an unknown kind": put("n_jobs", {"pickle": "gASVBQAAAA=="}),
    "two kinds": put("n_jobs", {"tuple": [], "set": []}),
    "no kind": put("n_jobs", {}),
    "parts of a class without": put("n_jobs", {"parts": [SVBLDA.__module__ + ".SVBLDA", {}]}),
    "attributes of what has parts": put("n_jobs", {"object": ["functools.partial", {}]}),
    "a function as a class": put(
        "n_jobs", {"object": ["streamtopics.text.splitting.split_sentences", {}]}
    ),
    "no such array": put("n_jobs", {"array": 10**6}),
    "a place that is no number": put("n_jobs", {"array": "0"}),
    "a later value": put("n_jobs", {"again": 10**6}),
    "a part of itself": put("n_jobs", {"tuple": [{"again": 1}]}),
    "a set of lists": put("n_jobs", {"set": [[1]]}),
    "a key that is a list": put("n_jobs", {"dict": [[[1], 2]]}),
    "a tuple that is no list": put("n_jobs", {"tuple": 3}),
    "a method": put("partial_fit", 3),
    "a shape that does not fit": put("n_jobs", {"objects": [[3, 10**12], [1, 2]]}),
    "a family of another package": put("n_jobs", {
        "parts": ["streamtopics.posteriors.dense.Block",
                  {"family": "os", "prior": None, "knowledge": None}]}),
    "a random state that is none": put(
        "n_jobs", {"parts": ["numpy.random.RandomState", {"state": {"names": {"a": 1}}}]}
    ),
    "a field of another type": put(
        "update", {"object": ["streamtopics.updates.bps.BPS", {"scale": "0.1", "norm": "whole"}]}
    ),
    "a word that a field may not be": put(
        "update", {"object": ["streamtopics.updates.bps.BPS", {"scale": 0.1, "norm": "half"}]}
    ),
    "a field that there is not": put(
        "update", {"object": ["streamtopics.updates.svb.SVB", {"scale": 0.1}]}
    ),
    "a field that is missing": put(
        "update", {"object": ["streamtopics.updates.power_prior.PowerPrior", {}]}
    ),
    "words beyond the vocabulary": lambda state, _: rows_of(state).update(n_words=3),
    "a vocabulary without end": lambda state, _: rows_of(state).update(n_words=10**15),
    "words that are numbers": lambda state, _: rows_of(state).update(words=3),
    "no counts": lambda state, _: rows_of(state).pop("counts"),
    "another shape": lambda state, _: posterior_of(state).update(shape={"tuple": [30, 3]}),
    "a matrix with an entry outside": put("n_jobs", {
        "parts": ["scipy.sparse.csr_matrix", {
            "shape": {"tuple": [1, 1]},
            "data": {"objects": [[1], [1.0]]}, "indices": {"objects": [[1], [9]]},
            "indptr": {"objects": [[2], [0, 1]]}}]}),
    "no value": lambda _, description: description.pop("value"),
    "no arrays": lambda _, description: description.pop("arrays"),
    "more arrays than bytes": lambda _, d: d["arrays"].append(["<f8", [2**40, 2**20], "C"]),
    "fewer arrays than bytes": lambda _, d: d["arrays"].pop(),
    "arrays of objects": lambda _, d: d["arrays"].append(["|O", [0], "C"]),
    "a negative shape": lambda _, d: d["arrays"].append(["<f8", [-1, -8], "C"]),
    "an order that there is not": lambda _, d: d["arrays"].append(["<f8", [0], "K"]),
    "an empty array without end": lambda _, d: d["arrays"].append(["<f8", [0, 2**61, 2**61], "C"]),
}  # fmt: skip


@pytest.mark.parametrize("how", BAD.values(), ids=BAD)
def test_whatever_a_file_says_is_refused_by_name(how, path):
    description, arrays = description_of(path)
    rewrite(path, changed(description, how), arrays)
    with pytest.raises(LoadError, match=r"a\.model (cannot be loaded|has no valid)") as caught:
        load(path)
    assert "streamtopics" in str(caught.value) or "save it again" in str(caught.value)


@pytest.mark.parametrize("text", [b"{", b"\xff", b"[]", b"null", b"{}", b"[" * 10**5])
def test_a_description_that_is_none_is_refused(text, path):
    content = b"streamtopics file, format 00001\n"
    content += struct.pack("<QQ", 48 + len(text) + 32, len(text)) + text
    path.write_bytes(content + hashlib.sha256(content).digest())
    with pytest.raises(LoadError, match=r"a\.model has no valid description"):
        load(path)


def test_depth_is_bounded(path):
    description, arrays = description_of(path)
    description["value"]["object"][1]["n_jobs"] = DEEP
    text = json.dumps(description).replace("[" * 900, "[" * 90_000).replace("]" * 900, "]" * 90_000)
    content = b"streamtopics file, format 00001\n" + struct.pack(
        "<QQ", 48 + len(text) + len(arrays) + 32, len(text)
    )
    content += text.encode() + arrays
    path.write_bytes(content + hashlib.sha256(content).digest())
    with pytest.raises(LoadError):
        load(path)


def test_an_empty_format_is_refused(path):
    rewrite(path, *description_of(path), number=0)
    with pytest.raises(LoadError, match="does not exist"):
        load(path)


def test_a_checkpoint_is_no_model(path):
    models.write(SVBLDA(), path, kind="checkpoint")
    with pytest.raises(LoadError, match=r"holds a checkpoint, not a model.*resume"):
        load(path)


def test_what_is_no_estimator_is_not_loaded_as_one(path):
    models.write([SVBLDA()], path, kind="model")
    with pytest.raises(LoadError, match=r"a\.model holds a list in place of an estimator"):
        load(path)


def test_numbers_may_be_of_any_kind_in_fields():
    fields.check_fields(Boost, {"scale": np.float32(0.5), "norm": "topic"})
    fields.check_fields(Boost, {"scale": 1, "norm": "whole"})
    with pytest.raises(TypeError, match="scale"):
        fields.check_fields(Boost, {"scale": None, "norm": "whole"})
