"""Runs through a dataset."""

from .. import _core


_NOTHING = object()


class Optional:
    """An element that may not be there."""

    def __init__(self, value, dataset=None):
        self._value = value
        self._dataset = dataset

    @staticmethod
    def from_value(value):
        from ._spec import to_tensors
        return Optional(to_tensors(value))

    @staticmethod
    def empty(element_spec):
        return Optional(_NOTHING)

    def has_value(self, name=None):
        from .. import constant
        return constant(self._value is not _NOTHING)

    def get_value(self, name=None):
        if self._value is _NOTHING:
            from ..errors import InvalidArgumentError
            raise InvalidArgumentError(None, None, "The given optional does not have a value.")
        return self._value

    @property
    def element_spec(self):
        from ._spec import of_element
        return self._dataset.element_spec if self._dataset is not None else of_element(self._value)


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
        """The next element, or none at the end."""
        try:
            return Optional(next(self), self._dataset)
        except StopIteration:
            return Optional(_NOTHING, self._dataset)

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
