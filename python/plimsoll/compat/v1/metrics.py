"""Metrics as pairs of a value and an operation that takes a batch in: tf.compat.v1.metrics."""

from ... import _core
from .. import _graph
from .._variable import GraphVariable as _GraphVariable


def _op(name):
    return _core.op(name)


def _check_graph(name):
    if not _core.is_building():
        raise RuntimeError(f"tf.metrics.{name} is not supported when eager execution is enabled.")


def _local(name, shape=()):
    return _GraphVariable(lambda: _op("zeros")(list(shape), "float32"), trainable=False, name=name,
                          collections=["local_variables", "metric_variables"])


def _collected(value, update, metrics_collections, updates_collections):
    graph = _graph.get_default_graph()
    if metrics_collections:
        graph.add_to_collections(metrics_collections, value)
    if updates_collections:
        graph.add_to_collections(updates_collections, update)
    return value, update


def _ratio(total, count):
    return _op("math.divide_no_nan")(total, count)


def _mean(values, weights, name, metrics_collections, updates_collections, finish=lambda v: v):
    with _graph.get_default_graph().name_scope(name):
        values = _op("cast")(values, "float32")
        total, count = _local("total"), _local("count")
        if weights is None:
            num = _op("cast")(_op("size")(values), "float32")
        else:
            weights = _op("cast")(weights, "float32") * _op("ones_like")(values)
            num = _op("reduce_sum")(weights)
            values = values * weights
        add_total, add_count = total.assign_add(_op("reduce_sum")(values)), count.assign_add(num)
        value = finish(_ratio(total, count))
        update = finish(_ratio(add_total, add_count))
    return _collected(value, update, metrics_collections, updates_collections)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    _check_graph("mean")
    return _mean(values, weights, name or "mean", metrics_collections, updates_collections)


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
             name=None):
    """How often predictions are the labels."""
    _check_graph("accuracy")
    predictions = _op("convert_to_tensor")(predictions)
    same = _op("equal")(predictions, _op("cast")(labels, predictions.dtype))
    return _mean(same, weights, name or "accuracy", metrics_collections, updates_collections)


def mean_squared_error(labels, predictions, weights=None, metrics_collections=None,
                       updates_collections=None, name=None):
    _check_graph("mean_squared_error")
    error = _op("math.squared_difference")(_op("cast")(labels, "float32"), _op("cast")(predictions, "float32"))
    return _mean(error, weights, name or "mean_squared_error", metrics_collections, updates_collections)


def root_mean_squared_error(labels, predictions, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):
    _check_graph("root_mean_squared_error")
    error = _op("math.squared_difference")(_op("cast")(labels, "float32"), _op("cast")(predictions, "float32"))
    return _mean(error, weights, name or "root_mean_squared_error", metrics_collections,
                 updates_collections, _op("sqrt"))


def mean_absolute_error(labels, predictions, weights=None, metrics_collections=None,
                        updates_collections=None, name=None):
    _check_graph("mean_absolute_error")
    error = _op("abs")(_op("cast")(labels, "float32") - _op("cast")(predictions, "float32"))
    return _mean(error, weights, name or "mean_absolute_error", metrics_collections, updates_collections)


def _counted(name, wanted_label, wanted_prediction):
    def count(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
              name=None):
        _check_graph(count.__name__)
        with _graph.get_default_graph().name_scope(name or count.__name__):
            labels, predictions = _op("cast")(labels, "bool"), _op("cast")(predictions, "bool")
            hits = _op("logical_and")(labels if wanted_label else _op("logical_not")(labels),
                                      predictions if wanted_prediction
                                      else _op("logical_not")(predictions))
            hits = _op("cast")(hits, "float32")
            if weights is not None:
                hits = hits * _op("cast")(weights, "float32")
            held = _local("count")
            update = held.assign_add(_op("reduce_sum")(hits))
            value = _op("identity")(held)
        return _collected(value, update, metrics_collections, updates_collections)

    count.__name__ = name
    return count


true_positives = _counted("true_positives", True, True)
false_positives = _counted("false_positives", False, True)
true_negatives = _counted("true_negatives", False, False)
false_negatives = _counted("false_negatives", True, False)


def _of_counts(name, other):
    def ratio(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
              name=None):
        with _graph.get_default_graph().name_scope(name or ratio.__name__):
            hits, add_hits = true_positives(labels, predictions, weights)
            misses, add_misses = other(labels, predictions, weights)
            value, update = _ratio(hits, hits + misses), _ratio(add_hits, add_hits + add_misses)
        return _collected(value, update, metrics_collections, updates_collections)

    ratio.__name__ = name
    return ratio


precision, recall = _of_counts("precision", false_positives), _of_counts("recall", false_negatives)

_MISSING = frozenset(("auc", "mean_iou", "mean_per_class_accuracy", "average_precision_at_k",
                      "precision_at_k", "recall_at_k", "sensitivity_at_specificity", "mean_tensor",
                      "mean_relative_error", "mean_cosine_distance", "percentage_below",
                      "precision_at_thresholds", "recall_at_thresholds",
                      "specificity_at_sensitivity"))


def __getattr__(name):
    if name in _MISSING:
        from .._not_built import not_built
        return not_built("tf.compat.v1.metrics." + name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
