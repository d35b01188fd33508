# SPDX-License-Identifier: BSD-3-Clause
"""Names and hidden topics in tables, pictures, reports and the command."""

import csv

import numpy as np

from streamtopics import StreamingLDA, editing, load, save
from streamtopics.cli.command import main
from streamtopics.datasets import make_lda_corpus
from streamtopics.inspection import format_topics, plot_topics, topic_table
from streamtopics.report import report

X = make_lda_corpus(600, n_components=4, n_features=50, random_state=0).X
TEXTS = ["the ship sails at sea"] * 60 + ["the sun shines in the sky"] * 60


def test_tables_pictures_and_reports(tmp_path):
    model = StreamingLDA(4, random_state=0).fit(X)
    editing.rename(model, 2, "billing")
    editing.hide(model, 1)
    names = {0: "", 2: "billing", 3: ""}
    table = topic_table(model)
    assert {row.topic: row.name for row in table} == names
    assert len(table) == 3
    assert "%  billing: " in format_topics(table)
    titles = {ax.get_title().split(":")[0] for ax in plot_topics(model)}
    assert titles == {"topic 0", "billing", "topic 3"}
    topics = report(model, tmp_path / "page.html", X=X, times=np.arange(600)).topics
    assert {topic.id: topic.name for topic in topics} == names


def test_the_command(tmp_path, capsys):
    path, out = tmp_path / "a.model", tmp_path / "documents.csv"
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    main(["fit", str(tmp_path / "texts.txt"), "--topics", "3", "--model", str(path)])
    pipe = load(path)
    editing.rename(pipe, 0, "billing")
    editing.hide(pipe, 1)
    save(pipe, path)
    capsys.readouterr()
    main(["show", str(path)])
    shown = capsys.readouterr().out
    assert " billing: " in shown
    assert "\n    1 " not in shown
    main(["apply", str(path), str(tmp_path / "texts.txt"), "--output", str(out)])
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {row["topic_1"] for row in rows} <= {"0", "2"}
