"""The Python front's functions against TensorFlow's: signatures, and values of many calls."""

import inspect
import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "build" / "release" / "python"))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow  # noqa: E402

import plimsoll  # noqa: E402
from plimsoll import _core  # noqa: E402

SPACES = ["", "math", "nn", "linalg", "random", "bitwise", "image", "debugging", "random.experimental",
          "nn.experimental"]
# Every function takes name= here.
TAKES_NO_NAME = {"nn.silu", "nn.swish", "random.set_seed"}


def find(root, path):
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


def shared_names():
    for space in SPACES:
        for name in _core.op_names(space):
            full = f"{space}.{name}" if space else name
            if find(tensorflow, full) is not None:
                yield full


@pytest.mark.parametrize("name", sorted(shared_names()))
def test_signature(name):
    ours = list(inspect.signature(_core.op(name)).parameters)
    theirs = list(inspect.signature(find(tensorflow, name)).parameters)
    assert ours == theirs + (["name"] if name in TAKES_NO_NAME else [])


def rng():
    return np.random.default_rng(7)


F = rng().standard_normal((3, 4)).astype("float32")
G = rng().uniform(0.5, 2.0, (3, 4)).astype("float32")
B = rng().standard_normal((2, 3, 4)).astype("float32")
I = rng().integers(-5, 6, (3, 4)).astype("int32")
J = rng().integers(1, 5, (3, 4)).astype("int32")
M = (rng().standard_normal((4, 4)) + 4 * np.eye(4)).astype("float64")
S = M @ M.T
T = F > 0
IMG = rng().standard_normal((2, 6, 6, 3)).astype("float32")
K = rng().standard_normal((3, 3, 3, 2)).astype("float32")
IDX = np.array([2, 0, 1])

UNARY = ("negative abs sign square sqrt exp sin cos tan sinh cosh asinh tanh sigmoid floor round math.rsqrt "
         "math.reciprocal math.expm1 math.log math.log1p math.log_sigmoid math.erf math.erfc math.ceil "
         "math.softplus math.is_nan math.is_inf math.is_finite nn.relu nn.relu6 nn.leaky_relu nn.elu nn.selu "
         "nn.gelu nn.softsign nn.silu nn.softmax nn.log_softmax zeros_like ones_like identity stop_gradient "
         "atan math.rint nn.l2_loss nn.zero_fraction math.reciprocal_no_nan").split()
BINARY = ("add subtract multiply divide pow maximum minimum math.squared_difference math.atan2 "
          "math.divide_no_nan math.multiply_no_nan math.xlogy math.xdivy math.floordiv math.floormod equal "
          "not_equal less less_equal greater greater_equal").split()
REDUCE = ("reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp math.reduce_variance "
          "math.reduce_std math.reduce_euclidean_norm").split()

CALLS = [
    *[f"tf.{name}(G)" for name in UNARY],
    *[f"tf.{name}(G, F * F + 0.5)" for name in BINARY],
    *[f"tf.{name}({args})" for name in REDUCE
      for args in ("F", "F, 0", "F, axis=-1", "F, axis=[0, 1]", "F, 1, True", "F, axis=1, keepdims=True")],
    "tf.reduce_sum(F, axis=[])", "tf.reduce_any(T, 0)", "tf.reduce_all(T)", "tf.reduce_sum(I, 0)",
    "tf.add(I, 2)", "tf.add(2.5, F)", "tf.multiply(F, np.float64(2))", "tf.maximum(F, 0)", "tf.pow(G, 2)",
    "tf.add([1, 2], [3, 4])", "tf.less(I, 0)", "tf.equal(I, J)", "tf.math.mod(I, J)",
    "tf.clip_by_value(F, -0.5, 0.5)", "tf.clip_by_value(I, -2, 2)", "tf.cast(F * 10, tf.int32)",
    "tf.cast(I, tf.bool)", "tf.argmax(F)", "tf.argmax(F, 1)", "tf.argmin(F, axis=-1, output_type=tf.int32)",
    "tf.cumsum(F, 1)", "tf.cumsum(F, exclusive=True, reverse=True)", "tf.math.cumprod(F)", "tf.sort(F)",
    "tf.sort(F, 0, 'DESCENDING')", "tf.argsort(F)", "tf.math.top_k(F, 2)", "tf.nn.moments(F, [0])",
    "tf.nn.moments(F, axes=[1], keepdims=True)", "tf.math.count_nonzero(I)", "tf.math.count_nonzero(I, 0)",
    "tf.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 9.0])", "tf.math.bincount([1, 2, 2, 5])",
    "tf.math.bincount([1, 2, 2], minlength=5, maxlength=5)", "tf.math.in_top_k([1, 0, 3], F, 2)",
    "tf.math.segment_sum(F, [0, 0, 1])", "tf.math.unsorted_segment_mean(F, [1, 0, 1], 3)",
    "tf.logical_and(T, ~T)", "tf.math.logical_xor(T, T)", "tf.bitwise.bitwise_and(J, 3)",
    "tf.bitwise.left_shift(J, J)", "tf.add_n([F, F, F])",
    "tf.zeros([2, 3])", "tf.ones((2,), tf.int64)", "tf.zeros(3)", "tf.fill([2, 2], 7)", "tf.fill([2], 1.5)",
    "tf.zeros_like(I, dtype=tf.float32)", "tf.range(5)", "tf.range(2, 10, 3)", "tf.range(1.0, 2.0, 0.25)",
    "tf.range(10, 0, -2)", "tf.range(3, dtype=tf.float32)", "tf.linspace(0.0, 1.0, 5)",
    "tf.linspace(0, 10, 5)", "tf.eye(3)",
    "tf.eye(2, 3, [2])", "tf.one_hot([0, 2, 5], 3)", "tf.one_hot(IDX, 3, 5, -1)",
    "tf.one_hot(IDX, 3, axis=0, dtype=tf.int32)", "tf.shape(B)", "tf.size(B)", "tf.rank(B)",
    "tf.sequence_mask([1, 3, 0], 4)", "tf.reshape(F, [2, -1])", "tf.reshape(F, (-1,))",
    "tf.expand_dims(F, 1)", "tf.expand_dims(F, axis=-1)", "tf.squeeze(F[None, :, None])",
    "tf.squeeze(F[None, :, None], [0])", "tf.broadcast_to(F[0], [2, 4])", "tf.transpose(B)",
    "tf.transpose(B, [0, 2, 1])", "tf.reverse(B, [0, -1])", "tf.roll(F, 1, 0)", "tf.roll(F, [1, 2], [0, 1])",
    "tf.tile(F, [2, 1])", "tf.repeat(F, 2)", "tf.repeat(F, 2, axis=0)", "tf.repeat([1, 2], [3, 1])",
    "tf.concat([F, F], 0)", "tf.concat([F, G], axis=-1)", "tf.stack([F, G])", "tf.stack([F, G], axis=-1)",
    "tf.unstack(F)", "tf.unstack(F, axis=1)", "tf.split(F, 2, 1)", "tf.split(F, [1, 3], axis=1)",
    "tf.slice(F, [1, 0], [2, -1])", "tf.strided_slice(F, [0, 1], [3, 4], [2, 2])",
    "tf.pad(F, [[1, 0], [0, 2]])", "tf.pad(F, [[1, 1], [1, 1]], 'REFLECT')",
    "tf.pad(F, [[1, 0], [0, 2]], constant_values=3)",
    "tf.gather(F, IDX)", "tf.gather(F, [1, 1], axis=1)", "tf.gather_nd(F, [[0, 1], [2, 3]])",
    "tf.scatter_nd([[0], [2]], [1.0, 2.0], [4])", "tf.tensor_scatter_nd_add(F, [[0]], F[1:2])",
    "tf.tensor_scatter_nd_update(F, [[0], [1]], F[1:])", "tf.where(T)", "tf.where(T, F, G)",
    "tf.where(T, F, 0.0)", "tf.where(T, 1, 2)", "tf.boolean_mask(F, T)", "tf.meshgrid([1, 2], [3, 4, 5])",
    "tf.meshgrid([1, 2], [3, 4], indexing='ij')", "tf.matmul(F, G, transpose_b=True)",
    "tf.matmul(B, G, transpose_b=True)", "tf.linalg.matvec(F, F[0])", "tf.tensordot(F, G, [[1], [1]])",
    "tf.tensordot(B, F, [[1, 2], [0, 1]])", "tf.tensordot(F, tf.transpose(G), 1)",
    "tf.einsum('ij,kj->ik', F, G)", "tf.einsum('bij->bji', B)", "tf.norm(F)", "tf.norm(F, axis=1)",
    "tf.norm(F, ord=1, axis=0)", "tf.norm(F, ord=np.inf)", "tf.linalg.trace(M)", "tf.linalg.det(M)",
    "tf.linalg.inv(M)", "tf.linalg.cholesky(S)", "tf.linalg.solve(M, S)", "tf.linalg.diag([1.0, 2.0])",
    "tf.linalg.diag_part(M)", "tf.linalg.band_part(M, 1, 0)", "tf.linalg.matrix_transpose(B)",
    "tf.linalg.set_diag(M, M[0])", "tf.linalg.slogdet(M)", "tf.linalg.eigvalsh(S)",
    "tf.linalg.svd(S, compute_uv=False)", "tf.math.l2_normalize(F, 1)", "tf.nn.l2_normalize(F, axis=0)",
    "tf.nn.conv2d(IMG, K, 1, 'SAME')", "tf.nn.conv2d(IMG, K, strides=[1, 2, 2, 1], padding='VALID')",
    "tf.nn.conv2d(IMG, K, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])",
    "tf.nn.conv2d_transpose(IMG, K.transpose(0, 1, 3, 2), [2, 12, 12, 2], 2)",
    "tf.nn.depthwise_conv2d(IMG, K, [1, 1, 1, 1], 'SAME')", "tf.nn.max_pool2d(IMG, 2, 2, 'VALID')",
    "tf.nn.avg_pool2d(IMG, [2, 2], [1, 1], 'SAME')", "tf.nn.max_pool(IMG, 3, 2, 'SAME')",
    "tf.nn.conv1d(B, K[0, :2, :1].reshape(1, 4, 1) if False else np.ones([2, 4, 3], 'float32'), 1, 'SAME')",
    "tf.nn.bias_add(F, F[0])", "tf.nn.softmax(F, axis=0)", "tf.nn.leaky_relu(F, 0.3)",
    "tf.nn.gelu(F, approximate=True)", "tf.nn.crelu(F)", "tf.nn.dropout(F, 0.0)",
    "tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(G), F)",
    "tf.nn.sparse_softmax_cross_entropy_with_logits([0, 3, 1], F)",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=G, logits=F)",
    "tf.nn.weighted_cross_entropy_with_logits(G, F, 2.0)", "tf.nn.embedding_lookup(F, IDX)",
    "tf.nn.batch_normalization(F, F[0], G[0], F[1], G[1], 1e-3)", "tf.nn.lrn(IMG)",
    "tf.nn.space_to_depth(IMG, 2)", "tf.image.resize(IMG, [3, 9])",
    "tf.image.resize(IMG, [12, 12], 'nearest')", "tf.ensure_shape(F, [3, None])",
    "tf.clip_by_norm(F, 1.0)", "tf.clip_by_global_norm([F, G], 1.0)[0]", "tf.linalg.global_norm([F, G])",
    "tf.random.stateless_uniform([5], seed=[1, 2])", "tf.random.stateless_normal([5], seed=[1, 2])",
    "tf.random.stateless_uniform([5], [3, 4], 0, 10, tf.int32)", "tf.saturate_cast(F * 300, tf.uint8)",
    "tf.scalar_mul(2.0, F)", "tf.realdiv(F, G)", "tf.truediv(I, J)", "tf.identity_n([F, G])",
]


@pytest.mark.parametrize("call", CALLS)
def test_values(call):
    values = {name: globals()[name] for name in ("F", "G", "B", "I", "J", "M", "S", "T", "IMG", "K", "IDX",
                                                 "np")}
    ours = plimsoll.nest.flatten(eval(call, {**values, "tf": plimsoll}))
    theirs = tensorflow.nest.flatten(eval(call, {**values, "tf": tensorflow}))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert a.dtype.name == b.dtype.name
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-5, atol=2e-6)


WRONG = [
    "tf.ones([2**40, 2**40])", "tf.ones([-1, 3])", "tf.matmul(F, G)", "tf.reshape(F, [5, 5])",
    "tf.concat([F, F[:, :2]], 0)", "tf.gather(F, [7])", "tf.add(F, 'a')", "tf.reduce_sum(F, axis=5)",
    "tf.transpose(F, [0, 0])", "tf.expand_dims(F, 7)", "tf.one_hot([1.5], 3)", "tf.add(F)", "tf.nonsense(F)",
    "tf.zeros([2], nonsense=1)", "tf.add(x=F, y=F, x2=F)", "tf.squeeze(F, [0])", "tf.stack([F, F[0]])",
    "tf.range(0, 10, 0)", "tf.split(F, 3, 1)", "tf.linalg.inv(F)", "tf.nn.conv2d(IMG, K, 1, 'OTHER')",
    "tf.cast(F, 'nonsense')", "tf.tile(F, [1])", "tf.broadcast_to(F, [3, 5])",
    "tf.nn.softmax_cross_entropy_with_logits(F, F[:, :2])", "tf.convert_to_tensor(tf.constant(F), tf.int32)",
    "tf.where(T, F)", "tf.debugging.assert_equal(F, G)", "tf.boolean_mask(F, [True])",
]


@pytest.mark.parametrize("call", WRONG)
def test_errors_are_of_the_same_kind(call):
    values = {name: globals()[name] for name in ("F", "G", "T", "IMG", "K")}

    def kinds(tf):
        with pytest.raises(Exception) as caught:
            eval(call, {**values, "tf": tf})
        assert "plimsoll" not in str(caught.value) or tf is plimsoll
        return [c.__name__ for c in type(caught.value).__mro__]

    ours, theirs = kinds(plimsoll), kinds(tensorflow)
    usual = {"InvalidArgumentError", "ValueError", "TypeError", "AttributeError"}
    assert usual & set(ours), ours
    if ours[0] != theirs[0]:
        # TensorFlow has two or three classes for one kind of mistake, by where it is noticed.
        both = {"InvalidArgumentError", "ValueError", "TypeError"}
        assert both & set(ours) and both & set(theirs), (ours[0], theirs[0])
