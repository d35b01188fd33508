# SPDX-License-Identifier: BSD-3-Clause
"""The browser of the tests: the one place that says whether there is one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def browser_path() -> str | None:
    """Where Chromium is."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def launched() -> Iterator[Any]:
    """Headless Chromium, without a network."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is in the extra `browser`")
    if browser_path() is None:
        pytest.skip("there is no Chromium on this machine")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        try:
            yield found
        finally:
            found.close()
