"""How TensorFlow computes with matrices: OPS[name](attrs, *inputs).

Vectors of decompositions are free in their sign: ALIGN[name](outputs, ours) gives TensorFlow's the signs that they have
here. What is left over can then be compared, and so can gradients.
"""

import tensorflow as tf


def _signs(theirs, ours):
    """A row of signs that turns the columns of one matrix into those of another."""
    return tf.stop_gradient(tf.sign(tf.reduce_sum(theirs * ours, -2, keepdims=True)))


def _align_svd(outputs, ours):
    """Columns of full matrices beyond the singular values are a basis of what is left, in any direction: as here."""
    if len(outputs) == 1:
        return outputs
    s, u, v = outputs
    k = s.shape[-1]
    signs = _signs(u[..., :k], ours[1][..., :k])

    def aligned(theirs, here):
        first, rest, wanted = theirs[..., :k] * signs, theirs[..., k:], here[..., k:]
        if rest.shape[-1] == 0:
            return first
        turn = tf.stop_gradient(tf.linalg.matmul(rest, wanted, transpose_a=True))
        return tf.concat([first, tf.linalg.matmul(rest, turn)], -1)

    return [s, aligned(u, ours[1]), aligned(v, ours[2])]


def _align_eig(outputs, ours):
    if len(outputs) == 1:
        return outputs
    return [outputs[0], outputs[1] * _signs(outputs[1], ours[1])]


def _svd(a, x):
    return tf.linalg.svd(x, a["full_matrices"], a["compute_uv"])


OPS = {
    "MatrixBandPart": lambda a, x: tf.linalg.band_part(x, a["num_lower"], a["num_upper"]),
    "Cholesky": lambda a, x: tf.linalg.cholesky(x),
    "MatrixTriangularSolve": lambda a, x, y: tf.linalg.triangular_solve(x, y, a["lower"], a["adjoint"]),
    "MatrixSolve": lambda a, x, y: tf.linalg.solve(x, y, a["adjoint"]),
    "MatrixInverse": lambda a, x: tf.linalg.inv(x, a["adjoint"]),
    "MatrixDeterminant": lambda a, x: tf.linalg.det(x),
    "LogMatrixDeterminant": lambda a, x: tf.linalg.slogdet(x),
    "Qr": lambda a, x: tf.linalg.qr(x, a["full_matrices"]),
    "Svd": _svd,
    "SelfAdjointEig": lambda a, x: tf.linalg.eigh(x) if a["compute_v"] else tf.linalg.eigvalsh(x),
}

ALIGN = {"Svd": _align_svd, "SelfAdjointEig": _align_eig}

_REASON = "what is not finite has no decomposition"
OTHER_SPECIAL_VALUES = {name: _REASON for name in OPS if name != "MatrixBandPart"}
