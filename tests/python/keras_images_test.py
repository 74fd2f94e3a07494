"""Images as arrays in keras.utils. (Keras itself needs PIL for these.)"""

import numpy as np


def test_arrays_of_images(tf, tmp_path):
    utils = tf.keras.utils
    assert utils.img_to_array(np.zeros([4, 5], np.uint8)).shape == (4, 5, 1)
    image = np.array([[[0, 100, 200]]], np.float32)
    assert np.asarray(utils.array_to_img(image)).tolist() == [[[0, 127, 255]]]
    path = str(tmp_path / "a.png")
    utils.save_img(path, np.arange(12, dtype=np.float32).reshape(2, 2, 3), scale=False)
    assert np.asarray(utils.load_img(path)).tolist() == np.arange(12).reshape(2, 2, 3).tolist()
    assert utils.img_to_array(utils.load_img(path, target_size=(4, 6))).shape == (4, 6, 3)
    assert utils.img_to_array(utils.load_img(path, color_mode="grayscale")).shape == (2, 2, 1)
