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
    "adamw": lambda o, **kw: o.AdamW(0.01, **kw),
    "adamw_amsgrad": lambda o, **kw: o.AdamW(0.01, amsgrad=True, **{"weight_decay": 0.1, **kw}),
    "nadam": lambda o, **kw: o.Nadam(0.01, **kw),
    "adamax": lambda o, **kw: o.Adamax(0.01, **kw),
    "rmsprop": lambda o, **kw: o.RMSprop(0.01, **kw),
    "rmsprop_momentum": lambda o, **kw: o.RMSprop(0.01, momentum=0.5, rho=0.8, **kw),
    "rmsprop_centered": lambda o, **kw: o.RMSprop(0.01, momentum=0.5, centered=True, epsilon=1e-3, **kw),
    "adagrad": lambda o, **kw: o.Adagrad(0.05, initial_accumulator_value=0.3, **kw),
    "adadelta": lambda o, **kw: o.Adadelta(0.5, **kw),
    "ftrl": lambda o, **kw: o.Ftrl(0.05, **kw),
    "ftrl_all": lambda o, **kw: o.Ftrl(0.05, learning_rate_power=-0.3, l1_regularization_strength=0.1,
                                       l2_regularization_strength=0.2, l2_shrinkage_regularization_strength=0.05,
                                       beta=0.3, **kw),
    "lion": lambda o, **kw: o.Lion(0.01, **kw),
    "adafactor": lambda o, **kw: o.Adafactor(0.05, **kw),
    "adafactor_absolute": lambda o, **kw: o.Adafactor(0.05, relative_step=False, clip_threshold=0.5, **kw),
    "lamb": lambda o, **kw: o.Lamb(0.01, **kw),
    "muon": lambda o, **kw: o.Muon(0.01, **kw),
    "muon_plain": lambda o, **kw: o.Muon(0.01, nesterov=False, rms_rate=None, ns_steps=3, adam_lr_ratio=0.5,
                                         exclude_layers=["nothing"], **kw),
    "schedule_free": lambda o, **kw: o.ScheduleFreeAdamW(0.01, **kw),
    "schedule_free_warmup": lambda o, **kw: o.ScheduleFreeAdamW(0.01, warmup_steps=7, **kw),
    "loss_scale": lambda o, **kw: o.LossScaleOptimizer(o.Adam(0.01, **kw), initial_scale=4.0,
                                                       dynamic_growth_steps=3),
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
    assert np.all(np.isfinite(theirs)), f"{what}: nothing to compare with"
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
    if "exclude" in request:
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


def goes_together(name, option):
    """Not: a loss scale of an optimizer that scales itself, and a decay of those that are given one."""
    if name == "loss_scale" and option == "loss_scale":
        return False
    return not (name.startswith("adamw_") and "weight_decay" in OPTIONS[option])


@pytest.mark.parametrize("name,option", [(n, o) for n in OPTIMIZERS for o in OPTIONS if goes_together(n, o)])
def test_options(server, name, option):
    import keras
    options = OPTIONS[option]
    tolerance = 1e-5 if name.startswith("ftrl") else 2e-6  # powers that are subtracted
    check(server, OPTIMIZERS[name](keras.optimizers, **options), make_case(keras, num_steps=12), tolerance,
          finalize="use_ema" in options)


SCHEDULES = {
    "exponential": lambda s: s.ExponentialDecay(0.1, 5, 0.7),
    "exponential_stairs": lambda s: s.ExponentialDecay(0.1, decay_steps=4, decay_rate=0.5, staircase=True, name="e"),
    "piecewise": lambda s: s.PiecewiseConstantDecay([3, 8, 15], [0.1, 0.05, 0.02, 0.01]),
    "polynomial": lambda s: s.PolynomialDecay(0.1, 12, end_learning_rate=0.01, power=2.0),
    "polynomial_cycle": lambda s: s.PolynomialDecay(0.1, 6, power=0.5, cycle=True),
    "inverse_time": lambda s: s.InverseTimeDecay(0.1, 5, 0.5),
    "inverse_time_stairs": lambda s: s.InverseTimeDecay(0.1, 5, 0.5, staircase=True),
    "cosine": lambda s: s.CosineDecay(0.1, 12, alpha=0.1),
    "cosine_warmup": lambda s: s.CosineDecay(0.0, 10, warmup_target=0.2, warmup_steps=5),
    "restarts": lambda s: s.CosineDecayRestarts(0.1, 4),
    "restarts_even": lambda s: s.CosineDecayRestarts(0.1, 5, t_mul=1.0, m_mul=0.8, alpha=0.05),
}


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "Adafactor"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(server, name, optimizer):
    import keras
    schedule = SCHEDULES[name](keras.optimizers.schedules)
    check(server, getattr(keras.optimizers, optimizer)(learning_rate=schedule), make_case(keras), tolerance=5e-6)


def test_constraints(server):
    import keras
    names, values, gradients, variables = make_case(keras)
    constraints = [keras.constraints.MaxNorm(0.5), keras.constraints.NonNeg(), None, None]
    variables = [keras.Variable(value, name=name) for value, name in zip(values, names)]
    for variable, constraint in zip(variables, constraints):
        variable.constraint = constraint
    check(server, keras.optimizers.SGD(0.1), (names, values, gradients, variables),
          constraints=[c and config_of(c) for c in constraints])


def test_excluded_from_decay(server):
    import keras
    check(server, keras.optimizers.AdamW(0.1, weight_decay=0.2), make_case(keras), exclude=["bias", "^sca"])


def test_rates_that_are_set(server):
    import keras
    check(server, keras.optimizers.Adam(0.1), make_case(keras), rates={"5": 0.01, "11": 0.5})


def test_missing_gradients(server):
    import keras
    names, values, gradients, variables = make_case(keras)
    for step in gradients:
        step[1] = None
    for options in [{}, {"global_clipnorm": 0.5}, {"gradient_accumulation_steps": 2},
                    {"use_ema": True, "ema_overwrite_frequency": 4}]:
        variables = [keras.Variable(value, name=name) for value, name in zip(values, names)]
        check(server, keras.optimizers.Adam(0.01, weight_decay=0.1, **options),
              (names, values, gradients, variables))


def test_steps_that_are_not_finite(server):
    import keras
    names, values, gradients, variables = make_case(keras)
    gradients[4][0][0, 0] = np.inf
    gradients[9][2][0, 0, 0, 0] = np.nan
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1, momentum=0.9), initial_scale=8.0,
                                                    dynamic_growth_steps=3)
    check(server, optimizer, (names, values, gradients, variables))


@pytest.mark.parametrize("name", ["adam", "Adam", "ADAM", "sgd", "rmsprop", "RMSprop", "adamw", "lossscaleoptimizer"])
def test_names(server, name):
    import keras
    if name == "lossscaleoptimizer":
        with pytest.raises(Refused, match="inner_optimizer"):
            server.ask("optimizer", optimizer=name, variables=[], names=[], gradients=[])
        return
    reply = server.ask("optimizer", optimizer=name, variables=[], names=[], gradients=[])
    expected = keras.optimizers.get(name).get_config()
    expected["name"] = reply["config"]["name"]
    assert reply["config"] == expected


def test_errors(server):
    def ask(config, gradients=()):
        return server.ask("optimizer", optimizer=config, variables=[], names=[], gradients=list(gradients))

    with pytest.raises(Refused, match="`momentum` must be a float between"):
        ask({"class_name": "SGD", "config": {"momentum": 1.5}})
    with pytest.raises(Refused, match="`l1_regularization_strength` needs to be positive or zero"):
        ask({"class_name": "Ftrl", "config": {"l1_regularization_strength": -1.0}})
    with pytest.raises(Refused, match="`decay_steps` must be > 0. Received: decay_steps=0"):
        ask({"class_name": "SGD", "config": {"learning_rate": {
            "class_name": "CosineDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 0}}}})
    with pytest.raises(Refused, match="learning_rat"):
        ask({"class_name": "SGD", "config": {"learning_rat": 0.1}})
    schedule = {"class_name": "CosineDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 9}}
    with pytest.raises(Refused, match="its learning rate is not settable"):
        server.ask("optimizer", optimizer={"class_name": "SGD", "config": {"learning_rate": schedule}},
                   variables=encode([floats(2, seed=0)]), names=["w"], gradients=encode([[floats(2, seed=1)]]),
                   rates={"0": 0.5})
