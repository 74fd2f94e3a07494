"""tf.compat.v1.summary: names that say that event files are not written."""

from .._not_built import not_built as _not_built

_INSTEAD = "no event files are written. print, or a file of your own, shows values that sess.run returns"
FileWriter, FileWriterCache, merge, merge_all, scalar, histogram, image, audio, text, tensor_summary = (
    _not_built("tf.compat.v1.summary." + name, _INSTEAD)
    for name in ("FileWriter", "FileWriterCache", "merge", "merge_all", "scalar", "histogram", "image",
                 "audio", "text", "tensor_summary"))
