"""Layers as functions that make their variables: tf.compat.v1.layers."""

from ... import _core
from .. import _graph
from .._initializers import Ones as _Ones, Zeros as _Zeros
from .._scope import get_variable as _get_variable, variable_scope as _variable_scope


def _op(name):
    return _core.op(name)


class Layer:
    """Variables in a scope of their own, made in the first call and shared by the others."""

    def __init__(self, trainable=True, name=None, dtype=None, _scope=None, _reuse=None, **options):
        self._trainable, self._name, self._scope_asked, self._reuse = trainable, name, _scope, _reuse
        self._options = options
        self._scope = None
        self.variables = []

    @property
    def name(self):
        return self._scope.name if self._scope is not None else self._name

    @property
    def trainable_variables(self):
        return [v for v in self.variables if v.trainable]

    trainable_weights = trainable_variables
    weights = property(lambda self: self.variables)

    def _variable(self, name, shape, dtype, initializer, regularizer=None, constraint=None,
                  trainable=True):
        made = _get_variable(name, shape, dtype, initializer, regularizer,
                             trainable=trainable and self._trainable, constraint=constraint)
        if not any(v is made for v in self.variables):
            self.variables.append(made)
            setattr(self, name, made)
        return made

    def __call__(self, inputs, *args, **kwargs):
        inputs = _op("convert_to_tensor")(inputs)
        if self._scope is None:
            asked = self._scope_asked if self._scope_asked is not None else self._name
            entered = _variable_scope(asked, default_name=_default_name(type(self)), reuse=self._reuse)
        else:
            entered = _variable_scope(self._scope, reuse=True)
        with entered as scope:
            self._scope = scope
            return self.call(inputs, *args, **kwargs)

    apply = __call__

    def call(self, inputs):
        return inputs


def _default_name(cls):
    names = {"Dense": "dense", "Conv1D": "conv1d", "Conv2D": "conv2d", "Conv2DTranspose": "conv2d_transpose",
             "BatchNormalization": "batch_normalization", "Dropout": "dropout", "Flatten": "flatten"}
    return names.get(cls.__name__, cls.__name__.lower())


def _size(inputs, axis=-1):
    found = inputs.shape.as_list()[axis] if inputs.shape.rank is not None else None
    if found is None:
        raise ValueError("The last dimension of the inputs to a layer should be defined. Found `None` in "
                         f"{inputs.shape}.")
    return found


class Dense(Layer):
    """activation(inputs * kernel + bias)."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=_Zeros(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):
        super().__init__(trainable, name, **kwargs)
        self.units, self.activation, self.use_bias = int(units), activation, use_bias
        self._kernel = (kernel_initializer, kernel_regularizer, kernel_constraint)
        self._bias = (bias_initializer, bias_regularizer, bias_constraint)

    def call(self, inputs):
        size = _size(inputs)
        kernel = self._variable("kernel", [size, self.units], inputs.dtype, *self._kernel)
        bias = self._variable("bias", [self.units], inputs.dtype, *self._bias) if self.use_bias else None
        if inputs.shape.rank > 2:
            lead = [-1 if d is None else d for d in inputs.shape.as_list()[:-1]]
            if lead.count(-1) > 1:
                dims = _op("shape")(inputs)
                lead = [dims[i] if d == -1 else d for i, d in enumerate(lead)]
            made = _op("reshape")(_op("matmul")(_op("reshape")(inputs, [-1, size]), kernel),
                                  [*lead, self.units])
        else:
            made = _op("matmul")(inputs, kernel)
        if bias is not None:
            made = _op("nn.bias_add")(made, bias)
        return made if self.activation is None else self.activation(made)


def _pair(value, num=2):
    return [int(value)] * num if isinstance(value, int) else [int(v) for v in value]


def _format(data_format, num=2):
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". '
                         f"Received: {data_format}")
    last = data_format == "channels_last"
    return {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW")}[num][0 if last else 1]


class _Conv(Layer):
    _rank = 2

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
                 dilation_rate=1, activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=_Zeros(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):
        super().__init__(trainable, name, **kwargs)
        self.filters, self.kernel_size = filters, _pair(kernel_size, self._rank)
        self.strides, self.padding = _pair(strides, self._rank), padding.upper()
        self.dilation_rate = _pair(dilation_rate, self._rank)
        self.data_format, self.activation, self.use_bias = data_format, activation, use_bias
        self._kernel = (kernel_initializer, kernel_regularizer, kernel_constraint)
        self._bias = (bias_initializer, bias_regularizer, bias_constraint)

    def call(self, inputs):
        order = _format(self.data_format, self._rank)
        size = _size(inputs, -1 if self.data_format == "channels_last" else 1)
        made = self._convolve(inputs, size, order)
        if self.use_bias:
            bias = self._variable("bias", [self.filters], inputs.dtype, *self._bias)
            made = _op("nn.bias_add")(made, bias, "NHWC" if order.endswith("C") else "NCHW")
        return made if self.activation is None else self.activation(made)

    def _convolve(self, inputs, size, order):
        kernel = self._variable("kernel", [*self.kernel_size, size, self.filters], inputs.dtype,
                                *self._kernel)
        return _op(f"nn.conv{self._rank}d")(inputs, kernel, self.strides, self.padding, order,
                                            self.dilation_rate)


class Conv2D(_Conv):
    """A convolution over height and width."""


class Conv1D(_Conv):
    """A convolution over time."""

    _rank = 1

    def _convolve(self, inputs, size, order):
        kernel = self._variable("kernel", [*self.kernel_size, size, self.filters], inputs.dtype,
                                *self._kernel)
        return _op("nn.conv1d")(inputs, kernel, self.strides[0], self.padding, order,
                                self.dilation_rate[0])


class Conv2DTranspose(_Conv):
    """The transpose of a convolution."""

    def _convolve(self, inputs, size, order):
        kernel = self._variable("kernel", [*self.kernel_size, self.filters, size], inputs.dtype,
                                *self._kernel)
        first = 1 if order == "NHWC" else 2
        dims = _op("shape")(inputs)
        grown = []
        for i in range(2):
            n = inputs.shape.as_list()[first + i]
            n = dims[first + i] if n is None else n
            more = max(self.kernel_size[i] - self.strides[i], 0) if self.padding == "VALID" else 0
            grown.append(n * self.strides[i] + more)
        batch = inputs.shape.as_list()[0]
        batch = dims[0] if batch is None else batch
        shape = [batch, *grown, self.filters] if order == "NHWC" else [batch, self.filters, *grown]
        return _op("nn.conv2d_transpose")(inputs, kernel, shape, self.strides, self.padding, order)


class BatchNormalization(Layer):
    """Scales to mean 0 and variance 1 over the batch; keeps moving averages for later."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                 beta_initializer=_Zeros(), gamma_initializer=_Ones(), moving_mean_initializer=_Zeros(),
                 moving_variance_initializer=_Ones(), beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None,
                 renorm_momentum=0.99, fused=None, trainable=True, virtual_batch_size=None,
                 adjustment=None, name=None, **kwargs):
        super().__init__(trainable, name, **kwargs)
        if renorm or virtual_batch_size or adjustment:
            from ...errors import UnimplementedError
            raise UnimplementedError(None, None, "batch_normalization: renorm, virtual_batch_size and "
                                     "adjustment are not built")
        self.axis, self.momentum, self.epsilon, self.fused = axis, momentum, epsilon, fused
        self._gamma = (gamma_initializer, gamma_regularizer, gamma_constraint) if scale else None
        self._beta = (beta_initializer, beta_regularizer, beta_constraint) if center else None
        self._moving = (moving_mean_initializer, moving_variance_initializer)

    def call(self, inputs, training=False):
        rank = inputs.shape.rank
        axis = (self.axis[0] if isinstance(self.axis, (list, tuple)) else self.axis) % rank
        size, dtype = [_size(inputs, axis)], inputs.dtype
        gamma = self._variable("gamma", size, dtype, *self._gamma) if self._gamma else None
        beta = self._variable("beta", size, dtype, *self._beta) if self._beta else None
        mean = self._variable("moving_mean", size, dtype, self._moving[0], trainable=False)
        variance = self._variable("moving_variance", size, dtype, self._moving[1], trainable=False)
        around = [i for i in range(rank) if i != axis]

        def normal(of_mean, of_variance):
            shape = [1] * rank
            shape[axis] = size[0]
            parts = [None if p is None else _op("reshape")(p, shape) if axis != rank - 1 else p
                     for p in (of_mean, of_variance, beta, gamma)]
            return _op("nn.batch_normalization")(inputs, *parts, self.epsilon)

        def in_training():
            now_mean, now_variance = _op("nn.moments")(inputs, around)
            return [normal(now_mean, now_variance), now_mean, self._kept_variance(inputs, now_variance,
                                                                                  around, axis)]

        def otherwise():
            return [normal(mean, variance), _op("identity")(mean), _op("identity")(variance)]

        if isinstance(training, (bool, int)):
            made = in_training() if training else otherwise()
            if training:
                self._add_updates(made, mean, variance, 1.0 - self.momentum)
            return made[0]
        from ..._control_flow import cond
        is_training = _op("cast")(training, "bool")
        made = cond(is_training, in_training, otherwise)
        self._add_updates(made, mean, variance, _op("where")(is_training, 1.0 - self.momentum, 0.0))
        return made[0]

    def _kept_variance(self, inputs, variance, around, axis):
        """The fused kernel keeps the variance of a sample, not of a population."""
        if inputs.shape.rank != 4 or self.fused is False or axis not in (1, 3):
            return variance
        dims = _op("shape")(inputs)
        count = _op("cast")(_op("reduce_prod")(_op("stack")([dims[i] for i in around])), variance.dtype)
        return variance * (count / _op("maximum")(count - 1.0, 1.0))

    def _add_updates(self, made, mean, variance, part):
        for held, now in ((mean, made[1]), (variance, made[2])):
            change = held.assign_sub((held - now) * part)
            if change is not None and _core.is_building():
                _graph.get_default_graph().add_to_collection("update_ops", change.op)


class Dropout(Layer):
    """Zeros a part of the inputs in training."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(True, name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs, training=False):
        from .nn import dropout as drop
        if isinstance(training, (bool, int)):
            return drop(inputs, rate=self.rate, noise_shape=self.noise_shape, seed=self.seed) if (
                training) else _op("identity")(inputs)
        from ..._control_flow import cond
        return cond(_op("cast")(training, "bool"),
                    lambda: drop(inputs, rate=self.rate, noise_shape=self.noise_shape, seed=self.seed),
                    lambda: _op("identity")(inputs))


class Flatten(Layer):
    """One dimension beside the batch."""

    def call(self, inputs):
        rest = inputs.shape.as_list()[1:]
        if None not in rest:
            count = 1
            for dim in rest:
                count *= dim
            return _op("reshape")(inputs, [-1, count])
        return _op("reshape")(inputs, [_op("shape")(inputs)[0], -1])


class _Pooling(Layer):
    _kind, _rank = "max", 2

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None,
                 **kwargs):
        super().__init__(True, name, **kwargs)
        self.pool_size, self.strides = _pair(pool_size, self._rank), _pair(strides, self._rank)
        self.padding, self.data_format = padding.upper(), data_format

    def call(self, inputs):
        return _op(f"nn.{self._kind}_pool{self._rank}d")(inputs, self.pool_size, self.strides, self.padding,
                                                         _format(self.data_format, self._rank))


class MaxPooling2D(_Pooling):
    pass


class AveragePooling2D(_Pooling):
    _kind = "avg"


class MaxPooling1D(_Pooling):
    _rank = 1


class AveragePooling1D(_Pooling):
    _kind, _rank = "avg", 1


def _function(cls, *call_words):
    def apply(inputs, *args, name=None, reuse=None, **kwargs):
        called = {word: kwargs.pop(word) for word in call_words if word in kwargs}
        return cls(*args, name=name, _reuse=reuse, _scope=name, **kwargs)(inputs, **called)

    apply.__name__ = _default_name(cls)
    apply.__doc__ = cls.__doc__
    return apply


dense, conv1d, conv2d = _function(Dense), _function(Conv1D), _function(Conv2D)
conv2d_transpose, flatten = _function(Conv2DTranspose), _function(Flatten)
dropout = _function(Dropout, "training")
batch_normalization = _function(BatchNormalization, "training")
max_pooling2d, average_pooling2d = _function(MaxPooling2D), _function(AveragePooling2D)
max_pooling1d, average_pooling1d = _function(MaxPooling1D), _function(AveragePooling1D)

_MISSING = frozenset(("conv3d", "conv3d_transpose", "separable_conv2d", "separable_conv1d", "Conv3D",
                      "Conv3DTranspose", "SeparableConv2D", "max_pooling3d", "average_pooling3d",
                      "experimental", "InputSpec"))


def __getattr__(name):
    if name in _MISSING:
        from .._not_built import not_built
        return not_built("tf.compat.v1.layers." + name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
