# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a stream of texts."""

from __future__ import annotations

from copy import copy
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.base.editable import Editable
from streamtopics.editing.records import EditStep, edits_of
from streamtopics.metrics import relevant_words
from streamtopics.report import Report, report
from streamtopics.story.cells import LEAST_OF_PERIOD, Cells, Labels, Totals
from streamtopics.story.evidence import Sample, sample_of, topics_of, with_kept_words
from streamtopics.story.findings import Finding, Findings, find
from streamtopics.story.shares import ShareRow, share_rows
from streamtopics.streams.stream import BatchInfo
from streamtopics.text.vocabulary import is_free
from streamtopics.topic_stream.documents import HoldsDocuments
from streamtopics.utils.checks import check_integer, check_one_of
from streamtopics.utils.parallel import held

# Words of a topic, and words in its name.
N_WORDS, N_NAME, RELEVANCE = 10, 3, 0.6


class ReportsDocuments(HoldsDocuments):
    error_rate: float

    def top_words(self, n_words: int = 10, *, relevance: float = RELEVANCE) -> list[list[str]]:
        """Return the words of each topic, the most characteristic first.

        Parameters
        ----------
        n_words : int, default=10
        relevance : float in [0, 1], default=0.6
            As in `streamtopics.metrics.relevant_words`; 1 orders words by probability.

        Returns
        -------
        words : list of n_components lists of str
        """
        topics, names = self._topics, self._names
        columns = [column for column, name in enumerate(names) if not is_free(name)]
        of_words, weights = topics.topic_word_[:, columns], topics.topic_weights_
        if not columns:
            return [[] for _ in of_words]
        # A short list is the beginning of a longer one.
        places = relevant_words(of_words, weights, max(n_words, N_WORDS), relevance=relevance)
        return [[names[columns[place]] for place in own[:n_words]] for own in places]

    def totals(self, least: float = LEAST_OF_PERIOD) -> Totals:
        """Return sums of topic shares over all documents, by period and group.

        Parameters
        ----------
        least : float, default=10
            Least mean number of documents in a period. The periods, such as months, are the
            shortest with this mean, or the shortest of all for few documents; at most 80.

        Returns
        -------
        totals : Totals
        """
        with held(self._locks()):
            return self._follow().totals(least)

    def shares(self, by: str = "period", *, least: float = LEAST_OF_PERIOD) -> list[ShareRow]:
        """Return mean shares of topics over all documents, with 95 % intervals.

        Parameters
        ----------
        by : {"period", "group", "both"}, default="period"
            Whether a row is of a period, of a group, or of a group in a period.
        least : float, default=10
            As in `totals`.

        Returns
        -------
        rows : list of ShareRow
            Rows are ordered by topic; ``pandas.DataFrame(rows)`` makes a table.
        """
        check_one_of(("period", "group", "both"), by=by)
        with held(self._locks()):
            names = [", ".join(words[:N_NAME]) for words in self._words()]
            rows = share_rows(
                self.totals(least), names, by_period=by != "group", by_group=by != "period"
            )
            return [row for row in rows if row.topic not in self._topics.hidden_topics_]

    def findings(self, n: int | None = 10) -> Findings:
        """Return changes of topics in time and differences of topics between groups.

        Parameters
        ----------
        n : int or None, default=10
            Largest number of findings; None returns all. Changes over time and differences
            of groups alternate; in each kind large `surprise` and `n_moved` (`Finding`) come first.

        Returns
        -------
        findings : Findings
            A tuple of `Finding`; ``str(finding)`` is a sentence. At most a share `error_rate` of
            the findings is expected to be false.
        """
        if n is not None:
            check_integer(least=0, n=n)
        with held(self._locks()):
            return Findings(self._found(*self._tested())[:n])

    def report(self, /, path: str | PathLike[str] | None = None, **how: Any) -> Report:
        """Write a report as one HTML file, readable without a network.

        Parameters
        ----------
        path : str or path, default=None
            File, for example "topics.html", replaced if present; None writes no file.
        **how
            Parameters of `streamtopics.report.report`, for example ``title``. Totals, findings,
            alarms and documents are given by the stream.

        Returns
        -------
        report : Report
            The contents of the file as plain values.
        """
        with held(self._locks()):
            kept, (totals, sample) = self.documents, self._tested()
            # The rows of topics now, also after edits.
            tracker, info = copy(self.tracker_), BatchInfo(0, [], None, 0, 0.0, 0, 0.0, 0.0)
            tracker._state = tracker._with_snapshot(tracker._state, self.pipeline_, info)
            given: dict[str, Any] = {
                "totals": totals, "tracker": tracker,
                "alarms": self.monitor_, "sampled_from": self.n_documents_seen_,
                "title": f"What stands out in {self.n_documents_seen_:,} documents",
            }  # fmt: skip
            if how.get("findings") is None:
                given["findings"] = self._found(totals, sample)
            if kept:
                given["texts"] = [one.text for one in kept]
                given["titles"] = [
                    one.id if isinstance(one.id, str) else f"document {one.id + one.is_row}"
                    for one in kept
                ]
            if self._sums[1].kind in ("date", "number"):
                given["times"] = self._times
            if len(totals.groups) > 1:
                given["groups"] = [one.group for one in kept] or None
            own = {name: value for name, value in how.items() if value is not None}
            return report(self.pipeline_, path, **(given | own))

    # The topics and the sums

    @property
    def _times(self) -> np.ndarray:
        times = np.array([one.number for one in self._documents])
        return np.rint(times * 1e6).astype("M8[us]") if self._sums[1].kind == "date" else times

    @property
    def _is_estimated(self) -> bool:
        """Whether sums of the parts of a topic are estimates."""
        edits = getattr(self._topics, "edits_", ())[len(self._sums[0]) :]
        is_split = any(edit.kind == "split" for edit in edits)
        return is_split and len(self._documents) < self._n_documents

    def _tested(self) -> tuple[Totals, Sample]:
        """The totals, and the kept documents to test findings."""
        kept, totals = self._documents, self.totals()
        texts, groups = [one.text for one in kept], [one.group for one in kept]
        counts = self.pipeline_[:-1].transform(texts)
        shares, n = self._topics.transform(counts), self._n_learnt
        is_of_stream = self._is_estimated or (self.tracker_.n_batches_ > 1 if n is None else n < 0)
        sample = sample_of(totals, counts, shares, self._times, groups, texts, is_of_stream)
        return with_kept_words(totals, sample), sample

    def _found(self, totals: Totals, sample: Sample) -> list[Finding]:
        if sample.is_of_stream and not self._documents:
            raise ValueError("n_documents is 0, but findings are checked in kept documents. "
                             "Set n_documents to 1,000 or more before learning")  # fmt: skip
        told = topics_of(self._topics, self._words(), self._names)
        return find(totals, told, sample, self.error_rate)

    @property
    def _names(self) -> list[str]:
        return [str(name) for name in self.pipeline_[:-1].get_feature_names_out()]

    def _words(self) -> list[list[str]]:
        words = self.top_words(N_WORDS)
        given = [str(name) for name in getattr(self._topics, "topic_names_", ())]
        given += [""] * (len(words) - len(given))
        return [[name] if name else own for name, own in zip(given, words, strict=True)]

    def _follow(self) -> Cells:
        topics, (done, cells) = self._topics, self._sums
        if not isinstance(topics, Editable):
            return cells
        steps, labels = edits_of(topics).steps, edits_of(topics).labels
        # Without undone edits.
        pairs = enumerate(zip(done, topics.edits_, strict=False))
        n_done = next((i for i, (one, other) in pairs if one != other), min(len(done), len(steps)))
        if any(edit.kind in ("merge", "split") for edit in done[n_done:]):
            raise ValueError(
                "documents were added after an edit that was undone; add the documents to a copy "
                "saved before"
            )
        kept = self._documents
        is_split = any(step.edit.kind == "split" for step in steps[n_done:])
        if is_split and 0 < len(kept) == self._n_documents:
            # Sums of the parts of a topic are known only from the documents.
            counts = sparse.csr_matrix(self.pipeline_[:-1].transform([one.text for one in kept]))
            given = Labels(cells.kind, self._times, [one.group for one in kept])
            shares = np.asarray(topics.transform(counts), np.float64)
            return Cells.empty(shares.shape[1], counts.shape[1]).add(given, shares, counts)
        after = [*(step.before.topics for step in steps[1:]), labels.topics]
        for step, numbers in zip(steps[n_done:], after[n_done:], strict=False):
            cells = cells.with_topics(self._shares_after(step, numbers, labels.topics))
        return cells

    def _shares_after(
        self, step: EditStep, after: tuple[int, ...], now: tuple[int, ...]
    ) -> np.ndarray:
        """Part of each topic before an edit in each topic afterwards."""
        before = step.before.topics
        parts = np.equal.outer(before, after).astype(np.float64)
        rows = step.before.rows(step.edit.topics)
        if step.edit.kind == "merge":
            parts[rows] = parts[rows[0]]
        if step.edit.kind == "split":
            new = [
                i for i, number in enumerate(after) if number == before[rows[0]] or i >= len(before)
            ]
            weights = np.ones(len(new))
            if {after[i] for i in new} <= {*now} and self._documents:
                shares = np.asarray(self.pipeline_.transform([d.text for d in self._documents]))
                weights = shares[:, [now.index(after[i]) for i in new]].sum(axis=0)
            parts[rows[0], new] = weights / weights.sum()
        return parts
