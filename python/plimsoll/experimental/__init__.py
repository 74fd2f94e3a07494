"""What TensorFlow has as experimental."""

from . import dlpack
