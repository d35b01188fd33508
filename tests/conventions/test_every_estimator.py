# SPDX-License-Identifier: BSD-3-Clause
"""What holds of every estimator: copies, input in other containers, output, threads."""

import pickle
import re
from copy import deepcopy
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import estimator_html_repr, get_tags

from streamtopics import AspectSentimentModel, LowRankDPP, WASTopicModel
from tests.conventions.every import COUNTS, EVERY, NAMES, SENTENCES, V, public_estimators
from tests.small import EDGES

each = pytest.mark.parametrize("name", EVERY)
OF_COUNTS = [name for name, case in EVERY.items() if case.X is COUNTS]
OF_SENTENCES = [name for name, case in EVERY.items() if case.X is SENTENCES]
of_counts = pytest.mark.parametrize("name", OF_COUNTS)
CONTAINERS = [
    getattr(sparse, f"{form}_{kind}")
    for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    for kind in ("array", "matrix")
]
BADGE = re.compile(r'<span class="sk-estimator-doc-link (\w*)">i<span>([\w ]*)</span>')


def bits(found: Any) -> list[bytes]:
    """The output of `transform`, comparable: numbers by their bytes, texts as they are."""
    if isinstance(found, np.ndarray) and found.dtype == object:
        return [part for row in found for part in (bits(row) if sparse.issparse(row) else [row])]
    found = found.toarray() if sparse.issparse(found) else np.asarray(found)
    return [found.tobytes(), str(found.shape)]


@pytest.fixture(scope="module")
def fitted():
    return {name: case.fitted for name, case in EVERY.items()}


def test_the_table_has_every_public_estimator():
    assert {type(case.estimator).__name__ for case in EVERY.values()} == public_estimators().keys()


@each
@pytest.mark.parametrize("copied", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_are_the_same_model(name, copied, fitted):
    model, X = fitted[name], EVERY[name].X
    again = copied(model)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert bits(again.transform(X)) == bits(model.transform(X))


@each
def test_a_clone_has_the_parameters_and_nothing_that_was_learnt(name, fitted):
    model = fitted[name]
    again = clone(model)
    assert repr(again) == repr(model)
    assert not again.__sklearn_is_fitted__() if hasattr(again, "__sklearn_is_fitted__") else True
    learnt = [key for key in vars(again) if key.endswith("_") and not key.startswith("_")]
    assert learnt == []
    refitted = again.fit(EVERY[name].X, EVERY[name].y, **EVERY[name].given)
    assert bits(refitted.transform(EVERY[name].X)) == bits(model.transform(EVERY[name].X))


@each
def test_the_badge_in_html_says_whether_it_is_fitted(name, fitted):
    # What can do without fit counts as fitted, as in scikit-learn.
    needs_fit = get_tags(EVERY[name].estimator).requires_fit
    before = ("", "Not fitted") if needs_fit else ("fitted", "Fitted")
    assert BADGE.findall(estimator_html_repr(EVERY[name].made)) == [before]
    assert BADGE.findall(estimator_html_repr(fitted[name])) == [("fitted", "Fitted")]


# A summary is a text.
@pytest.mark.parametrize("name", [n for n in EVERY if n != "DPPSummarizer"])
def test_columns_of_the_output_have_names(name, fitted):
    names = fitted[name].get_feature_names_out()
    assert names.dtype == object
    assert len(set(names)) == len(names)
    out = fitted[name].transform(EVERY[name].X)
    assert len(names) == (out[0] if name == "SentenceVectorizer" else out).shape[1]


@pytest.mark.parametrize("name", [*OF_COUNTS, *OF_SENTENCES])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(name, library, fitted):
    frames = pytest.importorskip(library)
    model = deepcopy(fitted[name]).set_output(transform=library)
    out = model.transform(EVERY[name].X)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(out.to_numpy(), fitted[name].transform(EVERY[name].X))


@of_counts
def test_names_of_columns_are_kept_and_compared(name):
    case = EVERY[name]
    frame = pd.DataFrame(COUNTS, columns=list(NAMES))
    model = case.made.fit(frame, case.y, **case.given)
    assert list(model.feature_names_in_) == list(NAMES)
    assert model.n_features_in_ == V
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[NAMES[::-1]])
    assert not hasattr(model.fit(COUNTS, case.y, **case.given), "feature_names_in_")


@pytest.mark.parametrize("name", OF_SENTENCES)
def test_names_of_columns_of_sentences_are_kept_and_compared(name):
    frames = [pd.DataFrame(X.toarray(), columns=list(NAMES)) for X in SENTENCES]
    model = EVERY[name].made.fit(frames)
    assert list(model.feature_names_in_) == list(NAMES)
    with pytest.raises(ValueError, match="names"):
        model.transform([frame[NAMES[::-1]] for frame in frames])
    mixed = [frames[0], frames[1][NAMES[::-1]]]
    for call in (model.transform, EVERY[name].made.fit, EVERY[name].made.partial_fit):
        with pytest.raises(ValueError, match="names"):
            call(mixed)


@of_counts
def test_sparse_containers_of_counts(name, fitted):
    case = EVERY[name]
    for container in CONTAINERS:
        if not get_tags(case.estimator).input_tags.sparse:
            with pytest.raises(TypeError, match=r"[Ss]parse"):
                case.made.fit(container(COUNTS), case.y)
            continue
        # Blocks of one entry, so that no zero is stored.
        X = container(COUNTS, **{"blocksize": (1, 1)} if "bsr" in container.__name__ else {})
        expected = bits(fitted[name].transform(COUNTS))
        assert bits(fitted[name].transform(X)) == expected
        assert bits(case.made.fit(X, case.y, **case.given).transform(X)) == expected


@pytest.mark.parametrize("name", OF_SENTENCES)
@pytest.mark.parametrize("container", [*CONTAINERS, np.asarray])
def test_containers_of_sentences(name, container, fitted):
    X = [container(part.toarray()) for part in SENTENCES]
    expected = bits(fitted[name].transform(SENTENCES))
    assert bits(fitted[name].transform(X)) == expected
    assert bits(EVERY[name].made.fit(X).transform(X)) == expected


@pytest.mark.parametrize("name", [*OF_COUNTS, *OF_SENTENCES])
def test_read_only_memory_maps(name, fitted, tmp_path):
    case, path = EVERY[name], tmp_path / "X.joblib"
    is_sparse = case.X is COUNTS and get_tags(case.estimator).input_tags.sparse
    joblib.dump(sparse.csr_array(COUNTS) if is_sparse else case.X, path)
    X = joblib.load(path, mmap_mode="r")
    first = X[0].data if case.X is SENTENCES else X.data if is_sparse else X
    assert not first.flags.writeable
    expected = bits(fitted[name].transform(case.X))
    assert bits(case.made.fit(X, case.y, **case.given).transform(X)) == expected


@pytest.mark.parametrize("name", [n for n in EVERY if "n_jobs" in EVERY[n].estimator.get_params()])
def test_any_number_of_workers_gives_the_same_bits(name, fitted):
    case = EVERY[name]
    model = case.made.set_params(n_jobs=2).fit(case.X, case.y, **case.given)
    assert bits(model.transform(case.X)) == bits(fitted[name].transform(case.X))
    with parallel_config(backend="threading", n_jobs=2):
        model = case.fitted
        assert bits(model.transform(case.X)) == bits(fitted[name].transform(case.X))


def _transformed(name: str) -> list[bytes]:
    return bits(EVERY[name].fitted.transform(EVERY[name].X))


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_several_at_once_in_threads_or_processes(backend, fitted):
    found = Parallel(n_jobs=2, backend=backend)(delayed(_transformed)(name) for name in EVERY)
    assert found == [bits(model.transform(EVERY[name].X)) for name, model in fitted.items()]


@pytest.mark.parametrize(
    "model",
    [
        WASTopicModel(2, n_sweeps=4, n_burn_in=2, random_state=0),
        LowRankDPP(n_components=2, max_iter=2, random_state=0),
        AspectSentimentModel(2, random_state=0),
    ],
)
def test_an_iterator_is_fitted_and_transformed(model):
    assert_array_equal(model.fit_transform(iter(EDGES)), model.fit_transform(EDGES))
