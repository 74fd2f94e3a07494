"""Layers around a function or another layer."""

from ._layer import Layer


class Lambda(Layer):
    """A function as a layer. It is not written to files: for that it has to be a class of its own."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.function, self.arguments = function, dict(arguments or {})
        self._output_shape, self.mask = output_shape, mask

    def call(self, inputs, mask=None, training=None):
        kwargs = dict(self.arguments)
        code = getattr(self.function, "__code__", None)
        names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount] if code else ()
        if "mask" in names:
            kwargs["mask"] = mask
        if "training" in names:
            kwargs["training"] = training
        return self.function(inputs, **kwargs)

    def get_config(self):
        raise NotImplementedError(
            f"Lambda layer '{self.name}' cannot be saved: Python code is not written to files. Make it a class "
            "that derives from keras.Layer, and register it")


class Wrapper(Layer):
    """A layer around another."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise TypeError(f"Layer {layer} supplied to Wrapper isn't a supported layer type. Please ensure "
                            "wrapped layer is a valid Keras layer.")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)

    def get_config(self):
        from .saving import serialize_keras_object
        return {**super().get_config(), "layer": serialize_keras_object(self.layer)}

    @classmethod
    def from_config(cls, config):
        from .saving import deserialize_keras_object
        config = dict(config)
        return cls(deserialize_keras_object(config.pop("layer")), **config)
