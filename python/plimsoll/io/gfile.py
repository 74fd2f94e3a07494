"""tf.io.gfile: files and folders, as Python has them, with TensorFlow's errors."""

import collections
import functools
import glob as _glob
import os
import shutil

from .. import _core

_Stat = collections.namedtuple("FileStatistics", ["length", "mtime_nsec", "is_directory"])


def _path(path):
    if isinstance(path, _core.Tensor):
        path = path.numpy()
    path = os.fspath(path)
    path = path.decode() if isinstance(path, bytes) else path
    return path[len("file://"):] if path.startswith("file://") else path


def _with_errors(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        from .. import errors
        try:
            return function(*args, **kwargs)
        except FileNotFoundError as error:
            raise errors.NotFoundError(None, None, f"{error.filename}; {error.strerror}") from None
        except FileExistsError as error:
            raise errors.AlreadyExistsError(None, None, f"{error.filename}; {error.strerror}") from None
        except PermissionError as error:
            raise errors.PermissionDeniedError(None, None, f"{error.filename}; {error.strerror}") from None
        except OSError as error:
            raise errors.FailedPreconditionError(None, None, f"{error.filename}; {error.strerror}") from None
    return call


def exists(path):
    return os.path.exists(_path(path))


def isdir(path):
    return os.path.isdir(_path(path))


def glob(pattern):
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike, _core.Tensor)) else list(pattern)
    return [name for p in patterns for name in sorted(_glob.glob(_path(p)))]


@_with_errors
def makedirs(path):
    os.makedirs(_path(path), exist_ok=True)


@_with_errors
def mkdir(path):
    """A folder in one that exists. No error if there is something of this name, as in TensorFlow."""
    try:
        os.mkdir(_path(path))
    except FileExistsError:
        pass


@_with_errors
def listdir(path):
    return sorted(os.listdir(_path(path)))


@_with_errors
def remove(path):
    os.remove(_path(path))


@_with_errors
def rmtree(path):
    shutil.rmtree(_path(path))


def _may_write(path, overwrite):
    if not overwrite and os.path.exists(path):
        from ..errors import AlreadyExistsError
        raise AlreadyExistsError(None, None, f"file already exists: {path}")


@_with_errors
def copy(src, dst, overwrite=False):
    _may_write(_path(dst), overwrite)
    shutil.copyfile(_path(src), _path(dst))


@_with_errors
def rename(src, dst, overwrite=False):
    _may_write(_path(dst), overwrite)
    os.replace(_path(src), _path(dst))


@_with_errors
def stat(path):
    found = os.stat(_path(path))
    return _Stat(found.st_size, found.st_mtime_ns, os.path.isdir(_path(path)))


def walk(top, topdown=True, onerror=None):
    yield from os.walk(_path(top), topdown, onerror)


def join(path, *paths):
    return os.path.join(_path(path), *map(_path, paths))


class GFile:
    """A file, opened when it is first read or written."""

    def __init__(self, name, mode="r"):
        if mode not in ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "rb+", "wb+", "ab+", "r+b", "w+b", "a+b"):
            from ..errors import InvalidArgumentError
            raise InvalidArgumentError(None, None, f"mode is not 'r' or 'w' or 'a': {mode}")
        self.name, self.mode, self._file = _path(name), mode, None

    @_with_errors
    def _open(self):
        if self._file is None:
            self._file = open(self.name, self.mode, encoding=None if "b" in self.mode else "utf-8")  # noqa: SIM115
        return self._file

    def read(self, n=-1):
        return self._open().read(n)

    def readline(self):
        return self._open().readline()

    def readlines(self):
        return self._open().readlines()

    def write(self, file_content):
        self._open().write(file_content)

    def seek(self, offset=None, whence=0, position=None):
        self._open().seek(position if offset is None else offset, whence)

    def tell(self):
        return self._open().tell()

    def seekable(self):
        return True

    def size(self):
        return stat(self.name).length

    def flush(self):
        if self._file is not None:
            self._file.flush()

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None

    def __iter__(self):
        return iter(self._open())

    def __next__(self):
        return next(self._open())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._file is None and "w" in self.mode:
            self._open()  # an empty file
        self.close()


def get_registered_schemes():
    return ["", "file"]
