"""Every optimizer against Keras itself: configuration, weights and slots after each of 20 steps, eagerly and
as a function."""

import json

import numpy as np
import pytest

from keras_peer import Refused, Server, config_of, decode, encode

NUM_STEPS = 20


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


def floats(*shape, seed, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


def make_case(keras, gradient_scale=1.0, num_steps=NUM_STEPS):
    """Variables and their gradients: a matrix, a bias, a kernel of four dimensions, a scalar."""
    shapes = [(3, 4), (4,), (2, 2, 3, 2), ()]
    names = ["kernel", "bias", "filters", "scale"]
    values = [floats(*shape, seed=i) for i, shape in enumerate(shapes)]
    gradients = [[floats(*shape, seed=100 * step + i, low=-gradient_scale, high=gradient_scale)
                  for i, shape in enumerate(shapes)] for step in range(num_steps)]
    variables = [keras.Variable(value, name=name) for value, name in zip(values, names)]
    return names, values, gradients, variables


OPTIMIZERS = {
    "sgd": lambda o, **kw: o.SGD(**kw),
    "sgd_momentum": lambda o, **kw: o.SGD(0.05, momentum=0.9, **kw),
    "sgd_nesterov": lambda o, **kw: o.SGD(0.05, momentum=0.8, nesterov=True, **kw),
    "adam": lambda o, **kw: o.Adam(0.01, **kw),
    "adam_amsgrad": lambda o, **kw: o.Adam(0.01, beta_1=0.8, beta_2=0.99, epsilon=1e-4, amsgrad=True, **kw),
}

# Of all optimizers the same code; of each its own.
OPTIONS = {
    "clipnorm": {"clipnorm": 0.5},
    "clipvalue": {"clipvalue": 0.2},
    "global_clipnorm": {"global_clipnorm": 0.7},
    "weight_decay": {"weight_decay": 0.1},
    "ema": {"use_ema": True, "ema_momentum": 0.9},
    "ema_overwrite": {"use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 3},
    "loss_scale": {"loss_scale_factor": 8.0},
    "accumulation": {"gradient_accumulation_steps": 3},
    "accumulation_all": {"gradient_accumulation_steps": 4, "global_clipnorm": 0.3, "weight_decay": 0.05,
                         "use_ema": True, "ema_overwrite_frequency": 2},
}


def keras_value(tensor):
    import keras
    return keras.ops.convert_to_numpy(tensor)


def run_keras(optimizer, gradients, variables, rates=None, finalize=False):
    optimizer.build(variables)
    steps = []
    for number, step in enumerate(gradients):
        if rates and str(number) in rates:
            optimizer.learning_rate = rates[str(number)]
        rate = keras_value(optimizer.learning_rate)
        optimizer.apply(step, variables)
        steps.append({"rate": rate, "iterations": int(optimizer.iterations),
                      "variables": [keras_value(v) for v in variables],
                      "slots": [keras_value(v) for v in optimizer.variables]})
    if finalize:
        optimizer.finalize_variable_values(variables)
    return steps, [keras_value(v) for v in variables]


def close(ours, theirs, tolerance, what):
    assert ours.shape == theirs.shape, f"{what}: {ours.shape} here, {theirs.shape} in Keras"
    scale = max(1.0, float(np.max(np.abs(theirs), initial=0)))
    np.testing.assert_allclose(ours.astype("float64"), theirs.astype("float64"), rtol=tolerance,
                               atol=tolerance * scale, err_msg=what)


def compare(reply, steps, final, names, slot_names, tolerance):
    for number, (ours, theirs) in enumerate(zip(reply["steps"], steps)):
        assert ours["iterations"] == theirs["iterations"]
        close(decode(ours["rate"]), theirs["rate"], 1e-6, f"learning rate of step {number}")
        for a, b, name in zip(decode(ours["variables"]), theirs["variables"], names):
            close(a, b, tolerance, f"{name} after step {number}")
        assert len(ours["slots"]) == len(theirs["slots"])
        for a, b, name in zip(decode(ours["slots"]), theirs["slots"], slot_names):
            close(a, b, tolerance, f"{name} after step {number}")
    for a, b, name in zip(decode(reply["final"]), final, names):
        close(a, b, tolerance, f"{name} at the end")


def check(server, optimizer, case, tolerance=2e-6, **request):
    """Both sides, and here also as a function."""
    names, values, gradients, variables = case
    config = config_of(optimizer)
    for name in request.get("exclude", []):
        optimizer.exclude_from_weight_decay(var_names=request["exclude"])
    steps, final = run_keras(optimizer, gradients, variables, request.get("rates"), request.get("finalize"))
    replies = [server.ask("optimizer", optimizer=config, variables=encode(values), names=names,
                          gradients=encode(gradients), traced=traced, **request) for traced in (False, True)]
    for reply in replies:
        assert reply["config"] == config["config"]
        assert reply["config_after"] == json.loads(json.dumps(optimizer.get_config()))
        assert len(reply["names"]) == len(optimizer.variables)
        compare(reply, steps, final, names, reply["names"], tolerance)
    eager, traced = replies
    compare(traced, [{**s, "rate": decode(s["rate"]), "variables": decode(s["variables"]),
                      "slots": decode(s["slots"])} for s in eager["steps"]],
            decode(eager["final"]), names, eager["names"], 1e-6)
    return eager


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(server, name):
    import keras
    check(server, OPTIMIZERS[name](keras.optimizers), make_case(keras))


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", ["sgd_momentum", "adam"])
def test_options(server, name, option):
    import keras
    check(server, OPTIMIZERS[name](keras.optimizers, **OPTIONS[option]), make_case(keras),
          finalize="use_ema" in OPTIONS[option])
