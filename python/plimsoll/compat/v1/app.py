"""tf.compat.v1.app: runs a main function after the flags are read."""

from . import flags  # noqa: F401


def run(main=None, argv=None):
    """sys.exit(main(what is left of the command line))."""
    import sys
    if main is None:
        main = sys.modules["__main__"].main
    argv = sys.argv if argv is None else argv
    try:
        rest = flags.FLAGS(argv, known_only=True)
    except flags.Error as error:
        sys.stderr.write(f"FATAL Flags parsing error: {error}\n")
        sys.exit(1)
    sys.exit(main(rest))
