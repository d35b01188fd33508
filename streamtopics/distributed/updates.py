# SPDX-License-Identifier: BSD-3-Clause
"""Learning apart from a model, and taking in what was found, for engines of all kinds."""

from __future__ import annotations

from typing import Any, TypeVar

from streamtopics.distributed import composites
from streamtopics.distributed.fitting import batch_size_of, counting_steps
from streamtopics.distributed.tasks import learn, read_partition
from streamtopics.updates.composite import Composite
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import check_not_frozen, last_step

Model = TypeVar("Model")


def compute_update(
    model: Any, documents: Any, *, batch_size: int | None = None, n_ahead: int = 0
) -> Composite:
    """Return what documents make of the topics of a model, which itself does not learn.

    Minibatches of the documents are learnt one after another, on a copy of the topics of their
    words. With `apply_update` it is what an engine needs that `fit_partitions` does not know,
    such as Spark or a queue of jobs: a pickle of the model goes there, and pickled updates come
    back.

    Parameters
    ----------
    model : estimator of topics, or pipeline that ends in one
        Fitted, under a rule that merges, as in `fit_partitions`.
    documents : path, list of str, matrix of counts or DataFrame
        A partition, as in `fit_partitions` without `read`.
    batch_size : int or None, default=None
        Documents of a minibatch; None is that of the model.
    n_ahead : int, default=0
        Documents that will be taken in before these ones, beside those that the model has
        learnt. They set the seeds of what is drawn, so that parts do not share theirs.

    Returns
    -------
    update : Composite
        For `apply_update`; it can be pickled. It holds 4 bytes for each topic and each word of the
        documents.

    Notes
    -----
    One minibatch alone that is taken in next leaves the bits of `partial_fit`. Counts of several
    travel in single precision, as those of a round of `fit_partitions`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.distributed import compute_update, apply_update
    >>> X = make_lda_corpus(n_documents=300, n_features=50, random_state=0).X
    >>> model = SVBLDA(4, random_state=0).partial_fit(X[:100])
    >>> left = compute_update(model, X[100:200])
    >>> right = compute_update(model, X[200:], n_ahead=100)
    >>> model.n_documents_seen_
    100
    >>> apply_update(apply_update(model, left), right).n_documents_seen_
    300
    """
    size, topics = batch_size_of(model, batch_size), last_step(model)
    check_integer(least=0, n_ahead=n_ahead)
    reader = composites.reader_of(topics)
    batches = read_partition(documents, None, counting_steps(model), size)
    if not batches:
        raise ValueError("documents is empty; there is nothing to learn from")
    words = composites.words_of(batches)
    task = composites.local_task(topics, words, int(n_ahead), single=len(batches) > 1)
    return learn(reader, task, batches, False).composite


def apply_update(model: Model, update: Composite) -> Model:
    """Learn what `compute_update` found, after all that the model has learnt meanwhile.

    Minibatches in it have the step sizes that they would have if they came now.

    Parameters
    ----------
    model : estimator or pipeline
        That `compute_update` was given, or what it was copied from; it is changed in place. When
        this fails nothing has changed.
    update : Composite
        Each is taken in once. The order matters under rules that forget; take them in, in the
        order of the documents, and the result depends on those alone.

    Returns
    -------
    model : estimator or pipeline
        The same object.

    Raises
    ------
    ValueError
        If it is of a model with other topics or words, or of one that had learnt more.

    See Also
    --------
    compute_update : Has an example.
    """
    check_not_frozen(model)
    composites.apply_update(last_step(model), update)
    return model
