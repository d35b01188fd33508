# SPDX-License-Identifier: BSD-3-Clause
"""The file of a model that `watch` writes along a stream, and by which it is known again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamtopics.cli.writing import write_bytes
from streamtopics.saving.container import checksum_of
from streamtopics.saving.models import MODEL, write

CHECKSUMS = "model.checksums"


class ModelFile:
    """A file that goes with checkpoints.

    Beside these are the checksums of the file as it is and as it is to be next, which are written
    before it: whenever the command is killed, the file is one of them.

    Attributes
    ----------
    path : Path
    checksum : str or None
        Of the file as it is; None if there is none.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self.checksum = checksum_of(path).hex() if path.is_file() else None

    def check(self, first: str | None) -> None:
        """Refuse a file that was written by something else since.

        Parameters
        ----------
        first : str or None
            The checksum of the file when the stream was begun; "" if that is not known.
        """
        checksums = self.folder / CHECKSUMS
        known = checksums.read_text("ascii", "replace").split() if checksums.is_file() else [first]
        if self.checksum is None or self.checksum in known or known == [""]:
            return
        raise ValueError(
            f"{self.path} is not the model that was written along with the checkpoints in "
            f"{self.folder}, and going on from these would replace it. To go on with the model, "
            "remove the checkpoints, by which the stream is read from its beginning; to go on from "
            "the checkpoints, move the model away; or begin another one by another --model"
        )

    def forget(self) -> None:
        """Remove what is known from checkpoints that are gone."""
        (self.folder / CHECKSUMS).unlink(missing_ok=True)

    def write(self, model: Any) -> None:
        """Write the model."""
        write(model, self.path, kind=MODEL, before=self._remember)
        self.checksum = checksum_of(self.path).hex()

    def _remember(self, checksum: bytes) -> None:
        """Keep the checksums of the file as it is and as it will be."""
        known = [one for one in (self.checksum, checksum.hex()) if one is not None]
        write_bytes(self.folder / CHECKSUMS, ("\n".join(known) + "\n").encode("ascii"))
