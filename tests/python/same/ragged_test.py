"""tf.RaggedTensor and tf.SparseTensor, as far as they are built."""

import numpy as np
import pytest


def test_rows(tf):
    rows = tf.ragged.constant([[1, 2], [], [3]])
    assert isinstance(rows, tf.RaggedTensor) and rows.dtype == tf.int32
    assert rows.shape.as_list() == [3, None] and rows.ragged_rank == 1
    assert rows.values.numpy().tolist() == rows.flat_values.numpy().tolist() == [1, 2, 3]
    assert rows.row_splits.numpy().tolist() == [0, 2, 2, 3] and rows.row_splits.dtype == tf.int64
    assert rows.row_lengths().numpy().tolist() == [2, 0, 1]
    assert rows.nrows().numpy() == 3 and rows.nrows().dtype == tf.int64
    assert rows.to_list() == [[1, 2], [], [3]]
    assert rows[0].numpy().tolist() == [1, 2] and rows[-1].numpy().tolist() == [3] and rows[1].shape == [0]
    assert [row.numpy().tolist() for row in rows] == [[1, 2], [], [3]]
    with pytest.raises(IndexError, match="Row key 3 out of bounds"):
        rows[3]
    with pytest.raises(TypeError):
        bool(rows)


def test_rows_made_dense(tf):
    rows = tf.ragged.constant([[1, 2], [], [3]])
    assert rows.to_tensor().numpy().tolist() == [[1, 2], [0, 0], [3, 0]]
    assert rows.to_tensor(-1, shape=[2, 4]).numpy().tolist() == [[1, 2, -1, -1], [-1, -1, -1, -1]]
    assert rows.to_tensor(shape=[None, 1]).numpy().tolist() == [[1], [0], [3]]
    assert rows.to_tensor(shape=[4, None]).shape == [4, 2]
    words = tf.ragged.constant([["a", "é"], [], ["c"]])
    assert words.to_tensor().numpy().tolist() == [[b"a", "é".encode()], [b"", b""], [b"c", b""]]
    assert words.to_tensor("x", shape=[2, 3]).numpy().tolist() == [[b"a", "é".encode(), b"x"], [b"x", b"x", b"x"]]
    for dtype in (tf.float32, tf.float64, tf.float16, tf.int64, tf.uint8, tf.uint16, tf.bool):
        made = tf.RaggedTensor.from_row_lengths(tf.cast([1, 1, 0], dtype), [1, 0, 2]).to_tensor()
        assert made.dtype == dtype and tf.cast(made, tf.int32).numpy().tolist() == [[1, 0], [0, 0], [1, 0]]
    pairs = tf.RaggedTensor.from_row_splits(tf.reshape(tf.range(6), [3, 2]), [0, 2, 3])
    assert pairs.shape.as_list() == [2, None, 2]
    assert pairs.to_tensor(9).numpy().tolist() == [[[0, 1], [2, 3]], [[4, 5], [9, 9]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="rt_input.rank = 2 but shape.rank = 1"):
        rows.to_tensor(shape=[2])
    with pytest.raises(TypeError):
        words.to_tensor(1)


def test_rows_of_rows(tf):
    nested = tf.ragged.constant([[[1], [2, 3]], [], [[]]])
    assert nested.shape.as_list() == [3, None, None] and nested.ragged_rank == 2
    assert nested.to_list() == [[[1], [2, 3]], [], [[]]]
    assert nested.values.to_list() == [[1], [2, 3], []] and nested.flat_values.numpy().tolist() == [1, 2, 3]
    assert [s.numpy().tolist() for s in nested.nested_row_splits] == [[0, 2, 2, 3], [0, 1, 3, 3]]
    assert nested[0].to_list() == [[1], [2, 3]] and nested[2].to_list() == [[]] and nested[1].to_list() == []
    assert nested.to_tensor().numpy().tolist() == [[[1, 0], [2, 3]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]
    assert nested.to_tensor(7, shape=[2, None, 1]).numpy().tolist() == [[[1], [2]], [[7], [7]]]
    inner = tf.RaggedTensor.from_row_splits(["a", "b", "c"], [0, 2, 3])
    assert tf.RaggedTensor.from_row_splits(inner, [0, 1, 2]).to_list() == [[[b"a", b"b"]], [[b"c"]]]


def test_constants(tf):
    assert tf.ragged.constant(1).shape == [] and tf.ragged.constant([1, 2]).numpy().tolist() == [1, 2]
    assert tf.ragged.constant([[]]).to_list() == [[]] and tf.ragged.constant([[]]).dtype == tf.float32
    assert tf.ragged.constant([[1], [2, 3]], dtype=tf.float64).dtype == tf.float64
    assert tf.ragged.constant([[1], [2, 3]], row_splits_dtype=tf.int32).row_splits.dtype == tf.int32
    pairs = tf.ragged.constant([[[1, 2]], [[2, 3], [4, 5]]], ragged_rank=1)
    assert pairs.shape.as_list() == [2, None, 2] and pairs.flat_values.numpy().tolist() == [[1, 2], [2, 3], [4, 5]]
    for value in ([[1], 2], [[1], [[2]]]):
        with pytest.raises(ValueError, match="same nesting depth"):
            tf.ragged.constant(value)


def test_rows_from_parts(tf):
    make = tf.RaggedTensor
    assert make.from_row_lengths([1, 2, 3], [2, 0, 1]).to_list() == [[1, 2], [], [3]]
    assert make.from_row_splits([1, 2, 3], [0, 2, 3]).to_list() == [[1, 2], [3]]
    assert make.from_row_splits([1, 2], tf.constant([0, 2])).row_splits.dtype == tf.int32
    wrong = (ValueError, tf.errors.InvalidArgumentError)
    for splits in ([0, 2, 2], [1, 2, 3], [0, 2, 1, 3], [], [[0, 3]], tf.constant([0.0, 3.0])):
        with pytest.raises(wrong):
            make.from_row_splits([1, 2, 3], splits)
    for lengths in ([2, 0], [4, -1]):
        with pytest.raises(wrong):
            make.from_row_lengths([1, 2, 3], lengths)
    with pytest.raises(wrong):
        make.from_row_splits(1, [0, 1])


@pytest.mark.parametrize("value", [
    [[1, 2], [], [3]], [[1.5, 2], [], [3]], [["a", "b"], []], [[[1], [2, 3]], [], [[]]], [[1], [2]], [[]],
    [[1.0] * 20] * 3, [list(range(2000))], [["a" * 30] * 3, ["b"]], [[True], []]])
def test_how_rows_print(tf, value):
    printed = {"[[1, 2], [], [3]]": "<tf.RaggedTensor [[1, 2], [], [3]]>",
               "[[1.5, 2], [], [3]]": "<tf.RaggedTensor [[1.5, 2.0], [], [3.0]]>",
               "[['a', 'b'], []]": "<tf.RaggedTensor [[b'a', b'b'], []]>",
               "[[[1], [2, 3]], [], [[]]]": "<tf.RaggedTensor [[[1], [2, 3]], [], [[]]]>",
               "[[]]": "<tf.RaggedTensor [[]]>", "[[True], []]": "<tf.RaggedTensor [[True], []]>",
               "[[1], [2]]": "<tf.RaggedTensor [[1],\n [2]]>",
               str([list(range(2000))]): "<tf.RaggedTensor [[0, 1, 2, ..., 1997, 1998, 1999]]>",
               str([[1.0] * 20] * 3): "<tf.RaggedTensor [" + ",\n ".join(
                   ["[" + ", ".join(["1.0"] * 14) + ",\n  " + ", ".join(["1.0"] * 6) + "]"] * 3) + "]>",
               str([["a" * 30] * 3, ["b"]]): None}[str(value)]
    rows = tf.ragged.constant(value)
    assert printed is None or repr(rows) == str(rows) == printed
    assert repr(rows).replace("\n", " ").replace("  ", " ").startswith("<tf.RaggedTensor [[")


def parts(sparse):
    return [np.asarray(t.numpy()).tolist() for t in (sparse.indices, sparse.values, sparse.dense_shape)]


def test_sparse(tf):
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 3])
    assert sparse.indices.dtype == sparse.dense_shape.dtype == tf.int64 and sparse.dtype == tf.int32
    assert sparse.shape == [3, 3] and sparse.get_shape() == [3, 3]
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 1, 0], [0, 0, 0], [2, 0, 0]]
    assert tf.sparse.to_dense(sparse, default_value=-1).numpy().tolist() == [[-1, 1, -1], [-1, -1, -1], [2, -1, -1]]
    assert str(sparse) == repr(sparse) == (
        "SparseTensor(indices=tf.Tensor(\n[[0 1]\n [2 0]], shape=(2, 2), dtype=int64), values=tf.Tensor([1 2], "
        "shape=(2,), dtype=int32), dense_shape=tf.Tensor([3 3], shape=(2,), dtype=int64))")
    words = tf.SparseTensor([[0], [2]], ["a", "b"], [4])
    assert tf.sparse.to_dense(words).numpy().tolist() == [b"a", b"", b"b", b""]
    assert tf.sparse.to_dense(words, "x").numpy().tolist() == [b"a", b"x", b"b", b"x"]
    none = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.float32), [2, 2])
    assert tf.sparse.to_dense(none).numpy().tolist() == [[0, 0], [0, 0]]


def test_sparse_that_does_not_fit(tf):
    for indices, values, shape in (([[0, 1]], [1, 2], [3, 3]), ([[0, 1]], [1], [3]), ([0, 1], [1], [3])):
        with pytest.raises(ValueError):
            tf.SparseTensor(indices, values, shape)
    with pytest.raises(TypeError):
        tf.SparseTensor([[0.5]], [1], [3])
    unordered = tf.SparseTensor([[2, 0], [0, 1], [0, 1]], [1, 2, 3], [3, 3])
    assert tf.sparse.to_dense(unordered, validate_indices=False).numpy().tolist() == [[0, 3, 0], [0, 0, 0], [1, 0, 0]]
    for indices, why in (([[2, 0], [0, 1]], "is out of order"), ([[0, 1], [0, 1]], r"\[0,1\] is repeated"),
                         ([[0, 1], [0, 3]], r"indices\[1\] = \[0,3\] is out of bounds"),
                         ([[-1, 1], [0, 1]], r"indices\[0\] = \[-1,1\] is out of bounds")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=why):
            tf.sparse.to_dense(tf.SparseTensor(indices, [1, 2], [3, 3]))
    with pytest.raises(TypeError, match="Input must be a SparseTensor"):
        tf.sparse.to_dense([1])


def test_sparse_of_dense(tf):
    assert parts(tf.sparse.from_dense([[0, 1], [2, 0]])) == [[[0, 1], [1, 0]], [1, 2], [2, 2]]
    assert parts(tf.sparse.from_dense(["a", "", "b"])) == [[[0], [2]], [b"a", b"b"], [3]]
    assert parts(tf.sparse.from_dense([True, False])) == [[[0]], [True], [2]]
    assert parts(tf.sparse.from_dense(tf.zeros([2, 0]))) == [[], [], [2, 0]]
    assert parts(tf.sparse.from_dense(tf.constant([0, 65535], tf.uint16))) == [[[1]], [65535], [2]]
    found = tf.sparse.from_dense([0.0, -0.0, float("nan"), 1e-30])
    assert parts(found)[0] == [[2], [3]] and np.isnan(found.values.numpy()[0])
    cube = np.zeros([2, 3, 4], np.float64)
    cube[1, 2, 3], cube[0, 1, 0] = 5, 6
    assert np.array_equal(tf.sparse.to_dense(tf.sparse.from_dense(cube)).numpy(), cube)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.from_dense(5)


def make_examples(tf):
    train = tf.train

    def example(**feature):
        return train.Example(features=train.Features(feature=feature)).SerializeToString()

    def integers(*value):
        return train.Feature(int64_list=train.Int64List(value=value))

    def words(*value):
        return train.Feature(bytes_list=train.BytesList(value=value))

    return [example(n=integers(1, 2), s=words(b"a")), example(s=words(b"b", b"c")),
            example(n=integers(3), f=train.Feature(float_list=train.FloatList(value=[1.5])))]


def test_features_of_any_length(tf):
    examples = make_examples(tf)
    features = {"n": tf.io.VarLenFeature(tf.int64), "s": tf.io.VarLenFeature(tf.string),
                "f": tf.io.VarLenFeature(tf.float32)}
    found = tf.io.parse_example(examples, features)
    assert isinstance(found["n"], tf.SparseTensor) and found["n"].dtype == tf.int64
    assert parts(found["n"]) == [[[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 2]]
    assert parts(found["s"]) == [[[0, 0], [1, 0], [1, 1]], [b"a", b"b", b"c"], [3, 2]]
    assert parts(found["f"]) == [[[2, 0]], [1.5], [3, 1]]
    assert tf.sparse.to_dense(found["n"], -1).numpy().tolist() == [[1, 2], [-1, -1], [3, -1]]
    one = [tf.io.parse_single_example(e, features) for e in examples]
    assert parts(one[0]["n"]) == [[[0], [1]], [1, 2], [2]] and parts(one[1]["n"]) == [[], [], [0]]
    assert parts(one[1]["s"]) == [[[0], [1]], [b"b", b"c"], [2]]
    none = tf.io.parse_example(tf.constant([], tf.string), features)
    assert parts(none["n"]) == [[], [], [0, 0]]
    for dtype in (tf.float32, tf.int32):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_single_example(examples[0], {"n": tf.io.VarLenFeature(dtype)})


def test_ragged_features(tf):
    examples = make_examples(tf)
    features = {"n": tf.io.RaggedFeature(tf.int64), "s": tf.io.RaggedFeature(tf.string),
                "words": tf.io.RaggedFeature(tf.string, value_key="s")}
    found = tf.io.parse_example(examples, features)
    assert found["n"].to_list() == [[1, 2], [], [3]] and found["n"].row_splits.dtype == tf.int32
    assert found["words"].to_list() == found["s"].to_list() == [[b"a"], [b"b", b"c"], []]
    one = tf.io.parse_single_example(examples[1], features)
    assert one["n"].shape == [0] and one["s"].numpy().tolist() == [b"b", b"c"]
    features = {"n": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)}
    assert tf.io.parse_example(examples, features)["n"].row_splits.dtype == tf.int64


def test_in_datasets(tf):
    examples = make_examples(tf)
    features = {"n": tf.io.VarLenFeature(tf.int64)}
    dataset = tf.data.Dataset.from_tensor_slices(examples)
    sums = dataset.map(lambda e: tf.reduce_sum(tf.sparse.to_dense(tf.io.parse_single_example(e, features)["n"])))
    assert [int(s) for s in sums] == [3, 0, 3]
    words = tf.data.Dataset.from_tensor_slices(["a b", "c"]).batch(2).map(lambda t: tf.strings.split(t).to_tensor())
    assert [w.numpy().tolist() for w in words] == [[[b"a", b"b"], [b"c", b""]]]
