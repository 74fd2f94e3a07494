"""tf.compat.v1.logging: the package's logger."""

import logging as _logging
from logging import DEBUG, ERROR, FATAL, INFO, WARN

_counts = {}


def _logger():
    found = _logging.getLogger("plimsoll")
    if not found.handlers and not _logging.getLogger().handlers:
        handler = _logging.StreamHandler()
        handler.setFormatter(_logging.Formatter("%(levelname)s:plimsoll:%(message)s"))
        found.addHandler(handler)
    return found


def get_verbosity():
    return _logger().getEffectiveLevel()


def set_verbosity(v):
    _logger().setLevel(v)


def log(level, msg, *args, **kwargs):
    _logger().log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    _logger().debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    _logger().info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    _logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg, *args, **kwargs):
    _logger().error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    _logger().fatal(msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    _logger().log(level, msg, *args, **kwargs)


def log_if(level, msg, condition, *args):
    if condition:
        log(level, msg, *args)


def log_every_n(level, msg, n, *args):
    count = _counts[msg] = _counts.get(msg, -1) + 1
    log_if(level, msg, not count % n, *args)


def log_first_n(level, msg, n, *args):
    count = _counts[msg] = _counts.get(msg, -1) + 1
    log_if(level, msg, count < n, *args)


def TaskLevelStatusMessage(msg):
    error(msg)


def flush():
    for handler in _logger().handlers:
        handler.flush()
