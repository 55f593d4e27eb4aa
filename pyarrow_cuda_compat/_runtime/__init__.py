"""How the package starts: the extension, the bridge, and hooks into Python."""
