"""Models: of KerasTensors, one layer after the other, or a class of one's own."""

from .. import _core
from . import _base
from ._base import wrap
from ._layer import Layer, layers_behind
from ._training import Trainer


def _is_functional(args, kwargs):
    return len(args) >= 2 or (len(args) == 1 and "outputs" in kwargs) or (
        "inputs" in kwargs and "outputs" in kwargs)


class Model(Trainer, Layer):
    """Layers that are trained together.

    Model(inputs, outputs) is a model of KerasTensors. A class of one's own has layers as attributes and
    `call`, and may have steps of its own: train_step, test_step, predict_step.
    """

    _core_kind = "model"

    def __new__(cls, *args, **kwargs):
        if cls is Model and _is_functional(args, kwargs):
            return object.__new__(Functional)
        return object.__new__(cls)

    def __init__(self, *args, **kwargs):
        if _is_functional(args, kwargs):
            self._init_functional(*args, **kwargs)
        else:
            if args:
                raise TypeError(f"{type(self).__name__}() takes inputs and outputs, or neither; got {args!r}")
            self._init_python(**kwargs)

    def _init_functional(self, inputs, outputs, name=None, trainable=True, **kwargs):
        tensors = [*_base.leaves(inputs), *_base.leaves(outputs)]
        for tensor in tensors:
            if not isinstance(tensor, _core.KerasTensor):
                what = "inputs" if any(tensor is t for t in _base.leaves(inputs)) else "outputs"
                raise ValueError(f"All `{what}` values must be KerasTensors. Received: {what}={tensor!r} "
                                 f"of type {type(tensor)}")
        object.__setattr__(self, "_kept", layers_behind(tensors))
        if type(self) is Functional:
            object.__setattr__(self, "_first_shape", None)
            self._adopt(_core.keras_functional(inputs, outputs, (name, trainable, None, None)))
        else:
            self._init_python(name=name, trainable=trainable, _core_kind="functional", _inputs=inputs,
                              _outputs=outputs, **kwargs)

    def _overrides(self, kind):
        found = super()._overrides(kind)
        if kind != "model":  # the graph is there: what the class leaves alone is the graph's
            if type(self).call is Layer.call or type(self).call is Model.call:
                found.discard("call")
            if type(self).get_config is Layer.get_config:
                found.discard("get_config")
        return found | _base.overridden(type(self), Model, _STEPS)

    @classmethod
    def from_config(cls, config):
        if "layers" in config and "input_layers" in config:
            made = _from_core_config({"class_name": "Functional", "config": config})
            if cls in (Model, Functional):
                return made
            return cls(inputs=made.inputs_structure, outputs=made.outputs_structure, name=config.get("name"))
        return super().from_config(config)

    def call(self, *args, **kwargs):
        raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")

    @property
    def layers(self):
        return [wrap(handle) for handle in _core.model_layers(self._c)]

    @layers.setter
    def layers(self, value):
        raise AttributeError("`Model.layers` attribute is reserved and should not be used. Please use another "
                             "name.")

    def get_layer(self, name=None, index=None):
        if index is not None and name is not None:
            raise ValueError("Provide only a layer name or a layer index. Received: "
                             f"index={index}, name={name}.")
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has "
                                 f"{len(layers)} layers.")
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}.")

    def _ends(self):
        ends = _core.model_ends(self._c)
        if ends is None:
            raise AttributeError(f"model '{self.name}' has no inputs and outputs of its own before it is built")
        return ends

    inputs_structure = property(lambda self: self._ends()[0])
    outputs_structure = property(lambda self: self._ends()[1])
    inputs = property(lambda self: list(_base.leaves(self._ends()[0])))
    outputs = property(lambda self: list(_base.leaves(self._ends()[1])))

    @property
    def input(self):
        return self._ends()[0] if _core.model_ends(self._c) is not None else super().input

    @property
    def output(self):
        return self._ends()[1] if _core.model_ends(self._c) is not None else super().output

    @property
    def input_shape(self):
        return _shape_of(self.input)

    @property
    def output_shape(self):
        return _shape_of(self.output)

    @property
    def output_names(self):
        return _core.model_output_names(self._c)

    @property
    def input_names(self):
        return [tensor.name for tensor in self.inputs]

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False,
                show_trainable=False, layer_range=None, batch_size=1):
        """Prints the layers, their shapes, parameters and memory at a batch size."""
        text = _core.model_summary(self._c, batch_size, line_length or 0, expand_nested, show_trainable)
        (print_fn or print)(text)

    def save(self, filepath, overwrite=True, zipped=None, include_optimizer=True, **kwargs):
        from .saving import save_model
        save_model(self, filepath, overwrite=overwrite, include_optimizer=include_optimizer)

    def save_weights(self, filepath, overwrite=True):
        _core.model_save_weights(self._c, str(filepath), overwrite)

    def load_weights(self, filepath, skip_mismatch=False, by_name=False, **kwargs):
        filepath = str(filepath)
        with _base.reading(filepath):
            _core.model_load_weights(self._c, filepath, by_name, skip_mismatch)

    def to_json(self, **kwargs):
        import json
        return json.dumps(_base.serialize(self), **kwargs)

    def export(self, filepath, *args, **kwargs):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, "Model.export: SavedModel is not built. save() writes .keras and .h5")

    def reset_states(self):
        for layer in self.layers:
            if getattr(layer, "stateful", False):
                layer.reset_state()

    def build_from_config(self, config):
        if config.get("input_shape") is not None:
            self.build(config["input_shape"])

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


class Functional(Model):
    """A model of KerasTensors."""

    _is_own = True
    _class_name = "Functional"

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def call(self, inputs, training=None, mask=None, **kwargs):
        return Layer.__call__(self, inputs, training=training, mask=mask)

    def get_config(self):
        return self._c.get_config()


class Sequential(Model):
    """Layers one after the other."""

    _is_own = True
    _class_name = "Sequential"

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def __init__(self, layers=None, trainable=True, name=None):
        object.__setattr__(self, "_held", [])
        object.__setattr__(self, "_first_shape", None)
        if type(self) is Sequential:
            self._adopt(_core.keras_sequential([], (name, trainable, None, None)))
        else:
            self._init_python(name=name, trainable=trainable, _core_kind="sequential", _inputs=[])
        if layers is not None and not isinstance(layers, (list, tuple)):
            layers = [layers]
        for layer in layers or []:
            self.add(layer)

    def _adopted(self):
        super()._adopted()
        object.__setattr__(self, "_held", [])

    def add(self, layer, rebuild=True):
        """Adds a layer, or first the input."""
        if hasattr(layer, "_keras_input"):
            layer = layer._keras_input
        if not isinstance(layer, (Layer, _core.KerasTensor)):
            if callable(layer) and hasattr(layer, "__name__"):
                from ._functions import FunctionLayer
                layer = FunctionLayer(layer)
            else:
                raise ValueError("Only instances of `keras.Layer` can be added to a Sequential model. "
                                 f"Received: {layer} (of type {type(layer)})")
        first = getattr(layer, "_first_shape", None) if isinstance(layer, Layer) else None
        if first is not None and not self._held:
            from ._tensor import Input
            dtype = "int32" if getattr(layer, "_class_name", "") == "Embedding" else None
            self.add(Input(batch_shape=first, dtype=dtype))
        _core.sequential_add(self._c, layer)
        self._held.append(layer)
        weights = layer.__dict__.get("_first_weights") if isinstance(layer, Layer) else None
        if weights is not None and layer.built:
            layer.set_weights(layer.__dict__.pop("_first_weights"))

    def pop(self, rebuild=True):
        if not self._held:
            return None
        self._held.pop()
        return wrap(_core.sequential_pop(self._c))

    def call(self, inputs, training=None, mask=None, **kwargs):
        return Layer.__call__(self, inputs, training=training, mask=mask)

    def get_config(self):
        return self._c.get_config()

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from .saving import custom_object_scope
        with custom_object_scope(custom_objects or {}):
            return _from_core_config({"class_name": "Sequential", "config": config})


_STEPS = ("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics")
Functional._made_class = Functional
Sequential._made_class = Sequential


def _from_core_config(identifier):
    with _base.collecting() as kept:
        made = wrap(_core.keras_get("layers", _base.plain(identifier)))
    made._kept.extend(kept)
    return made


def _shape_of(structure):
    if isinstance(structure, dict):
        return {key: _shape_of(item) for key, item in structure.items()}
    if isinstance(structure, (list, tuple)):
        return [_shape_of(item) for item in structure]
    return structure.shape


def clone_model(model, input_tensors=None, clone_function=None, **kwargs):
    """A model of the same layers, with new weights."""
    if clone_function is not None or input_tensors is not None:
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, "clone_model with clone_function or input_tensors is not built")
    with _base.collecting() as kept:
        made = wrap(_core.keras_clone_model(model._c))
    made.__dict__.setdefault("_kept", []).extend(kept)
    return made


def model_from_json(json_string, custom_objects=None):
    import json

    from .saving import custom_object_scope
    with custom_object_scope(custom_objects or {}):
        return _from_core_config(json.loads(json_string))
