"""Applications of Keras as files of Keras 3.15 and 2.15: loaded here, called, trained a step, saved and loaded by Keras.

keras_fixture.py makes the files and says what they are compared with. The tolerance is 1e-4 of the spread of the
logits, or three times what TensorFlow differs from itself without oneDNN where that is more. A step of training is
compared with the same step in float64, from which it may be three times as far as TensorFlow's in float32.
"""

import numpy as np
import pytest

from keras_file_peer import check_equal, fixture, full_only, load_here, weights_of
from keras_fixture import RATE, difference, logits_of, numbered, randomise, step_differences, take_statistics
from keras_peer import Server, decode, encode

KERAS3 = ["MobileNetV2", "MobileNetV3Small", "EfficientNetB0", "NASNetMobile", "DenseNet121", "InceptionV3", "ResNet50",
          "ConvNeXtTiny"]
KERAS2 = ["MobileNetV2", "MobileNetV3Small", "EfficientNetB0"]
# Those whose .h5 files Keras 3.15 writes and cannot read.
UNREADABLE = ["ConvNeXtTiny", "ConvNeXtSmall", "ConvNeXtBase", "ConvNeXtLarge", "ConvNeXtXLarge", "MobileNetV3Small",
              "MobileNetV3Large", "InceptionResNetV2"]
FILES = [(dialect, name, ending) for dialect, names in (("keras3", KERAS3), ("keras2", KERAS2)) for name in names
         for ending in ("h5", "keras")]


def marked(cases):
    """The first application runs always, the others when everything is wanted."""
    return [pytest.param(*case, id="-".join(case),
                         marks=[] if case[:2] == ("keras3", "MobileNetV2") else full_only) for case in cases]


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


@pytest.mark.parametrize("dialect,name,ending", marked(FILES))
def test_load(server, tmp_path, dialect, name, ending):
    folder, made = fixture(name, dialect)
    request = dict(dump=tmp_path / "tensors", x=made["x"], logits=True)
    if "layers" in made:
        request["layers"] = made["layers"].tolist()
    loaded = load_here(server, folder / f"{name}.{ending}", **request)
    check_equal(loaded.tensors("weights"), numbered(made, "w"))
    tolerance = max(1e-4, 3 * float(made["own_logits"]))
    found = difference(decode(loaded["logits"]), made["logits"])
    print(f"{name}.{ending} ({dialect}): logits differ by {found:.1e} of their spread, tolerance {tolerance:.1e}")
    assert found <= tolerance
    y = loaded.tensors("outputs")[0]
    np.testing.assert_allclose(y, made["y"], rtol=0, atol=tolerance * max(1.0, np.std(made["logits"])))
    if "layers" in made:
        # Of the first image alone there, of both here.
        ours, theirs = loaded.tensors("layers"), numbered(made, "l")
        for layer, a, b, own in zip(made["layers"], ours, theirs, made["own_layers"]):
            assert difference(a[:1], b) <= max(1e-4, 3 * own), layer


@pytest.mark.parametrize("dialect,name", [pytest.param(*case.values[:2], id=case.id.rsplit("-", 1)[0], marks=case.marks)
                                          for case in marked(FILES) if case.values[2] == "keras"])
def test_step(server, tmp_path, dialect, name):
    folder, made = fixture(name, dialect)
    optimizer = {"module": "keras.optimizers", "class_name": "SGD", "config": {"learning_rate": RATE},
                 "registered_name": None}
    loaded = load_here(server, folder / f"{name}.keras", dump=tmp_path / "tensors", compile=False,
                       train={"compile": {"optimizer": optimizer, "loss": "sparse_categorical_crossentropy"},
                              "batches": [encode([made["x"], made["label"]])]})
    loss, truth = loaded["logs"][0]["loss"], float(made["true_loss"])
    own_loss = abs(float(made["loss"]) - truth) / abs(truth)
    assert abs(loss - truth) / abs(truth) <= max(1e-5, 3 * own_loss)
    before, after = numbered(made, "w"), numbered(made, "d")
    found = step_differences(before, loaded.tensors("trained"), after)
    theirs = step_differences(before, numbered(made, "t"), after)
    if dialect == "keras2":
        # Its fused normalisation keeps n / (n - 1) times the variance; in float64 it has none, like Keras 3.
        theirs = theirs[["moving_variance" not in path for path in loaded["weight_paths"]]]
    print(f"{name} ({dialect}): loss {loss:.6f} and {truth:.6f}; changes of weights are off by {found.max():.1e} at most, "
          f"{np.median(found):.1e} usually; TensorFlow's by {theirs.max():.1e} and {np.median(theirs):.1e}")
    # Rounding decides on which side of a ReLU a few values are, and with them on many small changes at once.
    for part in (0.5, 0.9, 1):
        assert np.quantile(found, part) <= max(1e-4, 3 * np.quantile(theirs, part)), f"weight {int(np.argmax(found))}"


@pytest.mark.parametrize("dialect,name,ending", marked(FILES))
def test_save(server, tmp_path, dialect, name, ending):
    """Written here, read by Keras 3.15: also what it could not read before, and what Keras 2 wrote."""
    import keras

    folder, made = fixture(name, dialect)
    saved = tmp_path / f"again.{ending}"
    load_here(server, folder / f"{name}.{ending}", dump=tmp_path / "tensors", save=[str(saved)])
    model = keras.models.load_model(saved)
    check_equal(weights_of(model), numbered(made, "w"))
    found = difference(logits_of(model, made["x"]), made["logits"])
    assert found <= max(1e-5, 2 * float(made["own_logits"]))


OTHERS = ["MobileNet", "ResNet50V2", "ResNet101", "ResNet101V2", "ResNet152", "ResNet152V2", "DenseNet169", "DenseNet201",
          "VGG16", "VGG19", "MobileNetV3Large", "EfficientNetB1", "EfficientNetB2", "EfficientNetB3", "EfficientNetB4",
          "EfficientNetB5", "EfficientNetB6", "EfficientNetB7", "EfficientNetV2B0", "EfficientNetV2B1",
          "EfficientNetV2B2", "EfficientNetV2B3", "EfficientNetV2S", "EfficientNetV2M", "EfficientNetV2L",
          "ConvNeXtSmall", "ConvNeXtBase", "NASNetLarge", "Xception", "InceptionResNetV2"]
# Of smaller images the last layers would normalise single values, and blow rounding up.
OTHER_SIZE = 96


@full_only
@pytest.mark.parametrize("name", OTHERS)
def test_other_applications(server, tmp_path, name):
    """Small images and few classes, random scales and statistics: both kinds of file, weights and logits."""
    import keras

    rng = np.random.default_rng(3)
    keras.utils.set_random_seed(3)
    shape = (OTHER_SIZE, OTHER_SIZE, 3)
    model = getattr(keras.applications, name)(weights=None, input_shape=shape, classes=7)
    randomise(model, rng)
    take_statistics(model, rng.uniform(0, 255, (8, *shape)).astype("f4"))
    x = rng.uniform(0, 255, (4, *shape)).astype("f4")
    logits, weights = logits_of(model, x), weights_of(model)
    own = difference(logits_of(model, (x * (1 + 2e-7)).astype("f4")), logits)  # by the last bits of x
    for ending in ("h5", "keras"):
        path = tmp_path / f"model.{ending}"
        model.save(path)
        loaded = load_here(server, path, dump=tmp_path / "tensors", x=x, logits=True)
        check_equal(loaded.tensors("weights"), weights)
        found = difference(decode(loaded["logits"]), logits)
        print(f"{name}.{ending}: logits differ by {found:.1e} of their spread, by the last bits of x by {own:.1e}")
        assert found <= max(1e-4, 3 * own)
        path.unlink()


@full_only
@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_for_keras(server, tmp_path, name):
    """The files themselves, with fresh weights: the largest have gigabytes, and only few of those would be looked at."""
    import keras

    model = getattr(keras.applications, name)(weights=None, input_shape=(64 if "MobileNet" in name else 96,) * 2 + (3,),
                                              classes=5)
    path = tmp_path / "unreadable.h5"
    model.save(path)
    with pytest.raises((TypeError, ValueError)):
        keras.models.load_model(path)
    loaded = load_here(server, path, dump=tmp_path / "tensors")
    check_equal(loaded.tensors("weights"), weights_of(model))
