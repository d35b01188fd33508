# SPDX-License-Identifier: BSD-3-Clause
"""Linear regression with modelled inputs, by mean-field inference.

    x_j ~ N(mu_j, 1/g_j),                  (mu_j, g_j) ~ NormalGamma
    y ~ N(w_0 + sum_j w_j x_j, 1/gamma),   w_j ~ N(0, 1/precision),   gamma ~ Gamma

The model of the electricity data in Masegosa et al. (2020), appendix B.1.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, logsumexp, psi
from scipy.stats import gamma as gamma_distribution

from streamtopics.families import gamma, gaussian, normal_gamma
from streamtopics.messages import NodeStatistics
from streamtopics.models.dense_model import DenseModel, log_t_density
from streamtopics.posteriors import Block, DensePosterior, DenseView, Learn
from streamtopics.utils.checks import check_pseudo_counts, check_scales

# The inner ascent of coefficients and noise, and of both with missing inputs.
MOST_ROUNDS = 200
TOL = 1e-10
MOST_ROUNDS_OF_MISSING = 30
TOL_OF_MISSING = 1e-7
MOST_CONDITION = 1e14
# The quadrature over the precision of the noise.
N_NODES = 256
TAIL = 1e-15
SAMPLES_AT_ONCE = 4096


@dataclass(frozen=True)
class MeanFieldRegression(DenseModel):
    """Linear regression with missing inputs, by mean-field variational inference.

    The posterior has independent coefficients. Inputs are Gaussian; all missing inputs (NaN) of a
    sample are inferred jointly.

    Parameters
    ----------
    precision : float
        Prior precision of each coefficient, also of the intercept.
    shape, rate : float
        Parameters of the gamma prior of the noise's precision.
    input_mean_mass, input_shape, input_rate : float
        Normal-gamma prior of each input. The prior mean is 0 and weighs as much as
        `input_mean_mass` samples; the gamma prior of the precision has `input_shape` and
        `input_rate`.

    Notes
    -----
    With a rule that forgets, make at least two rounds in each minibatch
    (`streamtopics.updates.Rounds`). `PopulationVB` and `StochasticVI` do not suit this model.
    Centre inputs if their means are many standard deviations from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import MeanFieldRegression
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = X @ [1.0, -2.0] + 3.0
    >>> X[::5, 0] = np.nan
    >>> bayes = StreamingBayes(MeanFieldRegression()).fit(X, y)
    >>> bayes.model_.coefficients(bayes.posterior_).round(1)
    array([ 1., -2.,  3.])
    """

    needs_target: ClassVar[bool] = True
    accepts_missing: ClassVar[bool] = True

    precision: float = 0.01
    shape: float = 1.0
    rate: float = 1.0
    input_mean_mass: float = 0.01
    input_shape: float = 1.0
    input_rate: float = 1.0

    def __post_init__(self) -> None:
        of_inputs = {"input_mean_mass": self.input_mean_mass, "input_shape": self.input_shape}
        check_pseudo_counts(self, shape=self.shape, **of_inputs)
        check_scales(self, precision=self.precision, rate=self.rate, input_rate=self.input_rate)

    def posterior(self, X: np.ndarray) -> DensePosterior:
        p = np.shape(X)[1]
        of_input = normal_gamma.from_parameters(
            0.0, self.input_mean_mass, self.input_shape, self.input_rate
        )
        blocks = {
            "inputs": Block(normal_gamma, np.tile(of_input, (p, 1))),
            "coefficients": Block(gaussian, np.tile([0.0, self.precision], (p + 1, 1))),
            "noise": Block(gamma, gamma.from_parameters(self.shape, self.rate)),
        }
        return DensePosterior(blocks)

    def learner(
        self, posterior: DensePosterior, X: np.ndarray, y: np.ndarray, seed: int = 0
    ) -> Learn:
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)

        def learn(view: DenseView, *, warm: bool = False) -> NodeStatistics:
            q = Expected.of(view)
            moments = Moments.of(X, y, q)
            bound = moments.local_bound(y, q)
            for _ in range(MOST_ROUNDS_OF_MISSING):
                last = q
                q, additions = q.updated(view, moments, y)
                if not moments.latent or q.close_to(last):
                    break
                moments = Moments.of(X, y, q)
            return posterior.statistics(additions, len(y), bound)

        return learn

    def log_predictive(
        self, posterior: DensePosterior, X: np.ndarray, y: np.ndarray | None
    ) -> np.ndarray:
        """Log density of each sample, inputs and target; without y, of the inputs.

        The density is exact for observed inputs. A missing input enters by mean and variance,
        capped if infinite.
        """
        X = np.asarray(X, dtype=np.float64)
        m, k, a, b = normal_gamma.parameters(posterior["inputs"])
        scale2 = b * (k + 1) / (a * k)
        seen = ~np.isnan(X)
        densities = log_t_density(np.where(seen, X, m), m, 2 * a, scale2)
        of_inputs: np.ndarray = (seen * densities).sum(axis=1)
        if y is None:
            return of_inputs
        w, w_precision = gaussian.parameters(posterior["coefficients"])
        variance = 1 / w_precision
        spread = np.where(seen, 0.0, scale2 * a / np.maximum(a - 1, 0.5))
        Z = np.column_stack([np.where(seen, X, m), np.ones(len(X))])
        predictive_variance = Z**2 @ variance + spread @ (w**2 + variance)[:-1]
        residual = np.asarray(y, dtype=np.float64) - self.predict(posterior, X)
        shape, rate = gamma.parameters(posterior["noise"])
        parts = (slice(i, i + SAMPLES_AT_ONCE) for i in range(0, len(y), SAMPLES_AT_ONCE))
        of_target = [_log_mixture(residual[i], predictive_variance[i], shape, rate) for i in parts]
        return of_inputs + np.concatenate(of_target)

    def predict(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        means = normal_gamma.parameters(posterior["inputs"])[0]
        X = np.where(np.isnan(X), means, X)
        w = self.coefficients(posterior)
        return X @ w[:-1] + w[-1]

    def coefficients(self, posterior: DensePosterior) -> np.ndarray:
        return gaussian.parameters(posterior["coefficients"])[0]


@dataclass(frozen=True)
class Expected:
    """Expectations under q, with the coefficients (w_1, ..., w_p, w_0)."""

    w: np.ndarray  # (p + 1,)
    w_variance: np.ndarray
    noise: float  # E[gamma] and E[ln gamma]
    log_noise: float
    mean: np.ndarray  # (p,): m and k of the inputs
    mean_mass: np.ndarray
    precision: np.ndarray  # (p,): E[g] and E[ln g] of the inputs
    log_precision: np.ndarray

    @staticmethod
    def of(view: DenseView | dict[str, np.ndarray]) -> "Expected":
        w, w_precision = gaussian.parameters(view["coefficients"])
        shape, rate = gamma.parameters(view["noise"])
        m, k, a, b = normal_gamma.parameters(view["inputs"])
        noise = float(shape / rate), float(psi(shape) - np.log(rate))
        return Expected(w, 1 / w_precision, *noise, m, k, a / b, psi(a) - np.log(b))

    def updated(
        self, view: DenseView, moments: "Moments", y: np.ndarray
    ) -> tuple["Expected", dict[str, np.ndarray]]:
        """The best q given the moments of the inputs, and the additions to natural parameters.

        Coefficients and the noise are updated in turn until the noise stays.
        """
        base, gain = view.base, view.gain
        squares, sums = moments.squares, moments.mean.T @ y
        diagonal, weight = np.diag(squares), gain["coefficients"][:, 0]
        pull, prior_precision = base["coefficients"].T
        noise = self.noise
        for _ in range(MOST_ROUNDS):
            used = noise
            system = np.diag(prior_precision) + (weight * used)[:, None] * squares
            w = _solve(system, pull + weight * used * sums)
            w_variance = 1 / (prior_precision + weight * used * diagonal)
            of_noise = np.array([len(y), moments.residual(y, w, w_variance)])
            shape, rate = gamma.parameters(base["noise"] + gain["noise"] * of_noise)
            noise = float(shape / rate)
            if abs(noise - used) <= TOL * noise:
                break
        others, n = squares @ w - diagonal * w, np.full(len(w) - 1, float(len(y)))
        of_inputs = moments.mean.sum(axis=0)[:-1], n, diagonal[:-1], n
        additions = {
            "inputs": np.stack(of_inputs, axis=-1),
            "coefficients": used * np.stack([sums - others, diagonal], axis=-1),
            "noise": of_noise,
        }
        lam = {name: base[name] + gain[name] * additions[name] for name in additions}
        return Expected.of(lam), additions

    def close_to(self, other: "Expected") -> bool:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return all(np.allclose(mine, theirs, rtol=TOL_OF_MISSING) for mine, theirs in pairs)


@dataclass(frozen=True)
class Moments:
    """First and second moments of the inputs and the constant 1, under q(missing)."""

    mean: np.ndarray  # (n_samples, p + 1)
    covariance: np.ndarray  # (p + 1, p + 1): summed over the samples
    entropy: float  # Of q(missing), in nats
    latent: bool  # Whether any value was missing

    @staticmethod
    def of(X: np.ndarray, y: np.ndarray, q: Expected) -> "Moments":
        """Moments under the best q(missing), a joint Gaussian for each sample."""
        n, p = X.shape
        mean, covariance = np.column_stack([X, np.ones(n)]), np.zeros((p + 1, p + 1))
        is_nan, entropy = np.isnan(X), 0.0
        # Each set of columns missing together, and its rows.
        patterns, place = np.unique(is_nan, axis=0, return_inverse=True)
        for i in np.flatnonzero(patterns.any(axis=1)):
            missing, rows = np.flatnonzero(patterns[i]), np.flatnonzero(place.ravel() == i)
            seen = np.setdiff1d(np.arange(p + 1), missing)
            residual = y[rows] - mean[np.ix_(rows, seen)] @ q.w[seen]
            # Given the observed inputs and y: diag(E[g]) + E[gamma] E[w w'].
            w, spread = q.w[missing], np.diag(q.w_variance[missing])
            precision = np.diag(q.precision[missing]) + q.noise * (np.outer(w, w) + spread)
            inverse = np.linalg.inv(precision)
            pull = (q.precision * q.mean)[missing] + q.noise * residual[:, None] * w
            mean[np.ix_(rows, missing)] = pull @ inverse
            covariance[np.ix_(missing, missing)] += len(rows) * inverse
            log_det = np.linalg.slogdet(precision)[1]
            constant = len(missing) * np.log(2 * np.pi * np.e)
            entropy += len(rows) * 0.5 * float(constant - log_det)
        return Moments(mean, covariance, entropy, bool(is_nan.any()))

    @property
    def squares(self) -> np.ndarray:
        """Sum of E[z z'] over samples z, constant included."""
        return self.mean.T @ self.mean + self.covariance

    def residual(self, y: np.ndarray, w: np.ndarray, w_variance: np.ndarray) -> float:
        """Sum of E[(y - w'z)^2]."""
        of_means = np.sum((y - self.mean @ w) ** 2) + w @ self.covariance @ w
        return float(of_means + np.diag(self.squares) @ w_variance)

    def local_bound(self, y: np.ndarray, q: Expected) -> float:
        """E[log p(x, y | beta)] - E[log q(missing)], in nats."""
        n = len(y)
        squares = ((self.mean[:, :-1] - q.mean) ** 2).sum(axis=0) + np.diag(self.covariance)[:-1]
        of_inputs = n * (q.log_precision - np.log(2 * np.pi) - 1 / q.mean_mass)
        of_inputs = of_inputs - q.precision * squares
        of_target = n * (q.log_noise - np.log(2 * np.pi))
        of_target = of_target - q.noise * self.residual(y, q.w, q.w_variance)
        return float(0.5 * (of_inputs.sum() + of_target) + self.entropy)


def _solve(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a system of positive diagonal; raise if rounding makes the solution meaningless."""
    scale = 1 / np.sqrt(np.diag(system))
    scaled = scale[:, None] * system * scale
    if not np.linalg.cond(scaled) < MOST_CONDITION:
        raise np.linalg.LinAlgError("the system is singular but for rounding")
    return scale * np.linalg.solve(scaled, scale * right)


def _log_mixture(
    residual: np.ndarray, variance: np.ndarray, shape: np.ndarray, rate: np.ndarray
) -> np.ndarray:
    """Log of the integral of N(residual; 0, variance + 1/g) Gamma(g; shape, rate) over g.

    The trapezoidal rule runs over ln g, from the lower to the upper tail.
    """
    least = max(gamma_distribution.ppf(TAIL, shape), np.finfo(np.float64).tiny)
    most = gamma_distribution.isf(TAIL, shape + 0.5)
    squared = residual**2
    first, last = np.log(least / (rate + 0.5 * squared)), np.log(most / rate)
    step = (last - first) / (N_NODES - 1)
    log_g = first + step * np.arange(N_NODES)[:, None]
    g = np.exp(log_g)
    scale = 1 + variance * g
    log_terms = (shape + 0.5) * log_g - rate * g - 0.5 * (np.log(scale) + squared * g / scale)
    constant = shape * np.log(rate) - gammaln(shape) - 0.5 * np.log(2 * np.pi)
    return logsumexp(log_terms, axis=0) + np.log(step) + constant
