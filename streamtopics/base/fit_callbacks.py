# SPDX-License-Identifier: BSD-3-Clause
"""The callbacks of scikit-learn along `fit`, which its versions from 1.9 on have.

A `fit` is a task, and each of its minibatches one within it, but for models that read a corpus
as a whole. Where no callbacks are set nothing
of this is done; scikit-learn before 1.9 cannot set any.
"""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to set callbacks by."""

    def with_callbacks(method: Any) -> Any:  # type: ignore[misc]
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "begun_task", "ended_task", "with_callbacks"]


def begun_task(estimator: Any, told: dict[str, Any]) -> Any:
    """Return the task of a minibatch that is about to be learnt; None without callbacks.

    `told` has the X and y of `fit` by name, as scikit-learn's own estimators tell them of each of
    their iterations.
    """
    whole = vars(estimator).get("_callback_fit_ctx")
    if whole is None:
        return None
    return whole.subcontext("minibatch").call_on_fit_task_begin(estimator=estimator, **told)


def ended_task(estimator: Any, task: Any, told: dict[str, Any]) -> bool:
    """End the task of a minibatch, and return whether a callback ends `fit`."""
    if task is None:
        return False
    # The copy that a callback may ask for has all of the state without more attributes.
    end = task.call_on_fit_task_end
    return bool(end(estimator=estimator, **told, reconstruction_attributes={}))
