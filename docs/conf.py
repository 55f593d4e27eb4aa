"""How Sphinx builds the documentation; `ci/docs` runs it."""

from __future__ import annotations

import pyarrow_cuda_compat

project = "pyarrow-cuda-compat"
author = "the pyarrow-cuda-compat developers"
version = release = pyarrow_cuda_compat.__version__

# Nothing here asks the network: links to other projects' documentation are written out.
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
root_doc = "index"
# Written by `ci/docs`, and included by the page on performance.
exclude_patterns = ["generated"]
html_theme = "alabaster"
html_theme_options = {
    "description": "A working pyarrow.cuda for the pyarrow on PyPI",
    "fixed_sidebar": True,
    "page_width": "70em",
    "sidebar_width": "15em",
}
html_copy_source = False
html_show_copyright = False

# Docstrings put names of parameters in single backticks, as pyarrow's do.
default_role = "emphasis"
# The pages name the members themselves, so that pyarrow's do not drown ours.
numpydoc_show_class_members = False
add_module_names = False

myst_heading_anchors = 3
