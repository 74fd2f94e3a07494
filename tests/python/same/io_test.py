"""tf.io: files, records, examples, images."""

import gzip
import os
import struct

import numpy as np
import pytest


def test_files(tf, tmp_path):
    path = str(tmp_path / "deep" / "a.bin")
    tf.io.write_file(path, b"\x00\x01 bytes")
    assert tf.io.read_file(path).numpy() == b"\x00\x01 bytes"
    assert tf.io.read_file(tf.constant(path)).dtype == tf.string
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.read_file(str(tmp_path / "none"))


@pytest.mark.parametrize("value", [
    np.arange(6, dtype=np.float32).reshape(2, 3), np.array(7, np.int64), np.array([True, False]),
    np.zeros([0, 3], np.float64), np.array([1.5, -2], np.float16), np.array([255], np.uint8),
    np.array([["a", ""], ["bc", "d"]])])
def test_serialized_tensors(tf, value):
    tensor = tf.constant(value)
    text = tf.io.serialize_tensor(tensor)
    assert text.dtype == tf.string
    back = tf.io.parse_tensor(text, tensor.dtype)
    assert back.shape == tensor.shape and np.array_equal(back.numpy(), tensor.numpy())


def test_damaged_tensors(tf):
    text = tf.io.serialize_tensor(tf.ones([4])).numpy()
    for bad in (text[:-3], b"\xff\xff\xff", b"nonsense"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_tensor(bad, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(text, tf.int32)


def make_example(tf, i, words=("a", "b")):
    feature = tf.train.Feature
    return tf.train.Example(features=tf.train.Features(feature={
        "id": feature(int64_list=tf.train.Int64List(value=[i])),
        "x": feature(float_list=tf.train.FloatList(value=[i + 0.5, -1.0])),
        "name": feature(bytes_list=tf.train.BytesList(value=[w.encode() for w in words])),
        "steps": feature(int64_list=tf.train.Int64List(value=list(range(i)))),
    }))


def test_examples(tf):
    example = make_example(tf, 3)
    text = example.SerializeToString()
    back = tf.train.Example.FromString(text)
    assert list(back.features.feature["id"].int64_list.value) == [3]
    assert list(back.features.feature["x"].float_list.value) == [3.5, -1.0]
    assert list(back.features.feature["name"].bytes_list.value) == [b"a", b"b"]
    assert back == example and back.features.feature["id"].WhichOneof("kind") == "int64_list"
    made = tf.train.Example()
    made.features.feature["k"].int64_list.value.extend([1, -2])
    parsed = tf.io.parse_single_example(made.SerializeToString(), {"k": tf.io.FixedLenFeature([2], tf.int64)})
    assert parsed["k"].numpy().tolist() == [1, -2]


def test_parse(tf):
    features = {
        "id": tf.io.FixedLenFeature([], tf.int64),
        "x": tf.io.FixedLenFeature([2], tf.float32),
        "name": tf.io.FixedLenFeature([2, 1], tf.string),
        "none": tf.io.FixedLenFeature([], tf.float32, default_value=9.0),
        "steps": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    one = tf.io.parse_single_example(make_example(tf, 2).SerializeToString(), features)
    assert set(one) == set(features)
    assert one["id"].numpy() == 2 and one["x"].numpy().tolist() == [2.5, -1.0]
    assert one["name"].numpy().tolist() == [[b"a"], [b"b"]] and one["none"].numpy() == 9.0
    assert one["steps"].numpy().tolist() == [0, 1]
    texts = tf.constant([make_example(tf, i).SerializeToString() for i in (1, 3)])
    many = tf.io.parse_example(texts, features)
    assert many["x"].shape == [2, 2] and many["steps"].numpy().tolist() == [[0, 0, 0], [0, 1, 2]]
    assert many["none"].numpy().tolist() == [9.0, 9.0]


def test_parse_errors(tf):
    text = make_example(tf, 2).SerializeToString()

    def parse(features, value=text):
        return tf.io.parse_single_example(value, features)

    with pytest.raises(tf.errors.InvalidArgumentError, match="gone"):
        parse({"gone": tf.io.FixedLenFeature([], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="id"):
        parse({"id": tf.io.FixedLenFeature([], tf.float32)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="x"):
        parse({"x": tf.io.FixedLenFeature([3], tf.float32)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example"):
        parse({"id": tf.io.FixedLenFeature([], tf.int64)}, b"no example at all")


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_records(tf, tmp_path, kind):
    path = str(tmp_path / "r")
    records = [bytes([i]) * i for i in range(50)]
    with tf.io.TFRecordWriter(path, options=kind or None) as writer:
        for record in records:
            writer.write(record)
    assert [r.numpy() for r in tf.data.TFRecordDataset(path, compression_type=kind)] == records
    if kind == "GZIP":
        with open(path, "rb") as file:
            assert gzip.decompress(file.read())[:8] == struct.pack("<Q", 0)


def test_damaged_records(tf, tmp_path):
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"first")
        writer.write(b"second")
    with open(path, "rb") as file:
        whole = file.read()
    for at, bad in ((None, whole[:-2]), (30, None), (23, None), (40, None)):
        if bad is None:
            bad = bytearray(whole)
            bad[at] ^= 1
        with open(path, "wb") as file:
            file.write(bad)
        run = iter(tf.data.TFRecordDataset(path))
        assert next(run).numpy() == b"first"
        with pytest.raises(tf.errors.DataLossError, match="21|33"):
            next(run)


def test_pipeline_of_records(tf, tmp_path):
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(10):
            writer.write(make_example(tf, i).SerializeToString())
    features = {"id": tf.io.FixedLenFeature([], tf.int64), "x": tf.io.FixedLenFeature([2], tf.float32)}
    dataset = tf.data.TFRecordDataset([path]).map(lambda r: tf.io.parse_single_example(r, features), num_parallel_calls=2)
    found = list(dataset.batch(4))
    assert [b["id"].numpy().tolist() for b in found] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    batched = tf.data.TFRecordDataset([path]).batch(4).map(lambda r: tf.io.parse_example(r, features))
    assert [b["id"].numpy().tolist() for b in batched] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_lines_and_pieces(tf, tmp_path):
    path = str(tmp_path / "t")
    with open(path, "wb") as file:
        file.write(b"one\r\ntwo\n\nfour")
    assert [t.numpy() for t in tf.data.TextLineDataset(path)] == [b"one", b"two", b"", b"four"]
    with open(path, "wb") as file:
        file.write(b"HHabcdefF")
    pieces = tf.data.FixedLengthRecordDataset(path, 3, header_bytes=2, footer_bytes=1)
    assert [t.numpy() for t in pieces] == [b"abc", b"def"]
    names = [str(tmp_path / n) for n in ("b.x", "a.x")]
    for name in names:
        open(name, "w").close()
    listed = tf.data.Dataset.list_files(str(tmp_path / "*.x"), shuffle=False)
    assert [t.numpy().decode() for t in listed] == sorted(names)
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        tf.data.Dataset.list_files(str(tmp_path / "*.none"))


def test_raw_bytes(tf):
    assert tf.io.decode_raw(b"\x01\x00\x02\x00", tf.int16).numpy().tolist() == [1, 2]
    assert tf.io.decode_raw(b"\x00\x01", tf.int16, little_endian=False).numpy().tolist() == [1]
    assert tf.io.decode_raw(["ab", "cd"], tf.uint8).numpy().tolist() == [[97, 98], [99, 100]]
    assert tf.io.decode_raw(["a", "bcd"], tf.uint8, fixed_length=2).numpy().tolist() == [[97, 0], [98, 99]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_raw(["a", "bc"], tf.uint8)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_raw("abc", tf.int16)


def test_tables(tf):
    a, b, c = tf.io.decode_csv(["1,2.5,x", '3,,"y, ""z"""'], [[0], [7.0], ["none"]])
    assert a.numpy().tolist() == [1, 3] and a.dtype == tf.int32
    assert b.numpy().tolist() == [2.5, 7.0] and c.numpy().tolist() == [b"x", b'y, "z"']
    first, third = tf.io.decode_csv("4;5;6", [[0.0], tf.constant([], tf.int64)], field_delim=";", select_cols=[0, 2])
    assert first.numpy() == 4.0 and third.numpy() == 6 and third.dtype == tf.int64
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 1 fields but have 2"):
        tf.io.decode_csv("1,2", [[0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a valid"):
        tf.io.decode_csv("x", [[0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="required but missing"):
        tf.io.decode_csv(",1", [tf.constant([], tf.int32), [0]])


def test_gfile(tf, tmp_path):
    gfile = tf.io.gfile
    folder = str(tmp_path / "a" / "b")
    gfile.makedirs(folder)
    file = os.path.join(folder, "f.txt")
    with gfile.GFile(file, "w") as f:
        f.write("one\ntwo\n")
    assert gfile.exists(file) and gfile.isdir(folder) and gfile.listdir(folder) == ["f.txt"]
    with gfile.GFile(file) as f:
        assert f.readline() == "one\n" and f.read() == "two\n" and f.size() == 8
    with gfile.GFile(file, "rb") as f:
        assert f.read(3) == b"one"
    assert [line for line in gfile.GFile(file)] == ["one\n", "two\n"]
    assert gfile.glob(os.path.join(folder, "*.txt")) == [file] and gfile.stat(file).length == 8
    gfile.copy(file, file + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(file, file + "2")
    gfile.rename(file + "2", file + "3")
    gfile.remove(file + "3")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.remove(file + "3")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.listdir(folder + "none")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.GFile(file + "none").read()
    gfile.rmtree(str(tmp_path / "a"))
    assert not gfile.exists(folder)


def picture(height=13, width=17, channels=3):
    y, x = np.mgrid[:height, :width]
    parts = [(x * 15 + y * 3) % 256, (y * 20) % 256, (x * y) % 256, (255 - x * 9) % 256]
    return np.stack(parts[:channels], -1).astype(np.uint8)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png(tf, channels):
    image = picture(channels=channels)
    text = tf.io.encode_png(image)
    assert np.array_equal(tf.io.decode_png(text).numpy(), image)
    assert tf.io.decode_png(text, channels=3).shape == [13, 17, 3]
    assert np.array_equal(tf.io.decode_image(text, channels=channels if channels != 2 else 0).numpy(), image)


# Of wide_picture(), as TensorFlow 2.21 has it.
GREY_OF_16_BITS = [[0, 6279, 12558], [14793, 22097, 29402], [29585, 37915, 46246]]


def wide_picture(height=13, width=17, channels=3):
    y, x = np.mgrid[:height, :width]
    parts = [x * 3000 + y * 77, y * 5001, x * y * 257 + 3, 65535 - x * 911]
    return np.stack(parts[:channels], -1).astype(np.uint16)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_of_16_bits(tf, channels):
    image = wide_picture(channels=channels)
    text = tf.io.encode_png(image)
    made = tf.io.decode_png(text, dtype=tf.uint16)
    assert made.dtype == tf.uint16 and np.array_equal(made.numpy(), image)
    assert np.array_equal(tf.io.decode_png(text).numpy(), (image >> 8).astype(np.uint8))
    assert np.array_equal(tf.io.decode_png(text, 0, "uint16").numpy(), image)
    if channels != 2:
        assert np.array_equal(tf.io.decode_image(text, channels=channels, dtype=tf.uint16).numpy(), image)
        floats = tf.io.decode_image(text, dtype=tf.float32).numpy()
        np.testing.assert_allclose(floats, image / 65535, rtol=1e-6)


def test_png_channels_of_16_bits(tf):
    wide, narrow = tf.io.encode_png(wide_picture()), tf.io.encode_png(picture())
    assert np.array_equal(tf.io.decode_png(narrow, dtype=tf.uint16).numpy(), picture().astype(np.uint16) * 257)
    grey = tf.io.encode_png(wide_picture(channels=1))
    spread = tf.io.decode_png(grey, channels=4, dtype=tf.uint16).numpy()
    assert np.array_equal(spread[..., 1], wide_picture(channels=1)[..., 0]) and (spread[..., 3] == 65535).all()
    spread = tf.io.decode_png(narrow, channels=4, dtype=tf.uint16).numpy()
    assert np.array_equal(spread[..., :3], picture().astype(np.uint16) * 257) and (spread[..., 3] == 65535).all()
    assert (tf.io.decode_png(wide, channels=4).numpy()[..., 3] == 255).all()
    one = tf.io.decode_png(wide, channels=1, dtype=tf.uint16).numpy()[..., 0]
    assert one[::5, ::7].tolist() == GREY_OF_16_BITS
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_png(wide, dtype=tf.int32)


def test_other_images_of_16_bits(tf):
    bytes_ = picture()
    jpeg = tf.io.encode_jpeg(bytes_)
    values = tf.io.decode_jpeg(jpeg).numpy().astype(np.uint16)
    assert np.array_equal(tf.io.decode_image(jpeg, dtype=tf.uint16).numpy(), values * 256)
    assert np.array_equal(tf.io.decode_image(bmp(bytes_), dtype=tf.uint16).numpy(), bytes_.astype(np.uint16) * 256)
    png = tf.io.encode_png(bytes_)
    assert np.array_equal(tf.io.decode_image(png, dtype=tf.uint16).numpy(), bytes_.astype(np.uint16) * 257)
    np.testing.assert_allclose(tf.io.decode_image(png, dtype=tf.float32).numpy(), bytes_ / 255, rtol=1e-6)


def test_numbers_of_16_bits(tf):
    x = tf.constant([0, 1, 65535], tf.uint16)
    assert x.dtype == tf.uint16 and x.dtype.is_unsigned and x.dtype.max == 65535 and x.numpy().dtype == np.uint16
    assert tf.cast(x, tf.float32).numpy().tolist() == [0.0, 1.0, 65535.0]
    assert tf.cast(tf.constant([3.7, 40000.0]), tf.uint16).numpy().tolist() == [3, 40000]
    assert (x + x).numpy().tolist() == [0, 2, 65534]
    assert (x // tf.constant(2, tf.uint16)).numpy().tolist() == [0, 0, 32767]
    assert (x > tf.constant(1, tf.uint16)).numpy().tolist() == [False, False, True]
    assert tf.reduce_max(x).numpy() == 65535 and tf.reverse(x, [0]).numpy().tolist() == [65535, 1, 0]
    assert np.array_equal(tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.uint16).numpy(), x.numpy())
    assert tf.image.convert_image_dtype(x, tf.float32).numpy().tolist() == pytest.approx([0.0, 1 / 65535, 1.0])
    resized = tf.image.resize(tf.constant(wide_picture(4, 4)), [2, 2])
    np.testing.assert_allclose(resized.numpy(), wide_picture(4, 4).reshape(2, 2, 2, 2, 3).mean((1, 3)), rtol=1e-5)


def test_jpeg(tf):
    image = picture(32, 48)
    text = tf.io.encode_jpeg(image, quality=90)
    made = tf.io.decode_jpeg(text)
    assert made.shape == [32, 48, 3] and made.dtype == tf.uint8
    assert tf.io.decode_jpeg(text, channels=1).shape == [32, 48, 1]
    assert tf.io.decode_jpeg(text, ratio=2).shape == [16, 24, 3]
    assert tf.io.extract_jpeg_shape(text).numpy().tolist() == [32, 48, 3]
    assert bool(tf.io.is_jpeg(text)) and not bool(tf.io.is_jpeg(b"x"))
    grey = tf.io.decode_jpeg(tf.io.encode_jpeg(image[..., :1], format="grayscale"))
    assert grey.shape == [32, 48, 1]
    floats = tf.io.decode_image(text, dtype=tf.float32)
    assert floats.dtype == tf.float32 and float(tf.reduce_max(floats)) <= 1.0
    part = tf.io.decode_and_crop_jpeg(text, [2, 3, 4, 5])
    assert np.abs(part.numpy() - made.numpy()[2:6, 3:8].astype(float)).mean() < 10.0


def bmp(image):
    height, width, channels = image.shape
    row = -(-width * channels // 4) * 4
    rows = b"".join(image[y, :, ::-1].tobytes().ljust(row, b"\0") for y in reversed(range(height)))
    return (b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8 * channels, 0, len(rows), 0, 0, 0, 0) + rows)


def gif(frames):
    """Frames of numbers below 4, with codes that are never packed."""
    height, width = frames[0].shape
    out = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x91, 0, 0) + bytes([0, 0, 0, 255, 0, 0, 0, 255, 0, 9, 8, 7])
    for frame in frames:
        codes = []
        for i, value in enumerate(frame.reshape(-1).tolist()):
            if i % 2 == 0:
                codes.append(4)
            codes.append(value)
        codes.append(5)
        bits = "".join(format(c, "03b")[::-1] for c in codes)
        data = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
        blocks = b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255))
        out += b"," + struct.pack("<HHHHB", 0, 0, frame.shape[1], frame.shape[0], 0) + b"\x02" + blocks + b"\0"
    return out + b";"


def test_bmp_and_gif(tf):
    image = picture(5, 7)
    assert np.array_equal(tf.io.decode_bmp(bmp(image)).numpy(), image)
    assert np.array_equal(tf.io.decode_image(bmp(image)).numpy(), image)
    numbers = np.arange(12).reshape(3, 4) % 4
    text = gif([numbers, 3 - numbers])
    colours = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [9, 8, 7]], np.uint8)
    made = tf.io.decode_gif(text)
    assert np.array_equal(made.numpy(), np.stack([colours[numbers], colours[3 - numbers]]))
    assert tf.io.decode_image(text).shape == [2, 3, 4, 3]
    assert tf.io.decode_image(text, expand_animations=False).shape == [3, 4, 3]


def test_damaged_images(tf):
    image = picture(40, 40)
    for text, decode in ((tf.io.encode_png(image).numpy(), tf.io.decode_png),
                         (tf.io.encode_jpeg(image).numpy(), tf.io.decode_jpeg),
                         (bmp(image), tf.io.decode_bmp)):
        for bad in (text[:len(text) // 2], text[:20], b""):
            with pytest.raises(tf.errors.InvalidArgumentError):
                decode(bad)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_image(b"nothing of the kind")


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("decoder", ["decode_bmp", "decode_image"])
def test_bmp_with_other_channels(tf, channels, decoder):
    decode = getattr(tf.io, decoder)
    stored = picture(5, 7, channels)
    # The order of the file is blue, green, red, alpha.
    text = bmp(stored if channels < 4 else stored[:, :, [3, 0, 1, 2]])
    assert np.array_equal(decode(text).numpy(), stored)
    colours = np.repeat(stored, 3, 2) if channels == 1 else stored[:, :, :3]
    alpha = stored[:, :, 3:] if channels == 4 else np.full((5, 7, 1), 255, np.uint8)
    assert np.array_equal(decode(text, channels=3).numpy(), colours)
    assert np.array_equal(decode(text, channels=4).numpy(), np.concatenate([colours, alpha], 2))
    for bad in (1, 2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"got {bad}"):
            decode(text, channels=bad)


# What TensorFlow 2.21 reads of files that are cut off: whole rows.
@pytest.mark.parametrize("part, rows", [(0.25, 0), (0.5, 14), (0.75, 30), (0.99, 46)])
def test_an_acceptable_fraction_of_a_jpeg(tf, part, rows):
    image = np.random.default_rng(0).integers(0, 256, (64, 48, 3), dtype=np.uint8)
    text = tf.io.encode_jpeg(image).numpy()
    whole, cut = tf.io.decode_jpeg(text).numpy(), text[:int(len(text) * part)]
    made = tf.io.decode_jpeg(cut, acceptable_fraction=rows / 64).numpy()
    assert np.array_equal(made[:rows], whole[:rows]) and not made[rows:].any()
    for fraction in ((rows + 1) / 64, 1, 2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_jpeg(cut, acceptable_fraction=fraction)
    recovered = tf.io.decode_jpeg(cut, try_recover_truncated=True).numpy()
    assert np.array_equal(tf.io.decode_jpeg(cut, try_recover_truncated=True, acceptable_fraction=0.1).numpy(), recovered)
    assert np.array_equal(tf.io.decode_jpeg(text, acceptable_fraction=0.1).numpy(), whole)
    for bad in (text[:100], text[:300]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_jpeg(bad, acceptable_fraction=0)


def test_what_jpeg_files_say_of_themselves(tf):
    image = picture(16, 16)
    plain = tf.io.encode_jpeg(image).numpy()
    assert plain[13:18] == b"\x01\x01\x2c\x01\x2c"

    def head(**options):
        made = tf.io.encode_jpeg(image, **options).numpy()
        assert made[:13] == plain[:13] and made.endswith(plain[20:])
        return made[13:len(made) - len(plain) + 20]

    assert head(format="rgb") == plain[13:20]
    assert head(density_unit="cm", x_density=1, y_density=513) == b"\x02\x00\x01\x02\x01\x00\x00"
    assert head(x_density=-1, y_density=70000) == b"\x01\xff\xff\x11\x70\x00\x00"
    xmp = b"http://ns.adobe.com/xap/1.0/\0<x/>"
    assert head(xmp_metadata="<x/>") == plain[13:20] + b"\xff\xe1" + struct.pack(">H", len(xmp) + 2) + xmp
    grey = image[:, :, :1]
    assert tf.io.encode_jpeg(grey, format="grayscale").numpy() == tf.io.encode_jpeg(grey).numpy()
    for pixels, options in ((grey, {"format": "rgb"}), (image, {"format": "grayscale"}), (image, {"format": "cmyk"}),
                            (image, {"density_unit": "mm"}), (image, {"density_unit": ""})):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.encode_jpeg(pixels, **options)


# Bytes that TensorFlow 2.21 wrote.
FLOATS = b"\n\x13\n\x11\n\x01x\x12\x0c\x12\n\n\x08\x00\x00\xc0?\x00\x00\x00\xc0"
INTEGERS = b"\n\x18\n\x16\n\x01n\x12\x11\x1a\x0f\n\r\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02"
TEXTS = b"\n\x0e\n\x0c\n\x01b\x12\x07\n\x05\n\x01q\n\x00"
RECORDS = (b"\x03\x00\x00\x00\x00\x00\x00\x00\xb0\x99I\x0eone\x01@U\x08\x15\x00\x00\x00\x00\x00\x00\x00\xd6\xabk+"
           + FLOATS + b"+\xdb_\xbb")
PACKED = (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03cf\x80\x80\r3=\xf9\xf2\xf3R\x19\x1dB9D\xa1B\xd7Vgks\ts\tr1V\x08\xf1\x08"
          b"qqq00\x1c\xb0\x07\x8a\x1f\xd0\xbe\x1d\xbf\x1b\x00\xfa\x85-p8\x00\x00\x00")
TENSORS = {b'\x08\x01\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@': ([[1.0, 2.0]], "float32"),
           b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc": ([b"a", b"bc"], "string"),
           b'\x08\t\x12\x00"\x08\x07\x00\x00\x00\x00\x00\x00\x00': (7, "int64")}


def test_bytes_are_those_of_tensorflow(tf, tmp_path):
    train = tf.train

    def example(**feature):
        return train.Example(features=train.Features(feature=feature)).SerializeToString()

    assert example(x=train.Feature(float_list=train.FloatList(value=[1.5, -2]))) == FLOATS
    assert example(n=train.Feature(int64_list=train.Int64List(value=[1, -1, 300]))) == INTEGERS
    assert example(b=train.Feature(bytes_list=train.BytesList(value=[b"q", b""]))) == TEXTS
    for text, (value, dtype) in TENSORS.items():
        tensor = tf.constant(value, tf.as_dtype(dtype))
        assert tf.io.serialize_tensor(tensor).numpy() == text
        assert np.array_equal(tf.io.parse_tensor(text, dtype).numpy(), tensor.numpy())
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.write(FLOATS)
    with open(path, "rb") as file:
        assert file.read() == RECORDS
    with open(path, "wb") as file:
        file.write(PACKED)
    assert [r.numpy() for r in tf.data.TFRecordDataset(path, "GZIP")] == [b"one", FLOATS]


def test_pixels_are_those_of_tensorflow(tf):
    text = tf.io.encode_jpeg(picture(16, 16))
    assert len(text.numpy()) == 772
    assert tf.io.decode_jpeg(text).numpy()[::5, ::5].tolist() == [
        [[0, 5, 0], [62, 2, 0], [138, 0, 0], [211, 3, 1]], [[22, 95, 5], [94, 101, 24], [164, 100, 54], [240, 105, 76]],
        [[35, 199, 6], [110, 203, 52], [184, 205, 104], [219, 224, 168]],
        [[50, 34, 1], [122, 40, 76], [191, 40, 137], [99, 6, 175]]]
    assert tf.io.decode_jpeg(text, channels=1).numpy()[::5, ::5, 0].tolist() == [
        [0, 19, 40, 65], [63, 90, 114, 142], [128, 158, 187, 216], [35, 69, 96, 53]]
    grey = tf.io.decode_png(tf.io.encode_png(picture(8, 8)), channels=1).numpy()
    assert grey[:3, :3, 0].tolist() == [[0, 4, 8], [12, 17, 21], [25, 29, 34]]


@pytest.mark.parametrize("value", [np.True_, np.float32(1), 1.5, "a"])
def test_what_is_no_integer(tf, value):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        tf.train.Int64List(value=[value])
    assert tf.train.Int64List(value=[1, np.int8(3)]).value == [1, 3]


def test_folders_that_are_there(tf, tmp_path):
    folder = str(tmp_path / "a")
    tf.io.gfile.mkdir(folder)
    tf.io.gfile.mkdir(folder)
    assert tf.io.gfile.isdir(folder)
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.mkdir(os.path.join(folder, "b", "c"))
