# SPDX-License-Identifier: BSD-3-Clause
"""The command as a user calls it."""

import sys

import pytest

from streamtopics.cli import main


@pytest.fixture
def run(capsys):
    """Call the command, which has to end with this status; what it printed, and what it said."""

    def call(*arguments, status=0):
        found = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert found == status, err
        return out, err

    return call


@pytest.fixture
def misused(capsys):
    """What the command says of arguments that it does not take."""

    def call(*arguments):
        with pytest.raises(SystemExit, match="2"):
            sys.exit(main([str(argument) for argument in arguments]))
        return capsys.readouterr().err

    return call
