# SPDX-License-Identifier: BSD-3-Clause
"""`python -m streamtopics`: the command `streamtopics`."""

import sys

from streamtopics.cli import main

if __name__ == "__main__":
    sys.exit(main())
