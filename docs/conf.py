"""How the documentation is built: ``nox -s docs``."""

import os
import sys
import textwrap
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

import hornbeam

sys.path.insert(0, str(Path(__file__).parent))
import demo  # beside this file
import figures
import notebooks
import reference

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import signed_documents

project = "Hornbeam"
author = "The Hornbeam developers"
copyright = author
version = release = hornbeam.__version__
about = tomllib.loads(
    (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]

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
exclude_patterns = ["_build", "gallery/**.ipynb", "gallery/**.py", "learn/notebooks"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "autolink"
nitpicky = False

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the docstrings say it in words
autosummary_context = {"described": reference.described()}
numpydoc_show_class_members = False  # the page of a class lists what Hornbeam defines

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
html_logo = html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {"text": "Hornbeam", "alt_text": ""},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {
        "**": ["page-toc", "edit-this-page", "sourcelink"],
        "index": [],
    },
    "show_toc_level": 2,
}
html_static_path = ["_static"]
html_css_files = ["hornbeam.css"]
html_sidebars = {
    "index": [],
    "api": ["reference-nav"],
    "api/generated/*": ["reference-nav"],
}
html_context = {
    "preview": f"{about['urls']['Documentation']}/_static/front/preview.png",
    "reference_sections": reference.sections(),
}
html_copy_source = False
html_search_scorer = str(Path(__file__).parent / "search_scorer.js")
# The schema, at the address that it gives itself.
html_extra_path = ["../src/hornbeam/storage/model-1.schema.json"]


# Pages and build request nothing from the network, except on the docs host, which
# sets these variables.
if "READTHEDOCS" in os.environ:
    html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
    html_theme_options |= {
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
        "show_version_warning_banner": True,
        "switcher": {
            "json_url": f"{about['urls']['Homepage']}/en/latest/_static/switcher.json",
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


def add_summary(_app, _pagename, _templatename, context, doctree):
    """Give the template the first paragraph of a page, for search engines and previews of links."""
    first = doctree and next(doctree.findall(nodes.paragraph), None)
    text = " ".join(first.astext().split()) if first else about["description"]
    context["summary"] = textwrap.shorten(text, 200, placeholder=" …")


def warn_about_missing_anchors(_app, env):
    """Warn about methods and properties that no page describes; warnings are errors of the build."""
    described = env.get_domain("py").objects
    for kind, members in reference.described().items():
        for name in members:
            if f"{kind}.{name}" not in described:
                logging.getLogger(__name__).warning(
                    "The reference has no anchor for %s.%s", kind, name
                )


def setup(app):
    demo.write()
    signed_documents.write(Path(__file__).parent / "_static" / "signed")
    figures.write()
    notebooks.write()
    app.connect("doctree-read", strip_last_lines)
    app.connect("html-page-context", add_summary)
    app.connect("env-check-consistency", warn_about_missing_anchors)
