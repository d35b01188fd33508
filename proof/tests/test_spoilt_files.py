# SPDX-License-Identifier: BSD-3-Clause
"""Files with wrong arrays and numbers end no process, and what classes declare is there."""

import pytest

from proof import spoilt_files
from streamtopics.saving.checks import declared_of, objects_in
from tests.conventions.every import EVERY

MUTANTS = 5


@pytest.mark.parametrize("name", [*EVERY, "checkpoint"])
def test_no_file_ends_the_process(name):
    counts, failures = spoilt_files.run(name, spoilt_files.chosen(name, MUTANTS, 0))
    assert not failures
    assert counts.total() == MUTANTS


def test_what_is_declared_is_there():
    """So that nothing stays unchecked under a name that has changed."""
    values = [spoilt_files.subject_of(name)[0].value for name in spoilt_files.NAMES]
    objects = [one for value in values for one in objects_in(value, {})]
    declared = [(*names, there) for one in objects for *names, _, there in declared_of(one)]
    paths = {(kind, path) for kind, path, _ in declared}
    assert len(paths) > 80
    assert paths == {(kind, path) for kind, path, there in declared if there is not None}
