"""Names that stand for others, and versions."""

import pytest


@pytest.mark.parametrize("name, has", [
    ("metrics", "Mean"), ("losses", "MeanSquaredError"), ("optimizers", "Adam"), ("initializers", "GlorotUniform")])
def test_of_keras(tf, name, has):
    assert getattr(getattr(tf, name), has) is getattr(getattr(tf.keras, name), has)


def test_versions(tf):
    assert tf.__version__ == tf.version.VERSION == tf.compat.v1.__version__
    assert int(tf.__version__.split(".")[0]) >= 2


def test_preprocessing(tf):
    old, utils = tf.keras.preprocessing, tf.keras.utils
    for name in ("image_dataset_from_directory", "text_dataset_from_directory", "timeseries_dataset_from_array"):
        assert getattr(old, name) is getattr(utils, name)
    for name in ("load_img", "save_img", "img_to_array", "array_to_img"):
        assert getattr(old.image, name) is getattr(utils, name)
    assert callable(old.image.smart_resize)
    assert {"image", "sequence", "text"} <= set(dir(old))
