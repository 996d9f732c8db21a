"""From a problem's folder to notebooks: loading, statements, variants, inputs, assignments, source notebooks."""
