"""tf.compat.v1.nn."""

from ... import _core
from ._ops import one_of
from ._space import space

__getattr__, __dir__ = space(
    __name__, "plimsoll.nn", "plimsoll.math",
    missing=("rnn_cell", "dynamic_rnn", "static_rnn", "bidirectional_dynamic_rnn", "raw_rnn", "ctc_loss",
             "nce_loss", "sampled_softmax_loss", "fractional_max_pool", "fractional_avg_pool",
             "embedding_lookup_sparse", "max_pool_with_argmax"))


def _op(name):
    return _core.op(name)


def softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None):
    """As _v2, but no gradient flows to the labels."""
    return softmax_cross_entropy_with_logits_v2(_op("stop_gradient")(labels), logits,
                                                dim if axis is None else axis, name)


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    axis = one_of("axis", axis, "dim", dim)
    return _op("nn.softmax_cross_entropy_with_logits")(labels, logits, -1 if axis is None else axis,
                                                       name=name)


def sparse_softmax_cross_entropy_with_logits(labels=None, logits=None, name=None):
    return _op("nn.sparse_softmax_cross_entropy_with_logits")(labels, logits, name=name)


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    return _op("nn.sigmoid_cross_entropy_with_logits")(labels, logits, name=name)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    return _op("nn.weighted_cross_entropy_with_logits")(one_of("labels", labels, "targets", targets), logits,
                                                        pos_weight, name=name)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Zeros elements with probability 1 - keep_prob, or rate, and scales the others up."""
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout.")
    if keep_prob is not None:
        if rate is not None:
            raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
        if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1:
            raise ValueError(f"`keep_prob` must be a scalar tensor or a float in the range (0, 1], got "
                             f"{keep_prob}")
        rate = 1 - keep_prob
    if isinstance(rate, (int, float)) and rate == 0:
        return _op("convert_to_tensor")(x)
    return _op("nn.dropout")(x, rate, noise_shape, seed, name=name)


def _strides(strides):
    return 1 if strides is None else strides


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None,
           data_format=None, name=None, input=None, dilations=None):
    return _op("nn.conv1d")(one_of("input", input, "value", value), filters, _strides(stride), padding,
                            data_format or "NWC", dilations, name=name)


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC",
           dilations=None, name=None, filters=None):
    return _op("nn.conv2d")(input, one_of("filters", filters, "filter", filter), _strides(strides), padding,
                            data_format or "NHWC", dilations, name=name)


def conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC", dilations=None, name=None,
           filters=None):
    return _op("nn.conv3d")(input, one_of("filters", filters, "filter", filter), _strides(strides), padding,
                            data_format or "NDHWC", dilations, name=name)


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None,
                     dilations=None):
    return _op("nn.depthwise_conv2d")(input, filter, strides, padding, data_format or "NHWC",
                                      one_of("dilations", dilations, "rate", rate), name=name)


depthwise_conv2d_native = depthwise_conv2d


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None,
                     data_format=None, dilations=None):
    return _op("nn.separable_conv2d")(input, depthwise_filter, pointwise_filter, strides, padding,
                                      data_format or "NHWC", one_of("dilations", dilations, "rate", rate),
                                      name=name)


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME",
                     data_format="NHWC", name=None, input=None, filters=None, dilations=None):
    return _op("nn.conv2d_transpose")(one_of("input", input, "value", value),
                                      one_of("filters", filters, "filter", filter), output_shape, strides,
                                      padding, data_format, dilations, name=name)


def _pooling(kind):
    def pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):
        return _op(f"nn.{kind}_pool2d")(one_of("input", input, "value", value), ksize, strides, padding,
                                        data_format or "NHWC", name=name)

    pool.__name__ = f"{kind}_pool"
    return pool


max_pool, avg_pool = _pooling("max"), _pooling("avg")


def bias_add(value, bias, data_format=None, name=None):
    return _op("nn.bias_add")(value, bias, data_format or "NHWC", name=name)


def softmax(logits, axis=None, name=None, dim=None):
    axis = one_of("axis", axis, "dim", dim)
    return _op("nn.softmax")(logits, -1 if axis is None else axis, name=name)


def log_softmax(logits, axis=None, name=None, dim=None):
    axis = one_of("axis", axis, "dim", dim)
    return _op("nn.log_softmax")(logits, -1 if axis is None else axis, name=name)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    return _op("nn.moments")(x, axes, keepdims=bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)),
                             name=name)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    return _op("nn.l2_normalize")(x, one_of("axis", axis, "dim", dim), epsilon, name=name)


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True,
                     max_norm=None):
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            from ...errors import UnimplementedError
            raise UnimplementedError(None, None, "embedding_lookup: tables in several parts are not built, "
                                     f"got {len(params)}")
        params = params[0]
    return _op("nn.embedding_lookup")(params, ids, max_norm, name=name)


def xw_plus_b(x, weights, biases, name=None):
    return _op("nn.bias_add")(_op("matmul")(x, weights), biases, name=name)


def relu_layer(x, weights, biases, name=None):
    return _op("nn.relu")(xw_plus_b(x, weights, biases), name=name)


def in_top_k(predictions, targets, k, name=None):
    return _op("nn.in_top_k")(targets, predictions, k, name=name)


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC",
                     is_training=True, name=None, exponential_avg_factor=1.0):
    return _op("nn.fused_batch_norm")(x, scale, offset, mean, variance, epsilon, data_format, is_training,
                                      name=name)
