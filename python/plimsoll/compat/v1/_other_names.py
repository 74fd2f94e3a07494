"""Names of the first version for what has another name by now, and names that are not built."""

ELSEWHERE = {
    "OpError": "errors.OpError",
    "FixedLenFeature": "io.FixedLenFeature",
    "FixedLenSequenceFeature": "io.FixedLenSequenceFeature",
    "VarLenFeature": "io.VarLenFeature",
    "as_string": "strings.as_string",
    "decode_base64": "io.decode_base64",
    "decode_csv": "io.decode_csv",
    "decode_raw": "io.decode_raw",
    "encode_base64": "io.encode_base64",
    "expm1": "math.expm1",
    "lin_space": "linspace",
    "matching_files": "io.matching_files",
    "parse_example": "io.parse_example",
    "parse_single_example": "io.parse_single_example",
    "parse_tensor": "io.parse_tensor",
    "random_crop": "image.random_crop",
    "read_file": "io.read_file",
    "reduce_join": "strings.reduce_join",
    "regex_replace": "strings.regex_replace",
    "rint": "math.rint",
    "serialize_tensor": "io.serialize_tensor",
    "sparse_tensor_to_dense": "sparse.to_dense",
    "string_join": "strings.join",
    "string_strip": "strings.strip",
    "string_to_hash_bucket_fast": "strings.to_hash_bucket_fast",
    "string_to_hash_bucket_strong": "strings.to_hash_bucket_strong",
    "string_to_number": "strings.to_number",
    "substr": "strings.substr",
    "write_file": "io.write_file",
}

_DATA = "tf.data reads files and runs ahead by itself"
NOT_BUILT = {
    **dict.fromkeys(("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue",
                     "FixedLengthRecordReader", "IdentityReader", "ReaderBase", "TFRecordReader",
                     "TextLineReader", "WholeFileReader", "ConditionalAccumulator", "queue"), _DATA),
    **dict.fromkeys(("TensorArray",), "tf.scan, tf.map_fn and tf.stack collect results"),
    **dict.fromkeys(("GraphDef", "MetaGraphDef", "NodeDef", "import_graph_def", "graph_util", "RegisterGradient"),
                    "there is no GraphDef: the program makes its graph again"),
    **dict.fromkeys(("contrib", "distribute", "distributions", "feature_column", "lookup", "tpu", "profiler",
                     "raw_ops", "lite", "get_session_handle", "count_up_to", "dynamic_partition",
                     "dynamic_stitch", "sparse_placeholder", "string_split", "extract_image_patches"),
                    "docs/compat_v1.md lists what is"),
}


def find(name):
    """What has that name; AttributeError if the first version has none such."""
    import plimsoll
    if name in ELSEWHERE:
        from ... import _core
        if ELSEWHERE[name].startswith("strings.") and _core.is_building():
            from .._not_built import not_built
            return not_built("tf.compat.v1." + name, "in graphs, tf.py_func calls functions of strings")
        found = plimsoll
        for part in ELSEWHERE[name].split("."):
            found = getattr(found, part)
        return found
    if name in NOT_BUILT:
        from .._not_built import not_built
        return not_built("tf.compat.v1." + name, NOT_BUILT[name])
    raise AttributeError(f"module 'plimsoll.compat.v1' has no attribute '{name}'")


def tables_initializer(name="init_all_tables"):
    """There are no tables: an operation that does nothing."""
    from .._control import no_op
    return no_op(name)


def confusion_matrix(labels, predictions, num_classes=None, dtype=None, name=None, weights=None):
    """How often each label (row) was predicted as each class (column)."""
    from ... import _core
    from ...dtypes import int32
    op = _core.op
    labels, predictions = (op("cast")(op("reshape")(v, [-1]), "int64") for v in (labels, predictions))
    if num_classes is None:
        both = op("concat")([labels, predictions], 0)
        num_classes = op("cast")(op("reduce_max")(both) + 1, "int32")
    dtype = int32 if dtype is None else dtype
    rows = op("one_hot")(labels, num_classes, dtype="float32")
    if weights is not None:
        rows = rows * op("expand_dims")(op("cast")(op("reshape")(weights, [-1]), "float32"), 1)
    columns = op("one_hot")(predictions, num_classes, dtype="float32")
    return op("cast")(op("matmul")(rows, columns, transpose_a=True), dtype)
