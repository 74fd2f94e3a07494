"""keras.optimizers.schedules."""

from .. import _classes
from .._optimizer import LearningRateSchedule
from ..saving import deserialize_keras_object as deserialize
from ..saving import serialize_keras_object as serialize

__getattr__, __dir__ = _classes.module(__name__, "schedules")
