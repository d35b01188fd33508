# SPDX-License-Identifier: BSD-3-Clause
"""The posterior of a small model: lam = c * eta + b * xi + S, block by block.

Coefficients and masses are flat arrays over the nodes of all blocks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from streamtopics.kernels import rows as kernel
from streamtopics.messages import NodeStatistics
from streamtopics.posteriors.protocol import (
    EMPTY,
    TOO_EXTREME,
    Blend,
    State,
    StatePosterior,
    StateProposal,
    Swap,
    check_finite,
    swap,
    within_reach,
)

Arrays = dict[str, np.ndarray]
FAMILIES = "streamtopics.families."


@dataclass(frozen=True)
class Block:
    """The prior of an array of distributions (nodes) of one family in `streamtopics.families`."""

    family: ModuleType  #: One of `streamtopics.families`, or a module of your own like these
    #: (..., m): natural parameter eta of each node, to start from and to forget towards
    prior: np.ndarray
    #: (..., m): natural parameter that a boost (`Boost`) adds; None adds the prior's parameter
    xi: np.ndarray | None = None

    @property
    def n_nodes(self) -> int:
        return int(np.prod(self.prior.shape[:-1]))

    @property
    def boosted(self) -> np.ndarray:
        return self.prior if self.xi is None else self.xi

    def __reduce__(self) -> tuple[Any, ...]:
        # With the name of the family, as in files.
        return _block_of_named, (self.family.__name__, self.prior, self.xi)

    def __getstate__(self) -> dict[str, Any]:
        return {"family": self.family.__name__, "prior": self.prior, "xi": self.xi}

    def __setstate__(self, state: dict[str, Any]) -> None:
        name = state["family"]
        # A file cannot make modules outside the package be imported.
        if not name.startswith(FAMILIES) and name not in sys.modules:
            raise ModuleNotFoundError(f"the family {name} is not imported; name it in trusted")
        vars(self).update(state, family=import_module(name))


def _block_of_named(family: str, prior: np.ndarray, xi: np.ndarray | None) -> Block:
    return Block(import_module(family), prior, xi)


class DensePosterior(StatePosterior):
    """Posterior of a model of few parameters: arrays (blocks) of distributions (nodes).

    ``posterior[name]`` has the natural parameters of a block, in the shape of `Block.prior`.
    `statistics` makes the statistics of a minibatch, and `blend` updates as in `Posterior`.

    Parameters
    ----------
    blocks : dict of Block
        Prior of each block by name. The posterior starts from the priors.
    seed : int, default=0
        Seed for update rules with random draws.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.families import beta
    >>> from streamtopics.posteriors import Blend, Block, DensePosterior
    >>> posterior = DensePosterior({"coins": Block(beta, np.array([[1.0, 1.0], [2.0, 1.0]]))})
    >>> heads_and_tails = {"coins": np.array([[3.0, 1.0], [0.0, 4.0]])}
    >>> statistics = posterior.statistics(heads_and_tails, n_documents=4)
    >>> posterior.blend(Blend(retain=0.5, gain=1, prior=0.5, statistics=statistics))
    >>> posterior["coins"]
    array([[4., 2.],
           [2., 5.]])
    """

    _holds = "n_nodes: =K; prior_mass: K >0; boosted_mass: K >0; c: K; b: K"
    offers: ClassVar[frozenset[str]] = frozenset({"divergences", "slopes"})

    def __init__(self, blocks: Mapping[str, Block], seed: int = 0):
        self.blocks, self.seed = dict(blocks), seed
        for name, block in blocks.items():
            if not np.all(block.family.valid(block.prior) & block.family.valid(block.boosted)):
                raise ValueError(f"the prior of {name} must be the parameter of a density")
        S = {name: np.zeros_like(block.prior) for name, block in blocks.items()}
        self._state = State(S, np.ones(self.n_nodes), EMPTY, EMPTY, np.zeros(self.n_nodes))
        self.prior_mass = self._mass_of({name: block.prior for name, block in blocks.items()})
        self.boosted_mass = self._mass_of({name: block.boosted for name, block in blocks.items()})

    def check_held(self) -> None:
        self._check_shapes(self._state.S)
        for name, block in self.blocks.items():
            if not np.all(block.family.valid(block.prior) & block.family.valid(self[name])):
                raise ValueError(f"{name} must be the parameter of a density")

    @property
    def n_nodes(self) -> int:
        return sum(block.n_nodes for block in self.blocks.values())

    @property
    def mass(self) -> np.ndarray:
        state = self._state
        return self._mass_of({name: self._lam(state, name) for name in self.blocks})

    @property
    def prior_part(self) -> np.ndarray:
        return self.c * self.prior_mass + self.b * self.boosted_mass

    @property
    def _has_counts(self) -> np.ndarray:
        """Whether the mass of each node is a count."""
        known = [getattr(block.family, "MASS_IS_A_COUNT", True) for block in self.blocks.values()]
        return np.repeat(known, [block.n_nodes for block in self.blocks.values()])

    def pooled(self, mass: np.ndarray) -> np.ndarray:
        sums = [np.full(part.size, part.sum()) for part in self.by_block(mass).values()]
        return np.where(self._has_counts, np.concatenate(sums), mass)

    @property
    def knows_nothing(self) -> bool:
        """Whether all learnt statistics are 0, as before the first minibatch."""
        return not any(S.any() for S in self._state.S.values())

    def after(self, blend: Blend) -> DenseProposal:
        return DenseProposal(self, blend)

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        after, boost = self.after(blend), self._boost(blend)
        within_reach(after.mass)
        found = [
            (
                block.family.kl(after[name], self[name] + boost[name]),
                block.family.kl(after[name], block.prior + boost[name]),
            )
            for name, block in self.blocks.items()
        ]
        from_posterior, from_prior = (
            np.concatenate([np.ravel(of_block) for of_block in divergences])
            for divergences in zip(*found, strict=True)
        )
        return np.maximum(from_posterior, 0.0), np.maximum(from_prior, 0.0)

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        # Sum (lam - eta) (E_q[t(beta)] - E_p(rho)[t(beta)]), with statistics t of the family.
        after, boost = self.after(blend), self._boost(blend)
        within_reach(after.mass)
        increase = {name: self[name] - block.prior for name, block in self.blocks.items()}
        base = {name: block.prior + boost[name] for name, block in self.blocks.items()}
        expected = {
            name: block.family.expected_statistics(after[name])
            for name, block in self.blocks.items()
        }

        def slope(rho: np.ndarray) -> np.ndarray:
            rates = self.by_block(rho)
            found = []
            for name, block in self.blocks.items():
                eta = base[name] + rates[name] * increase[name]
                mixed = block.family.expected_statistics(eta)
                found.append(np.ravel((increase[name] * (expected[name] - mixed)).sum(axis=-1)))
            return np.concatenate(found)

        return slope

    def _boost(self, blend: Blend) -> Arrays:
        weights = self.by_block(blend.boost)
        return {name: weights[name] * block.boosted for name, block in self.blocks.items()}

    def boosting(self, other: DensePosterior) -> DensePosterior:
        """Return a new posterior with the same eta, and the eta of `other` as xi (see `Blend`)."""
        shapes = [
            {name: (block.family, block.prior.shape) for name, block in p.blocks.items()}
            for p in (self, other)
        ]
        if shapes[0] != shapes[1]:
            raise ValueError(
                "the boosted prior must be of a model with the same distributions as the posterior"
            )
        return DensePosterior(
            {
                name: Block(block.family, block.prior, other.blocks[name].prior)
                for name, block in self.blocks.items()
            },
            self.seed,
        )

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the natural parameter lam of a block, (..., m)."""
        return self._lam(self._state, name)

    @property
    def base(self) -> DensePosterior:
        # To which statistics are added, times `gain`.
        return self

    @property
    def gain(self) -> Arrays:
        return self.by_block(1.0)

    def statistics(
        self, additions: Arrays, n_documents: int, local_bound: float | None = None
    ) -> NodeStatistics:
        self._check_shapes(additions)
        mass, counted = self._mass_of(additions), self._has_counts
        n_tokens = float(mass[counted if counted.any() else slice(None)].sum())
        return NodeStatistics(additions, n_documents, mass, n_tokens, local_bound)

    def _check_shapes(self, additions: Mapping[str, np.ndarray]) -> None:
        for name, block in self.blocks.items():
            given: Any = additions.get(name)
            if np.shape(given) != block.prior.shape:
                raise ValueError(
                    f"the additions to {name} must have shape {block.prior.shape}; "
                    f"got {np.shape(given)}"
                )

    def by_block(self, coefficients: float | np.ndarray) -> Arrays:
        """Split an array of shape (n_nodes,), or one number for all nodes, by block.

        The result is a dict of arrays of shape (..., 1), to multiply ``posterior[name]``.
        """
        flat = np.broadcast_to(np.asarray(coefficients, dtype=np.float64), self.n_nodes)
        parts, start = {}, 0
        for name, block in self.blocks.items():
            stop = start + block.n_nodes
            parts[name] = flat[start:stop].reshape(*block.prior.shape[:-1], 1)
            start = stop
        return parts

    def blend(self, blend: Blend, swaps: Sequence[Swap] = ()) -> None:
        if blend.noise is not None or blend.alpha is not None:
            raise ValueError("an update with noise or of topic proportions needs topics over words")
        state, statistics = self._state, blend.statistics
        self._check_shapes(statistics.additions)
        for added in statistics.additions.values():
            check_finite(np.asarray(added))
        retain, gain = self.by_block(blend.retain), self.by_block(blend.gain)
        with np.errstate(over="ignore", invalid="ignore"):
            S = {
                name: retain[name] * state.S[name] + gain[name] * statistics.additions[name]
                for name in self.blocks
            }
            new = state._replace(
                S=S,
                c=blend.retain * state.c + blend.prior,
                b=blend.retain * state.b + blend.boost,
                **state.counted(statistics),
            )
        finite = np.isfinite(new.c).all() and np.isfinite(new.b).all()
        if not finite or not all(
            np.isfinite(S[name]).all() and np.all(block.family.valid(self._lam(new, name)))
            for name, block in self.blocks.items()
        ):
            raise ValueError(
                f"{TOO_EXTREME}, or the data lie far from 0 for their spread, or columns of a "
                "regression are multiples or sums of others"
            )
        kernel.write([], [swap(self, "_state", new), *swaps])

    def _lam(self, state: State, name: str) -> np.ndarray:
        block, c, b = self.blocks[name], self.by_block(state.c), self.by_block(state.b)
        return c[name] * block.prior + b[name] * block.boosted + state.S[name]

    def _mass_of(self, arrays: Arrays) -> np.ndarray:
        return np.concatenate(
            [np.ravel(block.family.mass(arrays[name])) for name, block in self.blocks.items()]
        )


class DenseProposal(StateProposal[DensePosterior]):
    def __getitem__(self, name: str) -> np.ndarray:
        return self.base[name] + self.gain[name] * self._blend.statistics.additions[name]

    @property
    def base(self) -> Arrays:
        posterior, blend = self._posterior, self._blend
        retain, prior, boost = map(posterior.by_block, (blend.retain, blend.prior, blend.boost))
        return {
            name: retain[name] * posterior[name]
            + prior[name] * block.prior
            + boost[name] * block.boosted
            for name, block in posterior.blocks.items()
        }

    @property
    def gain(self) -> Arrays:
        return self._posterior.by_block(self._blend.gain)


DenseView = DensePosterior | DenseProposal
