"""Versions."""

VERSION = "2.21.0"  # the TensorFlow whose names these are
GIT_VERSION = "plimsoll"
COMPILER_VERSION = ""
