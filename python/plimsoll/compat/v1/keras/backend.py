"""tf.compat.v1.keras.backend: sessions that programs hand to Keras."""

from .._space import space

__getattr__, __dir__ = space(__name__, "plimsoll.keras.backend")
_session = None


def set_session(session):
    """Keeps a session for get_session. Its configuration holds already; models need none."""
    global _session
    _session = session


def get_session(op_input_list=()):
    """The default session, else the one that was set, else a new one."""
    from ..._graph import get_default_session
    from ..._session import Session
    global _session
    found = get_default_session()
    if found is not None:
        return found
    if _session is None:
        _session = Session()
    return _session
