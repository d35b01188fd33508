# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of all documents where it shows a sample of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamtopics.periods import Periods
from streamtopics.shares import ShareSums


@dataclass(frozen=True)
class Whole:
    """All documents, of which a report shows a sample; `whole_of` makes one.

    Attributes
    ----------
    n_documents : int
    holders : ndarray of shape (n_features,) or None
        Documents that have each word; None where that is not known.
    periods : Periods or None
        Where times are known.
    shares : ShareSums or None
        Of the documents with a known word in each period.
    """

    n_documents: int
    holders: np.ndarray | None = None
    periods: Periods | None = None
    shares: ShareSums | None = None
