"""The functions of pyarrow that libcudf answers: each file lists its own in the registry."""
