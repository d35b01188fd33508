# SPDX-License-Identifier: BSD-3-Clause
"""Rows of quick runs are those on file, and one that is not is told."""

from benchmarks.papers import bps_case_2, check
from benchmarks.papers.check import Found, differences, names, quick
from benchmarks.papers.ledger import experiment

KEPT = check.on_file()


def test_rows_of_every_experiment_are_on_file():
    assert names()
    assert {row.experiment for row in KEPT} == set(names())
    assert {*check.WHOLE, *check.WITH_DATA} <= set(names())


def test_numbers_within_the_tolerance_are_the_same():
    kept = [Found("some", "a; 1", "0.5; ; few words"), Found("some", "b; 1", "2; nan; ")]
    now = [kept[1], Found("some", "a; 1", "0.500004; ; few words")]
    assert differences(now, kept) == []
    for other in ("0.50002; ; few words", "0.5; 0; few words", "0.5; ; words few"):
        [told] = differences([kept[1], Found("some", "a; 1", other)], kept)
        assert "a; 1: 0.5; ; few words on file" in told
        assert other in told
    assert "[] now" in differences([], kept[:1])[0]


def test_an_experiment_that_is_inverted_is_told(monkeypatch):
    own = [row for row in KEPT if row.experiment == "bps_case_2"]
    assert differences(list(quick("bps_case_2")), own) == []
    right = bps_case_2.accuracy
    monkeypatch.setattr(bps_case_2, "accuracy", lambda *given: 1 - right(*given))
    told = differences(list(quick("bps_case_2")), own)
    # All but the rows of the seed words that are counted.
    assert len(told) == sum("counted" not in row.row for row in own) > 0


def test_whole_cells_are_compared_with_the_results(tmp_path, monkeypatch):
    one = experiment("bps_dirichlets")
    cells = list(one.cells(False))
    assert check.repeat(one, cells[:1]) == (147, [])
    assert check.repeat(one, cells) == (441, [])
    # As another processor may round, and then beyond what it may.
    for factor, n in ((1 + 1e-6, 0), (1.001, 1)):
        rows = one.path().read_text().splitlines(keepends=True)
        *keys, last = rows[100].split(",")
        rows[100] = ",".join([*keys, f"{float(last) * factor}\n"])
        one.path(tmp_path).write_text("".join(rows))
        monkeypatch.setattr(check, "RESULTS", tmp_path)
        assert len(check.repeat(one, cells)[1]) == n
