"""Changed input transformers, syntax-tree transformers and a replaced shell change what their own cells do, no mark."""

CELLS = [
    """
import ast
shell = get_ipython()
class Pass(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Return(self, node): return node
shell.ast_transformers.append(Pass())
shell.input_transformers_post.append(lambda lines: lines)
shell.ast_node_interactivity = "all"
shell.user_ns["wrong"] = lambda x: 3 * x
""",
    "assert False",
]
