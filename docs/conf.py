"""How the documentation is built: ``nox -s docs``."""

import os
import sys
import tomllib
from pathlib import Path

from docutils import nodes

import hornbeam

sys.path.insert(0, str(Path(__file__).parent))
import demo  # beside this file
import figures
import notebooks

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import signed_documents

project = "Hornbeam"
author = "The Hornbeam developers"
copyright = author
version = release = hornbeam.__version__

extensions = [
    "mathml",  # beside this file
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
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
    "ignore_pattern": r"signed_documents\.py",  # has a page of its own
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
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
html_static_path = ["_static"]
html_css_files = ["hornbeam.css"]
html_sidebars = {"index": []}
html_copy_source = False
# The schema, at the address that it gives itself.
html_extra_path = ["../src/hornbeam/storage/model-1.schema.json"]


# Pages and build request nothing from the network, except on the docs host, which
# sets these variables.
if "READTHEDOCS" in os.environ:
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    urls = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["urls"]
    html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
    html_theme_options |= {
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
        "show_version_warning_banner": True,
        "switcher": {
            "json_url": f"{urls['Homepage']}/en/latest/_static/switcher.json",
            "version_match": os.environ.get("READTHEDOCS_VERSION", "latest"),
        },
    }
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

# Examples open in JupyterLite where there is a wheel of Hornbeam for Pyodide:
# HORNBEAM_PYODIDE is a folder with the wheel in its subfolder `pypi`.
if "HORNBEAM_PYODIDE" in os.environ:
    extensions.append("jupyterlite_sphinx")
    jupyterlite_dir = os.environ["HORNBEAM_PYODIDE"]
    # Buttons leave this folder out of their links.
    jupyterlite_contents = ["jupyterlite_contents/*"]
    exclude_patterns += ["_contents", "jupyterlite_contents"]
    sphinx_gallery_conf["jupyterlite"] = {
        "notebook_modification_function": "notebooks.install_first"
    }


def strip_last_lines(_app, doctree):
    """Remove the blank line that ends an example for doctest."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        if block.rawsource == block.astext() != text:
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def setup(app):
    demo.write()
    signed_documents.write(Path(__file__).parent / "_static" / "signed")
    figures.write()
    notebooks.write()
    app.connect("doctree-read", strip_last_lines)
