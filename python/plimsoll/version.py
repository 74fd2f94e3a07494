"""Versions."""

VERSION = "2.21.0"  # the TensorFlow whose names these are
GIT_VERSION = "plimsoll"
PLIMSOLL_VERSION = "0.1.0"  # the same as in pyproject.toml and CMakeLists.txt
COMPILER_VERSION = ""
