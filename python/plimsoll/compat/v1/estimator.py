"""tf.compat.v1.estimator: not built."""

from ._space import space

__getattr__, __dir__ = space(__name__, missing=("Estimator", "DNNClassifier", "LinearClassifier", "inputs",
                                                "RunConfig", "EstimatorSpec", "ModeKeys",
                                                "train_and_evaluate"))
