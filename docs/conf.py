"""How the documentation is built: ``nox -s docs``."""

import sys
from pathlib import Path

from docutils import nodes

import hornbeam

sys.path.insert(0, str(Path(__file__).parent))
import notebooks  # beside this file

project = "Hornbeam"
author = "The Hornbeam developers"
copyright = author
version = release = hornbeam.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "learn/notebooks"]
templates_path = [
    "_templates"
]  # a class shows its own members, not those scikit-learn gave it
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "autolink"
nitpicky = False

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_class_members_toctree = False
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "min_reported_time": 60,
    "remove_config_comments": True,
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

# The copy button takes the code of an example: no prompts, no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "Hornbeam"
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
html_static_path = ["_static"]
html_css_files = ["hornbeam.css"]
html_sidebars = {"index": []}
html_copy_source = False
# The schema, at the address that it gives itself.
html_extra_path = ["../src/hornbeam/storage/model-1.schema.json"]


def strip_last_lines(_app, doctree):
    """Remove the blank line that ends an example for doctest."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        if block.rawsource == block.astext() != text:
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def setup(app):
    notebooks.write()
    app.connect("doctree-read", strip_last_lines)
