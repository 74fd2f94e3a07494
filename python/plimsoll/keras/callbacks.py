"""keras.callbacks."""

from . import _classes
from ._callback import Callback, CallbackList, History, LambdaCallback, LearningRateScheduler

# What Keras has and is not built, and what there is instead.
_INSTEAD = {
    "TensorBoard": "CSVLogger writes the logs of each epoch into a file, and Memory adds memory to them",
    "RemoteMonitor": "a Callback of one's own, or LambdaCallback, can send the logs of on_epoch_end anywhere",
    "ProgbarLogger": "fit itself prints progress: verbose=1 or 2",
    "SwapEMAWeights": "optimizers average weights with use_ema=True, and take them over with ema_overwrite_frequency",
    "OrbaxCheckpoint": "ModelCheckpoint and BackupAndRestore write .keras, .h5 and .weights.h5 files",
}


def _missing(name):
    def refuse(cls, *args, **kwargs):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, f"keras.callbacks.{name} is not built: {_INSTEAD[name]}")

    return type(name, (Callback,), {"__new__": refuse, "__module__": __name__, "__doc__": "Not built."})


def _more(name):
    return _missing(name) if name in _INSTEAD else None


__getattr__, __dir__ = _classes.module(__name__, "callbacks", _more)
