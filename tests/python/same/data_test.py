"""tf.data: what datasets give, in which order, and how they fail."""

import collections
import threading

import numpy as np
import pytest


def plain(element):
    """Elements as Python has them."""
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


def test_slices(tf):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert given(tf.data.Dataset.from_tensor_slices(x)) == x.tolist()
    assert given(tf.data.Dataset.from_tensor_slices([1, 2, 3])) == [1, 2, 3]
    assert given(tf.data.Dataset.from_tensor_slices(["a", "b"])) == [b"a", b"b"]
    assert given(tf.data.Dataset.from_tensor_slices((x, [7, 8, 9])))[1] == ([2.0, 3.0], 8)
    assert given(tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ([3, 4], [5, 6])})) == [
        {"a": 1, "b": (3, 5)}, {"a": 2, "b": (4, 6)}]
    assert given(tf.data.Dataset.from_tensors(([1, 2], 3.0))) == [([1, 2], 3.0)]
    for element in tf.data.Dataset.from_tensor_slices(([1], {"k": [2.0]})):
        assert isinstance(element, tuple) and tf.is_tensor(element[0]) and element[1]["k"].shape == ()
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.data.Dataset.from_tensor_slices(1)


def test_ranges(tf):
    assert given(tf.data.Dataset.range(2, 10, 3)) == [2, 5, 8]
    assert given(tf.data.Dataset.range(5, 0, -2)) == [5, 3, 1]
    assert given(tf.data.Dataset.range(3, output_type=tf.float32)) == [0.0, 1.0, 2.0]
    assert tf.data.Dataset.range(3, output_type=tf.int32).element_spec == tf.TensorSpec([], tf.int32)
    with pytest.raises(ValueError):
        tf.data.Dataset.range()


def test_choosing(ten):
    assert given(ten.take(3)) == [0, 1, 2]
    assert given(ten.skip(7)) == [7, 8, 9]
    assert given(ten.take(2).repeat(3)) == [0, 1] * 3
    assert given(ten.repeat().skip(8).take(4)) == [8, 9, 0, 1]
    assert given(ten.take(-1)) == list(range(10))
    assert given(ten.shard(3, 1)) == [1, 4, 7]
    assert given(ten.filter(lambda x: x % 3 == 0)) == [0, 3, 6, 9]
    assert given(ten.take_while(lambda x: x < 4)) == [0, 1, 2, 3]
    assert given(ten.take(2).enumerate(5)) == [(5, 0), (6, 1)]
    assert given(ten.take(2).concatenate(ten.skip(9))) == [0, 1, 9]
    assert given(ten.apply(lambda d: d.take(1))) == [0]


def test_zips(tf, ten):
    letters = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    assert given(tf.data.Dataset.zip((ten, letters))) == [(0, b"a"), (1, b"b"), (2, b"c")]
    assert given(tf.data.Dataset.zip(ten, letters))[2] == (2, b"c")
    assert given(tf.data.Dataset.zip({"n": ten.take(1), "m": (ten, letters)})) == [{"n": 0, "m": (0, b"a")}]
    with pytest.raises(TypeError):
        tf.data.Dataset.zip([ten, letters])
    with pytest.raises(TypeError):
        ten.concatenate(letters)


def test_maps(tf, ten):
    assert given(ten.map(lambda x: x * 2).take(3)) == [0, 2, 4]
    pairs = tf.data.Dataset.zip((ten, ten.map(lambda x: x + 1)))
    assert given(pairs.map(lambda a, b: a * b).take(3)) == [0, 2, 6]
    assert given(pairs.map(lambda a, b: {"sum": a + b, "pair": (a, b)}).take(1)) == [{"sum": 1, "pair": (0, 1)}]
    assert given(ten.map(lambda x: (x, tf.constant("s"))).take(1)) == [(0, b"s")]
    assert given(ten.map(lambda x: [x, x + 1]).take(2)) == [(0, 1), (1, 2)]
    named = ten.map(lambda x: {"x": x})
    assert given(named.map(lambda d: d["x"] + 1).take(2)) == [1, 2]
    for parallel in (1, 3, tf.data.AUTOTUNE):
        assert given(ten.map(lambda x: x * x, num_parallel_calls=parallel)) == [n * n for n in range(10)]
    mixed = given(ten.map(lambda x: x + 1, num_parallel_calls=4, deterministic=False))
    assert sorted(mixed) == list(range(1, 11))
    assert given(ten.batch(4).map(lambda b: tf.reduce_sum(b))) == [6, 22, 17]
    assert given(ten.map(lambda x: tf.py_function(lambda v: v.numpy() + 1, [x], tf.int64)).take(2)) == [1, 2]


def test_maps_with_variables_and_control_flow(tf, ten):
    scale = tf.Variable(2, dtype=tf.int64)
    scaled = ten.map(lambda x: x * scale)
    assert given(scaled.take(3)) == [0, 2, 4]
    scale.assign(3)
    assert given(scaled.take(3)) == [0, 3, 6]

    def halve(x):
        if x % 2 == 0:
            return x // 2
        return x

    assert given(ten.map(halve).take(5)) == [0, 1, 1, 3, 2]
    assert given(ten.map(lambda x: tf.cond(x > 2, lambda: x, lambda: -x)).take(4)) == [0, -1, -2, 3]


def test_batches(tf, ten):
    assert given(ten.batch(4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert given(ten.batch(4, drop_remainder=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert given(ten.batch(2).batch(2, drop_remainder=True))[0] == [[0, 1], [2, 3]]
    assert given(ten.batch(4).unbatch()) == list(range(10))
    assert given(ten.batch(4).rebatch(5)) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    pairs = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [[1.0], [2.0], [3.0]]})
    assert given(pairs.batch(2)) == [{"a": [1, 2], "b": [[1.0], [2.0]]}, {"a": [3], "b": [[3.0]]}]
    assert given(tf.data.Dataset.from_tensor_slices(["x", "yy"]).batch(2)) == [[b"x", b"yy"]]
    ragged = ten.map(lambda x: tf.zeros([x]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot (batch|add) tensor"):
        given(ragged.batch(2))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        given(ten.batch(0))


def sequences(tf, dtype=np.int64):
    def rows():
        for n in (1, 3, 2, 5):
            yield np.arange(1, n + 1, dtype=dtype)
    return tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([None], tf.as_dtype(dtype)))


def test_padded_batches(tf):
    assert given(sequences(tf).padded_batch(2)) == [[[1, 0, 0], [1, 2, 3]], [[1, 2, 0, 0, 0], [1, 2, 3, 4, 5]]]
    assert given(sequences(tf).padded_batch(2, padded_shapes=[6], padding_values=tf.constant(-1, tf.int64)))[0] == [
        [1, -1, -1, -1, -1, -1], [1, 2, 3, -1, -1, -1]]
    both = tf.data.Dataset.zip((sequences(tf), tf.data.Dataset.range(4)))
    assert given(both.padded_batch(4, padded_shapes=([None], [])))[0][1] == [0, 1, 2, 3]
    assert given(sequences(tf).padded_batch(3, drop_remainder=True)) == [[[1, 0, 0], [1, 2, 3], [1, 2, 0]]]
    with pytest.raises(tf.errors.OpError, match="Attempted to pad to a smaller size"):
        given(sequences(tf).padded_batch(4, padded_shapes=[2]))
    words = tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(lambda s: tf.strings.split(s))
    assert given(words.padded_batch(2, padded_shapes=[None])) == [[[b"a", b"b"], [b"c", b""]]]


def test_buckets(tf):
    found = given(sequences(tf).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2]))
    assert found == [[[1, 0], [1, 2]], [[1, 2, 3, 0, 0], [1, 2, 3, 4, 5]]]


def test_windows(tf, ten):
    assert [given(w) for w in ten.window(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [given(w) for w in ten.window(3, shift=2, stride=2, drop_remainder=True)] == [
        [0, 2, 4], [2, 4, 6], [4, 6, 8]]
    assert given(ten.window(5, shift=3).flat_map(lambda w: w.batch(5))) == [
        [0, 1, 2, 3, 4], [3, 4, 5, 6, 7], [6, 7, 8, 9], [9]]
    pairs = tf.data.Dataset.zip((ten, ten.map(lambda x: x * x)))
    assert given(pairs.window(2, drop_remainder=True).flat_map(
        lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2)))).take(2)) == [([0, 1], [0, 1]), ([2, 3], [4, 9])]


def test_nested(tf, ten):
    def three_of(x):
        return tf.data.Dataset.from_tensors(x).repeat(3)
    assert given(ten.take(2).flat_map(three_of)) == [0, 0, 0, 1, 1, 1]
    few = tf.data.Dataset.range(1, 6)
    once = given(few.interleave(three_of, cycle_length=2, block_length=1))
    parallel = given(few.interleave(three_of, cycle_length=2, block_length=1, num_parallel_calls=2))
    assert collections.Counter(once) == collections.Counter(parallel) == {n: 3 for n in range(1, 6)}
    with pytest.raises((TypeError, AttributeError)):
        given(ten.flat_map(lambda x: 1))


def test_interleave_order(tf):
    """The order is part of what is promised."""
    few = tf.data.Dataset.range(1, 6)
    found = given(few.interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4))
    assert found == [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5]
    for threads in (None, 2):
        found = given(tf.data.Dataset.range(5).interleave(tf.data.Dataset.range, cycle_length=3, block_length=1,
                                                          num_parallel_calls=threads))
        assert found == [0, 0, 0, 1, 1, 0, 2, 1, 2, 3]


def test_datasets_in_maps(tf):
    windows = tf.data.Dataset.range(7).window(3)
    assert given(windows.map(lambda w: w.batch(3).get_single_element())) == [[0, 1, 2], [3, 4, 5], [6]]
    assert given(windows.map(lambda w: w.reduce(np.int64(0), lambda s, x: s + x))) == [3, 12, 6]

    def largest(row):
        return tf.data.Dataset.from_tensor_slices(row).reduce(np.float32(0), tf.maximum)
    assert given(tf.data.Dataset.from_tensor_slices([[1.0, 3.0], [5.0, 2.0]]).map(largest)) == [3.0, 5.0]


def test_scans_and_sums(tf, ten):
    zero = np.int64(0)
    assert given(ten.take(4).scan(zero, lambda s, x: (s + x, s + x))) == [0, 1, 3, 6]
    assert plain(ten.reduce(zero, lambda s, x: s + x).numpy()) == 45
    total, count = ten.reduce((zero, zero), lambda s, x: (s[0] + x, s[1] + 1))
    assert (int(total), int(count)) == (45, 10)


def test_cache(tf, ten, tmp_path):
    calls = []

    def note(x):
        calls.append(1)
        return x

    for kept in (ten.map(lambda x: tf.py_function(note, [x], tf.int64)).cache(),
                 ten.map(lambda x: tf.py_function(note, [x], tf.int64)).cache(str(tmp_path / "kept"))):
        del calls[:]
        assert given(kept) == given(kept) == list(range(10))
        assert len(calls) == 10


def test_caches_side_by_side(tf, ten):
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    first, second = (ten.map(lambda x: tf.py_function(note, [x], tf.int64)).cache() for _ in range(2))
    both = tf.data.Dataset.zip((first, second))
    for _ in range(2):
        assert [tuple(map(int, pair)) for pair in both] == [(i, i) for i in range(10)]
    assert sorted(calls) == sorted([*range(10)] * 2)


def test_save_and_load(tf, tmp_path):
    path = str(tmp_path / "saved")
    whole = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ([1.5, 2.5, 3.5], ["x", "y", "z"])})
    whole.save(path)
    assert given(tf.data.Dataset.load(path)) == given(whole)
    assert tf.data.Dataset.load(path).element_spec == whole.element_spec


def test_shuffles(tf):
    hundred = tf.data.Dataset.range(100)
    for size in (1, 7, 100, 1000):
        assert sorted(given(hundred.shuffle(size, seed=1))) == list(range(100))
    assert given(hundred.shuffle(1)) == list(range(100))
    drawn = given(hundred.shuffle(10, seed=3))
    assert all(value < place + 10 for place, value in enumerate(drawn))
    again = hundred.shuffle(100, seed=5, reshuffle_each_iteration=False)
    assert given(again) == given(again)
    anew = hundred.shuffle(100, seed=5)
    assert given(anew) != given(anew)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        given(hundred.shuffle(0))


def test_shuffle_is_uniform(tf):
    """Where the first of six lands, 1200 times: chi squared with 5 degrees of freedom stays below 25."""
    six = tf.data.Dataset.range(6).shuffle(6, seed=11)
    counts = np.zeros((6, 6))
    for _ in range(1200):
        for place, value in enumerate(given(six)):
            counts[value, place] += 1
    assert ((counts - 200.0)**2 / 200.0).sum(axis=1).max() < 25.0


def test_cardinality(tf, ten):
    assert int(ten.cardinality()) == len(ten) == 10
    assert len(ten.batch(3)) == 4 and len(ten.batch(3, drop_remainder=True)) == 3
    assert len(ten.take(3).repeat(4)) == 12 and len(ten.shard(3, 0)) == 4
    assert int(ten.repeat().cardinality()) == tf.data.INFINITE_CARDINALITY == -1
    assert int(ten.filter(lambda x: x > 1).cardinality()) == tf.data.UNKNOWN_CARDINALITY == -2
    with pytest.raises(TypeError, match="infinite"):
        len(ten.repeat())
    with pytest.raises(TypeError, match="unknown"):
        len(ten.filter(lambda x: x > 1))
    assert bool(ten.take(0))


def test_element_specs(tf, ten):
    spec = tf.TensorSpec
    assert ten.element_spec == spec([], tf.int64)
    assert ten.batch(4).element_spec == spec([None], tf.int64)
    assert ten.batch(4, drop_remainder=True).element_spec == spec([4], tf.int64)
    assert ten.map(lambda x: (x, {"y": tf.zeros([2, 3])})).element_spec == (
        spec([], tf.int64), {"y": spec([2, 3], tf.float32)})
    assert ten.batch(4).map(lambda x: tf.reshape(x, [-1, 1])).element_spec == spec([None, 1], tf.int64)
    assert ten.batch(4).unbatch().element_spec == spec([], tf.int64)
    assert sequences(tf).element_spec == spec([None], tf.int64)
    assert sequences(tf).padded_batch(2).element_spec == spec([None, None], tf.int64)
    assert ten.enumerate().element_spec == (spec([], tf.int64), spec([], tf.int64))
    assert tf.data.Dataset.zip((ten, ten.batch(2))).element_spec == (spec([], tf.int64), spec([None], tf.int64))


def test_generators(tf):
    def pairs(first=0):
        for i in range(first, 3):
            yield i, {"name": str(i)}

    signature = (tf.TensorSpec([], tf.int32), {"name": tf.TensorSpec([], tf.string)})
    dataset = tf.data.Dataset.from_generator(pairs, output_signature=signature)
    assert given(dataset) == given(dataset) == [(i, {"name": str(i).encode()}) for i in range(3)]
    assert int(dataset.cardinality()) == -2
    old = tf.data.Dataset.from_generator(lambda: iter([1.0, 2.0]), output_types=tf.float32, output_shapes=[])
    assert given(old) == [1.0, 2.0]
    begun = tf.data.Dataset.from_generator(pairs, output_signature=signature, args=(2,))
    assert len(given(begun)) == 1
    with pytest.raises(TypeError):
        tf.data.Dataset.from_generator([1, 2], output_types=tf.int32)


def test_errors_in_generators(tf):
    def broken():
        yield 1
        raise ValueError("no more of it")

    run = iter(tf.data.Dataset.from_generator(broken, output_types=tf.int32))
    assert int(next(run)) == 1
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="no more of it"):
        next(run)
    shapes = tf.data.Dataset.from_generator(lambda: iter([[1, 2]]), output_signature=tf.TensorSpec([3], tf.int32))
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match=r"shape \(2,\) where"):
        given(shapes)
    types = tf.data.Dataset.from_generator(lambda: iter(["x"]), output_types=tf.int32)
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        given(types)


@pytest.mark.parametrize("parallel", [None, 2])
def test_errors_in_maps(tf, ten, parallel):
    def fails_at_three(x):
        return tf.debugging.check_numerics(1.0 / tf.cast(x - 3, tf.float32), "three")

    run = iter(ten.map(fails_at_three, num_parallel_calls=parallel))
    for _ in range(3):
        next(run)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(run)
    with pytest.raises(tf.errors.InvalidArgumentError):
        given(ten.map(fails_at_three, num_parallel_calls=parallel).batch(5).prefetch(2))

    def raises(x):
        raise KeyError("at once")

    with pytest.raises(KeyError):
        ten.map(raises, num_parallel_calls=parallel)


def test_iterators(tf, ten):
    run = iter(ten.take(2))
    assert int(next(run)) == 0 and int(run.get_next()) == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        run.get_next()
    with pytest.raises(StopIteration):
        next(run)
    two = iter(ten), iter(ten)
    assert [int(next(r)) for r in (*two, *two)] == [0, 0, 1, 1]
    for element in ten.prefetch(4):  # early stop
        if int(element) == 3:
            break
    assert given(ten.prefetch(3).prefetch(tf.data.AUTOTUNE)) == list(range(10))
    assert int(tf.data.Dataset.range(1).get_single_element()) == 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        ten.get_single_element()


def test_threads_share_an_iterator(tf):
    run = iter(tf.data.Dataset.range(1000).map(lambda x: x + 1, num_parallel_calls=2).prefetch(4))
    seen = [[] for _ in range(4)]

    def take(mine):
        for element in run:
            mine.append(int(element))

    threads = [threading.Thread(target=take, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(seen, [])) == list(range(1, 1001))


def test_options(tf, ten):
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 2
    made = ten.with_options(options)
    assert made.options().deterministic is False and given(made) == list(range(10))
    assert made.options().threading.private_threadpool_size == 2


def test_samples_and_choices(tf):
    ones, twos = tf.data.Dataset.from_tensors(1).repeat(5), tf.data.Dataset.from_tensors(2).repeat(5)
    choice = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0], np.int64))
    assert given(tf.data.Dataset.choose_from_datasets([ones, twos], choice)) == [1, 2, 2, 1]
    drawn = given(tf.data.Dataset.sample_from_datasets([ones, twos], weights=[0.5, 0.5], seed=1))
    assert sorted(drawn) == [1] * 5 + [2] * 5


K = 2


def times_k(x):
    return x * K


def test_functions_keep_the_values_that_names_had(tf):
    """They are bound when the step is made, not when elements come."""
    dataset = tf.data.Dataset.range(3)
    for k in (2, 3):
        dataset = dataset.map(lambda x: x * k)  # noqa: B023
    assert given(dataset) == [0, 6, 12]
    several = [tf.data.Dataset.range(2).map(lambda x: x + i * 100) for i in range(2)]  # noqa: B023
    assert [given(d) for d in several] == [[0, 1], [100, 101]]
    least = tf.constant(1, tf.int64)
    chosen = tf.data.Dataset.range(3).filter(lambda x: x >= least)
    least = tf.constant(7, tf.int64)
    assert given(chosen) == [1, 2]
    inner = tf.data.Dataset.range(2)
    inner = tf.data.Dataset.range(2).flat_map(lambda i: inner)
    assert given(inner) == [0, 1, 0, 1]
    inner = tf.data.Dataset.range(2).interleave(lambda i: inner, cycle_length=2)
    assert given(inner) == [0, 0, 1, 1, 0, 0, 1, 1]


def test_functions_keep_the_values_of_their_module(tf):
    global K
    dataset = tf.data.Dataset.range(3).map(lambda x: times_k(x) + K)
    K = 100
    assert given(dataset) == [2, 4, 6]
    K = 2


def test_functions_that_count_in_python(tf):
    seen = []
    num = 0

    def count(x):
        nonlocal num
        num += 1
        seen.append(int(x))
        return np.int64(num)

    dataset = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(count, [x], tf.int64))
    assert given(dataset) == [1, 2, 3]
    assert num == 3 and seen == [0, 1, 2]


def test_numbers_of_calls(tf):
    for calls in (0, -3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            given(tf.data.Dataset.range(3).map(lambda x: x, num_parallel_calls=calls))
    assert given(tf.data.Dataset.range(5).map(lambda x: x, num_parallel_calls=300)) == [0, 1, 2, 3, 4]


def test_a_global_seed_begins_orders(tf):
    def orders():
        tf.random.set_seed(3)
        ten = tf.data.Dataset.range(10)
        mixed = tf.data.Dataset.sample_from_datasets([ten, tf.data.Dataset.range(10, 20)])
        return [given(ten.shuffle(10)), given(ten.shuffle(10)), given(ten.shuffle(10, seed=4)), given(mixed),
                given(tf.data.Dataset.random().take(3))]

    first = orders()
    assert first == orders()
    assert first[0] != first[1]
    assert sorted(first[0]) == list(range(10))


def test_functions_that_stop_iteration(tf):
    """It is an error, not the end."""
    source = iter([1, 2])
    dataset = tf.data.Dataset.range(5).map(lambda x: tf.py_function(lambda a: next(source), [x], tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError):
        given(dataset)


@pytest.mark.parametrize("bad", [2, -1])
def test_choices_out_of_range_are_errors(tf, bad):
    choice = tf.data.Dataset.from_tensor_slices(np.array([0, bad, 1], np.int64))
    datasets = [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)]
    elements = iter(tf.data.Dataset.choose_from_datasets(datasets, choice))
    assert int(next(elements)) == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Selector index out of range: {bad} >= 2"):
        next(elements)
    assert int(next(elements)) == 10


def test_batches_of_sizes_in_turn(tf):
    batches = tf.data.Dataset.range(8).batch(4)
    made = batches.rebatch([2, 1])
    assert made.element_spec.shape.as_list() == [None]
    assert given(made) == [[0, 1], [2], [3, 4], [5], [6, 7]] == given(made)
    assert given(batches.rebatch(np.array([2, 3]))) == [[0, 1], [2, 3, 4], [5, 6], [7]]
    assert given(batches.rebatch((2, 3), drop_remainder=True)) == [[0, 1], [2, 3, 4], [5, 6]]
    assert given(batches.rebatch([3], drop_remainder=True)) == [[0, 1, 2], [3, 4, 5]]
    pairs = tf.data.Dataset.from_tensor_slices({"a": np.arange(3), "b": ["x", "y", "z"]}).batch(3).rebatch([1, 2])
    assert given(pairs) == [{"a": [0], "b": [b"x"]}, {"a": [1, 2], "b": [b"y", b"z"]}]


def test_functions_that_import(tf):
    def doubled(x):
        import operator
        return operator.mul(x, 2)

    assert given(tf.data.Dataset.range(3).map(doubled)) == [0, 2, 4]
    assert len(given(tf.data.Dataset.range(3).map(tf.io.serialize_tensor))) == 3
