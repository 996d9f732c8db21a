"""Kernels of nbgrader's own: `nbgrader validate`, and notebooks that are not ours."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from traitlets import default


class PrivateKernels(AsyncKernelManager):
    """Kernels that talk over Unix sockets in a folder of their own, which is made with the kernel and goes with it.

    Over TCP everything they exchange can be read by other users, as each of them warns.
    """

    _folder: str = ""

    @default("transport")  # type: ignore[untyped-decorator]
    def _over_sockets(self) -> str:
        return "ipc"

    @default("ip")  # type: ignore[untyped-decorator]
    def _in_a_folder(self) -> str:
        self._folder = tempfile.mkdtemp(prefix="kernel-")
        return str(Path(self._folder) / "kernel")

    def cleanup_connection_file(self) -> None:
        """What is left of the kernel goes, its folder included."""
        super().cleanup_connection_file()
        shutil.rmtree(self._folder, ignore_errors=True)
