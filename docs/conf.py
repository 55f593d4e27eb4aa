"""How Sphinx builds the documentation; `ci/docs` runs it."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyarrow_cuda_compat

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from api_members import Members  # noqa: E402  (beside this file)
from member_links import MemberLinks  # noqa: E402
from notebook_pages import page_of  # noqa: E402
from source_links import SourceLinks  # noqa: E402

project = "pyarrow-cuda-compat"
author = "the pyarrow-cuda-compat developers"
version = release = pyarrow_cuda_compat.__version__

_URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["urls"]
REPOSITORY = _URLS["Repository"]
_HOST, _OWNER, _NAME = REPOSITORY.rsplit("/", 2)

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.linkcode",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "index"
templates_path = ["_templates"]
# Written by `ci/docs` and below, and included by pages.
GENERATED = HERE / "generated"
exclude_patterns = ["generated/*.md"]

# Other projects' names become links where their inventories are in the folder that
# DOCS_INVENTORIES names, or can be fetched into it. Otherwise they are plain text: without the
# variable, nothing here asks the network.
OTHERS = {
    "cupy": "https://docs.cupy.dev/en/stable/",
    "numba": "https://numba.readthedocs.io/en/stable/",
    "numpy": "https://numpy.org/doc/stable/",
    "pyarrow": "https://arrow.apache.org/docs/",
    "python": "https://docs.python.org/3/",
}


def inventory(name: str, folder: Path) -> Path | None:
    kept = (folder / f"{name}.inv").absolute()
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(OSError), urlopen(f"{OTHERS[name]}objects.inv", timeout=20) as answer:
            kept.write_bytes(answer.read())
    return kept if kept.exists() else None


FOLDER = os.environ.get("DOCS_INVENTORIES")
intersphinx_mapping = {
    name: (OTHERS[name], str(kept))
    for name in (OTHERS if FOLDER else ())
    if (kept := inventory(name, Path(FOLDER or "")))
}

# The theme of Arrow, NumPy and pandas.
html_theme = "pydata_sphinx_theme"
html_title = "pyarrow-cuda-compat"
LOGO = "_static/logo.svg"
html_favicon = LOGO
html_theme_options: dict[str, Any] = {
    "logo": {"text": "pyarrow-cuda-compat", "image_light": LOGO, "image_dark": LOGO},
    "icon_links": [{"name": "GitHub", "url": REPOSITORY, "icon": "fa-brands fa-github"}],
    "use_edit_page_button": True,
    "navigation_with_keys": False,
    "footer_start": ["last-updated"],
    "footer_end": ["theme-version"],
    # Nobody edits what autosummary writes.
    "secondary_sidebar_items": {
        "*": ["page-toc", "edit-this-page"],
        "generated/**": ["page-toc"],
    },
}
# From the first release on, `Documentation` is the address of the pages, which name it as their
# own, and offer the released versions.
VERSIONS = HERE / "_static" / "switcher.json"
if "/blob/" not in (address := _URLS["Documentation"]):
    html_baseurl = f"{address.rstrip('/')}/"
    if json.loads(VERSIONS.read_text()):
        html_theme_options["switcher"] = {
            "json_url": f"{html_baseurl}_static/{VERSIONS.name}",
            "version_match": release,
        }
        html_theme_options["check_switcher"] = False  # which asks the network
        html_theme_options["navbar_end"] = [
            "version-switcher",
            "theme-switcher",
            "navbar-icon-links",
        ]
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
autosummary_context = {"members_of": Members}
# A class cannot be cached, and `ci/docs` starts from scratch.
suppress_warnings = ["config.cache"]
if intersphinx_mapping:
    # An inventory may lack what numpydoc looks for.
    suppress_warnings += ["ref.ref", "ref.term"]
# Other projects' types, where their inventories are there.
numpydoc_xref_param_type = {"numpy", "pyarrow", "python"} <= intersphinx_mapping.keys()
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {
    "ndarray": "numpy.ndarray",
    **{
        each: f"pyarrow.{each}"
        for each in (
            "Array",
            "Buffer",
            "ChunkedArray",
            "MemoryManager",
            "RecordBatch",
            "Schema",
            "Table",
        )
    },
}
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


NOTEBOOK = HERE.parent / "examples" / "first_steps.ipynb"


def setup(app: Any) -> None:
    app.add_post_transform(MemberLinks)
    GENERATED.mkdir(exist_ok=True)
    (GENERATED / f"{NOTEBOOK.stem}.md").write_text(page_of(NOTEBOOK))
