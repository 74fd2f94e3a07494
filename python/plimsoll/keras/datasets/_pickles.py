"""Pickles of arrays, lists, numbers and texts, and nothing else: a file of data cannot run code.

What a pickle asks for by name is answered by the classes here, and numpy sees no more than types and bytes.
"""

import pickle


class _DType:
    def __init__(self, code, *_):
        self._code, self._order = str(code), "|"

    def __setstate__(self, state):
        self._order = state[1]

    def made(self):
        import numpy
        dtype = numpy.dtype(self._code)
        return dtype if self._order in ("|", "=") else dtype.newbyteorder(self._order)


class _Array:
    """An array as pickles write it: made empty, then given its state."""

    def __setstate__(self, state):
        _, self._shape, self._dtype, self._is_fortran, self._data = state

    def made(self):
        import numpy
        dtype = self._dtype.made()
        order = "F" if self._is_fortran else "C"
        if dtype == object:
            flat = numpy.empty(len(self._data), object)
            flat[:] = self._data
        else:
            data = self._data.encode("latin1") if isinstance(self._data, str) else self._data
            flat = numpy.frombuffer(data, dtype)
        return flat.reshape(self._shape, order=order)


def _encode(text, encoding):
    """How Python 3 writes bytes into old pickles."""
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"bytes in a pickle stand in latin1, not in {encoding!r}")
    return text.encode("latin1")


_NAMES = {("numpy", "ndarray"): _Array, ("numpy", "dtype"): _DType, ("_codecs", "encode"): _encode,
          ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
          ("numpy._core.multiarray", "_reconstruct"): lambda *_: _Array()}


class _Reader(pickle.Unpickler):
    def __init__(self, file, path):
        super().__init__(file, encoding="latin1")  # texts of Python 2, which may be the bytes of an array
        self._path = path

    def find_class(self, module, name):
        found = _NAMES.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(f"{self._path}: a dataset holds arrays, lists, numbers and texts; this file "
                                         f"asks for {module}.{name}, and is not read")
        return found


def load(file, path):
    """What stands next in an open file: an array, or a dictionary of arrays and lists."""
    found = _Reader(file, path).load()
    if isinstance(found, dict):
        return {key: value.made() if isinstance(value, _Array) else value for key, value in found.items()}
    return found.made() if isinstance(found, _Array) else found


def load_npz(path):
    """The arrays of an .npz file, by name; arrays of lists too."""
    import io
    import zipfile

    import numpy
    headers = {(1, 0): numpy.lib.format.read_array_header_1_0, (2, 0): numpy.lib.format.read_array_header_2_0}
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            file = io.BytesIO(archive.read(member))
            header = headers.get(numpy.lib.format.read_magic(file))
            if header and header(file)[2].hasobject:
                arrays[member.removesuffix(".npy")] = load(file, path)
            else:
                file.seek(0)
                arrays[member.removesuffix(".npy")] = numpy.load(file, allow_pickle=False)
    return arrays
