"""tf.compat.v1.flags: those of the package absl where it is installed."""

try:
    from absl.flags import *  # noqa: F401,F403
    from absl.flags import FLAGS  # noqa: F401
except ModuleNotFoundError:
    from ._flags import *  # noqa: F401,F403
    from ._flags import FLAGS  # noqa: F401
