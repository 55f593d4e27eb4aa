"""How Sphinx builds the documentation; `ci/docs` runs it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pyarrow_cuda_compat

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from source_links import SourceLinks  # noqa: E402  (beside this file)

project = "pyarrow-cuda-compat"
author = "the pyarrow-cuda-compat developers"
version = release = pyarrow_cuda_compat.__version__

_URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["urls"]
REPOSITORY = _URLS["Repository"]
_HOST, _OWNER, _NAME = REPOSITORY.rsplit("/", 2)

# Nothing here asks the network: links to other projects' documentation are written out.
extensions = [
    "api_names",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.linkcode",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "index"
# Written by `ci/docs`, and included by the page on performance.
exclude_patterns = ["generated"]

# The theme of Arrow, NumPy and pandas.
html_theme = "pydata_sphinx_theme"
html_title = "pyarrow-cuda-compat"
html_theme_options = {
    "logo": {"text": "pyarrow-cuda-compat"},
    "icon_links": [{"name": "GitHub", "url": REPOSITORY, "icon": "fa-brands fa-github"}],
    "use_edit_page_button": True,
    "navigation_with_keys": False,
    "footer_start": ["last-updated"],
    "footer_end": ["theme-version"],
}
html_context = {
    "github_url": _HOST,
    "github_user": _OWNER,
    "github_repo": _NAME,
    "github_version": "main",
    "doc_path": "docs",
}
# Sections without further pages have nothing to navigate.
html_sidebars: dict[str, list[str]] = {"rust": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False

# Docstrings put names of parameters in single backticks, as pyarrow's do.
default_role = "emphasis"
# The pages name the members themselves, so that pyarrow's do not drown ours.
numpydoc_show_class_members = False
add_module_names = False

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# A prompt is not a part of what is copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

_SOURCES = SourceLinks(HERE.parent, f"{REPOSITORY}/blob/main")


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Where an object of the reference is written down, as `sphinx.ext.linkcode` asks for it."""
    return _SOURCES.place(info["module"], info["fullname"]) if domain == "py" else None
