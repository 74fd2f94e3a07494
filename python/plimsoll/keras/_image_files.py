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


def _method(interpolation):
    known = ("nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
    if interpolation not in known:
        raise NotImplementedError(f"Value not recognized for `interpolation`: {interpolation}. Supported values are: "
                                  f"{known}")
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


def _index(directory, labels, endings, class_names, shuffle, seed, follow_links):
    """Files below a folder, the number of the class of each, and names of classes."""
    import numpy
    folders = sorted(name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name))
                     and not name.startswith("."))
    if labels is None:
        folders = [""]
    elif class_names is not None:
        if set(class_names) != set(folders):
            raise ValueError("The `class_names` passed did not match the names of the subdirectories of the target "
                             f"directory. Expected: {folders}, but received: {class_names}")
        folders = list(class_names)
    files, numbers = [], []
    for number, folder in enumerate(folders):
        for root, _, names in sorted(os.walk(os.path.join(directory, folder), followlinks=follow_links)):
            for name in sorted(names):
                if name.lower().endswith(endings):
                    files.append(os.path.join(root, name))
                    numbers.append(number)
    if isinstance(labels, (list, tuple)) or hasattr(labels, "tolist"):
        if len(labels) != len(files):
            raise ValueError("Expected the lengths of `labels` to match the number of files in the target directory. "
                             f"len(labels) is {len(labels)} while we found {len(files)} files in directory {directory}.")
        numbers = list(labels)
    if labels is None:
        print(f"Found {len(files)} files.")
    else:
        print(f"Found {len(files)} files belonging to {len(folders)} classes.")
    if shuffle:
        seed = numpy.random.randint(1000000) if seed is None else seed
        for items in (files, numbers):
            numpy.random.RandomState(seed).shuffle(items)
    return files, numbers, folders


def _split(items, validation_split, subset):
    """The part of the files that a subset has."""
    if validation_split is None:
        if subset is not None:
            raise ValueError("If `subset` is set, `validation_split` must be set")
        return items
    if not 0 < validation_split < 1:
        raise ValueError("`validation_split` must be between 0 and 1, received: {validation_split}")
    count = int(validation_split * len(items))
    if subset == "training":
        print(f"Using {len(items) - count} files for training.")
        return items[:-count]
    if subset == "validation":
        print(f"Using {count} files for validation.")
        return items[-count:]
    raise ValueError(f"`subset` must be either \"training\", \"validation\" or \"both\", received: {subset}")


def _labelled(dataset, numbers, label_mode, num_classes):
    tf = _tf()
    if label_mode is None:
        return dataset
    labels = tf.data.Dataset.from_tensor_slices(numbers)
    if label_mode == "binary":
        labels = labels.map(lambda x: tf.expand_dims(tf.cast(x, tf.float32), -1))
    elif label_mode == "categorical":
        labels = labels.map(lambda x: tf.one_hot(x, num_classes))
    elif label_mode != "int":
        raise ValueError("`label_mode` argument must be one of \"int\", \"categorical\", \"binary\", or None. Received: "
                         f"label_mode={label_mode}")
    return tf.data.Dataset.zip((dataset, labels))


def _both(make, subset):
    return (make("training"), make("validation")) if subset == "both" else make(subset)


def _folder_dataset(read, endings, directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                    validation_split, subset, follow_links):
    tf = _tf()
    if label_mode == "binary" and class_names is not None and len(class_names) != 2:
        raise ValueError("When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. Received: "
                         f"class_names={class_names}")
    if validation_split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, to make "
                         "sure that there is no overlap between the training and validation subset.")
    if labels is None:
        label_mode = None
    files, numbers, found = _index(directory, labels, endings, class_names, shuffle, seed, follow_links)

    def make(part):
        paths = _split(files, validation_split, part)
        if not paths:
            raise ValueError(f"No files found in directory {directory}. Allowed formats: {endings}")
        dataset = tf.data.Dataset.from_tensor_slices(paths).map(read, num_parallel_calls=tf.data.AUTOTUNE)
        made = _labelled(dataset, _split_quietly(numbers, validation_split, part), label_mode, len(found))
        if shuffle:
            made = made.shuffle((batch_size or 128) * 8, seed=seed)
        if batch_size is not None:
            made = made.batch(batch_size)
        made = made.prefetch(tf.data.AUTOTUNE)
        made.class_names, made.file_paths = found, paths
        return made

    return _both(make, subset)


def _split_quietly(items, validation_split, subset):
    if validation_split is None:
        return items
    count = int(validation_split * len(items))
    return items[:-count] if subset == "training" else items[-count:]


def image_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb",
                                 batch_size=32, image_size=(256, 256), shuffle=True, seed=None, validation_split=None,
                                 subset=None, interpolation="bilinear", follow_links=False,
                                 crop_to_aspect_ratio=False, pad_to_aspect_ratio=False, data_format=None, format="tf",
                                 verbose=True):
    """Batches of images of a folder; folders in it are the classes."""
    tf = _tf()
    channels, method = _channels(color_mode), _method(interpolation)
    height, width = image_size

    def read(path):
        image = tf.io.decode_image(tf.io.read_file(path), channels=channels, expand_animations=False)
        if pad_to_aspect_ratio:
            return tf.image.resize_with_pad(image, height, width, method=method)
        if crop_to_aspect_ratio:
            image = _cut_to_ratio(image, height, width)
        return tf.cast(tf.image.resize(image, [height, width], method=method), tf.float32)

    return _folder_dataset(read, IMAGE_ENDINGS, directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                           validation_split, subset, follow_links)


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                max_length=None, shuffle=True, seed=None, validation_split=None, subset=None,
                                follow_links=False, format="tf", verbose=True):
    """Batches of the texts of a folder; folders in it are the classes."""
    tf = _tf()

    def read(path):
        text = tf.io.read_file(path)
        return text if max_length is None else tf.constant(text.numpy()[:max_length])

    return _folder_dataset(read, (".txt",), directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                           validation_split, subset, follow_links)


def timeseries_dataset_from_array(data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128,
                                  shuffle=False, seed=None, start_index=None, end_index=None):
    """Windows of rows that follow each other, with the targets of their beginnings."""
    import numpy
    tf = _tf()
    for name, value in (("sequence_length", sequence_length), ("sampling_rate", sampling_rate),
                        ("sequence_stride", sequence_stride)):
        if value <= 0:
            raise ValueError(f"`{name}` must be higher than 0. Received: {name}={value}")
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
