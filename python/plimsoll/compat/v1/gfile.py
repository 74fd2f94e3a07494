"""tf.compat.v1.gfile: files of this machine."""

import glob as _glob
import os as _os
import shutil as _shutil


def _as_text(path):
    path = _os.fspath(path)
    return path.decode() if isinstance(path, bytes) else path


def _not_found(path):
    from ...errors import NotFoundError
    return NotFoundError(None, None, f"{_as_text(path)}; No such file or directory")


def Exists(filename):
    return _os.path.exists(_as_text(filename))


def IsDirectory(dirname):
    return _os.path.isdir(_as_text(dirname))


def MakeDirs(dirname):
    _os.makedirs(_as_text(dirname), exist_ok=True)


def MkDir(dirname):
    _os.mkdir(_as_text(dirname))


def ListDirectory(dirname):
    if not IsDirectory(dirname):
        raise _not_found(dirname)
    return _os.listdir(_as_text(dirname))


def Glob(filename):
    names = [filename] if isinstance(filename, (str, bytes)) else filename
    return sorted(found for name in names for found in _glob.glob(_as_text(name)))


def Remove(filename):
    if not Exists(filename):
        raise _not_found(filename)
    _os.remove(_as_text(filename))


def DeleteRecursively(dirname):
    if not Exists(dirname):
        raise _not_found(dirname)
    _shutil.rmtree(_as_text(dirname))


def Copy(oldpath, newpath, overwrite=False):
    if not Exists(oldpath):
        raise _not_found(oldpath)
    if Exists(newpath) and not overwrite:
        from ...errors import AlreadyExistsError
        raise AlreadyExistsError(None, None, f"file already exists: {_as_text(newpath)}")
    _shutil.copyfile(_as_text(oldpath), _as_text(newpath))


def Rename(oldname, newname, overwrite=False):
    if not Exists(oldname):
        raise _not_found(oldname)
    if Exists(newname) and not overwrite:
        from ...errors import AlreadyExistsError
        raise AlreadyExistsError(None, None, f"file already exists: {_as_text(newname)}")
    _os.replace(_as_text(oldname), _as_text(newname))


def Walk(top, in_order=True):
    return _os.walk(_as_text(top), topdown=in_order)


class _Stat:
    def __init__(self, found):
        self.length, self.mtime_nsec = found.st_size, found.st_mtime_ns


def Stat(filename):
    if not Exists(filename):
        raise _not_found(filename)
    return _Stat(_os.stat(_as_text(filename)))


class GFile:
    """A file, opened when it is first used."""

    def __init__(self, name, mode="r"):
        self.name, self.mode, self._file = _as_text(name), mode, None

    def _opened(self):
        if self._file is None:
            if "r" in self.mode and not Exists(self.name):
                raise _not_found(self.name)
            self._file = open(self.name, self.mode, **({} if "b" in self.mode else {"encoding": "utf-8"}))
        return self._file

    def __getattr__(self, what):
        return getattr(self._opened(), what)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __iter__(self):
        return iter(self._opened())

    def size(self):
        return Stat(self.name).length

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None


FastGFile = Open = GFile
