"""Which docstrings describe a member whole, and which leave that to the original's."""

import re

#: The last sentence, such as "As `numba.cuda.stream`." or "As CUDA's `cudaSetDevice`.".
_POINTER = re.compile(r"\.\s+As\s+(`numba(\.\w+)+`|(CUDA|NumPy|PyGPU)'s\s+`\w+(\.\w+)*`)\.$")


def names_the_original(text):
    """Whether a member is another library's own, as the last sentence of its docstring says.

    That library documents it, and the conformance suite replays its examples.  So one paragraph
    says what the member is and what differs here, and `check_paragraph` looks for no more.
    """
    return bool(_POINTER.search(text))


def check_paragraph(text):
    """A docstring that names the original is one paragraph, without sections and examples."""
    assert "\n\n" not in text, "more than one paragraph, where the original has the rest"
    assert ">>> " not in text, "an example, where the conformance suite has the original's"
