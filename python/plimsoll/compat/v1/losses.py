"""Losses that go into a collection: tf.compat.v1.losses."""

from ... import _core
from .. import _graph


class Reduction:
    """How the losses of elements become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS
_LOSSES = "losses"


def _op(name):
    return _core.op(name)


def add_loss(loss, loss_collection=_LOSSES):
    """Puts a loss into the collection."""
    if loss_collection and _core.is_building():
        _graph.get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=_LOSSES):
    return _graph.get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    return _graph.get_default_graph().get_collection("regularization_losses", scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    losses = get_regularization_losses(scope)
    return _op("add_n")(losses, name=name) if losses else _op("constant")(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of the collection, and of the regularization losses."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    return _op("add_n")(losses, name=name)


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_DEFAULT):
    """One loss of many, with weights that broadcast to them."""
    Reduction.validate(reduction)
    losses = _op("convert_to_tensor")(losses)
    kept = losses.dtype
    losses = _op("cast")(losses, "float32")
    weights = _op("cast")(_op("convert_to_tensor")(weights), "float32")
    _check(losses, weights)
    loss = losses * weights
    if reduction != Reduction.NONE:
        loss = _op("reduce_sum")(loss)
        if reduction == Reduction.MEAN:
            loss = _op("math.divide_no_nan")(loss, _op("reduce_sum")(_op("ones_like")(losses) * weights))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = _op("math.divide_no_nan")(loss, _op("cast")(_op("size")(losses), "float32"))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            used = _op("cast")(_op("not_equal")(weights, 0.0), "float32") * _op("ones_like")(losses)
            loss = _op("math.divide_no_nan")(loss, _op("reduce_sum")(used))
    loss = _op("cast")(loss, kept)
    add_loss(loss, loss_collection)
    return loss


def _check(losses, weights):
    if weights.shape.rank in (None, 0) or losses.shape.rank is None:
        return
    fits = weights.shape.rank == losses.shape.rank and all(
        w is None or v is None or w in (1, v)
        for w, v in zip(weights.shape.as_list(), losses.shape.as_list()))
    if not fits:
        raise ValueError(f"weights can not be broadcast to values. values.rank={losses.shape.rank}. "
                         f"weights.rank={weights.shape.rank}. values.shape={losses.shape}. "
                         f"weights.shape={weights.shape}.")


def _two(labels, predictions):
    if labels is None or predictions is None:
        raise ValueError("labels and predictions must not be None.")
    predictions = _op("cast")(predictions, "float32")
    labels = _op("cast")(labels, "float32")
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES,
                        reduction=_DEFAULT):
    labels, predictions = _two(labels, predictions)
    return compute_weighted_loss(_op("abs")(predictions - labels), weights, scope, loss_collection,
                                 reduction)


def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES,
                       reduction=_DEFAULT):
    labels, predictions = _two(labels, predictions)
    return compute_weighted_loss(_op("math.squared_difference")(predictions, labels), weights, scope,
                                 loss_collection, reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=_LOSSES,
               reduction=_DEFAULT):
    labels, predictions = _two(labels, predictions)
    error = _op("abs")(predictions - labels)
    small = _op("minimum")(error, delta)
    return compute_weighted_loss(0.5 * small * small + delta * (error - small), weights, scope,
                                 loss_collection, reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=_LOSSES,
             reduction=_DEFAULT):
    labels, predictions = _two(labels, predictions)
    log = _op("math.log")
    losses = -labels * log(predictions + epsilon) - (1.0 - labels) * log(1.0 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_DEFAULT):
    labels, logits = _two(labels, logits)
    return compute_weighted_loss(_op("nn.relu")(1.0 - (2.0 * labels - 1.0) * logits), weights, scope,
                                 loss_collection, reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=_LOSSES,
                    reduction=_DEFAULT, dim=None):
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    labels, predictions = _two(labels, predictions)
    losses = 1.0 - _op("reduce_sum")(labels * predictions, axis, True)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_LOSSES, reduction=_DEFAULT):
    logits = _op("convert_to_tensor")(logits)
    labels = _op("cast")(multi_class_labels, logits.dtype)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = _op("nn.sigmoid_cross_entropy_with_logits")(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_LOSSES, reduction=_DEFAULT):
    logits = _op("convert_to_tensor")(logits)
    labels = _op("cast")(onehot_labels, logits.dtype)
    if label_smoothing > 0:
        classes = labels.shape[-1]
        labels = labels * (1 - label_smoothing) + label_smoothing / int(classes)
    losses = _op("nn.softmax_cross_entropy_with_logits")(_op("stop_gradient")(labels), logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=_LOSSES,
                                 reduction=_DEFAULT):
    labels, logits = _op("convert_to_tensor")(labels), _op("convert_to_tensor")(logits)
    if labels.shape.rank is not None and labels.shape.rank == logits.shape.rank:
        labels = _op("squeeze")(labels, [-1])
    losses = _op("nn.sparse_softmax_cross_entropy_with_logits")(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def __getattr__(name):
    if name == "mean_pairwise_squared_error":
        from .._not_built import not_built
        return not_built("tf.compat.v1.losses." + name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
