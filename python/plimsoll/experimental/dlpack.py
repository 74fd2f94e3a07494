"""Tensors of other libraries. Out: the tensor's own memory. In: one copy, which counts here."""

from .._core import from_dlpack, to_dlpack
