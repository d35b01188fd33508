# SPDX-License-Identifier: BSD-3-Clause
"""A mixture of Gaussians with diagonal covariances."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, psi

from streamtopics.families import dirichlet, normal_gamma
from streamtopics.messages import NodeStatistics
from streamtopics.models.dense_model import MixtureModel, log_t_density
from streamtopics.posteriors import Block, DensePosterior, DenseView, Learn
from streamtopics.utils.checks import check_pseudo_counts, check_range, check_scales, check_whole

# The ascent to the components in the first minibatch.
START_PASSES = 100
START_TOL = 1e-5


@dataclass(frozen=True)
class GaussianMixture(MixtureModel):
    """A mixture of Gaussians with diagonal covariances, learnt from unlabelled samples.

    Samples have components z ~ Categorical(pi) with pi ~ Dirichlet(concentration). Coordinate d in
    component k is N(mu_kd, 1/g_kd) with (mu_kd, g_kd) ~ NormalGamma, as for the GPS data in
    Masegosa et al. (2020). Missing coordinates (NaN) are integrated out.

    Parameters
    ----------
    n_components : int
        Number of components.
    concentration : float
        Prior pseudo-count of each component's weight.
    mean : float
        Prior mean of all components; should be within a few standard deviations of the data.
    mean_mass : float
        Weight of the prior mean, in samples.
    shape, rate : float
        Parameters of the gamma prior of each precision g.
    n_init : int
        Number of random starts in the first minibatch; the start with the greatest bound is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, (100, 1)), rng.normal(3, 1, (50, 1))])
    >>> bayes = StreamingBayes(GaussianMixture(2), random_state=0).fit(X)
    >>> np.sort(bayes.model_.means(bayes.posterior_).ravel()).round()
    array([-3.,  3.])
    """

    accepts_missing: ClassVar[bool] = True
    coordinates: ClassVar[tuple[str, ...]] = ("mean",)

    n_components: int = 2
    concentration: float = 1.0
    mean: float = 0.0
    mean_mass: float = 0.01
    shape: float = 1.0
    rate: float = 1.0
    n_init: int = 1

    def __post_init__(self) -> None:
        check_whole(self, n_components=self.n_components, n_init=self.n_init)
        counts = {"mean_mass": self.mean_mass, "shape": self.shape}
        check_pseudo_counts(self, concentration=self.concentration, **counts)
        check_scales(self, rate=self.rate)
        check_range(self, -np.inf, np.inf, mean=self.mean)

    def posterior(self, X: np.ndarray) -> DensePosterior:
        return DensePosterior(self.blocks(1, np.shape(X)[1]))

    def learner(
        self, posterior: DensePosterior, X: np.ndarray, y: None = None, seed: int = 0
    ) -> Learn:
        codes = np.zeros(len(X), np.int64)

        def learn(view: DenseView, *, warm: bool = False) -> NodeStatistics:
            additions, bound = self.learn_classes(view, X, codes, seed)
            return posterior.statistics(additions, len(X), bound)

        return learn

    def log_predictive(
        self, posterior: DensePosterior, X: np.ndarray, y: None = None
    ) -> np.ndarray:
        return logsumexp(self._log_joint(posterior, X), axis=1)

    def transform(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        return self.predict_proba(posterior, X)

    def means(self, posterior: DensePosterior) -> np.ndarray:
        return self.mean + normal_gamma.parameters(posterior["components"])[0]

    def blocks(self, n_classes: int, n_features: int) -> dict[str, Block]:
        """Prior mixture for each class; means are relative to `mean`."""
        weights = np.full((n_classes, self.n_components), self.concentration)
        component = normal_gamma.from_parameters(0.0, self.mean_mass, self.shape, self.rate)
        components = np.tile(component, (n_classes, self.n_components, n_features, 1))
        return {"weights": Block(dirichlet, weights), "components": Block(normal_gamma, components)}

    def learn_classes(
        self, view: DenseView, X: np.ndarray, codes: np.ndarray, seed: int
    ) -> tuple[dict[str, np.ndarray], float]:
        """Additions to the parameters of the classes' mixtures, and the bound."""
        additions = {name: np.zeros_like(view[name]) for name in ("weights", "components")}
        X, bound = self._about_mean(X), 0.0
        for code in np.unique(codes):
            part = X[codes == code]
            mixture = Mixture(view["weights"][code], view["components"][code])
            if mixture.some_alike:
                rng = np.random.default_rng([seed, code])
                starts = [mixture.found_in(part, rng) for _ in range(self.n_init)]
                mixture = max(starts, key=lambda start: start[1])[0]
            r, log_evidence = mixture.probabilities(part)
            additions["weights"][code], additions["components"][code] = _statistics(part, r)
            bound += float(log_evidence.sum())
        return additions, bound

    def log_joint_of_class(self, posterior: DensePosterior, X: np.ndarray, code: int) -> np.ndarray:
        """log p(x, z = k) in the mixture of a class, (n_samples, n_components)."""
        X, weights = self._about_mean(X), posterior["weights"][code]
        m, k, a, b = normal_gamma.parameters(posterior["components"][code])
        out = np.tile(np.log(weights / weights.sum()), (len(X), 1))
        degrees, scale2 = 2 * a, b * (k + 1) / (a * k)
        seen, X = ~np.isnan(X), np.nan_to_num(X)
        for j in range(self.n_components):
            out[:, j] += (seen * log_t_density(X, m[j], degrees[j], scale2[j])).sum(axis=1)
        return out

    def _log_joint(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        return self.log_joint_of_class(posterior, X, 0)

    def _about_mean(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X, np.float64, order="C") - self.mean


@dataclass(frozen=True)
class Mixture:
    weights: np.ndarray  # (n_components,)
    components: np.ndarray  # (n_components, n_features, 4)

    @property
    def some_alike(self) -> bool:
        own = np.column_stack([self.weights, self.components.reshape(len(self.weights), -1)])
        return len(np.unique(own, axis=0)) < len(own)

    def probabilities(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q(z) of each sample, and log sum_z exp E[log p(x, z)]."""
        m, k, a, b = normal_gamma.parameters(self.components)
        constants = 0.5 * (psi(a) - np.log(b) - np.log(2 * np.pi) - 1 / k)
        log_r = np.tile(dirichlet.expected_statistics(self.weights), (len(X), 1))
        seen, X = ~np.isnan(X), np.nan_to_num(X)
        for j in range(len(self.weights)):
            log_r[:, j] += seen @ constants[j] - 0.5 * (seen * (X - m[j]) ** 2) @ (a / b)[j]
        log_evidence = logsumexp(log_r, axis=1)
        return np.exp(log_r - log_evidence[:, None]), log_evidence

    def found_in(self, X: np.ndarray, rng: np.random.Generator) -> tuple["Mixture", float]:
        """The mixture after an ascent from random centres under this prior, and the bound."""
        r = _random_assignment(X, len(self.weights), rng)
        last = -np.inf
        for _ in range(START_PASSES):
            weights, components = _statistics(X, r)
            after = Mixture(self.weights + weights, self.components + components)
            r, log_evidence = after.probabilities(X)
            divergence = dirichlet.kl(after.weights, self.weights)
            divergence += normal_gamma.kl(after.components, self.components).sum()
            bound = float(log_evidence.sum()) - float(divergence)
            if bound - last < START_TOL * len(X):
                break
            last = bound
        return after, bound


def _statistics(X: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    seen, X = (~np.isnan(X)).astype(np.float64), np.nan_to_num(X)
    n = r.T @ seen
    return r.sum(axis=0), np.stack([r.T @ X, n, r.T @ X**2, n], axis=-1)


def _random_assignment(X: np.ndarray, n_components: int, rng: np.random.Generator) -> np.ndarray:
    """Assign samples to the nearest of distant samples, as in k-means++, on scaled columns."""
    seen = ~np.isnan(X)
    n_seen = np.maximum(seen.sum(axis=0), 1)
    X = np.where(seen, X - np.nan_to_num(X).sum(axis=0) / n_seen, 0.0)
    spread = np.sqrt((X**2).sum(axis=0) / n_seen)
    X = X / np.where(spread > 0, spread, 1.0)
    distances = np.empty((len(X), n_components))
    far = np.ones(len(X))
    for j in range(n_components):
        far = far if far.sum() > 0 else np.ones(len(X))
        centre = X[rng.choice(len(X), p=far / far.sum())]
        distances[:, j] = ((X - centre) ** 2).sum(axis=1)
        far = distances[:, : j + 1].min(axis=1)
    return np.eye(n_components)[distances.argmin(axis=1)]
