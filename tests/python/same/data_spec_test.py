"""tf.data: what datasets say about their elements, and what they refuse."""

import numpy as np
import pytest


def given(dataset):
    return [element.tolist() if hasattr(element, "tolist") else element for element in dataset.as_numpy_iterator()]


@pytest.fixture(name="ten")
def ten_fixture(tf):
    return tf.data.Dataset.range(10)


@pytest.fixture(name="lines")
def lines_fixture(tf):
    return tf.data.Dataset.from_tensor_slices(["1,2.5", "2,3.5", "3,4.5", "4,5.5", "5,6.5"])


def test_batches_of_what_functions_hide(tf, lines):
    spec = tf.TensorSpec

    def parse(line):
        number, real = tf.io.decode_csv(line, [0, 0.0])
        return {"real": real}, number

    rows = lines.map(parse)
    assert rows.element_spec == ({"real": spec([], tf.float32)}, spec([], tf.int32))
    batches = ({"real": spec([None], tf.float32)}, spec([None], tf.int32))
    assert rows.batch(2).element_spec == batches
    assert rows.shuffle(3).repeat(2).batch(2).prefetch(1).element_spec == batches
    assert rows.cache().take(3).skip(1).shard(1, 0).batch(2).element_spec == batches
    assert lines.batch(2).map(parse).element_spec == batches
    assert lines.batch(2, drop_remainder=True).map(parse).element_spec[1] == spec([2], tf.int32)
    assert rows.batch(2).unbatch().element_spec == rows.element_spec
    assert rows.enumerate().element_spec == (spec([], tf.int64), rows.element_spec)
    assert tf.data.Dataset.zip((rows, lines)).element_spec == (rows.element_spec, spec([], tf.string))
    assert rows.concatenate(rows.take(1)).batch(3).element_spec == batches


def test_sizes_that_depend_on_values(tf, ten):
    spec = tf.TensorSpec
    ragged = ten.map(tf.range)
    assert ragged.element_spec == spec([None], tf.int64)
    assert ragged.padded_batch(4).element_spec == spec([None, None], tf.int64)
    assert [len(batch) for batch in given(ragged.padded_batch(4))] == [4, 4, 2]
    assert ragged.padded_batch(4, [12]).element_spec == spec([None, 12], tf.int64)
    assert ragged.padded_batch(4, [None], drop_remainder=True).element_spec == spec([4, None], tf.int64)
    assert ragged.bucket_by_sequence_length(tf.size, [4], [2, 2]).element_spec == spec([None, None], tf.int64)


def test_datasets_of_datasets(tf, ten):
    spec = tf.TensorSpec
    pairs = tf.data.Dataset.zip((ten, ten.map(lambda x: tf.cast(x, tf.float32))))
    assert ten.window(3).flat_map(lambda w: w.batch(3)).element_spec == spec([None], tf.int64)
    assert ten.window(3).flat_map(lambda w: w.batch(3, drop_remainder=True)).element_spec == spec([3], tf.int64)
    assert pairs.window(3).flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(3), b))).element_spec == (
        spec([None], tf.int64), spec([], tf.float32))
    assert ten.interleave(lambda x: tf.data.Dataset.from_tensors([x, x]).batch(2)).element_spec == spec([None, 2], tf.int64)
    assert ten.batch(4).window(2).flat_map(lambda w: w).element_spec == spec([None], tf.int64)


def test_cardinality_of_rows(tf):
    x = np.zeros([6, 2], np.float32)
    assert len(tf.data.Dataset.from_tensors((x, x)).unbatch()) == 6
    assert len(tf.data.Dataset.from_tensor_slices(x).batch(4, drop_remainder=True).unbatch()) == 4
    assert int(tf.data.Dataset.from_tensor_slices(x).batch(4).unbatch().cardinality()) == -2
    assert int(tf.data.Dataset.from_tensor_slices(x).repeat().batch(4).unbatch().cardinality()) == -1


def test_arguments_of_padding(tf):
    rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    assert given(rows.padded_batch(3, padded_shapes=4)) == [[[1, 0, 0, 0], [2, 2, 0, 0], [3, 3, 3, 0]]]
    assert given(rows.padded_batch(3, padded_shapes=tf.constant([4], tf.int64))) == given(rows.padded_batch(3, [4]))
    words = tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(lambda line: (tf.strings.split(line), line))
    first, second = next(words.padded_batch(2, ([3], []), padding_values=("-", None)).as_numpy_iterator())
    assert first.tolist() == [[b"a", b"b", b"-"], [b"c", b"-", b"-"]] and second.tolist() == [b"a b", b"c"]
    named = rows.map(lambda x: {"b": x, "a": tf.size(x)})
    batch = next(named.padded_batch(3, {"a": [], "b": [None]}, {"a": 0, "b": tf.constant(7, tf.int64)})
                 .as_numpy_iterator())
    assert batch["b"].tolist() == [[1, 7, 7], [2, 2, 7], [3, 3, 3]] and batch["a"].tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.DataLossError, match="smaller size"):
        given(rows.padded_batch(3, [2]))
    known = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="padding_values"):
        known.padded_batch(2, padding_values=0.5)
    unknown = tf.data.Dataset.from_generator(lambda: iter([[1], [2, 3]]), tf.int32)
    with pytest.raises(ValueError, match="unknown rank"):
        unknown.padded_batch(2)
    assert given(unknown.padded_batch(2, [None])) == [[[1, 0], [2, 3]]]


def test_refusals(tf, ten):
    with pytest.raises(ValueError, match="3 and 2|compatible"):
        tf.data.Dataset.from_tensor_slices(([1, 2, 3], [1, 2]))
    with pytest.raises(ValueError, match="rank >= 1"):
        tf.data.Dataset.from_tensor_slices(1)
    with pytest.raises(ValueError, match="scalar components"):
        ten.unbatch()
    with pytest.raises(ValueError, match="matching"):
        tf.data.Dataset.from_tensors(([1, 2, 3], [1, 2])).unbatch()
    with pytest.raises(ValueError, match="predicate"):
        ten.filter(lambda x: x)
    with pytest.raises(ValueError, match="predicate"):
        ten.filter(lambda x: tf.equal([x], 1))
    with pytest.raises(ValueError, match="bucket_batch_sizes"):
        ten.bucket_by_sequence_length(lambda x: 1, [3, 6], [2, 2])
