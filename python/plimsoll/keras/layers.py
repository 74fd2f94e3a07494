"""keras.layers."""

from . import _classes
from ._layer import InputSpec, Layer
from ._tensor import Input

# Other names that Keras has for them.
_ALIASES = {
    "AvgPool1D": "AveragePooling1D", "AvgPool2D": "AveragePooling2D", "AvgPool3D": "AveragePooling3D",
    "MaxPool1D": "MaxPooling1D", "MaxPool2D": "MaxPooling2D", "MaxPool3D": "MaxPooling3D",
    "GlobalAvgPool1D": "GlobalAveragePooling1D", "GlobalAvgPool2D": "GlobalAveragePooling2D",
    "GlobalAvgPool3D": "GlobalAveragePooling3D", "GlobalMaxPool1D": "GlobalMaxPooling1D",
    "GlobalMaxPool2D": "GlobalMaxPooling2D", "GlobalMaxPool3D": "GlobalMaxPooling3D",
    "Convolution1D": "Conv1D", "Convolution2D": "Conv2D", "Convolution3D": "Conv3D",
    "Convolution1DTranspose": "Conv1DTranspose", "Convolution2DTranspose": "Conv2DTranspose",
    "Convolution3DTranspose": "Conv3DTranspose", "SeparableConvolution1D": "SeparableConv1D",
    "SeparableConvolution2D": "SeparableConv2D",
}
# Merging layers as functions.
_MERGES = {"add": "Add", "subtract": "Subtract", "multiply": "Multiply", "average": "Average",
           "maximum": "Maximum", "minimum": "Minimum", "concatenate": "Concatenate", "dot": "Dot"}


def _more(name):
    if name == "Lambda":
        from ._lambda import Lambda
        return Lambda
    if name == "Wrapper":
        from ._lambda import Wrapper
        return Wrapper
    if name in _MERGES:
        cls = _classes.get("layers", _MERGES[name])

        def merge(inputs, *args, **kwargs):
            return cls(*args, **kwargs)(inputs)

        merge.__name__ = name
        return merge
    return None


__getattr__, __dir__ = _classes.module(__name__, "layers", _more, _ALIASES)
