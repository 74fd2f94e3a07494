"""Steps with a gradient of their own: tf.custom_gradient, tf.stop_gradient, tf.grad_pass_through."""

import numpy as np
import pytest


@pytest.fixture(params=["eager", "function"])
def mode(tf, request):
    return (lambda f: f) if request.param == "eager" else tf.function


def log1pexp(tf):
    @tf.custom_gradient
    def f(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    return f


def test_the_example_of_the_manual(tf, mode):
    f = log1pexp(tf)

    @mode
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    y, dy = both(tf.constant([0.0, 1.0, 100.0]))
    np.testing.assert_allclose(y[:2], np.log1p(np.exp([0.0, 1.0])), rtol=1e-6)
    np.testing.assert_allclose(dy, [0.5, 1 / (1 + np.exp(-1)), 1.0], rtol=1e-6)


def test_the_gradient_is_the_one_that_was_given(tf, mode):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 7.0

    @mode
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) * 2.0 + x
        return tape.gradient(y, x)

    assert float(run(tf.constant(3.0))) == 15.0


def test_several_inputs_and_results(tf, mode):
    @tf.custom_gradient
    def f(a, b):
        def grad(da, db):
            return da + 10.0 * db, None
        return (a + b, a * b), grad

    @mode
    def run(a, b):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([a, b])
            s, p = f(a, b)
        return tape.gradient(s, a), tape.gradient(p, a), tape.gradient([s, p], a)

    got = [float(t) for t in run(tf.constant(2.0), tf.constant(3.0))]
    assert got == [1.0, 10.0, 11.0]
    with tf.GradientTape() as tape:
        b = tf.constant(1.0)
        tape.watch(b)
        s, _ = f(tf.constant(1.0), b)
    assert tape.gradient(s, b) is None


def test_variables(tf, mode):
    v = tf.Variable(3.0)
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(upstream, variables=None):
            seen.append(len(variables))
            return upstream * 100.0, [upstream * 10.0]
        return x * v, grad

    @mode
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return (y, *tape.gradient(y, [x, v]))

    assert [float(t) for t in run(tf.constant(2.0))] == [6.0, 100.0, 10.0] and set(seen) == {1}


def test_variables_need_an_argument(tf):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda upstream: upstream

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"):
        with tf.GradientTape() as tape:
            f(tf.constant(1.0))
        del tape


def test_a_wrong_number_of_gradients(tf):
    @tf.custom_gradient
    def f(a, b):
        return a * b, lambda upstream: upstream

    with tf.GradientTape() as tape:
        a = tf.constant(1.0)
        tape.watch(a)
        y = f(a, a)
    with pytest.raises(ValueError):
        tape.gradient(y, a)


def test_identity_as_a_result(tf, mode):
    @tf.custom_gradient
    def flip(x):
        return x, lambda upstream: -upstream

    @mode
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = flip(x) * 3.0
        return y, tape.gradient(y, x)

    y, dy = run(tf.constant([1.0, 2.0]))
    assert y.numpy().tolist() == [3.0, 6.0] and dy.numpy().tolist() == [-3.0, -3.0]


def test_second_derivatives(tf):
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda upstream: upstream * 3.0 * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        dy = inner.gradient(y, x)
    assert float(dy) == 12.0 and float(outer.gradient(dy, x)) == 12.0


def test_in_a_layer_that_is_trained(tf):
    keras = tf.keras

    @tf.custom_gradient
    def clip_gradient(x):
        return tf.identity(x), lambda upstream: tf.clip_by_value(upstream, -0.01, 0.01)

    class Clip(keras.layers.Layer):
        def call(self, x):
            return clip_gradient(x)

    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="ones"),
                              Clip()])
    model.compile(keras.optimizers.SGD(1.0), "mse")
    model.fit(np.ones([1, 1], "float32"), np.full([1, 1], 50.0, "float32"), verbose=0)
    np.testing.assert_allclose(np.asarray(model.get_weights()[0]).ravel(), [1.01], rtol=1e-5)


def test_without_a_tape(tf):
    assert float(log1pexp(tf)(tf.constant(0.0))) == pytest.approx(np.log(2.0))
    assert log1pexp(tf).__name__ == "f"


def test_structures_as_arguments(tf):
    @tf.custom_gradient
    def f(pair):
        a, b = pair
        return {"sum": a + b}, lambda upstream: ((upstream * 2.0, upstream * 3.0),)

    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = f((a, b))["sum"]
    assert [float(t) for t in tape.gradient(y, [a, b])] == [2.0, 3.0]


def test_grad_pass_through(tf):
    x = tf.constant([1.4, 2.6])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.round)(x) * 2.0
    assert y.numpy().tolist() == [2.0, 6.0] and tape.gradient(y, x).numpy().tolist() == [2.0, 2.0]


def test_stop_gradient(tf, mode):
    @mode
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stop_gradient(x * x) * x
        return tape.gradient(y, x)

    assert float(run(tf.constant(3.0))) == 9.0
