"""Images: [height, width, channels], or batches of them."""

from . import _core
from ._image_change import (adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation,
                            convert_image_dtype, grayscale_to_rgb, hsv_to_rgb, per_image_standardization,
                            rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv, yiq_to_rgb, yuv_to_rgb)
from ._image_compare import image_gradients, psnr, sobel_edges, ssim, ssim_multiscale, total_variation
from ._image_crop import (central_crop, crop_and_resize, crop_to_bounding_box, extract_patches, flip_left_right,
                          flip_up_down, pad_to_bounding_box, resize_with_crop_or_pad, resize_with_pad, rot90,
                          transpose)
from ._image_random import (random_brightness, random_contrast, random_crop, random_flip_left_right,
                            random_flip_up_down, random_hue, random_jpeg_quality, random_saturation,
                            stateless_random_brightness, stateless_random_contrast, stateless_random_crop,
                            stateless_random_flip_left_right, stateless_random_flip_up_down, stateless_random_hue,
                            stateless_random_jpeg_quality, stateless_random_saturation)
from ._names import namespace
from .io import (decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, encode_jpeg,
                 encode_png, extract_jpeg_shape, is_jpeg)
from ._image_change import adjust_jpeg_quality

__getattr__, __dir__ = namespace(__name__, "image")


class ResizeMethod:
    """Names of ways to resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


del _core
