"""keras.preprocessing.image."""

from ..utils import array_to_img, img_to_array, load_img, save_img, smart_resize
from . import not_built

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img", "smart_resize"]

__getattr__ = not_built("image", (
    "DirectoryIterator", "ImageDataGenerator", "Iterator", "NumpyArrayIterator", "apply_affine_transform",
    "apply_brightness_shift", "apply_channel_shift", "random_brightness", "random_channel_shift", "random_rotation",
    "random_shear", "random_shift", "random_zoom"))
