"""Pictures of 10 classes, 32 x 32 x 3: (x_train, y_train), (x_test, y_test)."""

from ._cifar import opener_of, read_batch


def load_data():
    import numpy
    batches = opener_of("cifar-10-batches-py", "cifar-10-python.tar.gz",
                        "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz")
    parts = [read_batch(batches, f"data_batch_{i}") for i in range(1, 6)]
    x_train, y_train = (numpy.concatenate(part) for part in zip(*parts))
    return (x_train, y_train), read_batch(batches, "test_batch")
