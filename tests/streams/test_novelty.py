# SPDX-License-Identifier: BSD-3-Clause
"""New subjects of an alarm: the scan against plain loops, what is found, and what is not."""

import pickle
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.datasets import make_lda_corpus
from streamtopics.streams import Alarm, DriftMonitor, NewTopic
from streamtopics.streams.monitoring import alarm as module
from streamtopics.streams.monitoring import monitor as monitor_module
from streamtopics.streams.monitoring.alarm import new_topics

N_WORDS = 120


def documents(low, n, seed, length=12):
    """Documents of twelve words from forty, of which the first are the most frequent."""
    rng = np.random.default_rng([low, seed])
    share = 1 / np.arange(1, 41)
    words = low + np.array([rng.choice(40, length, p=share / share.sum()) for _ in range(n)])
    return sparse.csr_matrix([np.bincount(row, minlength=N_WORDS) for row in words], dtype=float)


def stacked(*parts):
    return sparse.vstack(parts, format="csr")


OLD = stacked(documents(0, 80, 0), documents(40, 80, 0))
NEW = stacked(documents(0, 35, 1), documents(80, 30, 1), documents(40, 35, 1))


def test_a_new_class_is_named_with_its_share_and_its_documents():
    names = [f"{'abc'[w // 40]}{w % 40}" for w in range(N_WORDS)]
    places = 1000 + np.arange(100)
    (found,) = new_topics(NEW, OLD, 0.01, names, places)
    assert {word[0] for word in found.words} == {"c"}
    assert len(found.words) == 8
    assert set(found.rows) == set(range(1035, 1065))
    assert found.share == 0.3
    assert_allclose(found.error, np.sqrt(0.3 * 0.7 / 100))
    assert new_topics(NEW, OLD, 0.01, None, places)[0].words[0].isdecimal()


def test_two_new_classes_are_two_subjects():
    """Each has half of its words in common with a class that was there, and none with the other."""
    there = [documents(low, 80, 0) for low in (0, 60)]
    new = stacked(there[0][:30], documents(20, 30, 1), there[1][:30], documents(80, 30, 1))
    found = new_topics(new, stacked(*there), 0.01, None, np.arange(120))
    assert sorted(sorted(topic.rows) for topic in found) == [[*range(30, 60)], [*range(90, 120)]]


def test_subjects_that_are_gone_or_as_before_are_not_new():
    assert new_topics(documents(0, 100, 1), OLD[:110], 0.01, None, np.arange(100)) == ()
    same = stacked(documents(0, 50, 1), documents(40, 50, 1))
    assert new_topics(same, OLD, 0.01, None, np.arange(100)) == ()


def test_the_level_holds_for_documents_in_any_order(monkeypatch):
    """200 labellings at a level of a tenth: more than 34 by chance less than once in 1,000."""
    X = make_lda_corpus(n_documents=160, n_features=80, random_state=0).X
    vectors, labels, nodes = module._tree(X, np.arange(80), 16)
    rng, named = np.random.default_rng(0), 0
    for _ in range(200):
        order = rng.permutation(160)
        tree = vectors[order], labels[order], nodes
        monkeypatch.setattr(module, "_tree", lambda *args, tree=tree: tree)
        named += bool(new_topics(X[order[:60]], X[order[60:]], 0.1, None, np.arange(60)))
    assert named <= 34


def plain_scan(nodes, labels, m, alpha):
    """Nodes that are new, by counting out all ways to draw the new documents."""
    n, found, p, open_nodes = len(labels), [], [], []
    for node in nodes:
        of_node = [bool(node[label]) for label in labels]
        size, a = sum(of_node), sum(of_node[:m])
        tail = sum(comb(size, j) * comb(n - size, m - j) for j in range(a, min(size, m) + 1))
        p.append(tail / comb(n, m))
        if a / m > 2 * (size - a) / (n - m):
            open_nodes.append(len(p) - 1)
    while open_nodes:
        k = min(open_nodes, key=lambda k: p[k])
        if p[k] >= alpha / len(nodes):
            break
        found.append([d for d in range(m) if nodes[k][labels[d]]])
        open_nodes = [o for o in open_nodes if not (nodes[o] & nodes[k]).any()]
    return found


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_the_scan_is_that_of_plain_loops(alpha, monkeypatch):
    inner, kept = module._tree, []
    monkeypatch.setattr(module, "_tree", lambda *args: kept.append(inner(*args)) or kept[-1])
    found = new_topics(NEW, OLD, alpha, None, np.arange(100))
    _, labels, nodes = kept[0]
    assert nodes.shape == (2 * 26 - 2, 26)
    assert [sorted(topic.rows) for topic in found] == plain_scan(nodes, labels, 100, alpha)


def test_nodes_are_the_tree_of_ward_but_for_its_root():
    vectors, labels, nodes = module._tree(stacked(NEW, OLD), np.arange(N_WORDS), 6)
    assert nodes[:6].tolist() == np.eye(6, dtype=bool).tolist()
    centres = {k: vectors[labels == k].mean(axis=0, dtype=np.float64) for k in range(6)}
    parts, sizes = {(k,): centres[k] for k in range(6)}, []
    for node in nodes[6:]:
        pairs = [(a, b) for a in parts for b in parts if a < b]
        costs = [
            len(a) * len(b) / (len(a) + len(b)) * ((parts[a] - parts[b]) ** 2).sum()
            for a, b in pairs
        ]
        a, b = pairs[int(np.argmin(costs))]
        middle = (len(a) * parts.pop(a) + len(b) * parts.pop(b)) / (len(a) + len(b))
        parts[tuple(sorted(a + b))] = middle
        sizes.append(tuple(np.flatnonzero(node)) == tuple(sorted(a + b)))
    assert sizes == [True] * 4


@pytest.mark.parametrize(
    ("new", "old"),
    [(np.zeros((30, 9)), np.zeros((40, 9))), (np.eye(5, 9), np.eye(6, 9)),
     (np.ones((30, 9)), np.ones((40, 9))), (np.eye(9)[[0] * 30], np.eye(9)[[0] * 40]),
     (np.eye(9)[[0] * 30], np.zeros((40, 9))), (np.eye(9)[[0, 1] * 15], np.eye(9)[[2, 3] * 20])],
)  # fmt: skip
def test_few_words_and_few_different_documents_are_harmless(new, old):
    new, old = map(sparse.csr_matrix, (new, old))
    found = new_topics(new, old, 0.01, None, np.arange(new.shape[0]))
    assert all(np.isfinite([topic.share, topic.error]).all() for topic in found)


@pytest.mark.parametrize("estimator", [StreamingLDA, StreamingMixture])
def test_an_alarm_names_it_also_of_some_of_the_documents(estimator, monkeypatch):
    monkeypatch.setattr(monitor_module, "MAX_DOCUMENTS", 60)

    def batch(seed):
        X = stacked(documents(0, 50, seed), documents(40, 50, seed))
        return X[np.random.default_rng(seed).permutation(100)]

    model, monitor = estimator(3, random_state=0), DriftMonitor()
    for seed in range(8):
        monitor.learn(model, batch(seed))
    changed = stacked(documents(80, 40, 8), batch(8)[:60])
    monitor.learn(model, changed)
    (alarm,) = monitor.alarms
    (new,) = alarm.new
    assert alarm.n_new == 60
    assert set(new.rows) <= set(range(40))
    assert len(new.rows) == round(60 * new.share)
    assert str(alarm).split("\n")[1].startswith(f"New: {' '.join(new.words)} (")
    assert pickle.loads(pickle.dumps(alarm)) == alarm


def test_an_alarm_prints_its_new_subjects():
    alarm = Alarm(3, None, 0.001, 0.002, 10, 20, (), ())
    new = NewTopic(("a", "b"), 0.1, 0.05, (4, 7))
    told = str(alarm._replace(new=(new,)))
    assert told == f"{alarm}\nNew: a b (20.0% of the documents)."
