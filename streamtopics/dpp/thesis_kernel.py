# SPDX-License-Identifier: BSD-3-Clause
"""The thesis' own kernel of a summary, learnt from a corpus.

    L(x, y) = (p(x) p(y))^{power / 2} phi(x)'A phi(y),    A = gamma I + U Diag(theta) U',

with p the law of independent words, the share of the sentences that have each, U and gamma
of the corpus, and theta of the document. p falls by a factor of fifty or more with each word, so
that with power 1 the shortest sentences win.

Source: Dupuy (2017), section 4.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from streamtopics.dpp import learning
from streamtopics.dpp.kernel import Kernel
from streamtopics.dpp.learning import Online, balance_online, learn_minibatch
from streamtopics.dpp.likelihood import Parameters
from streamtopics.dpp.measures import Bernoulli
from streamtopics.dpp.multiplicative import theta_steps
from streamtopics.dpp.noise import Background
from streamtopics.dpp.sets import PointSets, blocks
from streamtopics.dpp.summary_kernel import Candidates, powered


@dataclass(frozen=True, eq=False)
class ThesisModel:
    """What was learnt.

    Attributes
    ----------
    n_sentences : int
        Sentences with a known word that were seen.
    n_with : ndarray of shape (n_features,)
        How many of them have each word.
    online : Online
        U, the running mean of theta, gamma and the level of the noise.
    """

    n_sentences: int
    n_with: np.ndarray
    online: Online

    @property
    def measure(self) -> Bernoulli:
        """The law p of a sentence, smoothed by half a sentence with each word and half without."""
        return _measure(self.n_with, self.n_sentences)


def fit(
    documents: Sequence[sparse.csr_matrix],
    n_components: int,
    rng: np.random.Generator,
    *,
    penalty: float,
    max_iter: int,
) -> ThesisModel:
    """Learn from a corpus: U by L-BFGS, all else by monotone steps.

    Parameters
    ----------
    documents : sequence of CSR matrices of shape (n_sentences, n_features)
        With at least one sentence that has a word.
    n_components : int
        Columns of U.
    rng : Generator
        Of the start.
    penalty : float
    max_iter : int
        Most rounds.

    Returns
    -------
    model : ThesisModel

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from streamtopics.dpp.thesis_kernel import fit
    >>> documents = [sparse.csr_matrix([[1, 0, 1], [0, 1, 0]]), sparse.csr_matrix([[1, 1, 0]])]
    >>> model = fit(documents, 2, np.random.default_rng(0), penalty=0.01, max_iter=2)
    >>> model.n_sentences, model.n_with
    (3, array([2, 2, 1]))
    """
    sets = _sets(documents)
    n_with, n_sentences = _count(sets), sets.points.shape[0]
    measure = _measure(n_with, n_sentences)
    data = blocks(measure, sets)
    at = _start(measure, n_components, data.mean_size, rng)
    own = replace(at, theta=np.ones((len(sets), n_components)))
    found = learning.fit(measure, data, own, penalty=penalty, max_iter=max_iter).parameters
    shared = replace(found, theta=found.theta.mean(axis=0))
    return ThesisModel(n_sentences, n_with, replace(Online.of(shared), n_batches=1))


def learn(
    model: ThesisModel | None,
    documents: Sequence[sparse.csr_matrix],
    n_components: int,
    rng: np.random.Generator,
    *,
    penalty: float,
) -> ThesisModel:
    """One step from a minibatch; `model` is None before the first.

    Parameters
    ----------
    model : ThesisModel or None
    documents : sequence of CSR matrices of shape (n_sentences, n_features)
        With at least one sentence that has a word.
    n_components : int
        Columns of U.
    rng : Generator
        Of the start.
    penalty : float

    Returns
    -------
    model : ThesisModel

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from streamtopics.dpp.thesis_kernel import learn
    >>> documents = [sparse.csr_matrix([[1, 0, 1], [0, 1, 0]])]
    >>> model = learn(None, documents, 2, np.random.default_rng(0), penalty=0.01)
    >>> learn(model, documents, 2, np.random.default_rng(0), penalty=0.01).online.n_batches
    2
    """
    sets = _sets(documents)
    n_with, n_sentences = _count(sets), sets.points.shape[0]
    if model is not None:
        n_with, n_sentences = n_with + model.n_with, n_sentences + model.n_sentences
    measure = _measure(n_with, n_sentences)
    data = blocks(measure, sets)
    if model is None:
        online = Online.of(_start(measure, n_components, data.mean_size, rng))
    else:
        online = model.online
    online = learn_minibatch(measure, data, online, penalty=penalty)
    return ThesisModel(n_sentences, n_with, balance_online(online))


def thesis_candidates(
    model: ThesisModel,
    X: sparse.csr_matrix,
    quality_power: float,
    *,
    penalty: float,
    quality: np.ndarray | None = None,
) -> Candidates:
    """The kernel of this module on the sentences of a document.

    Parameters
    ----------
    model : ThesisModel
    X : CSR matrix of shape (n_sentences, n_features)
    quality_power : float
    penalty : float
        Of the document's theta.
    quality : ndarray of shape (n_sentences,) or None, default=None
        In place of p.

    Returns
    -------
    candidates : Candidates
        Reported as quality is log p, in nats, unless another one was given.
    """
    measure, parameters = model.measure, model.online.parameters
    known = X[X.getnnz(axis=1) > 0]
    data = blocks(measure, PointSets(known, [0, known.shape[0]]))
    [theta] = theta_steps(measure, data, parameters, penalty=penalty)
    kernel = Kernel(parameters.U, theta, parameters.gamma)
    features = measure.features(X)
    if quality is not None:
        return Candidates(kernel, features, quality, powered(quality, quality_power))
    log_p = measure.log_p(X)
    return Candidates(kernel, features, log_p, 0.5 * quality_power * log_p)


def _sets(documents: Sequence[sparse.csr_matrix]) -> PointSets:
    """Documents as sets of their sentences that have words."""
    known = [X[X.getnnz(axis=1) > 0] for X in documents]
    indptr = np.concatenate([[0], np.cumsum([X.shape[0] for X in known])])
    return PointSets(sparse.vstack(known, format="csr"), indptr)


def _count(sets: PointSets) -> np.ndarray:
    points = sets.points
    return np.bincount(points.indices[points.data != 0], minlength=points.shape[1])


def _measure(n_with: np.ndarray, n_sentences: int) -> Bernoulli:
    return Bernoulli((n_with + 0.5) / (n_sentences + 1))


def _start(
    measure: Bernoulli, n_components: int, mean_size: float, rng: np.random.Generator
) -> Parameters:
    """Half of the sentences from the noise, and the thesis' gamma of 1 / V."""
    noise = Background(max(mean_size, 1e-3) / 2)
    return learning.start(
        measure, n_components, mean_size / 2, noise, rng, gamma=1 / len(measure.pi)
    )
