# SPDX-License-Identifier: BSD-3-Clause
"""A method of learning topics: a rule, a local step, a view, and a schedule."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy import sparse

from streamtopics.base.frame import keeps_means
from streamtopics.local import Gibbs, LocalStep, OneTopic, Variational
from streamtopics.local.step import Source, part
from streamtopics.messages import Minibatch
from streamtopics.models import LDA
from streamtopics.models.lda import Start, TopicView, corrected_mean, geometric_mean, mean
from streamtopics.models.sources import NOISE
from streamtopics.models.spectral_start import SPECTRAL
from streamtopics.posteriors import Blend, Learn, TopicPosterior
from streamtopics.updates import (
    BPS,
    SVB,
    DirichletProcess,
    Growing,
    HierarchicalPowerPrior,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    StochasticVI,
)
from streamtopics.updates.births import Tallies
from streamtopics.updates.doc_topic import (
    FIXED,
    DocTopicUpdate,
    Fixed,
    FixedPoint,
    GammaPrior,
    LearnsDocTopicPrior,
    Shares,
)
from streamtopics.updates.rule import MEANS, NO_TRAITS, Rounds, Rule, Traits, in_parts
from streamtopics.utils.checks import check_one_of, check_pseudo_counts, check_range, check_whole
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import fields_of

UPDATES = {
    "online_em": OnlineEM(),
    "svb": SVB(),
    "bps": BPS(0.1),
    "power_prior": PowerPrior(0.9),
    "hpp": HierarchicalPowerPrior(),
    "mhpp": HierarchicalPowerPrior("topic"),
    "population_vb": PopulationVB(10_000, 0.1),
    "svi": StochasticVI(),
}
INFERENCE = {"gibbs": Gibbs(), "variational": Variational(), "one_topic": OneTopic()}
VIEWS = {"mean": mean, "geometric_mean": geometric_mean, "corrected_mean": corrected_mean}
STARTS: dict[str, Any] = {"spectral": SPECTRAL, "noise": NOISE}
# Default documents in a part of a minibatch, and default growth, if the rule allows both.
PART, GROWTH = 150, 3.0
# Least documents for each topic in a part, with variational inference: from fewer documents of a
# thousand topics one topic takes in the others.
OF_TOPIC = 0.45
# Below the first number of words a document is one topic; from the second on sampling is worse.
SHORT, LONG = 12, 60
# Least documents to learn, passes included, least tokens, and most passes, fewer for a mixture.
ENOUGH, ENOUGH_TOKENS, MOST_PASSES, MOST_OF_MIXTURE = 5000, 400_000, 5, 2
# Pseudo-count of a word in a topic of a stream; pseudo-count in all topics in a small corpus,
# between the pseudo-count of a stream and the most in one topic.
WORD_PRIOR, WORD_PRIOR_OF_ALL, MOST_WORD_PRIOR = 0.02, 1.5, 0.15
DOC_TOPIC_UPDATES: dict[str, DocTopicUpdate] = {
    "fixed": Fixed(),
    "fixed_point": FixedPoint(),
    "gamma": GammaPrior(),
    "shares": Shares(),
}

ADVICE = {
    "log_theta": 'doc_topic_prior_update="fixed", or another inference',
    "shares": 'doc_topic_prior_update="fixed", or inference="one_topic"',
    "local_bound": "variational inference, view='geometric_mean' and schedule__prior_limit=None",
}


@dataclass(frozen=True)
class Schedule:
    """How minibatches are cut into parts, weighted and learnt in rounds, with any update rule.

    Parameters
    ----------
    inner_batch_size : int, "auto" or None, default="auto"
        Number of documents in a part of a minibatch. Topics are updated after each part. None does
        not cut minibatches. "auto" is 150; with variational inference of more than 333 topics it is
        0.45 for each topic. "auto" is None for rules that need whole minibatches, such as `Window`,
        and with Gibbs sampling for rules with a learnt rate, such as "hpp".
    growth : float or None, default=None
        Exponent h: a minibatch of B tokens that brings the total to N tokens has the weight N^h -
        (N - B)^h. With h > 1 the influence of the first minibatches fades. None is 3 for rules that
        add the counts of a minibatch with weight 1, such as "svb" and "power_prior", otherwise 1.
    prior_limit : float or None, default=0.3
        Largest ratio of all topics' prior pseudo-counts to the learnt tokens, when documents are
        inferred in learning. A larger prior is scaled down to this ratio, because the prior makes
        topics of few tokens look alike. At least 1e-10; None sets no limit.
    n_rounds : int, default=1
        Number of rounds over a minibatch. Each round infers the documents and updates the topics.
        Take about 10 if topics start at random and minibatches are few.
    n_start_rounds : int, default=1
        Number of rounds over each of the first three minibatches (or parts), if above `n_rounds`.
    warm_rounds : bool, default=False
        Whether inference in a round starts from the documents' topics found in the last round.
    n_start_documents : int, default=0
        Number of documents to keep from the beginning of a stream. Whenever the kept documents have
        grown by a tenth, topics are learnt anew from them, and the order of topics may change,
        until an edit. Must be 0 with rules that forget, with `averaging`, and with births.
    averaging : {"linear", "uniform"} or None, default=None
        How to average the topics over a stream (Polyak and Ruppert): the topics after minibatch t
        have the weight 1 ("uniform") or t ("linear"). Useful if the rule's `kappa` is 1/2 or less.
        None does not average.

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.estimators import Schedule
    >>> model = StreamingLDA(schedule=Schedule(n_rounds=3))
    >>> model.set_params(schedule__growth=1).schedule.growth  # a field is also a parameter
    1
    """

    inner_batch_size: int | Literal["auto"] | None = "auto"
    growth: float | None = None
    prior_limit: float | None = 0.3
    n_rounds: int = 1
    n_start_rounds: int = 1
    warm_rounds: bool = False
    averaging: Literal["linear", "uniform"] | None = None
    n_start_documents: int = 0

    def __post_init__(self) -> None:
        check_whole(self, n_rounds=self.n_rounds, n_start_rounds=self.n_start_rounds)
        check_whole(self, least=0, n_start_documents=self.n_start_documents)
        if self.inner_batch_size is not None and self.inner_batch_size != "auto":
            check_whole(self, inner_batch_size=self.inner_batch_size)
        if self.growth is not None:
            check_range(self, 1, 100, growth=self.growth)
        if self.prior_limit is not None:
            check_pseudo_counts(self, prior_limit=self.prior_limit)
        if self.averaging is not None:
            check_one_of(("linear", "uniform"), averaging=self.averaging)


# Whole minibatches of equal weight: the equations of a rule alone.
PLAIN = Schedule(None, 1.0, None)


@dataclass(frozen=True)
class Composition:
    """A method of learning topics, made of a rule, a local step, a view and a schedule.

    Attributes
    ----------
    update : Rule
        How the topics are updated by a minibatch.
    inference : LocalStep
        How the topics of documents are inferred in learning.
    view : TopicView
        How the posterior becomes weights of words for `inference`, for example mean probabilities.
    transform_inference : LocalStep or None
        How the topics of documents are inferred in `transform` and scores; None takes the more
        thorough `inference.applied()`.
    doc_topic : DocTopicUpdate
        How the prior of the documents' topics is learnt.
    start : Start
        How the first topics are made.
    schedule : Schedule
        How minibatches are cut, weighted and repeated.
    births : DirichletProcess or None
        How topics are born and die; needs one topic a document. With births the first minibatch is
        not cut into parts, and `growth` of `schedule` is 1 by default for rules that forget.
    """

    update: Rule
    inference: LocalStep
    view: TopicView
    transform_inference: LocalStep | None = None
    doc_topic: DocTopicUpdate = FIXED
    start: Start = NOISE
    schedule: Schedule = PLAIN
    births: DirichletProcess | None = None

    def __getstate__(self) -> dict[str, Any]:
        return fields_of(self)

    @cached_property
    def inner_batch_size(self) -> int | None:
        given, traits = self.schedule.inner_batch_size, self.update.traits
        if isinstance(given, int | None):
            return given
        # If a rate is learnt, Gibbs sampling gains from several rounds over a whole minibatch.
        samples = isinstance(self.inference, Gibbs) and "local_bound" not in traits.needs
        return PART if can_be_cut(self.update) and not (samples and traits.learns_rate) else None

    def part_size(self, n_components: int) -> int | None:
        size, is_auto = self.inner_batch_size, self.schedule.inner_batch_size == "auto"
        grows = is_auto and size is not None and isinstance(self.inference, Variational)
        return max(PART, int(OF_TOPIC * n_components)) if grows else size

    @cached_property
    def growth(self) -> float:
        if self.schedule.growth is not None:
            return self.schedule.growth
        traits = traits_of(self.update)
        grows = traits.adds and not (traits.forgets and self.births is not None)
        return GROWTH if grows else 1.0

    @cached_property
    def rule(self) -> Rounds:
        """The update rule, wrapped in rules of births, the documents' prior and rounds."""
        own = self.schedule
        grows = self.update if self.growth == 1 else Growing(self.update, self.growth)
        if self.births is not None:
            grows = Tallies(grows, self.inference.n_background)
        learns = LearnsDocTopicPrior(grows, self.doc_topic)
        return Rounds(learns, own.n_rounds, own.n_start_rounds, warm=own.warm_rounds)

    @cached_property
    def traits(self) -> Traits:
        return self.rule.traits

    def rounding_of(self, n_components: int) -> float:
        """Expected counts of fewer tokens than this are rounded at random; 0 rounds nothing."""
        step, traits = self.inference, self.traits
        plain = self.births is None and can_be_cut(self.update)
        if not isinstance(step, Gibbs) or self.view != mean or self.schedule.averaging is not None:
            return 0.0
        dense = traits.needs & {"divergences", "slopes", "dense", "noise"}
        return step.rounding_of(n_components) if plain and not dense and not traits.forgets else 0.0

    @cached_property
    def _model(self) -> LDA:
        found = self.transform_inference or self.inference.applied()
        report = self.traits.needs & self.inference.reports
        if self.rate_first:
            report -= {"local_bound"}
        return LDA(
            self.view, self.inference, found, 0, self.start, report, self.schedule.prior_limit,
            per_document=self.traits.merges in MEANS,
        )  # fmt: skip

    @cached_property
    def rate_first(self) -> bool:
        """Whether the rule learns a rate from a whole minibatch before its parts."""
        schedule, traits = self.schedule, self.traits
        bound = self.view.keeps_bound and schedule.prior_limit is None
        needs_bound = "local_bound" in traits.needs - (self.inference.reports if bound else set())
        return traits.learns_rate and (self.inner_batch_size is not None or needs_bound)

    def model(self, seed: int) -> LDA:
        return replace(self._model, seed=seed)

    def step(
        self,
        posterior: TopicPosterior,
        minibatch: Minibatch,
        state: object,
        model: LDA,
        pool: Workers,
        seen: TopicPosterior | None = None,
        first: Source | None = None,
    ) -> tuple[Blend, Any]:
        """Return the update of a minibatch, whole or in parts, and the rule's next state.

        `seen` is a copy of the posterior for the minibatch's words. `first` are topics made from
        the corpus; None makes topics from this minibatch.
        """
        size, n = self.part_size(posterior.shape[1]), minibatch.n_documents
        starts_whole = posterior.knows_nothing and self.births is not None
        n_parts = 1 if size is None or n <= size or starts_whole else -(-n // size)
        # The first document of each part, and the end; parts have about as many documents.
        bounds = [0, n] if n_parts == 1 else np.linspace(0, n, n_parts + 1).astype(int).tolist()
        rate_first = self.rate_first
        if posterior.knows_nothing and seen is None and first is None:
            # From the words of the first part: topics without any of its words would be equal.
            n_first = minibatch.n_documents if of_corpus(self.start) else bounds[1]
            first = model.first_topics(posterior, part(minibatch, 0, n_first)[0])
        if len(bounds) == 2 and seen is None and not rate_first:
            learner = model.learner(posterior, minibatch, pool, first)
            return self.rule.step(posterior, learner, state)
        if isinstance(first, TopicPosterior):
            seen = first.of_words(minibatch.words)
        whole: Rule = self.rule
        if rate_first:
            rate_model = model
            if "local_bound" in self.traits.needs:
                # With the exact bound, to compare several starts.
                own_step = isinstance(self.inference, Variational)
                rate_model = replace(
                    model, view=geometric_mean, report=frozenset({"local_bound"}), prior_limit=None,
                    local=self.inference if own_step else Variational(),
                )  # fmt: skip
            whole = whole.for_rate(posterior, rate_model.learner(posterior, minibatch, pool))
        scratch = posterior.of_words(minibatch.words) if seen is None else seen

        def parts() -> Iterator[tuple[Rule, Learn]]:
            for start, stop in pairwise(bounds):
                own, _ = part(minibatch, start, stop)
                rule: Any = whole.for_part((stop - start) / minibatch.n_documents, start == 0)
                yield rule, model.learner(scratch, own, pool, first)

        return in_parts(parts(), scratch, minibatch.words, state, pool.share)


def auto_inference(X: sparse.csr_matrix, one_topic_below: float = SHORT) -> LocalStep:
    """The local step for documents of this length."""
    # A sum of weights is no length: the words of a document then are its entries.
    weighted = np.count_nonzero(X.data % 1) > X.nnz / 2
    lengths = np.asarray((X.astype(bool) if weighted else X).sum(axis=1)).ravel()
    typical = lengths[lengths > 0].mean() if lengths.any() else SHORT
    if typical < one_topic_below:
        return OneTopic()
    return Gibbs() if typical < LONG else Variational()


def traits_of(update: object) -> Traits:
    return update.traits if isinstance(update, Rule) else NO_TRAITS


def auto_view(inference: object, update: object) -> TopicView:
    counts = traits_of(update).merges not in MEANS
    return corrected_mean if isinstance(inference, Variational) and counts else mean


def auto_doc_topic(inference: object) -> DocTopicUpdate:
    reports = getattr(inference, "reports", ())  # An isinstance of a protocol is slow.
    if "shares" in reports:
        return DOC_TOPIC_UPDATES["shares"]
    return DOC_TOPIC_UPDATES["fixed_point" if "log_theta" in reports else "fixed"]


def can_be_cut(rule: Rule) -> bool:
    return rule.traits.learns_rate or rule.for_part(0.5) is not None


def auto_passes(inference: LocalStep, n_documents: int, n_tokens: float) -> int:
    """Passes over a corpus; for a mixture by documents alone."""
    by_documents = math.ceil(ENOUGH / max(n_documents, 1))
    if isinstance(inference, OneTopic):
        return min(MOST_OF_MIXTURE, by_documents)
    return min(MOST_PASSES, max(by_documents, math.ceil(ENOUGH_TOKENS / max(n_tokens, 1.0))))


def auto_word_prior(update: object, n_documents: int, n_components: int) -> float:
    # Few documents lack many later words, and topics lack many learnt words.
    if n_documents >= ENOUGH or traits_of(update).merges != "sum":
        return WORD_PRIOR
    return min(MOST_WORD_PRIOR, max(WORD_PRIOR, WORD_PRIOR_OF_ALL / n_components))


def of_corpus(start: Start) -> bool:
    return getattr(start, "of_corpus", False)


def check_parts(composition: Composition, auto: Collection[str] = ()) -> None:
    """Refuse objects that are not parts, and parts that contradict each other.

    `auto` names the parameters that may also be "auto".
    """
    update, step, view = composition.update, composition.inference, composition.view
    start, doc_topic = composition.start, composition.doc_topic
    parts: list[tuple[str, object, Any, Collection[str], str]] = [
        ("update", update, Rule, UPDATES, "PowerPrior(0.9)"),
        ("inference", step, LocalStep, INFERENCE, "Gibbs(n_sweeps=10)"),
        ("view", view, TopicView, VIEWS, "one with __call__(rows, mass, out) and keeps_bound"),
        ("start", start, Start, STARTS, "SpectralStart()"),
        ("doc_topic_prior_update", doc_topic, DocTopicUpdate, DOC_TOPIC_UPDATES, "FixedPoint()"),
    ]
    for name, value, kind, options, example in parts:
        if isinstance(value, type) or not isinstance(value, kind):
            words = ["auto"] * (name in auto) + [word for word in options if word != value]
            raise TypeError(
                f"{name} must be one of {words}, or a record such as {example}; got {value!r}"
            )
    schedule, traits, trouble = composition.schedule, update.traits, ""
    if composition.inner_batch_size is not None and not can_be_cut(update):
        trouble = "has no `for_part` that learns from a part of a minibatch; set "
        trouble += "schedule__inner_batch_size to None"
    elif keeps_means(update) and view == corrected_mean:
        trouble = "needs a view of means, but CorrectedMean corrects counts; use view='mean'"
    elif composition.growth != 1 and not traits.adds:
        trouble = f"weighs minibatches itself; set schedule__growth={composition.growth} to 1"
    elif schedule.averaging is not None and (composition.births or not traits.retains_alike):
        trouble = "retains other shares of topics, or adds noise; set schedule__averaging to None"
    elif (most := schedule.n_start_documents) and (
        traits.forgets or schedule.averaging or composition.births or not can_be_cut(update)
    ):
        trouble = "learns no beginning anew if it forgets, averages or has births; set "
        trouble += f"schedule__n_start_documents={most} to 0"
    if trouble:
        raise ValueError(f"{type(update).__name__} {trouble}, or use another rule")


def check_needs(composition: Composition) -> None:
    """Refuse a rule whose needs neither the posterior nor the local step meets."""
    inference, view = composition.inference, composition.view
    reports = set(inference.reports)
    if composition.rate_first:
        reports.add("local_bound")
    elif not view.keeps_bound or composition.schedule.prior_limit is not None:
        reports.discard("local_bound")
    for need in sorted(composition.traits.needs - TopicPosterior.offers - reports):
        own = need in composition.update.traits.needs
        record = composition.update if own else composition.doc_topic
        raise ValueError(
            f"{type(record).__name__} as set here needs {need!r}, not reported by "
            f"{type(inference).__name__}; use {ADVICE.get(need, 'another update')}"
        )
