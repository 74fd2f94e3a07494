"""tf.data: elements by key, once each, without those that fail; CSV files; tf.data.experimental."""

import collections

import numpy as np
import pytest


def plain(element):
    if isinstance(element, dict):
        return {key: plain(value) for key, value in element.items()}
    if isinstance(element, tuple):
        return tuple(plain(value) for value in element)
    return element.tolist() if hasattr(element, "tolist") else element


def given(dataset):
    return [plain(element) for element in dataset.as_numpy_iterator()]


@pytest.fixture(name="ten")
def ten_fixture(tf):
    return tf.data.Dataset.range(10)


def test_groups(tf, ten):
    by_two = ten.group_by_window(lambda x: x % 2, lambda key, window: window.batch(5), window_size=5)
    assert given(by_two) == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
    assert by_two.element_spec == tf.TensorSpec([None], tf.int64)
    by_three = ten.group_by_window(lambda x: x % 3, lambda key, window: window.map(lambda x: (key, x)),
                                   window_size_func=lambda key: key + 1)
    assert sorted(given(by_three)) == sorted((x % 3, x) for x in range(10))
    assert [x for key, x in given(by_three) if key == 2] == [2, 5, 8]
    pairs = tf.data.Dataset.from_tensor_slices((np.arange(8.0), np.arange(8)))
    batches = given(pairs.group_by_window(lambda x, y: y % 2, lambda key, window: window.batch(3), 3))
    assert batches == [([0, 2, 4], [0, 2, 4]), ([1, 3, 5], [1, 3, 5]), ([6], [6]), ([7], [7])]
    old = ten.apply(tf.data.experimental.group_by_window(lambda x: x // 5, lambda key, window: window.batch(9), 9))
    assert given(old) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    with pytest.raises(ValueError):
        ten.group_by_window(lambda x: x, lambda key, window: window)


def test_unique(tf):
    assert given(tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()) == [1, 37, 2]
    words = tf.data.Dataset.from_tensor_slices(["a", "bc", "a", "", "bc", ""]).unique()
    assert given(words) == given(words) == [b"a", b"bc", b""] and int(words.cardinality()) == -2


@pytest.mark.parametrize("parallel", [None, 2])
def test_errors_are_left_out(tf, parallel):
    whole = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0, 0.0, 4.0])
    checked = whole.map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"), num_parallel_calls=parallel)
    assert given(checked.ignore_errors()) == [1.0, 0.5, 0.25]
    assert given(checked.apply(tf.data.experimental.ignore_errors())) == [1.0, 0.5, 0.25]
    numbers = tf.data.Dataset.from_tensor_slices(["1", "x", "3"]).map(tf.strings.to_number)
    assert given(numbers.ignore_errors().batch(2)) == [[1.0, 3.0]]


def test_shares_of_classes(tf):
    classes = np.array([0] * 900 + [1] * 100)
    np.random.default_rng(1).shuffle(classes)
    whole = tf.data.Dataset.from_tensor_slices(classes).repeat(3)
    for initial in (None, [0.9, 0.1]):
        pairs = given(whole.rejection_resample(lambda x: x, [0.5, 0.5], initial, seed=3))
        assert all(a == b for a, b in pairs) and abs(np.mean([a for a, _ in pairs]) - 0.5) < 0.1


def test_random_numbers(tf):
    numbers = tf.data.Dataset.random(seed=4)
    assert int(numbers.cardinality()) == -1 and numbers.element_spec == tf.TensorSpec([], tf.int64)
    drawn = given(numbers.take(50))
    assert len(set(drawn)) == 50 and 0 <= min(drawn) and 2**31 < max(drawn) < 2**32


def test_snapshots(tf, ten, tmp_path):
    calls = []
    noted = ten.map(lambda x: tf.py_function(lambda v: calls.append(1) or v, [x], tf.int64))
    kept = noted.snapshot(str(tmp_path / "kept"))
    assert given(kept) == given(kept) == list(range(10)) and len(calls) == 10


def test_optionals(tf, ten):
    run = iter(ten.take(1))
    first, second = run.get_next_as_optional(), run.get_next_as_optional()
    assert bool(first.has_value()) and int(first.get_value()) == 0 and not bool(second.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError):
        second.get_value()


def test_files_in_parallel(tf, tmp_path):
    paths = []
    for i in range(3):
        paths.append(str(tmp_path / f"{i}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            for k in range(3):
                writer.write(f"{i}{k}".encode())
    assert given(tf.data.TFRecordDataset(paths, num_parallel_reads=2)) == [
        b"00", b"10", b"01", b"11", b"02", b"12", b"20", b"21", b"22"]
    assert len(given(tf.data.TFRecordDataset(paths, num_parallel_reads=tf.data.AUTOTUNE))) == 9


def test_csv_files(tf, tmp_path):
    path = str(tmp_path / "rows.csv")
    tf.io.write_file(path, "a,b,c\n1,x,2.5\n2,,3.5\n3,z,\n")
    spec, experimental = tf.TensorSpec, tf.data.experimental
    rows = experimental.CsvDataset(path, [tf.int32, [""], [9.0]], header=True)
    assert rows.element_spec == (spec([], tf.int32), spec([], tf.string), spec([], tf.float32))
    assert given(rows) == [(1, b"x", 2.5), (2, b"", 3.5), (3, b"z", 9.0)]
    assert given(experimental.CsvDataset(path, [[0.0]], header=True, select_cols=[2])) == [(2.5,), (3.5,), (0.0,)]
    batches = experimental.make_csv_dataset(path, 2, label_name="c", num_epochs=1, shuffle=False)
    assert batches.element_spec == ({"a": spec([None], tf.int32), "b": spec([None], tf.string)}, spec([None], tf.float32))
    assert given(batches) == [({"a": [1, 2], "b": [b"x", b""]}, [2.5, 3.5]), ({"a": [3], "b": [b"z"]}, [0.0])]
    some = experimental.make_csv_dataset(path, 3, select_columns=["a", "c"], column_defaults=[tf.int64, [1.0]], num_epochs=1)
    assert collections.Counter(next(some.as_numpy_iterator())["a"].tolist()) == {1: 1, 2: 1, 3: 1}
    assert next(iter(experimental.make_csv_dataset(path, 2)))["a"].shape == [2]


def test_experimental(tf, ten):
    experimental = tf.data.experimental
    assert given(ten.apply(experimental.map_and_batch(lambda x: x * 2, 6))) == [[0, 2, 4, 6, 8, 10], [12, 14, 16, 18]]
    assert sorted(given(ten.apply(experimental.shuffle_and_repeat(4, count=2)))) == sorted([*range(10)] * 2)
    assert given(ten.take(3).apply(experimental.parallel_interleave(tf.data.Dataset.range, 2))) == [0, 0, 1]
    words = [tf.data.Dataset.from_tensors(w).repeat() for w in ("a", "b")]
    assert given(experimental.choose_from_datasets(words, tf.data.Dataset.range(2).repeat(2))) == [b"a", b"b"] * 2
    assert sorted(given(experimental.sample_from_datasets([ten.take(2), ten.skip(8)], seed=1))) == [0, 1, 8, 9]
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = experimental.AutoShardPolicy.OFF
    assert given(ten.with_options(options).take(1)) == [0]


def test_options_add_up(tf, ten):
    first, second = tf.data.Options(), tf.data.Options()
    first.threading.private_threadpool_size = 2
    second.deterministic = False
    both = ten.with_options(first).with_options(second).options()
    assert both.threading.private_threadpool_size == 2 and both.deterministic is False
    assert ten.with_options(first).options().deterministic is None


def test_what_is_no_function(ten):
    for step in (ten.map, ten.filter, ten.flat_map):
        with pytest.raises(ValueError, match="callable"):
            step(3)
