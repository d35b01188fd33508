# SPDX-License-Identifier: BSD-3-Clause
"""Links from what estimators show to their pages."""

import sys
from typing import ClassVar

# The one place that says so; `Documentation` of the project's metadata has to be the same.
DOCUMENTATION = "https://streamtopics.github.io/streamtopics/"


class LinksToReference:
    """An estimator of ours whose HTML representation links to its page of the API reference."""

    _doc_link_module: ClassVar[str] = "streamtopics"
    _doc_link_template: ClassVar[str] = DOCUMENTATION + "api/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        kind = type(self)
        package, folder, *_ = kind.__module__.split(".")
        is_at_the_top = kind.__name__ in sys.modules[package].__all__
        return {"page": f"{package if is_at_the_top else f'{package}.{folder}'}.{kind.__name__}"}
