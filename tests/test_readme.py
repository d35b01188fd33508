# SPDX-License-Identifier: BSD-3-Clause
"""What the README says: its example's output, and its links."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_output_is_that_of_the_example(capsys, monkeypatch):
    """The findings stand below it as a list, with other breaks of lines."""
    ((code, shown),) = re.findall(
        r"```python\n(.*?)```\n.*?\n(1\. .*?)\n\n", README, flags=re.DOTALL
    )
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.split() == shown.split()


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_it_is_short_and_has_the_commands_that_are_run():
    assert README.count("\n") <= 150
    assert README.count("<!-- test command -->") == README.count("<!-- main job -->") == 1
