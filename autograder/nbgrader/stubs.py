"""What stands in an answer's cell before it is answered."""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import ClearSolutions

from autograder.authoring.sealing import MINE


class PutStubs(ClearSolutions):  # type: ignore[misc]
    """nbgrader's ClearSolutions, by which a cell that says what it looks like without its answer looks so."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> Any:
        """Put the stub, or nbgrader's own."""
        stub = cell.metadata.pop(MINE, {}).get("stub")
        if stub is None:
            return super().preprocess_cell(cell, resources, cell_index)
        cell.source = stub
        return cell, resources
