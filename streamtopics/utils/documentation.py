# SPDX-License-Identifier: BSD-3-Clause
"""Links to the documentation in the HTML representation of estimators."""

import sys
from typing import ClassVar

# The one place that says so; `Documentation` of the project's metadata has to be the same.
DOCUMENTATION = "https://streamtopics.github.io/streamtopics/"


class LinksToReference:
    """An estimator whose HTML representation links to its page of the API reference.

    It comes before scikit-learn's `BaseEstimator`, whose attributes these are. Estimators of
    other packages that derive from one of ours have no page, so no link.
    """

    _doc_link_module: ClassVar[str] = "streamtopics"
    _doc_link_template: ClassVar[str] = DOCUMENTATION + "api/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return the name of the page: that of the class, where users import it from."""
        kind = type(self)
        package, room, *_ = kind.__module__.split(".")
        is_at_the_top = kind.__name__ in sys.modules[package].__all__
        return {"page": f"{package if is_at_the_top else f'{package}.{room}'}.{kind.__name__}"}
