# SPDX-License-Identifier: BSD-3-Clause
"""The clock of a model's step size, set back.

A step size that falls along a stream, and a sum over all of it, make a model slow to follow a
change. With the clock at D documents, which are t minibatches and n tokens on average, the next
ones count as much as those after the first D did:

    a step size r(T):            r(t), of the same lam;
    a sum lam over N tokens:     lam <- eta + n/N (lam - eta),

the boosts of the prior included, so that their share of the topics stays.
"""

from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.checks import check_integer

Model = TypeVar("Model", bound=StreamingTopicModel)


def set_back(model: Model, n_documents: int = 1500) -> Model:
    """Return a copy of a model that learns on as if it had seen a few documents only.

    The topics stay, up to the share of the prior; the documents' prior, the seed and the count
    of documents stay too. The copy shares nothing with `model` that learning changes.

    Parameters
    ----------
    model : estimator of topics
        Such as `StreamingLDA` or `GibbsOnlineEM`, fitted, under a rule that has a clock: online
        EM, stochastic variational inference, SVB and BPS, with growing weights or without.
    n_documents : int, default=1500
        Documents that count from now on; at least 1. A step size counts minibatches: as many as
        had so many documents on average, to the nearest and at least 1. As long as these are less
        than 3, minibatches have the rounds of the first three (`n_start_rounds`). A model that
        counts no more than that is copied as it is.

    Returns
    -------
    copy : estimator
        Of the same class. Its `n_batch_iter_`, `n_documents_seen_` and `n_tokens_seen_` go on
        counting all that was learnt from.

    Raises
    ------
    TypeError
        If `model` is no estimator of topics over words, or `n_documents` no integer.
    ValueError
        If `n_documents` is less than 1, the rule has no clock, iterates of sums are averaged, or
        a parameter was set to what the model could not learn on with.
    NotFittedError
        If nothing was learnt yet.

    See Also
    --------
    AlarmFork : Does so at an alarm, and keeps the better of both models.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.streams import set_back
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = GibbsOnlineEM(5, random_state=0).fit(X)
    >>> again = set_back(model, n_documents=200)
    >>> again.posterior_.n_batches, again.n_batch_iter_
    (2, 5)
    """
    check_n_documents(n_documents)
    kind = check_has_clock(model)
    posterior = model.posterior_
    share = n_documents / max(model.n_documents_seen_, 1)
    clock = max(1, round(share * model.n_batch_iter_))
    kept = share * model.n_tokens_seen_ / posterior.n_tokens if posterior.n_tokens else 1.0
    if kept >= 1.0 if kind == "tokens" else clock >= posterior.n_batches:
        return copy(model)
    out = copy(model)
    commit = out._commit
    clock = min(clock, posterior.n_batches)
    now = posterior.set_back(clock, kept if kind == "tokens" else 1.0)
    n_batches, n_tokens = commit.uncounted
    uncounted = (
        n_batches + posterior.n_batches - clock,
        n_tokens + posterior.n_tokens - now.n_tokens,
    )
    if commit.average is not None:
        commit.average.set_back(now)
    out._commit = replace(commit, posterior=now, uncounted=uncounted)
    return out


def check_n_documents(n_documents: Any) -> None:
    """Refuse what is no number of documents to count from."""
    why = ", as the topics would be lost otherwise; for new topics start a new model"
    check_integer(why=why, n_documents=n_documents)


def check_has_clock(model: Any) -> str:
    """Return the clock of a model's rule; refuse a model without one."""
    if not isinstance(model, StreamingTopicModel):
        raise TypeError(
            "model must be an estimator of topics over words, such as StreamingLDA or "
            f"GibbsOnlineEM; got {model!r}"
        )
    composition = model._checked_composition()
    if model.__sklearn_is_fitted__():
        model._check_continuable()
    clock = composition.rule.clock
    if clock is None:
        raise ValueError(
            f"{composition.update} has no clock that can be set back (its `clock` is None), as "
            "it forgets by a rate of its own or keeps a state; use OnlineEM(), StochasticVI(), "
            "SVB() or BPS(0.1), or forget with it faster"
        )
    if composition.averaging is not None and clock == "tokens":
        raise ValueError(
            f"averaging is {composition.averaging!r}, and an average of sums cannot be set back; "
            "start anew with averaging=None"
        )
    return clock
