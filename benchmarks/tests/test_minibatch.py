# SPDX-License-Identifier: BSD-3-Clause
"""The check of ratios of time, without a clock."""

import pytest

from benchmarks import minibatch


@pytest.mark.parametrize(("ratios", "code"), [((1.1,), 0), ((1.3, 1.1), 0), ((1.3, 1.3), 1)])
def test_a_ratio_a_fifth_above_the_kept_one_twice_is_an_error(ratios, code, tmp_path, monkeypatch):
    monkeypatch.setattr(minibatch, "RATIOS", tmp_path / "ratios.csv")

    def run(option, *given):
        left = iter(given)
        monkeypatch.setattr(minibatch, "measured", lambda wall: [("a row", 1.0, "b", next(left))])
        monkeypatch.setattr("sys.argv", ["minibatch", option])
        return minibatch.main()

    assert run("--write", 1.0) == 0
    assert run("--check", *ratios) == code
