#!/usr/bin/env python3
"""Write small HDF5 files of every form that is read, for h5_fuzz to begin with.

    make_corpus.py FOLDER

Needs h5py.
"""
import pathlib
import sys

import h5py
import numpy as np


def write(path, version):
    with h5py.File(path, "w", libver=version) as file:
        file.create_dataset("chunks", data=np.arange(400.0).reshape(20, 20), chunks=(7, 6),
                            compression="gzip", shuffle=True)
        file.create_dataset("fill", shape=(5, 5), chunks=(2, 2), fillvalue=3.0)
        file.create_dataset("words", data=["one", "two", "", "four"])
        file.create_dataset("flag", data=True)
        group = file.create_group("layers/dense/vars")
        group.create_dataset("0", data=np.arange(12, dtype="f4").reshape(3, 4))
        group.create_dataset("1", data=np.arange(4, dtype="f2"))
        group.attrs["name"] = "dense"
        group.attrs["weight_names"] = np.array([b"kernel", b"bias"])
        group.attrs["empty"] = np.array([])
        for i in range(40):
            file.create_dataset(f"many/{i}", data=np.arange(i))
        file["soft"] = h5py.SoftLink("/layers/dense")
        file["lost"] = h5py.SoftLink("/nowhere")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
        file.attrs["model_config"] = '{"class_name": "Sequential", "config": {}}' * 20


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for version in ("earliest", "v108", "latest"):
        write(folder / f"{version}.h5", version)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
