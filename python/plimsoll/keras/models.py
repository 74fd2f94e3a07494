"""keras.models."""

from ._model import Model, Sequential, clone_model, model_from_json
from .saving import load_model, save_model

__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]
