"""tf.compat.v2: the names of the second version, which are those of the package."""


def __getattr__(name):
    import plimsoll
    return getattr(plimsoll, name)


def __dir__():
    import plimsoll
    return dir(plimsoll)
