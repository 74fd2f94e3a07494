"""Runs through a dataset."""

from .. import _core


class Iterator:
    """One run through a dataset."""

    def __init__(self, dataset):
        self._dataset = dataset  # and with it the functions of its steps
        self._run = _core.DatasetRun(dataset._c)

    def __iter__(self):
        return self

    def __next__(self):
        return self._run.next()

    def get_next(self):
        """The next element; OutOfRangeError at the end."""
        try:
            return next(self)
        except StopIteration:
            from ..errors import OutOfRangeError
            raise OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, "tf.experimental.Optional is not built: get_next() raises "
                                 "OutOfRangeError at the end")

    @property
    def element_spec(self):
        return self._dataset.element_spec


class WindowIterator(Iterator):
    def __next__(self):
        return self._dataset._windows(self._run.next())


class NumpyIterator(Iterator):
    """One run, with arrays and numbers of numpy."""

    def __next__(self):
        return self._run.next_numpy()
