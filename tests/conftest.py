"""Shapes in the signatures of `solutions` are checked by machine, whichever test imports them first."""

from jaxtyping import install_import_hook

install_import_hook("solutions", "beartype.beartype")
