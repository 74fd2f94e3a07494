"""Passes over graphs. PLIMSOLL_PASSES chooses them; what is asked here is kept and changes nothing."""

_options = {}
_jit = ""


def set_experimental_options(options):
    _options.update(options)


def get_experimental_options():
    return dict(_options)


def set_jit(enabled):
    global _jit
    _jit = "autoclustering" if enabled in (True, "autoclustering") else ""


def get_jit():
    return _jit
