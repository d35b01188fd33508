# SPDX-License-Identifier: BSD-3-Clause
"""Known classes, each a mixture of Gaussians."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from streamtopics.families import dirichlet
from streamtopics.messages import NodeStatistics
from streamtopics.models.dense_model import MixtureModel
from streamtopics.models.gaussian_mixture import GaussianMixture
from streamtopics.posteriors import Block, DensePosterior, DenseView, Learn
from streamtopics.utils.checks import check_pseudo_counts, check_whole


@dataclass(frozen=True)
class NaiveBayesMixture(MixtureModel):
    """A classifier with a mixture of Gaussians for the inputs of each class.

    y ~ Categorical(p), p ~ Dirichlet(class_concentration) (Masegosa et al., 2020, appendix B.2).

    Parameters
    ----------
    n_classes : int
        Number of classes; targets are 0 to n_classes - 1.
    mixture : GaussianMixture
        Mixture of the inputs of each class: gives the number of components and the priors.
    class_concentration : float
        Prior pseudo-count of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import NaiveBayesMixture
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = np.where(y == 1, 0.0, rng.choice([-4.0, 4.0], size=200)) + rng.normal(size=200)
    >>> bayes = StreamingBayes(NaiveBayesMixture(2), random_state=0).fit(X[:, None], y)
    >>> bayes.predict([[-4.0], [0.0], [4.0]])
    array([0, 1, 0])
    """

    needs_target: ClassVar[bool] = True
    accepts_missing: ClassVar[bool] = True
    coordinates: ClassVar[tuple[str, ...]] = ("mixture.mean",)

    n_classes: int = 2
    mixture: GaussianMixture = field(default_factory=GaussianMixture)
    class_concentration: float = 1.0

    def __post_init__(self) -> None:
        check_whole(self, n_classes=self.n_classes)
        check_pseudo_counts(self, class_concentration=self.class_concentration)

    def posterior(self, X: np.ndarray) -> DensePosterior:
        classes = Block(dirichlet, np.full(self.n_classes, self.class_concentration))
        mixtures = self.mixture.blocks(self.n_classes, np.shape(X)[1])
        return DensePosterior({"classes": classes, **mixtures})

    def learner(
        self, posterior: DensePosterior, X: np.ndarray, y: np.ndarray, seed: int = 0
    ) -> Learn:
        y = self._codes(y)
        counts = np.bincount(y, minlength=self.n_classes).astype(np.float64)

        def learn(view: DenseView, *, warm: bool = False) -> NodeStatistics:
            additions, bound = self.mixture.learn_classes(view, X, y, seed)
            bound += float(counts @ dirichlet.expected_statistics(view["classes"]))
            return posterior.statistics({"classes": counts, **additions}, len(y), bound)

        return learn

    def log_predictive(
        self, posterior: DensePosterior, X: np.ndarray, y: np.ndarray | None
    ) -> np.ndarray:
        joint = self._log_joint(posterior, X)
        if y is None:
            return logsumexp(joint, axis=1)
        return joint[np.arange(len(joint)), self._codes(y)]

    def _log_joint(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        of_inputs = [
            logsumexp(self.mixture.log_joint_of_class(posterior, X, c), axis=1)
            for c in range(self.n_classes)
        ]
        counts = posterior["classes"]
        return np.stack(of_inputs, axis=1) + np.log(counts / counts.sum())

    def _codes(self, y: np.ndarray) -> np.ndarray:
        codes = np.asarray(y)
        if not ((codes == np.floor(codes)) & (codes >= 0) & (codes < self.n_classes)).all():
            allowed = f"whole numbers from 0 to {self.n_classes - 1}"
            raise ValueError(f"classes y of NaiveBayesMixture must be {allowed}")
        return codes.astype(np.int64)
