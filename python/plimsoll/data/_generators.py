"""Iterators behind from_generator and its kin.

Not Python generators, which end with the first error: what found no memory for an element is asked for it again.
"""

import inspect
import itertools
import random

from ..errors import InvalidArgumentError, ResourceExhaustedError
from . import _spec

_NOTHING = object()


class Checked:
    """Items of a user's generator, as tensors of a signature."""

    def __init__(self, items, spec):
        self._items = iter(items)
        self._spec = spec
        self._waiting = _NOTHING
        self._failed = None  # the message of the error that a generator has ended with

    def __iter__(self):
        return self

    def __next__(self):
        if self._failed is not None:
            raise ResourceExhaustedError(None, None, self._failed)
        if self._waiting is _NOTHING:
            try:
                self._waiting = next(self._items)
            except ResourceExhaustedError as error:
                if inspect.isgenerator(self._items):
                    # It has ended, which is not the end of its items. The error itself has frames that hold the run.
                    self._failed = error.message
                raise
        try:
            made = _spec.checked(self._waiting, self._spec)
        except ResourceExhaustedError:
            raise
        except BaseException:
            self._waiting = _NOTHING
            raise
        self._waiting = _NOTHING
        return made


def make_seed(seed):
    """A seed; without one, the next that follows from tf.random.set_seed, or any."""
    if seed is not None:
        return int(seed)
    from ..dtypes import int32
    from ..random import uniform
    return int(uniform([], 0, 2**31 - 1, int32))


class Draws:
    """Numbers of datasets, at random by weight."""

    def __init__(self, weights, seed):
        self._random = random.Random(make_seed(seed))
        self._weights = list(weights)

    def __iter__(self):
        return self

    def __next__(self):
        if not any(self._weights):
            raise StopIteration
        return self._random.choices(range(len(self._weights)), self._weights)[0]

    def leave_out(self, number):
        self._weights[number] = 0.0


class InTurns:
    """Elements of datasets in the order of their numbers."""

    def __init__(self, datasets, numbers, stops):
        self._left = dict(enumerate(map(iter, datasets)))
        self._count = len(self._left)
        self._numbers = iter(numbers)
        self._stops = stops
        self._waiting = None  # the number whose element is wanted

    def __iter__(self):
        return self

    def __next__(self):
        while self._left:
            if self._waiting is None:
                number = next(self._numbers)
                if not 0 <= number < self._count:
                    raise InvalidArgumentError(None, None, f"Selector index out of range: {number} >= {self._count}")
                if number not in self._left:
                    continue
                self._waiting = number
            try:
                element = next(self._left[self._waiting])
            except StopIteration:
                if self._stops:
                    self._left.clear()
                    raise
                del self._left[self._waiting]
                if hasattr(self._numbers, "leave_out"):
                    self._numbers.leave_out(self._waiting)
                self._waiting = None
                continue
            except ResourceExhaustedError:
                raise
            except BaseException:
                self._waiting = None
                raise
            self._waiting = None
            return element
        raise StopIteration


class InSizes:
    """Batches of elements, of sizes that come in turn."""

    def __init__(self, elements, sizes, drops):
        self._items = iter(elements)
        self._sizes = itertools.cycle(sizes)
        self._size = next(self._sizes)
        self._drops = drops
        self._waiting = []  # elements of the next batch

    def __iter__(self):
        return self

    def __next__(self):
        from .. import nest, stack
        while len(self._waiting) < self._size:
            try:
                self._waiting.append(next(self._items))
            except StopIteration:
                if self._drops or not self._waiting:
                    raise
                break
        made = nest.map_structure(lambda *rows: stack(rows), *self._waiting)
        self._waiting.clear()
        self._size = next(self._sizes)
        return made


class Resampled:
    """Pairs of a class and an element, dropped at random until classes have the shares that are wanted."""

    def __init__(self, pairs, target, initial, seed):
        self._items = iter(pairs)
        self._target = target
        self._initial = initial
        self._counts = [1.0] * len(target)  # of classes so far, if nobody says how many there are
        self._random = random.Random(make_seed(seed))

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            pair = next(self._items)
            number = int(pair[0])
            self._counts[number] += 1.0
            share = self._initial or [c / sum(self._counts) for c in self._counts]
            ratios = [t / s if s > 0 else 0.0 for t, s in zip(self._target, share)]
            if self._random.random() * max(ratios) < ratios[number]:
                return pair
