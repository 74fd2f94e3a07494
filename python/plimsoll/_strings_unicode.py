"""Letters of Unicode: strings taken apart and put together; words beside each other."""

_REPLACEMENT = 65533


def _tf():
    import plimsoll
    return plimsoll


def _invalid(text):
    from .errors import InvalidArgumentError
    return InvalidArgumentError(None, None, text)


def _codec(encoding):
    import codecs
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise _invalid(f"Could not create converter for input encoding: {encoding}") from None


def _letters(data, codec, errors, replacement, replaces_controls):
    """(letter, where it begins) for each letter of bytes."""
    if errors not in ("replace", "ignore", "strict"):
        raise ValueError(f"errors must be one of replace, ignore and strict, got {errors!r}")
    found, at = [], 0
    while at < len(data):
        try:
            text, bad = data[at:].decode(codec), None
        except UnicodeDecodeError as error:
            text, bad = data[at:at + error.start].decode(codec), (at + error.start, at + error.end)
        for letter in text:
            is_control = replaces_controls and ord(letter) < 32 and letter not in "\t\n\r"
            found.append((chr(replacement) if is_control else letter, at))
            at += len(letter.encode(codec))
        if bad is None:
            break
        if errors == "strict":
            raise _invalid(f"Invalid formatting on input string: {data!r}")
        if errors == "replace":
            found.append((chr(replacement), bad[0]))
        at = bad[1]
    return found


def _apart(input, encoding, errors, replacement, replaces_controls, make, dtype):
    """What make(letter) gives, and offsets: of one string vectors, of several rows of different lengths."""
    tf = _tf()
    codec = _codec(encoding)
    strings = tf.convert_to_tensor(input, tf.string)
    if strings.shape.rank > 1:
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, f"letters of strings are built for one string and for vectors, got shape "
                                 f"{tuple(strings.shape)}")
    values = [strings.numpy()] if strings.shape.rank == 0 else strings.numpy().tolist()
    rows = [_letters(value, codec, errors, replacement, replaces_controls) for value in values]
    flat = tf.constant([make(letter) for row in rows for letter, _ in row], dtype)
    offsets = tf.constant([at for row in rows for _, at in row], tf.int64)
    if strings.shape.rank == 0:
        return flat, offsets
    lengths = tf.constant([len(row) for row in rows], tf.int64)
    ragged = tf.RaggedTensor.from_row_lengths
    return ragged(flat, lengths), ragged(offsets, lengths)


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=_REPLACEMENT,
                                replace_control_characters=False, name=None):
    """The numbers of letters, and where they begin."""
    return _apart(input, input_encoding, errors, replacement_char, replace_control_characters, ord, _tf().int32)


def unicode_decode(input, input_encoding, errors="replace", replacement_char=_REPLACEMENT,
                   replace_control_characters=False, name=None):
    return unicode_decode_with_offsets(input, input_encoding, errors, replacement_char, replace_control_characters)[0]


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=_REPLACEMENT, name=None):
    """Strings of one letter, and where they begin."""
    codec = _codec(input_encoding)
    return _apart(input, input_encoding, errors, replacement_char, False, lambda letter: letter.encode(codec), _tf().string)


def unicode_split(input, input_encoding, errors="replace", replacement_char=_REPLACEMENT, name=None):
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


def _output(encoding):
    if encoding not in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        raise _invalid(f"output_encoding must be UTF-8, UTF-16-BE or UTF-32-BE, got {encoding!r}")
    return _codec(encoding)


def unicode_transcode(input, input_encoding, output_encoding, errors="replace", replacement_char=_REPLACEMENT,
                      replace_control_characters=False, name=None):
    """The same letters in another encoding."""
    import numpy
    tf = _tf()
    read, written = _codec(input_encoding), _output(output_encoding)
    strings = tf.convert_to_tensor(input, tf.string)
    array = numpy.asarray(strings.numpy(), dtype=object)
    made = ["".join(letter for letter, _ in _letters(value, read, errors, replacement_char, replace_control_characters))
            .encode(written) for value in array.ravel().tolist()]
    return tf.reshape(tf.constant(made, tf.string), strings.shape)


def unicode_encode(input, output_encoding, errors="replace", replacement_char=_REPLACEMENT, name=None):
    """Strings of the rows of numbers of letters."""
    tf = _tf()
    codec = _output(output_encoding)

    def text(numbers):
        letters = []
        for number in numbers:
            if 0 <= number < 0x110000 and not 0xD800 <= number < 0xE000:
                letters.append(chr(number))
            elif errors == "strict":
                raise _invalid(f"Code point value out of valid Unicode range: {number}")
            elif errors == "replace":
                letters.append(chr(replacement_char))
        return "".join(letters).encode(codec)

    if isinstance(input, tf.RaggedTensor):
        return tf.constant([text(row) for row in input.to_list()], tf.string)
    numbers = tf.convert_to_tensor(input, tf.int32)
    if numbers.shape.rank == 1:
        return tf.constant(text(numbers.numpy().tolist()))
    rows = tf.reshape(numbers, [-1, numbers.shape[-1]]).numpy().tolist()
    return tf.reshape(tf.constant([text(row) for row in rows], tf.string), numbers.shape[:-1])


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False,
           name=None):
    """Words of each row that stand beside each other, joined."""
    tf = _tf()
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if not widths or min(widths) < 1:
        raise ValueError(f"ngram_width must be > 0, got {ngram_width}")
    left, right = (pad_values, pad_values) if pad_values is None or isinstance(pad_values, (str, bytes)) else pad_values
    separator, left, right = (t.encode() if isinstance(t, str) else t for t in (separator, left, right))

    def of_row(words):
        found = []
        for width in widths:
            count = 0 if left is None else width - 1 if padding_width is None else min(width - 1, padding_width)
            row = [left] * count + words + [right] * count
            found += [separator.join(row[i:i + width]) for i in range(len(row) - width + 1)]
        if not found and preserve_short_sequences and words:
            found = [separator.join(words)]
        return found

    is_ragged = isinstance(data, tf.RaggedTensor)
    if not is_ragged:
        data = tf.convert_to_tensor(data, tf.string)
        if data.shape.rank == 1:
            return tf.constant(of_row(data.numpy().tolist()), tf.string)
    rows = [of_row(row) for row in (data.to_list() if is_ragged else data.numpy().tolist())]
    flat = tf.constant([word for row in rows for word in row], tf.string)
    made = tf.RaggedTensor.from_row_lengths(flat, tf.constant([len(row) for row in rows], tf.int64))
    return made if is_ragged else made.to_tensor()


def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Strings of one segment joined, in the order in which they come."""
    tf = _tf()
    words = tf.reshape(tf.convert_to_tensor(inputs, tf.string), [-1]).numpy().tolist()
    numbers = tf.reshape(tf.convert_to_tensor(segment_ids), [-1]).numpy().tolist()
    if len(words) != len(numbers):
        raise _invalid(f"segment_ids has {len(numbers)} numbers for {len(words)} strings")
    parts = [[] for _ in range(int(num_segments))]
    for word, number in zip(words, numbers):
        if 0 <= number < len(parts):
            parts[number].append(word)
    return tf.constant([separator.encode().join(part) for part in parts], tf.string)
