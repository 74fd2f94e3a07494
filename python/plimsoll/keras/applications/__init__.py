"""keras.applications: models are not built here; their files load with keras.models.load_model."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"keras.applications.{name} is not built. Save the model once with Keras, model.save('x.keras') or "
        "'x.h5', and read it with keras.models.load_model('x.keras')")
