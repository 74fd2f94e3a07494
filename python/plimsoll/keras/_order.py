"""Where the order of a class's arguments is not that of its configuration, and which have to be given."""

_SHARED = ("weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema", "ema_momentum",
           "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps")
LAYER_OPTIONS = ("activity_regularizer", "trainable", "dtype", "autocast", "name")  # by name only


def natural(kind, members):
    """The members of a configuration in the order in which most classes of a kind take them."""
    last = [n for n in ("name", "dtype") if n in members]
    if kind == "layers":
        return [n for n in members if n not in LAYER_OPTIONS]
    if kind == "optimizers":
        own = [n for n in members if n not in _SHARED and n not in ("learning_rate", "name")]
        return [n for n in ("learning_rate", *own, *_SHARED, "name") if n in members]
    if kind == "losses":
        return [n for n in members if n not in ("reduction", "name")] + ["reduction", "name"]
    if kind == "metrics":
        first = [n for n in ("num_classes",) if n in members] + ["name", "dtype"]
        return first + [n for n in members if n not in first]
    return [n for n in members if n not in last] + last


# The first arguments of classes that have another order; the others follow.
ORDER = {
    "layers": {
        "EinsumDense": "equation",
        "Dropout": "rate noise_shape",
        "SpatialDropout2D": "rate data_format",
        "SpatialDropout3D": "rate data_format",
        "AlphaDropout": "rate noise_shape",
        "Conv3DTranspose": "filters kernel_size strides padding data_format",
        "DepthwiseConv1D": "kernel_size strides padding",
        "DepthwiseConv2D": "kernel_size strides padding",
        "SeparableConv1D": "filters kernel_size strides padding data_format dilation_rate",
        "SeparableConv2D": "filters kernel_size strides padding data_format dilation_rate",
        "MaxPooling1D": "pool_size strides",
        "MaxPooling2D": "pool_size strides",
        "MaxPooling3D": "pool_size strides",
        "AveragePooling1D": "pool_size strides",
        "AveragePooling2D": "pool_size strides",
        "AveragePooling3D": "pool_size strides",
        "BatchNormalization":
            "axis momentum epsilon center scale beta_initializer gamma_initializer "
            "moving_mean_initializer moving_variance_initializer beta_regularizer gamma_regularizer "
            "beta_constraint gamma_constraint renorm renorm_clipping renorm_momentum",
        "LayerNormalization":
            "axis epsilon center scale beta_initializer gamma_initializer beta_regularizer "
            "gamma_regularizer beta_constraint gamma_constraint",
        "RNN": "cell",
        "LSTM":
            "units activation recurrent_activation use_bias kernel_initializer recurrent_initializer "
            "bias_initializer unit_forget_bias kernel_regularizer recurrent_regularizer "
            "bias_regularizer kernel_constraint recurrent_constraint bias_constraint dropout "
            "recurrent_dropout seed",
        "GRU":
            "units activation recurrent_activation use_bias kernel_initializer recurrent_initializer "
            "bias_initializer kernel_regularizer recurrent_regularizer bias_regularizer "
            "kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout seed "
            "return_sequences return_state go_backwards stateful unroll reset_after",
        "SimpleRNN":
            "units activation use_bias kernel_initializer recurrent_initializer bias_initializer "
            "kernel_regularizer recurrent_regularizer bias_regularizer kernel_constraint "
            "recurrent_constraint bias_constraint dropout recurrent_dropout return_sequences "
            "return_state go_backwards stateful unroll seed",
        "LSTMCell":
            "units activation recurrent_activation use_bias kernel_initializer recurrent_initializer "
            "bias_initializer",
        "Bidirectional": "layer",
        "MultiHeadAttention":
            "num_heads key_dim value_dim dropout use_bias output_shape attention_axes sliding_window "
            "flash_attention kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
            "kernel_constraint bias_constraint",
        "GroupQueryAttention":
            "head_dim num_query_heads num_key_value_heads dropout use_bias sliding_window "
            "flash_attention kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
            "kernel_constraint bias_constraint",
        "Normalization": "axis mean variance",
        "StringLookup":
            "max_tokens num_oov_indices mask_token oov_token vocabulary idf_weights invert "
            "output_mode pad_to_max_tokens sparse encoding salt",
        "IntegerLookup":
            "max_tokens num_oov_indices mask_token oov_token vocabulary vocabulary_dtype idf_weights "
            "invert output_mode sparse pad_to_max_tokens oov_method salt",
        "TextVectorization":
            "max_tokens standardize split ngrams output_mode output_sequence_length pad_to_max_tokens "
            "vocabulary idf_weights",
        "Resizing":
            "height width interpolation crop_to_aspect_ratio pad_to_aspect_ratio fill_mode fill_value "
            "antialias",
        "CenterCrop": "height width",
        "RandomCrop": "height width seed",
        "RandomFlip": "mode seed",
        "RandomRotation": "factor fill_mode interpolation seed fill_value",
        "RandomZoom": "height_factor width_factor fill_mode interpolation seed fill_value",
        "RandomTranslation": "height_factor width_factor fill_mode interpolation seed fill_value",
        "RandomContrast": "factor value_range seed",
        "RandomBrightness": "factor value_range seed",
    },
    "optimizers": {
        "AdamW": "learning_rate weight_decay",
        "Muon":
            "learning_rate adam_beta_1 adam_beta_2 adam_weight_decay epsilon weight_decay clipnorm "
            "clipvalue global_clipnorm use_ema ema_momentum ema_overwrite_frequency loss_scale_factor "
            "gradient_accumulation_steps name exclude_layers exclude_embeddings",
    },
    "losses": {
        "BinaryFocalCrossentropy": "apply_class_balancing alpha gamma",
        "CategoricalFocalCrossentropy": "alpha gamma",
        "SparseCategoricalCrossentropy": "from_logits ignore_class reduction",
        "Dice": "reduction name",
        "Tversky": "alpha beta reduction name",
    },
    "metrics": {
        "TopKCategoricalAccuracy": "k",
        "SparseTopKCategoricalAccuracy": "k",
        "R2Score": "class_aggregation num_regressors",
        "TruePositives": "thresholds",
        "TrueNegatives": "thresholds",
        "FalsePositives": "thresholds",
        "FalseNegatives": "thresholds",
        "Precision": "thresholds top_k class_id",
        "Recall": "thresholds top_k class_id",
        "SensitivityAtSpecificity": "specificity num_thresholds class_id",
        "SpecificityAtSensitivity": "sensitivity num_thresholds class_id",
        "PrecisionAtRecall": "recall num_thresholds class_id",
        "RecallAtPrecision": "precision num_thresholds class_id",
        "AUC": "num_thresholds curve summation_method name dtype thresholds",
        "FBetaScore": "average beta threshold",
        "F1Score": "average threshold",
        "IoU": "num_classes target_class_ids",
        "BinaryIoU": "target_class_ids threshold",
        "OneHotIoU": "num_classes target_class_ids",
    },
    "initializers": {
        "RandomNormal": "mean stddev",
        "TruncatedNormal": "mean stddev",
        "RandomUniform": "minval maxval",
        "VarianceScaling": "scale mode distribution",
        "Orthogonal": "gain",
    },
    "schedules": {
        "CosineDecay": "initial_learning_rate decay_steps alpha name",
    },
}

# Arguments without which nothing can be made, and the classes that have them.
_REQUIRED = {
    "layers": {
        "units": "Dense LSTM GRU SimpleRNN LSTMCell GRUCell SimpleRNNCell",
        "equation output_shape": "EinsumDense",
        "input_dim output_dim": "Embedding",
        "activation": "Activation",
        "rate":
            "Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianDropout "
            "AlphaDropout",
        "stddev": "GaussianNoise",
        "target_shape": "Reshape",
        "dims": "Permute",
        "n": "RepeatVector",
        "filters kernel_size":
            "Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose SeparableConv1D "
            "SeparableConv2D",
        "kernel_size": "DepthwiseConv1D DepthwiseConv2D",
        "pool_size": "AveragePooling1D AveragePooling2D AveragePooling3D",
        "output_size":
            "AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D "
            "AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D",
        "layer": "SpectralNormalization Bidirectional TimeDistributed",
        "axes": "Dot",
        "cell": "RNN",
        "cells": "StackedRNNCells",
        "num_heads key_dim": "MultiHeadAttention",
        "head_dim num_query_heads num_key_value_heads": "GroupQueryAttention",
        "scale": "Rescaling",
        "height width": "Resizing CenterCrop RandomCrop",
        "factor": "RandomRotation RandomContrast RandomBrightness",
        "height_factor": "RandomZoom",
        "height_factor width_factor": "RandomTranslation",
    },
    "optimizers": {
        "inner_optimizer": "LossScaleOptimizer",
    },
    "metrics": {
        "specificity": "SensitivityAtSpecificity",
        "sensitivity": "SpecificityAtSensitivity",
        "recall": "PrecisionAtRecall",
        "precision": "RecallAtPrecision",
        "num_classes target_class_ids": "IoU OneHotIoU",
        "num_classes": "MeanIoU OneHotMeanIoU",
    },
    "schedules": {
        "initial_learning_rate decay_steps decay_rate": "ExponentialDecay InverseTimeDecay",
        "boundaries values": "PiecewiseConstantDecay",
        "initial_learning_rate decay_steps": "PolynomialDecay CosineDecay",
        "initial_learning_rate first_decay_steps": "CosineDecayRestarts",
    },
    "callbacks": {
        "filename": "CSVLogger",
        "filepath": "ModelCheckpoint",
        "backup_dir": "BackupAndRestore",
    },
}


def required(kind, name):
    for arguments, classes in _REQUIRED.get(kind, {}).items():
        if name in classes.split():
            return arguments.split()
    return []
