"""Sphinx extension: formulas become MathML when the pages are built, so that pages load no script for them."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

_TAG = re.compile(r"\\tag\{([^}]*)\}")


def mathml(tex, display="inline"):
    """Return a formula as MathML; unknown commands, which are left in it, raise an error."""
    found = convert(tex, display=display)
    if "\\" in found or "&#x0005C;" in found:
        raise ExtensionError(f"A command in the formula {tex} is not known.")
    return found


def visit_inline(translator, node):
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(translator, node):
    tex = node.astext()
    tag = _TAG.search(tex)
    number = f"<span>({tag[1]})</span>" if tag else ""
    formula = mathml(_TAG.sub("", tex), "block")
    translator.body.append(f'<div class="formula">{formula}{number}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
