# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics score`: how well a model predicts texts."""

from __future__ import annotations

from argparse import Namespace

from scipy import sparse

from streamtopics.cli.models import load_model, topics_of, words_of
from streamtopics.cli.reading import Sample, cut, records, texts_of
from streamtopics.cli.tally import Tally
from streamtopics.cli.telling import complain, counted, nats
from streamtopics.metrics import CoherenceScorer, DiversityScorer, open_vocabulary_probability
from streamtopics.text import NamedCounts

MINIBATCH, N_OPEN = 2500, 10_000


def run(options: Namespace) -> None:
    """Print the score over the model's words, and the score over all words."""
    model, tally = load_model(options.model_file), Tally()
    counts, sample = [], Sample(N_OPEN)
    for batch in tally.over(cut(records(options, tally.skipped), MINIBATCH), model.steps[0][1]):
        counts.append(sparse.csr_matrix(model[:-1].transform(texts_of(batch))))
        sample.add(batch)
    tally.tell()
    X = sparse.vstack(counts, format="csr")
    known = float(X.sum())
    if hasattr(topics_of(model), "feature_names_in_"):
        X = NamedCounts.of(X, words_of(model))
    print(f"{counted(X.shape[0], 'document')}, {counted(known, 'word')} that the model knows")
    print(f"over the words of the model: {nats(float(topics_of(model).score(X)))}")
    if X.shape[1] > 1 and known:
        coherence, diversity = CoherenceScorer()(topics_of(model), X), DiversityScorer()(model)
        print(f"coherence of the topics (NPMI of 10 words): {coherence:.3f}")
        print(f"share of these words that are distinct: {diversity:.1%}")
    try:
        score = open_vocabulary_probability(model, texts_of(sample.records))
    except (TypeError, ValueError) as error:
        complain(f"there is no score over all words: {error}")
        return
    some = f", of a sample of {N_OPEN:,} documents" if sample.n > N_OPEN else ""
    print(f"over all words, unknown ones spelled{some}: {nats(score)}")
