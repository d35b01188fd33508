# SPDX-License-Identifier: BSD-3-Clause
"""A stream with seasons: when a minibatch is a surprise, a share of the posterior is kept."""

from dataclasses import dataclass
from statistics import median

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates import Rule, Traits


@dataclass(frozen=True)
class Seasons(Rule):
    """Streaming variational Bayes that forgets when a new season starts.

    The state holds the last surprises, KL(lam + s || lam) in nats.

    Parameters
    ----------
    jump : float
        A season starts when a surprise is more than `jump` times the median of the last surprises.
    carried : float
        Share of the posterior kept when a season starts, in [0, 1].
    memory : int
        Number of last surprises in the state.

    Examples
    --------
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import BetaBinomial
    >>> model = StreamingBayes(BetaBinomial(), Seasons())
    >>> for flips in ([[0]] * 9, [[0]] * 9, [[1]] * 9, [[1]] * 9):
    ...     model = model.partial_fit(flips)
    >>> model.retention_history_.ravel(), model.posterior_["coins"]
    (array([1., 1., 0., 1.]), array([[19.,  1.]]))
    """

    jump: float = 5.0
    carried: float = 0.0
    memory: int = 10

    @property
    def traits(self):
        return Traits(needs=frozenset({"divergences"}), forgets=True)

    def __post_init__(self) -> None:
        if not 0 <= self.carried <= 1:
            raise ValueError(f"carried of Seasons must be in [0, 1]; got {self.carried}")

    def init(self, posterior: Posterior) -> tuple[float, ...]:
        """No surprise so far."""
        return ()

    def step(self, posterior: Posterior, learn: Learn, state: tuple) -> tuple[Blend, tuple]:
        """kept lam + (1 - kept) eta + s, where kept is 1 inside a season."""
        statistics = learn(posterior)
        surprise = posterior.divergences(Blend(1.0, 1.0, 0.0, statistics))[0].sum()
        starts = bool(state) and surprise > self.jump * median(state)
        kept = self.carried if starts else 1.0
        blend = Blend(kept, 1.0, 1.0 - kept, statistics)
        return blend, () if starts else (*state, float(surprise))[-self.memory :]
