"""The layers and options that keras_layers_test.py compares, by family."""

import keras_cases_attention
import keras_cases_core
import keras_cases_image
import keras_cases_preprocessing
import keras_cases_rnn
from keras_case import Case, floats
from keras_cases_activation import activation_cases
from keras_cases_convolutional import convolutional_cases
from keras_cases_merging import merging_cases
from keras_cases_normalization import normalization_cases
from keras_cases_pooling import pooling_cases
from keras_cases_regularization import regularization_cases
from keras_cases_reshaping import reshaping_cases


def core_cases():
    x = floats(4, 5)
    yield Case("dense", lambda k: k.layers.Dense(3), x, passes_training=False)
    yield Case("dense_options", lambda k: k.layers.Dense(
        3, activation="relu", use_bias=False, kernel_initializer=k.initializers.HeNormal(seed=3),
        kernel_regularizer="l2", kernel_constraint=k.constraints.MaxNorm(1.5), name="d", trainable=False),
        x, passes_training=False)
    yield Case("dense_3d", lambda k: k.layers.Dense(
        3, activation="gelu", bias_regularizer=k.regularizers.L1L2(l1=0.1, l2=0.2),
        activity_regularizer="l1"), floats(2, 3, 5), passes_training=False)
    yield Case("identity", lambda k: k.layers.Identity(), floats(2, 3), passes_training=False)
    yield Case("identity_list", lambda k: k.layers.Identity(), [floats(2, 3), floats(4)], passes_training=False)


CASES = [
    *core_cases(),
    *activation_cases(),
    *reshaping_cases(),
    *regularization_cases(),
    *convolutional_cases(),
    *pooling_cases(),
    *normalization_cases(),
    *merging_cases(),
    *keras_cases_core.cases(),
    *keras_cases_rnn.cases(),
    *keras_cases_attention.cases(),
    *keras_cases_preprocessing.cases(),
    *keras_cases_image.cases(),
]
