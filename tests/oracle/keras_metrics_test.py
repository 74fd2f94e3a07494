"""Every metric against Keras itself: configuration, results after each of several updates, variables, with
weights and masks, eagerly and as a function."""

import numpy as np
import pytest

from keras_peer import Refused, Server, config_of, decode, encode


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


NUM_UPDATES = 4


def rng(i):
    return np.random.default_rng(17 + i)


def floats(*shape, low=0.0, high=1.0):
    return lambda i: rng(i).uniform(low, high, shape).astype("float32")


def bits(*shape):
    return lambda i: rng(100 + i).integers(0, 2, shape).astype("float32")


def classes(*shape, num):
    return lambda i: rng(200 + i).integers(0, num, shape).astype("int64")


def one_hots(*shape, num):
    return lambda i: np.eye(num, dtype="float32")[classes(*shape, num=num)(i)]


def distributions(*shape):
    def make(i):
        x = rng(300 + i).uniform(0.05, 1, shape)
        return (x / x.sum(-1, keepdims=True)).astype("float32")
    return make


PROBABLE = (bits(8), floats(8))
REGRESSION = (floats(6, 3, low=-2, high=2), floats(6, 3, low=-2, high=2))
CLASSES = (one_hots(6, num=4), distributions(6, 4))
SPARSE = (classes(6, num=4), distributions(6, 4))

# name: (metric of the module keras.metrics, what makes y_true and y_pred of an update)
CASES = {
    "mean": (lambda m: m.Mean(name="mine"), (floats(6, 3),)),
    "sum": (lambda m: m.Sum(), (floats(6, 3),)),
    "accuracy": (lambda m: m.Accuracy(), (classes(6, num=3), classes(6, num=2))),
    "accuracy_ranks": (lambda m: m.Accuracy(), (classes(6, 1, num=3), classes(6, num=3))),
    "binary_accuracy": (lambda m: m.BinaryAccuracy(), PROBABLE),
    "binary_accuracy_threshold": (lambda m: m.BinaryAccuracy(threshold=0.3), (bits(6, 3), floats(6, 3))),
    "binary_accuracy_column": (lambda m: m.BinaryAccuracy(), (bits(6), floats(6, 1))),
    "categorical_accuracy": (lambda m: m.CategoricalAccuracy(), CLASSES),
    "categorical_accuracy_3d": (lambda m: m.CategoricalAccuracy(), (one_hots(3, 5, num=4), distributions(3, 5, 4))),
    "sparse_accuracy": (lambda m: m.SparseCategoricalAccuracy(), SPARSE),
    "sparse_accuracy_column": (lambda m: m.SparseCategoricalAccuracy(), (classes(6, 1, num=4), distributions(6, 4))),
    "sparse_accuracy_3d": (lambda m: m.SparseCategoricalAccuracy(), (classes(3, 5, num=4), distributions(3, 5, 4))),
    "top_k": (lambda m: m.TopKCategoricalAccuracy(k=2), CLASSES),
    "top_k_3d": (lambda m: m.TopKCategoricalAccuracy(k=2), (one_hots(3, 5, num=4), distributions(3, 5, 4))),
    "sparse_top_k": (lambda m: m.SparseTopKCategoricalAccuracy(k=2), SPARSE),
    "sparse_top_k_ids": (lambda m: m.SparseTopKCategoricalAccuracy(k=2, from_sorted_ids=True),
                         (classes(6, num=4), classes(6, 4, num=4))),
    "mse": (lambda m: m.MeanSquaredError(), REGRESSION),
    "mae": (lambda m: m.MeanAbsoluteError(), REGRESSION),
    "mape": (lambda m: m.MeanAbsolutePercentageError(), REGRESSION),
    "msle": (lambda m: m.MeanSquaredLogarithmicError(), REGRESSION),
    "rmse": (lambda m: m.RootMeanSquaredError(), REGRESSION),
    "cosine": (lambda m: m.CosineSimilarity(), REGRESSION),
    "logcosh": (lambda m: m.LogCoshError(), REGRESSION),
    "r2": (lambda m: m.R2Score(), REGRESSION),
    "r2_weighted": (lambda m: m.R2Score(class_aggregation="variance_weighted_average"), REGRESSION),
    "r2_each": (lambda m: m.R2Score(class_aggregation=None, num_regressors=2), REGRESSION),
    "pearson": (lambda m: m.PearsonCorrelation(), REGRESSION),
    "concordance": (lambda m: m.ConcordanceCorrelation(axis=-1), REGRESSION),
    "hinge": (lambda m: m.Hinge(), (bits(6, 3), floats(6, 3, low=-1))),
    "squared_hinge": (lambda m: m.SquaredHinge(), (bits(6, 3), floats(6, 3, low=-1))),
    "categorical_hinge": (lambda m: m.CategoricalHinge(), CLASSES),
    "kld": (lambda m: m.KLDivergence(), (distributions(6, 4), distributions(6, 4))),
    "poisson": (lambda m: m.Poisson(), (floats(6, 3), floats(6, 3, low=0.1))),
    "bce": (lambda m: m.BinaryCrossentropy(label_smoothing=0.1), (bits(6, 3), floats(6, 3))),
    "bce_logits": (lambda m: m.BinaryCrossentropy(from_logits=True), (bits(6, 3), floats(6, 3, low=-3, high=3))),
    "cce": (lambda m: m.CategoricalCrossentropy(), CLASSES),
    "sparse_cce": (lambda m: m.SparseCategoricalCrossentropy(), SPARSE),
    "sparse_cce_ignore": (lambda m: m.SparseCategoricalCrossentropy(ignore_class=2, from_logits=True), SPARSE),
    "true_positives": (lambda m: m.TruePositives(), PROBABLE),
    "true_negatives": (lambda m: m.TrueNegatives(thresholds=[0.2, 0.7]), PROBABLE),
    "false_positives": (lambda m: m.FalsePositives(thresholds=0.3), (bits(6, 3), floats(6, 3))),
    "false_negatives": (lambda m: m.FalseNegatives(thresholds=[0.0, 0.5, 1.0]), PROBABLE),
    "precision": (lambda m: m.Precision(), PROBABLE),
    "precision_thresholds": (lambda m: m.Precision(thresholds=[0.1, 0.4, 0.45]), (bits(6, 3), floats(6, 3))),
    "precision_top_k": (lambda m: m.Precision(top_k=2), CLASSES),
    "precision_class": (lambda m: m.Precision(class_id=1, thresholds=0.2), CLASSES),
    "recall": (lambda m: m.Recall(), PROBABLE),
    "recall_top_k_class": (lambda m: m.Recall(top_k=2, class_id=2), CLASSES),
    "sensitivity": (lambda m: m.SensitivityAtSpecificity(0.4), PROBABLE),
    "sensitivity_one": (lambda m: m.SensitivityAtSpecificity(0.2, num_thresholds=1), PROBABLE),
    "specificity": (lambda m: m.SpecificityAtSensitivity(0.3, num_thresholds=40), PROBABLE),
    "precision_at_recall": (lambda m: m.PrecisionAtRecall(0.6), PROBABLE),
    "recall_at_precision": (lambda m: m.RecallAtPrecision(0.4, class_id=1), CLASSES),
    "auc": (lambda m: m.AUC(), PROBABLE),
    "auc_thresholds": (lambda m: m.AUC(thresholds=[0.6, 0.1, 0.4]), PROBABLE),
    "auc_logits": (lambda m: m.AUC(from_logits=True, num_thresholds=20), (bits(8), floats(8, low=-3, high=3))),
    "f1": (lambda m: m.F1Score(), CLASSES),
    "f1_macro": (lambda m: m.F1Score(average="macro", threshold=0.3), CLASSES),
    "fbeta_micro": (lambda m: m.FBetaScore(average="micro", beta=2.0), CLASSES),
    "fbeta_weighted": (lambda m: m.FBetaScore(average="weighted", beta=0.5, threshold=0.25), CLASSES),
    "iou": (lambda m: m.IoU(num_classes=3, target_class_ids=[0, 2]), (classes(9, num=3), classes(9, num=2))),
    "iou_ignore": (lambda m: m.IoU(4, [1, 2], ignore_class=0, sparse_y_pred=False),
                   (classes(5, num=4), distributions(5, 4))),
    "binary_iou": (lambda m: m.BinaryIoU(target_class_ids=[1], threshold=0.4), (bits(9), floats(9))),
    "mean_iou": (lambda m: m.MeanIoU(num_classes=3), (classes(3, 4, num=3), classes(3, 4, num=3))),
    "mean_iou_out_of_range": (lambda m: m.MeanIoU(num_classes=3), (classes(9, num=5), classes(9, num=4))),
    "one_hot_iou": (lambda m: m.OneHotIoU(4, [0, 3]), CLASSES),
    "one_hot_mean_iou": (lambda m: m.OneHotMeanIoU(4), CLASSES),
}
for curve in ["ROC", "PR", "PRGAIN"]:
    for method in ["interpolation", "majoring", "minoring"]:
        CASES[f"auc_{curve}_{method}".lower()] = (
            lambda m, c=curve, s=method: m.AUC(curve=c, summation_method=s, num_thresholds=50), PROBABLE)
    CASES[f"auc_{curve}_multi_label".lower()] = (
        lambda m, c=curve: m.AUC(curve=c, multi_label=True, num_thresholds=30), (bits(8, 3), floats(8, 3)))
CASES["auc_multi_label_thresholds"] = (
    lambda m: m.AUC(multi_label=True, num_labels=3, thresholds=[0.2, 0.3, 0.8]), (bits(8, 3), floats(8, 3)))


def close(ours, theirs, what):
    theirs = np.asarray(theirs)
    assert list(ours.shape) == list(theirs.shape), f"{what}: {ours.shape} here, {theirs.shape} in Keras"
    assert np.all(np.isfinite(theirs)), f"{what}: nothing to compare with"
    np.testing.assert_allclose(ours.astype("float64"), theirs.astype("float64"), rtol=2e-5, atol=2e-6, err_msg=what)


def check(server, metric, makers, weight=None, mask=None):
    import keras
    import tensorflow as tf

    config = config_of(metric)
    updates, results = [], []
    for i in range(NUM_UPDATES):
        args = [make(i) for make in makers]
        update = {"args": encode(args)}
        given = [tf.constant(a) for a in args]
        kwargs = {}
        if weight:
            kwargs["sample_weight"] = weight(i)
            update["sample_weight"] = encode(kwargs["sample_weight"])
        if mask:
            given[-1] = tf.identity(given[-1])
            keras.src.backend.set_keras_mask(given[-1], tf.constant(mask(i)))
            update["mask"] = encode(mask(i))
        metric.update_state(*given, **kwargs)
        updates.append(update)
        results.append(keras.ops.convert_to_numpy(metric.result()))
    for traced in (False, True):
        reply = server.ask("metric", metric=config, updates=updates, traced=traced)
        assert reply["config"] == config["config"]
        for i, (ours, theirs) in enumerate(zip(decode(reply["results"]), results)):
            close(ours, theirs, f"result after update {i}, traced: {traced}")
        ours, theirs = decode(reply["variables"]), [keras.ops.convert_to_numpy(v) for v in metric.variables]
        assert len(ours) == len(theirs)
        for a, b, variable in zip(ours, theirs, metric.variables):
            close(a, b, variable.path)
        assert not any(np.any(v) for v in decode(reply["reset"]))


@pytest.mark.parametrize("name", CASES)
def test_metric(server, name):
    import keras
    make, makers = CASES[name]
    check(server, make(keras.metrics), makers)


@pytest.mark.parametrize("name", CASES)
def test_sample_weight(server, name):
    import keras
    make, makers = CASES[name]
    num = makers[-1](0).shape[0]
    weight = floats(num, low=0.1, high=2)
    if "iou" in name:
        weight = classes(*makers[0](0).shape[:1 if name.startswith("one_hot") else None], num=4)
    check(server, make(keras.metrics), makers, weight)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ["accuracy", "sparse_accuracy", "sparse_accuracy_3d", "mse", "cce", "sparse_cce_ignore",
                                  "categorical_accuracy_3d"])
def test_mask(server, name, weighted):
    import keras
    make, makers = CASES[name]
    shape = makers[-1](0).shape
    shape = shape[:-1] if len(shape) > 1 else shape
    check(server, make(keras.metrics), makers, floats(*shape) if weighted else None,
          lambda i: rng(400 + i).integers(0, 3, shape) > 0)


@pytest.mark.parametrize("alias", ["mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE", "bce", "BCE",
                                   "mean_squared_error", "AUC", "auc", "f1_score", "kl_divergence", "precision",
                                   "root_mean_squared_error", "sparse_categorical_accuracy", "r2_score"])
def test_names(server, alias):
    import keras
    found = keras.metrics.get(alias)
    reply = server.ask("metric", metric=alias, updates=[])
    ours, theirs = reply["config"], found.get_config()
    assert {**ours, "name": None} == {**theirs, "name": None}


def test_errors(server):
    def ask(name, config, *args):
        return server.ask("metric", metric={"class_name": name, "config": config},
                          updates=[{"args": encode(list(args))}] if args else [])

    with pytest.raises(Refused, match=r"Threshold values must be in \[0, 1\]. Received: \[1.5\]"):
        ask("Precision", {"thresholds": [0.5, 1.5]})
    with pytest.raises(Refused, match='Invalid AUC curve value: "RC"'):
        ask("AUC", {"curve": "RC"})
    with pytest.raises(Refused, match="`num_labels` is needed only when `multi_label` is True"):
        ask("AUC", {"num_labels": 3})
    with pytest.raises(Refused, match="must be an integer > 1. Received: num_thresholds=1"):
        ask("AUC", {"num_thresholds": 1})
    with pytest.raises(Refused, match="Target class id 3 is out of range"):
        ask("IoU", {"num_classes": 3, "target_class_ids": [0, 3]})
    with pytest.raises(Refused, match="Argument `recall` must be in the range"):
        ask("PrecisionAtRecall", {"recall": 2.0})
    with pytest.raises(Refused, match="Invalid `average` argument value"):
        ask("F1Score", {"average": "mean"})
    with pytest.raises(Refused, match="R2Score expects 2D inputs"):
        ask("R2Score", {}, floats(3)(0), floats(3)(0))
    with pytest.raises(Refused, match="y_pred must be a 2D array"):
        ask("Recall", {"class_id": 1}, bits(3)(0), floats(3)(0))
    with pytest.raises(Refused, match="takes one tensor of values, received 2"):
        ask("Mean", {}, bits(3)(0), floats(3)(0))
    with pytest.raises(Refused, match="Did you mean"):
        server.ask("metric", metric="precison", updates=[])
