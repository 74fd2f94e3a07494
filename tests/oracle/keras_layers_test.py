"""Every layer against Keras itself: configuration, shapes, values, gradients, masks, losses.

A case is a layer of Keras and what it is called on. The weights are Keras's, or random ones; both sides
compute from them, in training and in inference.
"""


import numpy as np
import pytest

from keras_peer import Server, config_of, decode, encode
from keras_layer_cases import CASES


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


def randomise(layer, rng):
    """Weights of every kind get values that matter: a bias of zeros would hide a missing bias."""
    for variable in layer.weights:
        if "float" not in str(variable.dtype):
            continue
        low, high = (0.5, 1.5) if "variance" in variable.name else (-0.7, 0.7)
        variable.assign(rng.uniform(low, high, variable.shape))


def keras_side(case, layer, inputs, training, seeds):
    import tensorflow as tf

    tensors = tf.nest.map_structure(tf.constant, inputs)
    kwargs = {key: tf.nest.map_structure(tf.constant, value) for key, value in case.named.items()}
    for key, masks in case.carried.items():
        carriers = tf.nest.flatten(tensors if key == "inputs" else kwargs[key])
        for t, mask in zip(carriers, masks if isinstance(masks, list) else [masks]):
            if mask is not None:
                t._keras_mask = tf.constant(mask)
    kwargs.update(case.options)
    if case.mask is not None:
        kwargs["mask"] = tf.nest.map_structure(lambda m: None if m is None else tf.constant(m), case.mask)
    if case.passes_training:
        kwargs["training"] = training
    named = [kwargs[key] for key in case.named]
    watched = [t for t in tf.nest.flatten([tensors, named]) if t is not None and t.dtype.is_floating]
    with tf.GradientTape() as tape:
        for t in watched:
            tape.watch(t)
        called = case.call(layer, tensors) if case.call else layer(tensors, **kwargs)
        outputs = [o for o in tf.nest.flatten(called) if o is not None]
        masks = [getattr(o, "_keras_mask", None) for o in outputs]
        if seeds is None:
            seeds = [np.random.default_rng(5).uniform(-1, 1, o.shape).astype("float32")
                     if o.dtype.is_floating else None for o in outputs]
        target = tf.add_n([tf.reduce_sum(tf.cast(o, "float32") * s)
                           for o, s in zip(outputs, seeds) if s is not None] + [tf.constant(0.0)])
        losses = [tf.identity(loss) for loss in layer.losses]
        if losses:
            target += tf.add_n(losses)
    weights = layer.trainable_weights
    sources = watched + [w.value for w in weights]
    gradients = tape.gradient(target, sources) if case.gradients else [None] * len(sources)
    gradients = [None if g is None else tf.convert_to_tensor(g).numpy() for g in gradients]
    return ([o.numpy() for o in outputs], masks, [l.numpy() for l in losses], seeds,
            gradients[:len(watched)], gradients[len(watched):])


def without_build(config):
    """Keras notes in objects inside others what they were built with."""
    if isinstance(config, dict):
        return {key: without_build(item) for key, item in config.items() if key != "build_config"}
    return [without_build(item) for item in config] if isinstance(config, list) else config


def close(ours, theirs, case, what):
    if theirs is None:  # unconnected
        assert ours is None or not np.any(ours), f"{what}: Keras has none"
        return
    if ours is None:
        assert not np.any(theirs), f"{what}: none here"
        return
    assert list(ours.shape) == list(theirs.shape), f"{what}: {ours.shape} here, {theirs.shape} in Keras"
    if ours.dtype == object:
        assert [str(w) for w in ours.reshape(-1)] == [
            w.decode() if isinstance(w, bytes) else str(w) for w in theirs.reshape(-1)], what
        return
    theirs = theirs.astype("float64")
    scale = max(1.0, np.max(np.abs(theirs), initial=0))
    np.testing.assert_allclose(ours.astype("float64"), theirs, rtol=case.tolerance,
                               atol=case.tolerance * scale, err_msg=what)


@pytest.mark.parametrize("training", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_layer(server, case, training):
    import keras

    if training and case.random_in_training:
        training = False  # its values are random; tests/keras looks at their distribution
    keras.utils.set_random_seed(1)
    layer = case.make(keras)
    made_of = config_of(layer) if case.adapt is not None else None
    if case.adapt is not None:
        layer.adapt(case.adapt)
    inputs = case.inputs
    layer(inputs, **case.named, **case.options) if case.build_by_call and not case.call else layer.build(
        keras.tree.map_structure(lambda a: tuple(np.asarray(a).shape), inputs))
    if case.random_weights:
        randomise(layer, np.random.default_rng(3))
    weights = [np.array(w) for w in layer.get_weights()]
    outputs, masks, losses, seeds, input_gradients, weight_gradients = keras_side(
        case, layer, inputs, training, None)

    traced = case.traced and (case.gradients or case.traced_values)
    reply = server.ask("layer", layer=made_of or config_of(layer), inputs=encode(inputs),
                       named=encode(case.named) or None, mask=encode(case.mask),
                       carried=encode(case.carried) or None, adapt=encode(case.adapt),
                       options=case.options or None, training=training,
                       weights=None if made_of else encode(weights), seeds=encode(seeds) if case.gradients else None,
                       traced=traced, partial=without_batch(inputs) if case.partial and not case.named else None)
    assert without_build(reply["config"]) == without_build(config_of(layer)["config"])
    assert [path.split("/")[-1] for path in reply["weight_names"]] == [w.name for w in layer.weights]
    ours = decode(reply["outputs"])
    assert len(ours) == len(outputs)
    for i, (a, b) in enumerate(zip(ours, outputs)):
        close(a, b, case, f"output {i}")
        assert reply["output_shapes"][i] == list(b.shape)
    for i, (a, b) in enumerate(zip(decode(reply["masks"]), masks)):
        assert (a is None) == (b is None), f"mask of output {i}"
        if b is not None:
            close(a, b.numpy(), case, f"mask of output {i}")
    assert len(reply["losses"]) == len(losses)
    for i, (a, b) in enumerate(zip(decode(reply["losses"]), losses)):
        close(a, b, case, f"loss {i}")
    for i, (a, b) in enumerate(zip(decode(reply["weights"]), layer.get_weights())):
        close(a, b, case, f"weight {i} after the call")
    if case.gradients:
        for i, (a, b) in enumerate(zip(decode(reply["input_gradients"]), input_gradients)):
            close(a, b, case, f"gradient by input {i}")
        for i, (a, b) in enumerate(zip(decode(reply["weight_gradients"]), weight_gradients)):
            close(a, b, case, f"gradient by weight {layer.trainable_weights[i].path}")
    if traced:  # in a function: the same
        gradients = decode(reply["input_gradients"]) + decode(reply["weight_gradients"]) if case.gradients else []
        eager = ours + [g for g in gradients if g is not None]
        in_function = decode(reply["traced"])
        assert len(in_function) == len(eager)
        for i, (a, b) in enumerate(zip(in_function, eager)):
            close(a, b, case, f"result {i} in a function")
    if "partial_shapes" in reply:
        # Keras leaves dimensions of EinsumDense open that it knows, and states some that it does not give:
        # what it really gives is right, too.
        given = [[None, *o.shape[1:]] for o in outputs]
        assert reply["partial_shapes"] in (given, keras_partial_shapes(layer, inputs))


def without_batch(inputs):
    """The shapes of the inputs, with batches of unknown size."""
    if isinstance(inputs, dict):
        return None
    if isinstance(inputs, list):
        return [without_batch(item) for item in inputs]
    return [None, *np.asarray(inputs).shape[1:]]


def keras_partial_shapes(layer, inputs):
    import keras

    def without_values(a):
        a = np.asarray(a)
        return keras.KerasTensor((None, *a.shape[1:]), dtype="string" if a.dtype.kind in "OSU" else str(a.dtype))

    symbolic = keras.tree.map_structure(without_values, inputs)
    outputs = keras.tree.flatten(layer.compute_output_spec(symbolic))
    return [list(o.shape) for o in outputs]
