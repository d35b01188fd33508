# SPDX-License-Identifier: BSD-3-Clause
"""Paragraphs that the docstrings of several estimators share.

In the docstring of a class under `documented`, and in those of its own methods, a line that
is a name in braces stands for the paragraph of that name, some with the heading of a section.
"""

import re
from inspect import isfunction
from textwrap import indent

N_JOBS = """\
n_jobs : int or None, default=None
    Threads; None is 1 and -1 all processors. The results are the same bits
    for any number."""
PARAMETERS = {
    "by_default": """\
By default what is around the rule is as in `StreamingLDA`; `preset`, called with the name of the
class, has the settings of the source.""",
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
    "first_n_components": """\
n_components : int, default=2
    Number of topics to start with; the stream adds topics and drops them.""",
    "concentration": """\
concentration : float, default=1.0
    Concentration of the weights of topics (the papers' alpha). Less opens fewer topics and may
    leave two in one; more keeps topics that others would do for.""",
    "doc_concentration": """\
doc_concentration : float, default=2.0
    Concentration of a document's topics around those weights (the paper's b), in tokens.""",
    "many_sweeps": """\
n_sweeps : int, default=20
    Gibbs sweeps over each document; the last quarter of them is averaged.""",
    "kappa": """\
kappa : float, default=0.7
    How fast the step size (t + tau)^-kappa of the t-th minibatch decays, in [0, 1]. 1 weighs all
    minibatches alike; less forgets the early ones, but leaves the later ones more noise.""",
    "n_documents": """\
n_documents : int or None, default=None
    Size of the corpus that the topics are to be learnt for (the papers' D). None is the number
    seen so far, repeated passes included, which suits a stream without end.""",
    "tau": """\
tau : float, default=0
    Minibatches by which the step size is ahead. It is at most 1 / t, so that the random topics
    before the first minibatch have no part in those learnt.""",
    "mean_topic_word_prior": """\
topic_word_prior : float, array-like of shape (n_features,) or (n_components, n_features), \
        WordPrior or callable, default=0.02
    Dirichlet parameter of the topics (the papers' eta), in tokens, against those of the documents
    that the running mean stands for.""",
    "part_kappa": """\
kappa : float, default=0.85
    How fast the step size (t + tau)^-kappa of the t-th minibatch, or part of one, decays, in
    [0, 1]. 1 weighs all alike; less forgets the early ones, but leaves the later ones more noise,
    and follows a stream that changes. The source has 0.5.""",
    "n_sweeps": """\
n_sweeps : int, default=5
    Gibbs sweeps over each document; the last quarter of them is averaged.""",
    "update_each_sweep": """\
update_each_sweep : bool, default=False
    Whether the parameters are updated after every sweep over the minibatch, rather than once at
    the end (the "++" of the source). It fits the minibatch closer.""",
    "n_rounds": """\
n_rounds : int, default=1
    Rounds between topics and documents inside a minibatch; 1 is the update of the source.""",
    "boosted_prior": """\
boosted_prior : float, array-like of shape (n_features,) or (n_components, n_features), \
        WordPrior, callable or None, default=None
    The knowledge that a boost adds again with every minibatch; only its shape counts. None is
    `topic_word_prior`, which the stream starts from and forgets to.""",
    "max_local_iter": """\
max_local_iter : int, default=100
    Sweeps over a document, at most.""",
    "local_tol": """\
local_tol : float, default=1e-3
    A document is done when a sweep moves less than this share of its tokens between topics.""",
    "small_batch_size": """\
batch_size : int, default=100
    Documents in a minibatch of `fit`; `partial_fit` takes what it is given as one.""",
    "max_iter": """\
max_iter : int, default=1
    Passes of `fit` over the corpus; more than one counts the data again.""",
    "stream_kappa": """\
kappa : float, default=0.7
    How fast `partial_fit` forgets, in (0, 1]. The step size of a minibatch of B documents
    after N others is (B / (N + B))^kappa; 1 weighs all documents alike.""",
    "em_doc_topic_prior": """\
doc_topic_prior : float, array-like of shape (n_components,) or None, default=None
    Dirichlet parameter of the topic proportions, in tokens, to start from. None is
    10 / n_components.""",
    "em_topic_word_prior": """\
topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
        default=None
    Dirichlet parameter of all topics: a pseudo-count, in tokens, for every word. None is
    0.05 for each. Where priors are learnt, it is what learning starts from.""",
    "em_tol": """\
tol : float, default=1e-4
    A round that gains less than this part of the bound is the last, but for the first
    eleven from a random start, ten of which leave the priors alone.""",
    "em_parameters": """\
n_jobs : int or None, default=None
    Threads; None is 1 and -1 all processors. The results are the same bits for any number.
random_state : int, RandomState instance or None, default=None
    Seed of the topics that the first round starts from.
verbose : int, default=0
    1 shows the rounds of `fit`, with the bound in nats per token where there is one.""",
    "n_jobs": N_JOBS,
    "common_parameters": f"""\
{N_JOBS}
random_state : int, RandomState instance or None, default=None
    Seed of all that is random.
verbose : int, default=0
    1 shows the progress of `fit`, with the held-out score of the minibatches to come.""",
}

TOPIC_ATTRIBUTES = """\
topic_word_ : ndarray of shape (n_components, n_features)
    Word probabilities of the topics; rows sum to 1.
topic_weights_ : ndarray of shape (n_components,)
    Share of all tokens learnt from that each topic explains.
prior_retention_ : ndarray of shape (n_components,)
    Share of each topic's mass that is owed to the prior."""
STREAM_ATTRIBUTES = """\
n_batch_iter_, n_documents_seen_, n_tokens_seen_ : int, int, float
    What has been learnt from, counting repeated passes; parts of a minibatch count one each.
n_iter_ : int
    Passes that `fit` has finished; 0 after `partial_fit` alone.
posterior_ : TopicPosterior
    The state of the engine.
seed_ : int
    The seed drawn from `random_state`.
n_features_in_ : int
    Number of features seen in `fit`.
feature_names_in_ : ndarray of shape (n_features,)
    Names of features seen in `fit`, when they were all strings."""

ATTRIBUTES = {
    "dirichlet_components": """\
components_ : ndarray of shape (n_components, n_features)
    Dirichlet parameters of the topics: pseudo-counts, not normalised.""",
    "mean_components": """\
components_ : ndarray of shape (n_components, n_features)
    Expected tokens of each word in each topic, per document, smoothed; not normalised.""",
    "drift_attributes": """\
retention_ : ndarray of shape (n_components,)
    Share of each topic that the rule kept at the last minibatch.
retention_history_ : ndarray of shape (n_minibatches, n_components)
    The same for the last thousand minibatches.
effective_sample_size_ : ndarray of shape (n_components,)
    Tokens that each topic stands for, its prior's included, as the growing weights count them.
drift_ : list of Drift
    What each of the last thousand minibatches did; see `drift_report`.""",
    "hdp_attributes": """\
n_active_topics_ : int
    Number of topics with more than 1 % of the tokens learnt from.
n_topics_ : int
    Number of topics represented, n_components in the shapes below.
births_ : list of TopicLifetime
    Topics that live, and the last thousand that died, by birth; see `births_report`.
topic_ids_ : ndarray of shape (n_topics,)
    Their numbers there.""",
    "topic_attributes": TOPIC_ATTRIBUTES,
    "stream_attributes": STREAM_ATTRIBUTES,
    "common_attributes": f"""\
{TOPIC_ATTRIBUTES}
doc_topic_prior_ : ndarray of shape (n_components,)
    The prior of the documents in use.
{STREAM_ATTRIBUTES}""",
}

SENTENCES = """\
Parameters
----------
X : matrix of shape (n_sentences, n_features), or sequence of matrices
    Counts of the words in sentences: one matrix for all documents, with `groups`, or one of
    shape (n_sentences, n_features) for each document, as `SentenceVectorizer` makes them."""
GROUPS = """\
groups : array-like of shape (n_sentences,) or None, default=None
    The document of each row of X, if that is one matrix; documents come in the order of
    their first rows."""
X_SETS = """\
Parameters
----------
X : sequence of matrices, or matrix
    One matrix of shape (n_points, n_features) for each set, or one for all with `groups`:
    sentences as counts of words, as `SentenceVectorizer` makes them, or vectors. For items
    one matrix of shape (n_sets, n_items), in which the items of a set are above 0."""
GROUPS_OF_POINTS = """\
groups : array-like of shape (n_points,) or None, default=None
    The set of each row of X, if that is one matrix of points; sets come in the order of
    their first rows."""
SAMPLES = """\
Parameters
----------
X : array-like of shape (n_samples, n_features)
    Samples."""
METHODS = {
    "learns_corpus": """\
Forgets what was learnt before. When it is interrupted, or comes to a minibatch that has no finite
answer, the model has learnt from the minibatches before.""",
    "learns_minibatch": """\
When it fails nothing has changed. When it is interrupted, either nothing has changed or all of
the minibatch was learnt. The first call fixes the columns, the topics, the priors, the seed and the
kind of rule; other parameters count from the next minibatch on. Of no rows nothing is learnt.""",
    "y_ignored": """\
y : None
    Ignored.""",
    "sentences": f"""\
{SENTENCES}
{GROUPS}""",
    "sentences_and_y": f"""\
{SENTENCES}
y : None
    Ignored.
{GROUPS}""",
    "X": """\
Parameters
----------
X : {array-like, sparse matrix} of shape (n_documents, n_features)
    Word counts.""",
    "X_to_learn": """\
Parameters
----------
X : {array-like, sparse matrix} of shape (n_documents, n_features)
    Word counts: 0, or from 1e-30 to 1e15; fractions are legal.""",
    "vectors": """\
vectors : array-like of shape (n_documents, n_dimensions), default=None
    A vector for each document, such as a sentence transformer makes; its length does not
    count. A row of NaN or of zeros is a document without one, which goes by its words, as one
    without words goes by its vector.""",
    "known_topics": """\
y : array-like of shape (n_documents,), default=None
    In `GuidedTopics` names of topics of documents, as far as they are known, and None elsewhere,
    masked entries too; ignored in `StreamingMixture`.""",
    "ratings": """\
y : array-like of shape (n_documents,)
    Ratings, on any scale.""",
    "more_ratings": """\
y : array-like of shape (n_documents,)
    Ratings, on the scale of those before.""",
    "labels": """\
y : array-like of shape (n_documents,)
    Class of each document.""",
    "ignored_ratings": """\
y : None
    Ignored: the score says how well words are predicted.""",
    "items_and_users": """\
items, users : array-like of shape (n_documents,) or None, default=None
    Item that each review is about, and user who wrote it: integers or strings. Labels that
    were not seen before are legal.""",
    "samples_to_learn": """\
Parameters
----------
X : array-like of shape (n_samples, n_features)
    Samples; NaN for what is missing, where the model allows it.
y : array-like of shape (n_samples,), default=None
    Targets, where the model has any.

Returns
-------
self : object
    The estimator.""",
    "samples_and_targets": f"""\
{SAMPLES}
y : array-like of shape (n_samples,), default=None
    Targets, where the model has any.""",
    "samples": SAMPLES,
    "n_particles": """\
n_particles : int, default=100
    Samples of topics for each document, at most a million.
random_state : int, default=0
    Seed of the particles; documents do not depend on each other.""",
    "log_probability": """\
Returns
-------
log_probability : ndarray of shape (n_documents,)
    Nats, summed over the document's held-out tokens; 0 for one that has none.""",
    "log_likelihood": """\
Returns
-------
log_likelihood : ndarray of shape (n_documents,), float64
    Nats; 0 for a document without words.""",
    "score": """\
Returns
-------
score : float
    Nats per token; NaN if no token is held out.""",
    "sets": f"""\
{X_SETS}
{GROUPS_OF_POINTS}""",
    "sets_and_y": f"""\
{X_SETS}
y : None
    Ignored.
{GROUPS_OF_POINTS}""",
    "points": """\
points : matrix of shape (n_points, n_features)
    Sentences or vectors; for items their column numbers, 1-D.""",
    "theta_of_process": """\
theta : array-like of shape (n_components,) or None, default=None
    Such as a row of `transform`; None is `theta_`.""",
    "given_points": """\
given : points or None, default=None
    The process of the further points of sets in which these are; as in `condition`.""",
    "draws": """\
random_state : int, RandomState instance or None, default=None
    Pass an int for the same sets each time.

Returns
-------
sets : ndarray of shape (n_sets,), of objects, or CSR matrix of shape (n_sets, n_items)
    In the form that `fit` takes: a matrix for each set, or a row of items.""",
    "raw_documents": """\
raw_documents : iterable of str, or of lists of str
    Texts, or lists of their sentences.""",
    "returns_self": """\
Returns
-------
self : object
    The fitted estimator.""",
    "returns_process": """\
Returns
-------
process : Process""",
    "feature_names_or_numbers": """\
feature_names : array-like of shape (n_features,), default=None
    Words of the columns; None for the names seen in `fit`, or else the columns' numbers.""",
}

SHARED = PARAMETERS | ATTRIBUTES | METHODS
PLACE = re.compile(r"^( *)\{(\w+)\}$", flags=re.MULTILINE)


def documented(cls: type) -> type:
    """Fill in the shared paragraphs of the docstrings of a class and of its own methods."""
    # What `available_if` makes keeps the method as `fn`.
    methods = (getattr(value, "fn", value) for value in vars(cls).values())
    for owner in (cls, *filter(isfunction, methods)):
        if owner.__doc__:
            owner.__doc__ = PLACE.sub(_paragraph, owner.__doc__)
    return cls


def _paragraph(place: re.Match[str]) -> str:
    return indent(SHARED[place[2]], place[1])
