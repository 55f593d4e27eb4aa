"""The conformance suite as the wheel carries it: ``python -m pyarrow_cuda_compat conformance``.

``replay`` runs one script as Python's prompt would; ``cases`` knows the scripts and what they
must show; ``runner`` runs them and tells.
"""
