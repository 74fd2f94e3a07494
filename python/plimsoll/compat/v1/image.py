"""tf.compat.v1.image."""

from ._space import space

# Their pixels have other centres than those of tf.image.resize.
__getattr__, __dir__ = space(
    __name__, "plimsoll.image",
    missing=("resize_images", "resize_bilinear", "resize_nearest_neighbor", "resize_bicubic",
             "resize_area", "resize_image_with_pad", "crop_and_resize"))
