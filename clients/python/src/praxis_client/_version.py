"""The version of this package, as pyproject.toml has it."""

version = "0.1.0"
