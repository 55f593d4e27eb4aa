"""Links the first mention of each public name on a page to its place in the reference.

The pages have plain code, such as `Context.table_from_file`, which GitHub shows as it is.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

_PACKAGE = "pyarrow_cuda_compat"


class MemberLinks(SphinxPostTransform):
    default_priority = 5  # before links are made of references

    def run(self, **kwargs: Any) -> None:
        if self.env.docname.startswith("generated/"):
            return
        objects = self.env.domains.python_domain.objects
        seen = set()
        for code in list(self.document.findall(nodes.literal)):
            name = f"{_PACKAGE}.{code.astext().removeprefix(f'{_PACKAGE}.')}"
            if name in objects and name not in seen and _is_text(code):
                seen.add(name)
                place = objects[name]
                builder, here = self.app.builder, self.env.docname
                link = make_refnode(builder, here, place.docname, place.node_id, code.deepcopy())
                code.replace_self(link)


def _is_text(code: nodes.Node) -> bool:
    """Neither a part of a heading nor of another link."""
    node = code.parent
    while node is not None:
        if isinstance(node, (nodes.title, nodes.reference)) or node.tagname == "pending_xref":
            return False
        node = node.parent
    return True
