"""Errors, with TensorFlow's names and order."""

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """What an op, or the runtime, reports."""

    def __init__(self, node_def, op, message, error_code, *args):
        super().__init__(node_def, op, message, error_code, *args)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def message(self):
        return self._message

    @property
    def op(self):
        return self._op

    @property
    def node_def(self):
        return self._node_def

    @property
    def error_code(self):
        return self._error_code

    @property
    def experimental_payloads(self):
        return {}

    def __str__(self):
        return self._message

    def __reduce__(self):
        return type(self), (self._node_def, self._op, self._message)


def _make(name, code, doc):
    def __init__(self, node_def, op, message, *args):
        OpError.__init__(self, node_def, op, message, code, *args)

    return type(name, (OpError,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


CancelledError = _make("CancelledError", CANCELLED, "Something else stopped it.")
UnknownError = _make("UnknownError", UNKNOWN, "An error of no other kind.")
InvalidArgumentError = _make("InvalidArgumentError", INVALID_ARGUMENT, "What was given does not fit.")
DeadlineExceededError = _make("DeadlineExceededError", DEADLINE_EXCEEDED, "Time is up.")
NotFoundError = _make("NotFoundError", NOT_FOUND, "A file, a device or a name that is not there.")
AlreadyExistsError = _make("AlreadyExistsError", ALREADY_EXISTS, "It is there already.")
PermissionDeniedError = _make("PermissionDeniedError", PERMISSION_DENIED, "Not allowed.")
ResourceExhaustedError = _make(
    "ResourceExhaustedError", RESOURCE_EXHAUSTED,
    "Out of memory: a limit would be passed. Nothing has changed, and the process goes on.")
FailedPreconditionError = _make("FailedPreconditionError", FAILED_PRECONDITION,
                                "The state of things does not allow it.")
AbortedError = _make("AbortedError", ABORTED, "It was given up.")
OutOfRangeError = _make("OutOfRangeError", OUT_OF_RANGE, "Beyond the end.")
UnimplementedError = _make("UnimplementedError", UNIMPLEMENTED, "Not built.")
InternalError = _make("InternalError", INTERNAL, "A mistake of the runtime.")
UnavailableError = _make("UnavailableError", UNAVAILABLE, "Not there at the moment.")
DataLossError = _make("DataLossError", DATA_LOSS, "A file that is damaged.")
UnauthenticatedError = _make("UnauthenticatedError", UNAUTHENTICATED, "Nobody that is known.")


class OperatorNotAllowedInGraphError(TypeError):
    """A value is asked for that a symbolic tensor does not have."""


class InaccessibleTensorError(ValueError):
    """A symbolic tensor is used outside of its function."""


del _make
