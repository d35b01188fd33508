# SPDX-License-Identifier: BSD-3-Clause
"""Paragraphs shared by docstrings; see `documented`."""

import re
from collections.abc import Callable
from inspect import isfunction
from textwrap import indent
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])

PARAMETERS = {
    "parameters": "Parameters\n----------",
    "by_default": """\
Most defaults are those of `StreamingLDA`, not of the paper. Call `preset` with the name of this
class for the settings of the paper.""",
    "as_streaming_lda": """\
doc_topic_prior, doc_topic_prior_update, topic_word_prior, inference, view, start, schedule, \
        batch_size, max_iter, n_jobs, random_state, verbose
    As in `StreamingLDA`.""",
    "as_streaming_mean": """\
doc_topic_prior, doc_topic_prior_update, start, batch_size, max_iter, n_jobs, random_state, verbose
    As in `StreamingLDA`.""",
    "n_components": """\
n_components : int, default=10
    Number of topics.""",
    "update": """\
update : {"svb", "bps", "online_em", "power_prior", "hpp", "mhpp", "population_vb", "svi"} or \
        Rule, default="svb"
    How the topics learn a minibatch; see `streamtopics.updates`.""",
    "first_n_components": """\
n_components : int, default=2
    Number of topics at the start; the stream adds and drops topics.""",
    "hdp_documents": """\
n_sweeps : int, default=20
    Gibbs sweeps over each document; counts are averaged over the last quarter of the sweeps.
concentration : float, default=1.0
    Concentration of the topic weights. Smaller values give fewer topics.
doc_concentration : float, default=2.0
    Concentration, in tokens, of a document's topics around the topic weights (b in Dupuy 2017).""",
    "kappa": """\
kappa : float, default=0.7
    Decay of the step size (t + tau)^-kappa of the t-th minibatch, in [0, 1]. With 1 all minibatches
    weigh alike. Smaller values forget early minibatches, but the topics vary more by chance.""",
    "tau": """\
tau : float, default=0
    Delay of the step size, in minibatches. The step size is raised to 1 / t if smaller. So the
    first step size is 1, and nothing remains of a random start.""",
    "mean_topic_word_prior": """\
topic_word_prior : float, array-like of shape (n_features,) or (n_components, n_features), \
        WordPrior or callable, default=0.02
    Dirichlet parameter of the topics (the papers' eta): a pseudo-count, in tokens, for all
    documents of the running mean together, not for each document.""",
    "part_kappa": """\
kappa : float, default=0.85
    Decay, in [0, 1], of the step size (t + tau)^-kappa of the t-th minibatch, or part of a
    minibatch. With 1 all minibatches weigh alike. Smaller values follow changes faster, but the
    topics vary more by chance. The paper takes 0.5. The updates of
    `doc_topic_prior` have this step size too, not the `step_size` of a given record.""",
    "update_each_sweep": """\
update_each_sweep : bool, default=False
    Whether to update the topics after every sweep over the minibatch (the "++" of the paper). If
    True, the topics fit the minibatch more closely, and rounds of `schedule` have no effect.""",
    "schedule": """\
schedule : Schedule or None, default=None
    As in `StreamingLDA`.""",
    "boosted_prior": """\
boosted_prior : float, array-like of shape (n_features,) or (n_components, n_features), \
        WordPrior, callable or None, default=None
    Prior that the update rule adds again with every minibatch, if the rule boosts a prior. Only the
    ratios of the entries count, not their size. None is `topic_word_prior`.""",
    "small_batches": """\
batch_size : int, default=100
    Documents in a minibatch of `fit`.""",
    "sweeps_and_batches": """\
max_local_iter : int, default=100
    Largest number of sweeps over a document.
local_tol : float, default=1e-3
    Stop when a sweep over a document moves less than this share of the tokens between topics.
batch_size : int, default=1000
    Documents in a minibatch of `fit`.""",
    "max_iter": """\
max_iter : int, default=1
    Passes of `fit` over the corpus. Each pass after the first counts the data again.""",
    "stream_kappa": """\
kappa : float, default=0.7
    Exponent, in (0, 1], of the step size (B / (N + B))^kappa of `partial_fit` for B documents after
    N earlier documents. 1 weighs all documents alike; smaller values forget faster.""",
    "em_doc_topic_prior": """\
doc_topic_prior : float, array-like of shape (n_components,) or None, default=None
    Dirichlet parameter of the documents' topic proportions, in tokens for each topic. None is
    10 / n_components.""",
    "em_topic_word_prior": """\
topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
        default=None
    Dirichlet parameter of the words of each topic, in tokens. None is 0.05 for each word.""",
    "em_tol": """\
tol : float, default=1e-4
    Stop when a round raises the bound of `objective_` by less than this share of its value. From a
    random start at least eleven rounds are run, and the first ten leave the priors as given.""",
    "common_parameters": """\
n_jobs : int or None, default=None
    Number of threads; None is 1 and -1 all processors. Results are the same for any number.
random_state : int, RandomState instance or None, default=None
    Seed of the estimator.
verbose : int, default=0
    1 shows the progress of `fit`. Most models also show the score of each minibatch or round.""",
}

TOPIC_ATTRIBUTES = """\
topic_word_ : ndarray of shape (n_components, n_features)
    Word probabilities of the topics; rows sum to 1.
topic_weights_ : ndarray of shape (n_components,)
    Share of each topic in the learnt tokens.
prior_retention_ : ndarray of shape (n_components,)
    Share of each topic's pseudo-counts that comes from the prior."""
STREAM_ATTRIBUTES = """\
n_batch_iter_, n_documents_seen_, n_tokens_seen_ : int, int, float
    Numbers of learnt minibatches, documents and tokens, counted again in each pass. In models with
    `schedule` each part of a cut minibatch counts as a minibatch.
n_iter_ : int
    Number of passes in `fit` (in `RatingLDA`, `SupervisedLDA` and `HiddenFactorsTopics`, of EM
    rounds); 0 after `partial_fit` alone.
posterior_ : TopicPosterior
    The posterior of the topics.
seed_ : int
    The seed drawn from `random_state`.
n_features_in_ : int
    Number of features seen in `fit`.
feature_names_in_ : ndarray of shape (n_features,)
    Names of features seen in `fit`, if all are strings."""

ATTRIBUTES = {
    "attributes": "Attributes\n----------",
    "dirichlet_components": """\
components_ : ndarray of shape (n_components, n_features)
    Dirichlet parameters of the topics: pseudo-counts, not normalised.""",
    "mean_components": """\
components_ : ndarray of shape (n_components, n_features)
    Expected tokens per document of each word in each topic, a running mean. The prior is included,
    and rows are not normalised.""",
    "edit_attributes": """\
edits_ : list of Edit
    Edits of the topics by people; see `streamtopics.editing`.
topic_numbers_, topic_names_ : ndarray of shape (n_components,)
    Number and name of each topic. Numbers stay the same when edits move rows. Names are given by
    `streamtopics.editing.rename`; "" is no name.
hidden_topics_, locked_topics_ : ndarray of int
    Rows of hidden topics, left out of tables and plots, and rows of topics with locked word
    probabilities.""",
    "drift_attributes": """\
retention_ : ndarray of shape (n_components,)
    For each topic, the share of the earlier counts kept by the rule at the last minibatch.
retention_history_ : ndarray of shape (n_minibatches, n_components)
    `retention_` of the last thousand minibatches, the latest in the last row.
effective_sample_size_ : ndarray of shape (n_components,)
    Row sums of `components_`, in tokens, prior included. Tokens are weighted by `growth` of
    `schedule`.
drift_ : list of Drift
    Records of the last thousand minibatches: number (`batch`), `time`, `retention` and
    `effective_sample_size` (without `averaging` of `schedule`) of each.""",
    "hdp_attributes": """\
n_active_topics_ : int
    Number of topics with more than 1 % of the learnt tokens.
n_topics_ : int
    Number of all topics: n_components in the shapes below.
births_ : list of TopicLifetime
    Records of the living and the last thousand dead topics, in order of birth; see `births_report`.
topic_ids_ : ndarray of shape (n_topics,)
    For each row of `components_`, the number of its topic in the field `topic` of `births_`.""",
    "topic_attributes": TOPIC_ATTRIBUTES,
    "stream_attributes": STREAM_ATTRIBUTES,
    "common_attributes": f"""\
{TOPIC_ATTRIBUTES}
doc_topic_prior_ : ndarray of shape (n_components,)
    Current Dirichlet parameter of the documents' topic proportions.
{STREAM_ATTRIBUTES}""",
}

METHODS = {
    "learns_corpus": """\
Earlier learning is forgotten. If an interrupt or an infinite result ends `fit`, the estimator keeps
what this `fit` has learnt so far.""",
    "learns_minibatch": """\
A failed call changes nothing. The first call fixes the columns, the size of the model, the priors,
the seed and the kind of update rule. Other changed parameters apply from the next minibatch on.""",
    "y_ignored": """\
y : None
    Ignored.""",
    "sentences": """\
Parameters
----------
X : matrix of shape (n_sentences, n_features), or sequence of matrices
    Word counts; a row is a sentence. X is a sequence with a matrix for each document, as
    `SentenceVectorizer` returns, or one matrix of all documents together with `groups`.""",
    "groups": """\
groups : array-like of shape (n_sentences,) or None, default=None
    Name or number of the document of each row of X, needed if X is one matrix. Results for
    documents are in the order of each document's first row.""",
    "sets": """\
Parameters
----------
X : sequence of matrices, or matrix
    The sets of points. If points are sentences (rows of word counts) or vectors: a matrix of shape
    (n_points, n_features) for each set, or one matrix for all sets together with `groups`. If
    points are items: one matrix of shape (n_sets, n_items), above 0 where a set has the item.""",
    "groups_of_points": """\
groups : array-like of shape (n_points,) or None, default=None
    Name or number of the set of each row of X, needed if X is one matrix of points. Methods
    return results for sets in the order in which the sets first appear.""",
    "samples": """\
Parameters
----------
X : array-like of shape (n_samples, n_features)
    Samples.""",
    "X": """\
Parameters
----------
X : {array-like, sparse matrix} of shape (n_documents, n_features)
    Word counts.""",
    "X_to_learn": """\
Parameters
----------
X : {array-like, sparse matrix} of shape (n_documents, n_features)
    Word counts, each 0 or from 1e-30 to 1e15; fractions are allowed.""",
    "vectors": """\
vectors : array-like of shape (n_documents, n_dimensions), default=None
    A vector for each document, for example from a sentence transformer. Only the direction of a
    vector counts. A row of NaN or zeros means that the document has no vector.""",
    "known_topics": """\
y : array-like of shape (n_documents,), default=None
    For `GuidedTopics` the name of the topic of each document, or None if unknown. Ignored by
    `StreamingMixture`.""",
    "ratings": """\
y : array-like of shape (n_documents,)
    Rating of each document, all on one scale.""",
    "labels": """\
y : array-like of shape (n_documents,)
    Class of each document.""",
    "items_and_users": """\
items, users : array-like of shape (n_documents,) or None, default=None
    Labels of the item and the author of each review: integers or strings. New labels are
    allowed.""",
    "targets": """\
y : array-like of shape (n_samples,), default=None
    Targets, if the model has targets.""",
    "time": """\
time : object, default=None
    Time of the documents, for example a year, kept in `drift_` if the rule forgets.""",
    "doc_topic": """\
Returns
-------
doc_topic : ndarray of shape (n_documents, n_components)
    Rows sum to 1; computed in float64 for float64 input, else in float32.""",
    "log_probability": """\
Returns
-------
log_probability : ndarray of shape (n_documents,)
    Log probability, in nats, of every fifth token of each document, given the remaining tokens; 0
    without held-out tokens.""",
    "score": """\
Returns
-------
score : float
    Mean log probability, in nats, of every fifth token of a document, given the remaining tokens;
    NaN without held-out tokens.""",
    "points": """\
points : matrix of shape (n_points, n_features)
    Sentences or vectors as rows; if points are items, a 1-D array of their column numbers.""",
    "theta_of_process": """\
theta : array-like of shape (n_components,) or None, default=None
    Weights of the columns of U, for example a row that `transform` returned. None is `theta_`.""",
    "given_points": """\
given : points or None, default=None
    Points known to be in the set: sentences or vectors as rows, or column numbers of items.""",
    "raw_documents": """\
raw_documents : iterable of str, or of lists of str
    Each document is a text, or a list of its sentences.""",
    "returns_self": """\
Returns
-------
self : object
    The fitted estimator.""",
    "returns_process": """\
Returns
-------
process : Process""",
    "returns_edit": """\
Returns
-------
edit : Edit
""",
    "fitted_example": """\
Examples
--------
>>> from streamtopics import StreamingLDA, editing
>>> X = [[4, 0, 1, 0], [0, 3, 0, 2]] * 50
>>> model = StreamingLDA(2, random_state=0).fit(X)""",
}

SHARED = PARAMETERS | ATTRIBUTES | METHODS
# Blanks of a line continued by a backslash.
CONTINUED = re.compile(r"(,|\bor) {4,}(?=\S)")
PLACE = re.compile(r"^( *)\{(\w+(?:, \w+)*)\}$", flags=re.MULTILINE)


@overload
def documented(owner: type) -> type: ...
@overload
def documented(owner: Function) -> Function: ...
def documented(owner: Any) -> Any:
    """Fill paragraphs into the docstrings of a class and its own methods, or of a function.

    A line of names in braces stands for the paragraphs of these names.
    """
    # The result of `available_if` keeps the method as `fn`, and a copy of its docstring.
    members = vars(owner).values()
    wrapped = [member for member in members if hasattr(member, "fn")]
    for one in (owner, *filter(isfunction, members), *wrapped, *(each.fn for each in wrapped)):
        if one.__doc__:
            filled = PLACE.sub(_paragraphs, one.__doc__)
            one.__doc__ = CONTINUED.sub(r"\1 ", filled)
    return owner


def _paragraphs(place: re.Match[str]) -> str:
    return indent("\n".join(SHARED[name] for name in place[2].split(", ")), place[1])
