"""What the package needs before its own classes exist; it uses no other module of the package."""
