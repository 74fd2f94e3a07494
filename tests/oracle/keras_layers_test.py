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
    kwargs.update(case.options)
    if case.mask is not None:
        kwargs["mask"] = tf.nest.map_structure(tf.constant, case.mask)
    if case.passes_training:
        kwargs["training"] = training
    if case.carried is not None:
        from keras.src.backend.common.masking import set_keras_mask
        masks = case.carried if isinstance(tensors, list) else [case.carried]
        for t, mask in zip(tf.nest.flatten(tensors), masks):
            if mask is not None:
                set_keras_mask(t, tf.constant(mask))
    watched = [t for t in tf.nest.flatten(tensors) if t.dtype.is_floating]
    with tf.GradientTape() as tape:
        for t in watched:
            tape.watch(t)
        called = case.call(layer, tensors) if case.call else layer(tensors, **kwargs)
        outputs = tf.nest.flatten(called)
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
    return ([o.numpy() for o in outputs], [l.numpy() for l in losses], seeds,
            gradients[:len(watched)], gradients[len(watched):], masks_of(outputs))


def masks_of(outputs):
    from keras.src.backend.common.masking import get_keras_mask
    masks = [get_keras_mask(o) for o in outputs]
    return [np.array(m) for m in masks if m is not None]


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
    inputs = case.inputs
    layer(inputs, **case.named, **case.options) if case.build_by_call and not case.call else layer.build(
        keras.tree.map_structure(lambda a: tuple(np.asarray(a).shape), inputs))
    if case.random_weights:
        randomise(layer, np.random.default_rng(3))
    weights = [np.array(w) for w in layer.get_weights()]
    outputs, losses, seeds, input_gradients, weight_gradients, masks = keras_side(
        case, layer, inputs, training, None)

    reply = server.ask("layer", layer=config_of(layer), inputs=encode(inputs),
                       named=encode(case.named) or None, mask=encode(case.mask if case.carried is None else case.carried),
                       options=case.options or None, training=training,
                       partial=without_batch(inputs) if case.partial else None, weights=encode(weights), traced=case.traced, seeds=encode(seeds) if case.gradients else None)
    assert reply["config"] == config_of(layer)["config"]
    assert [path.split("/")[-1] for path in reply["weight_names"]] == [w.name for w in layer.weights]
    ours = decode(reply["outputs"])
    assert len(ours) == len(outputs)
    for i, (a, b) in enumerate(zip(ours, outputs)):
        close(a, b, case, f"output {i}")
        assert reply["output_shapes"][i] == list(b.shape)
    if case.carried is not None:
        assert [m.astype(bool).tolist() for m in decode(reply["masks"])] == [m.tolist() for m in masks]
    for i, (a, b) in enumerate(zip(decode(reply["losses"]), losses)):
        close(a, b, case, f"loss {i}")
    for i, (a, b) in enumerate(zip(decode(reply["weights"]), layer.get_weights())):
        close(a, b, case, f"weight {i} after the call")
    if case.gradients:
        for i, (a, b) in enumerate(zip(decode(reply["input_gradients"]), input_gradients)):
            close(a, b, case, f"gradient by input {i}")
        for i, (a, b) in enumerate(zip(decode(reply["weight_gradients"]), weight_gradients)):
            close(a, b, case, f"gradient by weight {layer.trainable_weights[i].path}")
    if "partial_shapes" in reply:
        assert reply["partial_shapes"] == keras_partial_shapes(layer, inputs)
    if case.traced:
        same_in_a_function(case, reply)


def without_batch(inputs):
    """The shapes of the inputs, with batches of unknown size."""
    if isinstance(inputs, dict):
        return None
    if isinstance(inputs, list):
        return [without_batch(item) for item in inputs]
    return [None, *np.asarray(inputs).shape[1:]]


def keras_partial_shapes(layer, inputs):
    import keras

    symbolic = keras.tree.map_structure(
        lambda a: keras.KerasTensor((None, *np.asarray(a).shape[1:]), dtype=str(np.asarray(a).dtype)), inputs)
    outputs = keras.tree.flatten(layer.compute_output_spec(symbolic))
    return [list(o.shape) for o in outputs]


def same_in_a_function(case, reply):
    for what in ("outputs", "weights"):
        for i, (a, b) in enumerate(zip(decode(reply[f"traced_{what}"]), decode(reply[what]))):
            close(a, b, case, f"{what} {i} in a function")
    if case.gradients:
        eager = decode(reply["input_gradients"]) + decode(reply["weight_gradients"])
        for i, (a, b) in enumerate(zip(decode(reply["traced_gradients"]), eager)):
            if b is not None:
                close(a, b, case, f"gradient {i} in a function")
