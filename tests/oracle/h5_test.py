"""Holds src/h5 against h5py: files that h5py writes are read the same, and the other way round."""

import base64
import json
import os
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("PLIMSOLL_H5_DUMP", ROOT / "build/release/bin/h5_dump"))
NUMBERS = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
LIBVERS = ["earliest", "v108", "v110", "latest"]


def dump(path):
    done = subprocess.run([PROGRAM, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(path):
    done = subprocess.run([PROGRAM, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    return done.stderr


def numbers(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind == "f":
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def as_bytes(value):
    return value if isinstance(value, bytes) else value.encode()


def check_value(ours, value, item):
    """`value` is what h5py gives; `item` is what it is told about: a dataset or an attribute's id."""
    assert "error" not in ours, ours
    if isinstance(value, h5py.Empty):
        assert ours["shape"] is None
        return
    value = np.asarray(value)
    assert ours["shape"] == list(item.shape)
    if "strings" in ours:
        received = [base64.b64decode(text) for text in ours["strings"]]
        assert received == [as_bytes(text) for text in value.reshape(-1).tolist()]
        return
    assert ours["type"] == str(value.dtype)
    assert base64.b64decode(ours["data"]) == np.ascontiguousarray(value).tobytes()


def compare(path):
    """All that h5py finds in the file, against the dump. Gives the number of objects."""
    ours = dump(path)
    count = 0

    def check(name, item):
        nonlocal count
        count += 1
        mine = ours[name]
        if isinstance(item, h5py.Group):
            assert mine["links"] == sorted(item.keys(), key=lambda key: key.encode())
        else:
            check_value(mine["dataset"], item[()], item)
        assert sorted(mine["attributes"]) == sorted(item.attrs.keys())
        for key in item.attrs:
            check_value(mine["attributes"][key], item.attrs[key], item.attrs.get_id(key))

    with h5py.File(path, "r") as file:
        check("/", file)
        file.visititems(lambda name, item: check("/" + name, item))
    assert count == len(ours)
    return count


@pytest.fixture(params=LIBVERS)
def new_file(request, tmp_path):
    path = tmp_path / "file.h5"
    file = h5py.File(path, "w", libver=request.param if request.param != "earliest" else None)
    yield path, file
    file.close()


def done(new_file):
    path, file = new_file
    file.close()
    return compare(path)


def test_numbers(new_file):
    file = new_file[1]
    for dtype in NUMBERS:
        for shape in [(), (1,), (7,), (3, 5), (2, 1, 4), (0,), (3, 0, 2)]:
            name = f"{np.dtype(dtype).name}/{'x'.join(map(str, shape)) or 'scalar'}"
            file.create_dataset(name, data=numbers(dtype, shape))
        file.attrs[f"scalar_{dtype}"] = numbers(dtype, ())
        file.attrs[f"array_{dtype}"] = numbers(dtype, (2, 3))
    assert done(new_file) == 1 + 12 + 12 * 7


def test_strings(new_file):
    file = new_file[1]
    words = ["", "a", "Plimsoll", "ünïcödé", "x" * 5000, "end"]
    file.create_dataset("variable", data=words, dtype=h5py.string_dtype())
    file.create_dataset("ascii", data=words[:3], dtype=h5py.string_dtype("ascii"))
    file.create_dataset("fixed", data=np.array([b"", b"abc", b"abcdef"], dtype="S6"))
    file.create_dataset("fixed_utf8", data=np.array(["ü".encode(), b"b"], dtype=h5py.string_dtype("utf-8", 4)))
    file.create_dataset("scalar", data="one")
    file.create_dataset("none", shape=(0,), dtype=h5py.string_dtype())
    file.create_dataset("unset", shape=(3,), dtype=h5py.string_dtype())
    file.create_dataset("matrix", data=np.array([["a", "b"], ["c", "d"]], dtype=object))
    file.create_dataset("many", data=[f"word {i}" for i in range(5000)], dtype=h5py.string_dtype())
    file.create_dataset("chunked", data=[f"word {i}" for i in range(300)], chunks=(64,),
                        compression="gzip", dtype=h5py.string_dtype())
    file.attrs["backend"] = "tensorflow"
    file.attrs["empty"] = ""
    file.attrs["names"] = np.array([b"dense", b"dense_1"])
    file.attrs["variable"] = words[:4]
    file.attrs["bytes"] = np.bytes_(b"raw")
    done(new_file)


@pytest.mark.parametrize("options", [
    {}, {"compression": "gzip"}, {"shuffle": True}, {"compression": "gzip", "shuffle": True},
    {"compression": "gzip", "compression_opts": 9, "shuffle": True, "fletcher32": True},
], ids=lambda options: "+".join(options) or "plain")
def test_chunks(new_file, options):
    file = new_file[1]
    for dtype in ["f4", "f8", "i2", "u1", "?"]:
        file.create_dataset(f"one/{dtype}", data=numbers(dtype, (1000,)), chunks=(64,), **options)
        file.create_dataset(f"two/{dtype}", data=numbers(dtype, (50, 30)), chunks=(7, 30), **options)
        file.create_dataset(f"three/{dtype}", data=numbers(dtype, (5, 9, 11)), chunks=(2, 4, 3), **options)
        file.create_dataset(f"whole/{dtype}", data=numbers(dtype, (5, 9)), chunks=(5, 9), **options)
        file.create_dataset(f"grows/{dtype}", data=numbers(dtype, (20, 30)), chunks=(6, 7),
                            maxshape=(None, None), **options)
    paged = file.create_dataset("paged", shape=(5000,), chunks=(2,), dtype="i4", fillvalue=-3, **options)
    paged[100:200] = np.arange(100)
    paged[4000:] = np.arange(1000)
    done(new_file)


def test_what_is_not_stored(new_file):
    file = new_file[1]
    file.create_dataset("zeros", shape=(4, 5), dtype="f4")
    file.create_dataset("sevens", shape=(4, 5), dtype="f4", fillvalue=7)
    file.create_dataset("chunked", shape=(40, 50), chunks=(8, 8), dtype="i2", fillvalue=-2)
    file["chunked"][9:11, 9:30] = 5
    file["null"] = h5py.Empty("f4")
    file.attrs["null"] = h5py.Empty("f8")
    done(new_file)


def test_compact(new_file):
    path, file = new_file
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    data = numbers("f4", (3, 4))
    space = h5py.h5s.create_simple(data.shape)
    dataset = h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
    done(new_file)


@pytest.mark.parametrize("count", [1, 8, 9, 100, 3000])
def test_many_links(new_file, count):
    file = new_file[1]
    for i in range(count):
        file.create_dataset(f"layers/layer_{i}/kernel", data=np.float32(i))
    file.create_group("a/b/c/d/e/f")
    assert done(new_file) == 2 + 2 * count + 6


@pytest.mark.parametrize("count", [1, 8, 9, 60, 500])
def test_many_attributes(new_file, count):
    file = new_file[1]
    group = file.create_group("group")
    for i in range(count):
        group.attrs[f"name {i}"] = f"value {i}"
        group.attrs[f"number {i}"] = np.arange(i % 40)
    done(new_file)


def test_large_attributes(new_file):
    file = new_file[1]
    file.attrs["just_fits"] = np.zeros(64000, np.uint8)
    file.attrs["layer_names"] = np.array([f"layer_{i:06}".encode() for i in range(4000)])
    if file.libver[0] != "earliest":  # which has room for 64 KiB only
        file.attrs["beyond"] = np.arange(100000, dtype="f8")
    done(new_file)


def test_order_of_creation_is_tracked(tmp_path):
    path = tmp_path / "file.h5"
    for libver in (None, "latest"):
        for count in (3, 50):
            with h5py.File(path, "w", track_order=True, libver=libver) as file:
                for i in range(count):
                    file.create_dataset(f"group/{count - i}", data=i, track_order=True)
                    file.attrs[f"{count - i}"] = i
            compare(path)


def test_soft_links_and_cycles(new_file):
    path, file = new_file
    file.create_dataset("a/data", data=np.arange(3))
    file["soft"] = h5py.SoftLink("/a/data")
    file["dangling"] = h5py.SoftLink("/nowhere")
    file["a/self"] = h5py.SoftLink("/a/self")
    file["outside"] = h5py.ExternalLink("other.h5", "/x")
    file["a/up"] = file["/"]
    file.close()
    ours = dump(path)
    assert set(ours) == {"/", "/a", "/a/data"}
    assert ours["/"]["links"] == ["a", "dangling", "outside", "soft"]


def test_what_is_not_read_says_so(tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file["big"] = np.arange(3, dtype=">f4")
        file["big_int"] = np.arange(3, dtype=">i4")
        file["compound"] = np.zeros(2, dtype=[("a", "f4"), ("b", "i4")])
        file["complex"] = np.zeros(2, dtype="c8")
        file["long"] = np.zeros(2, dtype=np.longdouble)
        file.create_dataset("lzf", data=np.zeros(100), compression="lzf")
        file["fine"] = np.arange(3)
    ours = dump(path)
    for name in ("big", "big_int", "compound", "complex", "long", "lzf"):
        assert ours[f"/{name}"]["dataset"]["error"] == "UnimplementedError", name
    assert "data" in ours["/fine"]["dataset"]


def test_what_is_no_hdf5(tmp_path):
    path = tmp_path / "file.h5"
    assert "NotFoundError" in refusal(path)
    path.write_bytes(b"")
    assert "not an HDF5 file" in refusal(path)
    path.write_bytes(b"PK\x03\x04" * 100)
    assert "not an HDF5 file" in refusal(path)
    assert "is not a file" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in refusal(tmp_path / "pipe")


def test_what_was_cut_short(tmp_path):
    path = tmp_path / "file.h5"
    for libver in (None, "latest"):
        with h5py.File(path, "w", libver=libver) as file:
            file["data"] = np.arange(1000)
        whole = path.read_bytes()
        path.write_bytes(whole[:-8])
        assert "DataLossError" in refusal(path) and "cut short" in refusal(path)


def write(path, requests):
    return subprocess.run([PROGRAM, "--write", path], input=json.dumps(requests), text=True,
                          capture_output=True, timeout=120)


def request(do, path, value, **more):
    value = np.asarray(value)
    if value.dtype.kind in "OU":
        return {"do": do, "path": path, "type": "string", "shape": list(value.shape),
                "strings": value.reshape(-1).tolist(), **more}
    if value.dtype.kind == "S":
        return {"do": do, "path": path, "type": f"S{value.dtype.itemsize}", "shape": list(value.shape),
                "strings": [word.decode() for word in value.reshape(-1).tolist()], **more}
    return {"do": do, "path": path, "type": value.dtype.name, "shape": list(value.shape),
            "data": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode(), **more}


def check_written(path, datasets, attributes):
    requests = [request("dataset", name, value) for name, value in datasets.items()]
    requests += [request("attribute", name, value, name=key)
                 for (name, key), value in attributes.items()]
    answer = write(path, requests)
    assert answer.returncode == 0, answer.stderr
    with h5py.File(path, "r") as file:
        for name, value in datasets.items():
            check_same(file[name][()], value, file[name].dtype)
        for (name, key), value in attributes.items():
            check_same(file[name].attrs[key], value, file[name].attrs.get_id(key).dtype)
    compare(path)


def check_same(received, value, dtype):
    value = np.asarray(value)
    if value.dtype.kind in "OU":
        words = [as_bytes(word) for word in np.asarray(received, dtype=object).reshape(-1).tolist()]
        assert words == [word.encode() for word in value.reshape(-1).tolist()]
        return
    assert dtype == value.dtype
    assert np.asarray(received).shape == value.shape
    assert np.asarray(received).tobytes() == value.tobytes()


def test_writes_numbers(tmp_path):
    datasets, attributes = {}, {}
    for dtype in NUMBERS:
        for shape in [(), (1,), (3, 5), (2, 0, 3), (1, 1, 1, 2)]:
            datasets[f"{np.dtype(dtype).name}/{'x'.join(map(str, shape)) or 'scalar'}"] = numbers(dtype, shape)
        attributes["/", f"scalar {dtype}"] = numbers(dtype, ())
        attributes[f"{np.dtype(dtype).name}/1", "array"] = numbers(dtype, (2, 3))
    datasets["large"] = numbers("f4", (300, 1000))
    check_written(tmp_path / "file.h5", datasets, attributes)


def test_writes_strings(tmp_path):
    words = ["", "a", "Plimsoll", "ünïcödé", "x" * 5000, "end"]
    datasets = {"words": words, "one": "one", "fixed": np.array([b"a", b"bcd"]),
                "many": [f"word {i}" for i in range(3000)], "none": np.zeros((0,), dtype="U1")}
    attributes = {("/", "backend"): "plimsoll", ("/", "words"): words, ("words", "empty"): "",
                  ("/", "layer_names"): np.array([b"dense", b"dense_1"]), ("/", "größe"): 7,
                  ("/", "config"): json.dumps({"a": list(range(20000))})}
    check_written(tmp_path / "file.h5", datasets, attributes)


@pytest.mark.parametrize("count", [0, 1, 8, 9, 256, 257, 3000])
def test_writes_many_links(tmp_path, count):
    datasets = {f"layers/layer_{i}/vars/0": np.float32(i) for i in range(count)}
    attributes = {(name, "index"): i for i, name in enumerate(datasets)}
    check_written(tmp_path / "file.h5", datasets, attributes)


def test_h5py_adds_to_what_was_written(tmp_path):
    path = tmp_path / "file.h5"
    check_written(path, {"a/b": np.arange(4), "c": np.float32(1)}, {("a", "x"): "text"})
    with h5py.File(path, "a") as file:
        for i in range(100):
            file[f"a/more_{i}"] = np.arange(i)
        file["a"].attrs["y"] = "another"
        del file["c"]
    assert compare(path) == 103


def test_refuses_to_write(tmp_path):
    path = tmp_path / "file.h5"
    good = request("dataset", "a/b", np.arange(3))
    for bad, message in [
        (good, "already in"),
        (request("dataset", "a", np.arange(3)), "already in"),
        (request("dataset", "a/b/c", np.arange(3)), "a dataset stands on the way"),
        (request("dataset", "/", np.arange(3)), "needs a name"),
        ({**good, "path": "c", "shape": [4]}, "received 24"),
        (request("attribute", "nowhere", np.arange(3), name="x"), "there is no 'nowhere'"),
        (request("attribute", "a", np.zeros(8200), name="x"), "at most 65528"),
    ]:
        answer = write(path, [good, bad])
        assert answer.returncode == 1 and message in answer.stderr, answer.stderr
        assert list(tmp_path.iterdir()) == []
    answer = write(tmp_path / "nowhere" / "file.h5", [good])
    assert "NotFoundError" in answer.stderr
    answer = write(tmp_path, [good])  # a folder stands there
    assert answer.returncode == 1 and list(tmp_path.iterdir()) == []


def fill_small(file):
    """A little of everything, in as few bytes as there can be."""
    file["a/b"] = np.arange(3, dtype="f4")
    file["word"] = "text"
    file.create_dataset("chunks", data=numbers("i2", (6, 5)), chunks=(4, 4), compression="gzip", shuffle=True)
    file.create_dataset("grows", data=np.arange(9), chunks=(2, 2), maxshape=(None, None), shape=(3, 3))
    file.create_dataset("plain", data=np.arange(6), chunks=(3,))
    file["soft"] = h5py.SoftLink("/a/b")
    file.attrs["names"] = np.array([b"dense", b"dense_1"])
    file["a"].attrs["flag"] = True


def fill_dense(file):
    group = file.create_group("dense", track_order=True)
    for i in range(12):
        group[f"link {i}"] = h5py.SoftLink("/dense")
        group.attrs[f"attribute {i}"] = i
    group.attrs["huge"] = np.zeros(600)  # more than a block of the heap takes


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("fill", [fill_small, fill_dense])
def test_damage(tmp_path, fill, libver):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver=None if libver == "earliest" else libver) as file:
        fill(file)
    compare(path)
    finished = subprocess.run([PROGRAM, "--damage", path], capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
