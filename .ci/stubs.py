"""Type stubs of the compiled module: nanobind's own, with types as mypy wants them.

``python .ci/stubs.py`` prints them; ``nox -s stubs`` writes ``src/hornbeam/kernels/_native.pyi``.
"""

import ast

from nanobind.stubgen import StubGen

# What nanobind leaves open.
FULL = {"dict": "dict[str, Any]", "tuple": "tuple[Any, ...]", "NDArray": "NDArray[Any]"}


def stubs() -> str:
    """Generate the stubs of the installed module."""
    from hornbeam.kernels import _native

    generator = StubGen(_native, quiet=True)
    generator.put(_native)
    module = _Types().visit(ast.parse(generator.get()))
    for scope in ast.walk(module):
        if isinstance(scope, ast.Module | ast.ClassDef):
            scope.body = _merged(scope.body)
    text = ast.unparse(ast.fix_missing_locations(module))
    return text.replace("import Annotated", "import Any")


class _Types(ast.NodeTransformer):
    """Annotations without shapes and devices, and with type arguments."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(ast.Name("Annotated"), ast.Tuple([kind, *_])):
                return self.visit(kind)
        node.slice = self.visit(node.slice)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.parse(FULL[node.id], mode="eval").body if node.id in FULL else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.returns, ast.Name) and node.returns.id == "object":
            node.returns = ast.Name("Any")
        return node


def _merged(body: list[ast.stmt]) -> list[ast.stmt]:
    """Join overloads that differ in types alone: one function with unions."""
    found: list[ast.stmt] = []
    for node in body:
        last = found[-1] if found else None
        if (
            isinstance(node, ast.FunctionDef)
            and isinstance(last, ast.FunctionDef)
            and node.name == last.name
            and [arg.arg for arg in node.args.args] == [arg.arg for arg in last.args.args]
            and "overload" in map(ast.unparse, node.decorator_list)
        ):
            for arg, other in zip(last.args.args, node.args.args, strict=True):
                if arg.annotation and ast.unparse(arg.annotation) != ast.unparse(other.annotation):
                    arg.annotation = ast.BinOp(arg.annotation, ast.BitOr(), other.annotation)
            last.decorator_list = []
        else:
            found.append(node)
    return found


if __name__ == "__main__":
    print(stubs())
