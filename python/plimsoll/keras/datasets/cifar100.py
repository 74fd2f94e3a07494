"""Pictures of 100 classes, 32 x 32 x 3: (x_train, y_train), (x_test, y_test)."""

from ._cifar import opener_of, read_batch


def load_data(label_mode="fine"):
    if label_mode not in ("fine", "coarse"):
        raise ValueError(f'`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode={label_mode}.')
    batches = opener_of("cifar-100-python", "cifar-100-python.tar.gz",
                        "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz")
    key = label_mode + "_labels"
    return read_batch(batches, "train", key), read_batch(batches, "test", key)
