"""Images and datasets of folders, as keras.utils has them."""

import os

IMAGE_ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")


def _tf():
    import plimsoll
    return plimsoll


def load_img(path, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """An image of a file, as an array of bytes [height, width, channels]. (In Keras it is one of PIL.)"""
    tf = _tf()
    channels = _channels(color_mode)
    image = tf.io.decode_image(tf.io.read_file(os.fspath(path)), channels=channels, expand_animations=False)
    if target_size is not None:
        height, width = target_size
        if keep_aspect_ratio:
            image = _cut_to_ratio(image, height, width)
        if (height, width) != tuple(image.shape[:2]):
            resized = tf.image.resize(image, [height, width], method=_method(interpolation))
            image = tf.saturate_cast(tf.round(resized) if resized.dtype.is_floating else resized, tf.uint8)
    return image.numpy()


def _channels(color_mode):
    if color_mode not in ("grayscale", "rgb", "rgba"):
        raise ValueError(f"`color_mode` must be one of {{'rgb', 'rgba', 'grayscale'}}. Received: color_mode={color_mode}")
    return {"grayscale": 1, "rgb": 3, "rgba": 4}[color_mode]


_METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


def _method(interpolation):
    if interpolation not in _METHODS:
        raise NotImplementedError(f"Value not recognized for `interpolation`: {interpolation}. Supported values are: "
                                  f"{_METHODS}")
    return interpolation


def _cut_to_ratio(image, height, width):
    """The middle of an image that has the ratio of height and width."""
    rows, columns = image.shape[-3], image.shape[-2]
    tall, wide = min(rows, int(columns * height / width)), min(columns, int(rows * width / height))
    top, left = (rows - tall) // 2, (columns - wide) // 2
    return image[..., top:top + tall, left:left + wide, :]


def img_to_array(img, data_format=None, dtype=None):
    """An image as an array of floats."""
    import numpy
    array = numpy.asarray(img, dtype or "float32")
    if array.ndim == 2:
        array = array.reshape(*array.shape, 1)
    if array.ndim != 3:
        raise ValueError(f"Unsupported image shape: {array.shape}")
    if data_format == "channels_first":
        return array.transpose(2, 0, 1)
    if data_format not in (None, "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return array


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """An array as an image of bytes; scale: its values from 0 to 255. (In Keras it is one of PIL.)"""
    import numpy
    array = numpy.asarray(x, dtype or "float32")
    if array.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {array.shape}")
    if data_format == "channels_first":
        array = array.transpose(1, 2, 0)
    if scale:
        array = array - array.min()
        largest = array.max()
        array = array / largest * 255 if largest else array
    if array.shape[2] not in (1, 3, 4):
        raise ValueError(f"Unsupported channel number: {array.shape[2]}")
    return array.astype("uint8")


def save_img(path, x, data_format=None, file_format=None, scale=True):
    """Writes an array as PNG or JPEG."""
    tf = _tf()
    image = array_to_img(x, data_format, scale)
    kind = (file_format or os.path.splitext(os.fspath(path))[1].lstrip(".")).lower()
    if kind in ("jpg", "jpeg"):
        tf.io.write_file(os.fspath(path), tf.io.encode_jpeg(image[..., :3], quality=75))
    elif kind == "png":
        tf.io.write_file(os.fspath(path), tf.io.encode_png(image))
    else:
        raise ValueError(f"images are written as PNG and JPEG, got {path!r}")


def smart_resize(x, size, interpolation="bilinear", data_format="channels_last", backend_module=None):
    """Resized without distortion: what does not fit the ratio is cut off."""
    import numpy
    tf = _tf()
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers, but got: {size}.")
    made = tf.image.resize(_cut_to_ratio(tf.convert_to_tensor(x), *size), size, method=_method(interpolation))
    return made.numpy() if isinstance(x, numpy.ndarray) else made


def _index(directory, labels, endings, class_names, shuffle, seed, follow_links, verbose):
    """Files below a folder, the number of the class of each, and names of classes."""
    import numpy
    is_inferred = isinstance(labels, str) and labels == "inferred"
    folders = [""]
    if is_inferred:
        folders = sorted(name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name))
                         and not name.startswith("."))
        if class_names is not None:
            if not set(class_names) <= set(folders):
                raise ValueError("The `class_names` passed did not match the names of the subdirectories of the target "
                                 f"directory. Expected: {folders} (or a subset of it), but received: "
                                 f"class_names={class_names}")
            folders = list(class_names)
    files, numbers = [], []
    for number, folder in enumerate(folders):
        for root, _, names in sorted(os.walk(os.path.join(directory, folder), followlinks=follow_links)):
            for name in sorted(names):
                if name.lower().endswith(endings):
                    files.append(os.path.join(root, name))
                    numbers.append(number)
    if labels is None:
        folders = None
    elif not is_inferred:
        if len(labels) != len(files):
            raise ValueError("Expected the lengths of `labels` to match the number of files in the target directory. "
                             f"len(labels) is {len(labels)} while we found {len(files)} files in directory {directory}.")
        numbers = list(labels)
        folders = [str(label) for label in sorted(set(labels))]
    if verbose:
        print(f"Found {len(files)} files" + ("." if labels is None else f" belonging to {len(folders)} classes."))
    if shuffle:
        seed = numpy.random.randint(1000000) if seed is None else seed
        for items in (files, numbers):
            numpy.random.RandomState(seed).shuffle(items)
    return files, numbers, folders


def _check_folder(labels, label_mode, class_names, validation_split, subset, shuffle, seed):
    """Arguments of a dataset of a folder, in Keras' words."""
    if not (labels is None or isinstance(labels, (list, tuple)) or hasattr(labels, "tolist")
            or (isinstance(labels, str) and labels == "inferred")):
        raise ValueError("`labels` argument should be a list/tuple of integer labels, of the same size as the number of "
                         "files in the target directory; \"inferred\", if they are the names of its subdirectories; or "
                         f"None, if there are none. Received: labels={labels}")
    if class_names is not None and not (isinstance(labels, str) and labels == "inferred"):
        raise ValueError("You can only pass `class_names` if `labels=\"inferred\"`. Received: "
                         f"labels={labels}, and class_names={class_names}")
    if label_mode not in ("int", "categorical", "binary", None):
        raise ValueError("`label_mode` argument must be one of \"int\", \"categorical\", \"binary\", or None. Received: "
                         f"label_mode={label_mode}")
    if validation_split and not 0 < validation_split < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {validation_split}")
    if bool(validation_split) != bool(subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in ("training", "validation", "both", None):
        raise ValueError(f"`subset` must be either \"training\", \"validation\" or \"both\", received: {subset}")
    if validation_split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, to make "
                         "sure that there is no overlap between the training and validation subset.")


def _split(items, validation_split, subset, what=None):
    """The part of the files that a subset has."""
    if not validation_split:
        return items
    count = int(validation_split * len(items))
    if subset == "training":
        if what:
            print(f"Using {len(items) - count} {what} for training.")
        return items[:-count]
    if what:
        print(f"Using {count} {what} for validation.")
    return items[-count:]


def _labels(numbers, label_mode, num_classes):
    tf = _tf()
    labels = tf.data.Dataset.from_tensor_slices(numbers)
    if label_mode == "binary":
        return labels.map(lambda x: tf.expand_dims(tf.cast(x, tf.float32), -1))
    if label_mode == "categorical":
        return labels.map(lambda x: tf.one_hot(x, num_classes))
    return labels


def _folder_dataset(read, endings, directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                    validation_split, subset, follow_links, verbose):
    tf = _tf()
    _check_folder(labels, label_mode, class_names, validation_split, subset, shuffle, seed)
    if labels is None or label_mode is None:
        labels = label_mode = None
    files, numbers, found = _index(directory, labels, endings, class_names, shuffle, seed, follow_links, verbose)
    if label_mode == "binary" and len(found) != 2:
        raise ValueError("When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. Received: "
                         f"class_names={found}")

    def make(part, shuffles):
        paths = _split(files, validation_split, part, "files" if verbose else None)
        if not paths:
            raise ValueError(f"No files found in directory {directory}. Allowed formats: {endings}")
        made = tf.data.Dataset.from_tensor_slices(paths)
        if label_mode is not None:
            made = tf.data.Dataset.zip((made, _labels(_split(numbers, validation_split, part), label_mode, len(found))))
        if shuffles:  # names, before there are images
            made = made.shuffle(batch_size * 8 if batch_size else 1024, seed=seed)
        made = made.map(read if label_mode is None else lambda path, label: (read(path), label),
                        num_parallel_calls=tf.data.AUTOTUNE)
        if batch_size is not None:
            made = made.batch(batch_size)
        made = made.prefetch(tf.data.AUTOTUNE)
        made.class_names, made.file_paths = found, paths
        return made

    if subset == "both":
        return [make("training", shuffle), make("validation", False)]
    return make(subset, shuffle)


def image_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb",
                                 batch_size=32, image_size=(256, 256), shuffle=True, seed=None, validation_split=None,
                                 subset=None, interpolation="bilinear", follow_links=False,
                                 crop_to_aspect_ratio=False, pad_to_aspect_ratio=False, data_format=None, format="tf",
                                 verbose=True):
    """Batches of images of a folder; folders in it are the classes."""
    tf = _tf()
    channels = _channels(color_mode)
    if interpolation not in _METHODS:
        raise ValueError(f"Argument `interpolation` should be one of {_METHODS}. Received: interpolation={interpolation}")
    if len(image_size) != 2:
        raise ValueError(f"Invalid `image_size` value. Expected a tuple of 2 integers. Received: image_size={image_size}")
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`.")
    data_format = data_format or tf.keras.config.image_data_format()
    height, width = image_size

    def read(path):
        image = tf.io.decode_image(tf.io.read_file(path), channels=channels, expand_animations=False)
        if pad_to_aspect_ratio:
            image = tf.image.resize_with_pad(image, height, width, method=interpolation)
        else:
            image = _cut_to_ratio(image, height, width) if crop_to_aspect_ratio else image
            image = tf.image.resize(image, [height, width], method=interpolation)
        return tf.transpose(image, [2, 0, 1]) if data_format == "channels_first" else image

    return _folder_dataset(read, IMAGE_ENDINGS, directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                           validation_split, subset, follow_links, verbose)


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                max_length=None, shuffle=True, seed=None, validation_split=None, subset=None,
                                follow_links=False, format="tf", verbose=True):
    """Batches of the texts of a folder; folders in it are the classes."""
    tf = _tf()

    def read(path):
        text = tf.io.read_file(path)
        return text if max_length is None else tf.constant(text.numpy()[:max_length])

    return _folder_dataset(read, (".txt",), directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                           validation_split, subset, follow_links, verbose)


def timeseries_dataset_from_array(data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128,
                                  shuffle=False, seed=None, start_index=None, end_index=None):
    """Windows of rows that follow each other, with the targets of their beginnings."""
    import numpy
    tf = _tf()
    for name, value in (("sequence_length", sequence_length), ("sampling_rate", sampling_rate),
                        ("sequence_stride", sequence_stride)):
        if value <= 0:
            raise ValueError(f"`{name}` must be higher than 0. Received: {name}={value}")
    for name, value in (("start_index", start_index), ("end_index", end_index)):
        if value and (value < 0 or value >= len(data)):
            raise ValueError(f"`{name}` must be 0 or greater, and lower than the length of the data. Received: "
                             f"{name}={value}, for data of length {len(data)}")
    if start_index and end_index and end_index <= start_index:
        raise ValueError(f"`end_index` must be higher than `start_index`. Received: start_index={start_index}, and "
                         f"end_index={end_index}")
    first = start_index or 0
    end = len(data) if end_index is None else end_index
    count = end - first - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    starts = numpy.arange(0, max(count, 0), sequence_stride, dtype="int64")
    rows = tf.convert_to_tensor(data)
    steps = tf.constant(numpy.arange(sequence_length, dtype="int64") * sampling_rate + first)
    if shuffle:
        numpy.random.RandomState(numpy.random.randint(1000000) if seed is None else seed).shuffle(starts)
    dataset = tf.data.Dataset.from_tensor_slices(starts)
    if targets is None:
        dataset = dataset.map(lambda at: tf.gather(rows, at + steps))
    else:
        wanted = tf.convert_to_tensor(targets)
        dataset = dataset.map(lambda at: (tf.gather(rows, at + steps), tf.gather(wanted, at + first)))
    if batch_size is not None:
        if shuffle:
            dataset = dataset.shuffle(batch_size * 8, seed=seed)
        dataset = dataset.batch(batch_size)
    return dataset.prefetch(tf.data.AUTOTUNE)
