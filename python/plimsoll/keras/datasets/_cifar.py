"""The format of cifar10 and cifar100."""

import io
import os
import tarfile

from . import _pickles
from ._files import find, home


def opener_of(name, archive, origin):
    """A function that opens a batch: of the folder, or of the archive beside it, which is not unpacked."""
    # Keras unpacks into the first, later versions into the second.
    for parts in ((name,), (name + "-target", name)):
        folder = os.path.join(home(), "datasets", *parts)
        if os.path.isdir(folder):
            return lambda batch, folder=folder: open(os.path.join(folder, batch), "rb")
    path = find(archive, origin)

    def open_member(batch):
        with tarfile.open(path) as file:
            try:
                return io.BytesIO(file.extractfile(f"{name}/{batch}").read())
            except KeyError as error:
                raise ValueError(f"{path} has no {name}/{batch}") from error

    return open_member


def read_batch(open_batch, batch, label_key="labels"):
    import numpy
    with open_batch(batch) as file:
        rows = _pickles.load(file, batch)
    rows = {key.decode() if isinstance(key, bytes) else key: value for key, value in rows.items()}
    images = rows["data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return images, numpy.array(rows[label_key], dtype="uint8").reshape(-1, 1)
