"""How Sphinx builds these pages: `make docs`, without a warning.

The pages are plain Markdown that GitHub shows too. What Sphinx adds: the API reference from the
docstrings (autodoc, numpydoc), formulas, navigation, and the pages of `repository_pages`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import slotwise

project = "slotwise"
author = "The slotwise authors"
project_copyright = "The slotwise authors, Apache-2.0"
release = version = slotwise.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "public_api",
    "repository_pages",
]
exclude_patterns = ["_build", "_data", "_ext", "_scripts", "examples"]
root_doc = "index"

html_theme = "furo"
html_title = f"slotwise {release}"
html_copy_source = False

# Markdown as GitHub reads it: headings are link targets, dollars enclose formulas.
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
# "$ slotwise solve" and "10 $" are not formulas.
myst_dmath_allow_space = False
myst_dmath_allow_digits = False

# A single backquoted name in a docstring is code.
default_role = "code"
python_maximum_signature_line_length = 88
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False

nitpicky = True
nitpick_ignore_regex = [
    # Names of Python and of other packages: their inventories would have to be fetched.
    (r"py:.*", r"(?!slotwise\b).*"),
]
