"""tf.strings."""

import math
import sys
import unicodedata

import numpy as np
import pytest


def texts(tensor):
    return np.asarray(tensor.numpy()).tolist()


def test_letters(tf):
    words = tf.constant([["Ab", ""], ["c d", "é"]])
    assert texts(tf.strings.length(words)) == [[2, 0], [3, 2]]
    assert texts(tf.strings.length(words, unit="UTF8_CHAR")) == [[2, 0], [3, 1]]
    assert texts(tf.strings.lower(words)) == [[b"ab", b""], [b"c d", "é".encode()]]
    assert texts(tf.strings.upper(words, encoding="utf-8")) == [[b"AB", b""], [b"C D", "É".encode()]]
    assert texts(tf.strings.strip(["  a ", "b\n", "\x0b\x0ca\r\n", "\u00a0a", "\x1ca"])) == [
        b"a", b"b", b"a", "\u00a0a".encode(), b"\x1ca"]
    assert tf.strings.length(words).dtype == tf.int32
    assert texts(tf.strings.length([b"a\xffb\xc3", b"\xe2\x82\xac", b"\x80\x80"], unit="UTF8_CHAR")) == [4, 1, 0]
    assert tf.strings.lower(tf.constant([], tf.string)).shape == [0]
    assert texts(tf.strings.lower([])) == []
    for call in (lambda: tf.strings.length("a", unit="WORD"), lambda: tf.strings.lower("a", encoding="latin1"),
                 lambda: tf.strings.upper(tf.constant([1]))):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()
    with pytest.raises(TypeError):
        tf.strings.lower([1, 2])


def test_case_of_all_letters(tf):
    """Those of an old Unicode, whose case no newer one changes."""
    old = unicodedata.ucd_3_2_0
    letters = [chr(c) for c in range(1, sys.maxunicode + 1) if old.category(chr(c)) not in ("Cn", "Cs")]
    for change, python in ((tf.strings.upper, str.upper), (tf.strings.lower, str.lower)):
        assert texts(change(letters, encoding="utf-8")) == [python(c).encode() for c in letters]
        # Beside others, by which a sigma is told from a final one.
        for around in ("A{}\u03a3", "{}\u03a3", "A\u03a3{}", "A\u03a3{}A"):
            words = [around.format(c) for c in letters[::7]]
            assert texts(change(words, encoding="utf-8")) == [python(w).encode() for w in words]


def test_case_of_bytes_that_are_no_letters(tf):
    odd = [b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2(\xa1", b"\xf0\x9f\x98", b"\xf0(\x8c\xbc", b"\xed\xa0\x80",
           b"\xf8\x88\x80\x80\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80", b"a\xff\xfeB", b"\x80\x81",
           b"\xef\xbb\xbfA", b"\xe2\x82A", b"\xf0\x9fA", b"\xef\xbf\xbdA"]
    assert texts(tf.strings.lower(odd, encoding="utf-8")) == [w.decode("utf-8", "replace").lower().encode() for w in odd]
    assert texts(tf.strings.lower(b"A\xff\x00B")) == b"a\xff\x00b"


def test_splits(tf):
    assert texts(tf.strings.split("a b  c")) == [b"a", b"b", b"c"]
    assert texts(tf.strings.split("a,,b", sep=",")) == [b"a", b"", b"b"]
    assert texts(tf.strings.split("a,b,c", sep=",", maxsplit=1)) == [b"a", b"b,c"]
    assert texts(tf.strings.split(" a b ", maxsplit=1)) == [b"a", b"b "]
    assert texts(tf.strings.split(" a b ", maxsplit=0)) == [b" a b "]
    assert texts(tf.strings.split("a b", maxsplit=-2)) == [b"a", b"b"]
    assert texts(tf.strings.split("a\tb\nc\x0bd\x1ce", sep="")) == [b"a", b"b", b"c", b"d\x1ce"]
    assert texts(tf.strings.split("")) == texts(tf.strings.split("  ")) == []
    assert texts(tf.strings.split("", sep=",")) == [b""]
    assert texts(tf.strings.split(",", sep=",")) == [b"", b""]
    assert texts(tf.strings.split("aaaa", sep="aa")) == [b"", b"", b""]
    assert texts(tf.strings.split("a<>b<>c<", sep="<>")) == [b"a", b"b", b"c<"]
    assert texts(tf.strings.bytes_split("abc")) == [b"a", b"b", b"c"]
    assert texts(tf.strings.bytes_split("é")) == [b"\xc3", b"\xa9"]


def test_splits_of_several(tf):
    parts = tf.strings.split(["a b", "", "c"])
    assert isinstance(parts, tf.RaggedTensor)
    assert parts.to_list() == [[b"a", b"b"], [], [b"c"]]
    assert parts.row_splits.numpy().tolist() == [0, 2, 2, 3] and parts.row_splits.dtype == tf.int64
    assert tf.strings.split([["a-b", ""], ["c", "d-e-f"]], sep="-").to_list() == [
        [[b"a", b"b"], [b""]], [[b"c"], [b"d", b"e", b"f"]]]
    grid = tf.strings.split([["a", "b c"], ["d", ""], ["e", "f"]])
    assert grid.shape.as_list() == [3, 2, None] and grid[0].shape.as_list() == [2, None]
    assert tf.strings.split(tf.constant([], tf.string)).to_list() == []
    assert tf.strings.bytes_split(["ab", "", "é"]).to_list() == [[b"a", b"b"], [], [b"\xc3", b"\xa9"]]
    assert tf.strings.split(["a b", "c"]).to_tensor("-").numpy().tolist() == [[b"a", b"b"], [b"c", b"-"]]


@pytest.mark.parametrize("pos, length, found", [
    (1, 3, b"ell"), (5, 1, b""), (-5, 2, b"he"), (1, -1, b"ello"), (1, 0, b""), (-3, 2, b"ll"), (3, 100, b"lo"),
    (6, 1, None), (-6, 1, None)])
def test_parts(tf, pos, length, found):
    if found is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"pos {pos} out of range for string b'hello'"):
            tf.strings.substr("hello", pos, length)
    else:
        assert texts(tf.strings.substr("hello", pos, length)) == found


@pytest.mark.parametrize("text, pos, length, found", [
    ("héllo", 1, 3, "éll".encode()), ("héllo", 5, 1, b""), ("héllo", -5, 2, "hé".encode()), ("héllo", -2, 5, b"lo"),
    ("héllo", 1, -1, b""), ("héllo", 6, 1, None), ("héllo", -6, 1, None), (b"a\xffb\xc3", 1, 2, b"\xffb"),
    (b"\x80\x80a", 0, 1, b"\x80\x80"), ("", 0, 1, b"")])
def test_parts_in_letters(tf, text, pos, length, found):
    if found is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"pos {pos} out of range"):
            tf.strings.substr(text, pos, length, unit="UTF8_CHAR")
    else:
        assert texts(tf.strings.substr(text, pos, length, unit="UTF8_CHAR")) == found


def test_parts_are_broadcast(tf):
    assert texts(tf.strings.substr(["hello", "world"], 1, 3)) == [b"ell", b"orl"]
    assert texts(tf.strings.substr(["hello", "world"], [0, 4], [1, 9])) == [b"h", b"d"]
    assert texts(tf.strings.substr([["abc"], ["def"]], [0, 1, 2], [1, 1, 1])) == [[b"a", b"b", b"c"], [b"d", b"e", b"f"]]
    assert texts(tf.strings.substr("abcdef", [0, 1, 2], [1, 2, 3])) == [b"a", b"bc", b"cde"]
    assert texts(tf.strings.substr("abc", tf.constant(1, tf.int64), tf.constant(1, tf.int64))) == b"b"
    for call in (lambda: tf.strings.substr(["abc", "def"], [0, 1, 2], [1, 1, 1]),
                 lambda: tf.strings.substr(["abc", "def"], [0, 1], 1), lambda: tf.strings.substr("abc", 1.0, 1.0),
                 lambda: tf.strings.substr("abc", 0, 1, unit="WORD"),
                 lambda: tf.strings.substr(["abc", "d"], [2, 2], [1, 1])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()


def test_joins(tf):
    assert texts(tf.strings.join(["a", ["b", "c"]], separator="-")) == [b"a-b", b"a-c"]
    assert texts(tf.strings.join([tf.constant([], tf.string), "z"])) == []
    assert texts(tf.strings.join([])) == b"" and texts(tf.strings.join(["a"], "x")) == b"a"
    for inputs in ([["a", "b"], ["c", "d", "e"]], [["a"], ["c", "d"]], [["a", "b"], "z", [["b", "c"]]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input shapes do not match"):
            tf.strings.join(inputs)
    grid = tf.constant([["a", "b"], ["c", "d"]])
    assert texts(tf.strings.reduce_join(grid, 0)) == [b"ac", b"bd"]
    assert texts(tf.strings.reduce_join(grid, 1, separator=".")) == [b"a.b", b"c.d"]
    assert texts(tf.strings.reduce_join(grid, [0, 1])) == b"acbd"
    assert texts(tf.strings.reduce_join(grid, [1, 0])) == texts(tf.strings.reduce_join(grid)) == b"abcd"
    assert texts(tf.strings.reduce_join(grid, -1, keepdims=True)) == [[b"ab"], [b"cd"]]
    assert texts(tf.strings.reduce_join(grid, [])) == texts(grid)
    assert texts(tf.strings.reduce_join(grid, tf.constant(0))) == [b"ac", b"bd"]
    assert texts(tf.strings.reduce_join("a")) == b"a"
    cube = tf.reshape(tf.constant(list("abcdefgh")), [2, 2, 2])
    assert texts(tf.strings.reduce_join(cube, [2, 0])) == [b"abef", b"cdgh"]
    assert texts(tf.strings.reduce_join(cube, [0, 2])) == [b"aebf", b"cgdh"]
    assert texts(tf.strings.reduce_join(cube, [-1, 0], keepdims=True, separator="-")) == [[[b"a-b-e-f"], [b"c-d-g-h"]]]
    none = tf.reshape(tf.constant([], tf.string), [0, 3])
    assert texts(tf.strings.reduce_join(none, 0)) == [b"", b"", b""] and texts(tf.strings.reduce_join(none, 1)) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate reduction dimension 0"):
        tf.strings.reduce_join(grid, [0, 0])
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError), match="Invalid reduction dimension 5"):
        tf.strings.reduce_join(grid, 5)


def test_patterns(tf):
    replace, matches = tf.strings.regex_replace, tf.strings.regex_full_match
    assert texts(replace(["a1b22", "x"], r"[0-9]+", "#")) == [b"a#b#", b"x"]
    assert texts(replace("key=value", r"(\w+)=(\w+)", r"\2=\1 \0")) == b"value=key key=value"
    assert texts(replace(["aaa", "b"], "a", "b", replace_global=False)) == [b"baa", b"b"]
    assert texts(replace("a", "a", r"\\")) == b"\\"
    assert texts(replace("abc", "", "-")) == texts(replace("abc", "x*", "-")) == b"-a-b-c-"
    assert texts(replace("héx", "", "-")) == "-h-é-x-".encode()
    assert texts(replace(b"a\xffb", "", "-")) == b"-a-\xff-b-"
    assert texts(replace("aXbX", "X*", "-")) == b"-a-b-"
    assert texts(replace("abab", r"(?P<x>ab)", r"[\1]")) == b"[ab][ab]"
    assert texts(replace("héllo", ".", "x")) == b"xxxxx" and texts(replace("héllo", r"\w", "x")) == "xéxxx".encode()
    assert texts(replace("héllo wÖrld", r"\p{Lu}", "x")) == "héllo wxrld".encode()
    assert texts(replace(b"a\xffb\x00", ".", "x")) == b"x\xffxx"
    assert texts(replace("AaB", "(?i)a", "x")) == b"xxB"
    assert texts(replace("a\nb", "a$", "x")) == b"a\nb" and texts(replace("a\nb", "(?m)^", "x")) == b"xa\nxb"
    assert texts(replace("a", tf.constant("a"), tf.constant("x"))) == b"x"
    assert texts(matches(["abc", "abcd", "a\nc"], "a.c")) == [True, False, False]
    assert texts(matches(["ab"], "a|ab")) == [True] and matches([], "a").shape == [0]


def test_rewrites_that_cannot_be_filled_in(tf):
    """They replace nothing, or by nothing, in both libraries."""
    replace = tf.strings.regex_replace
    assert texts(replace("xax", "a", r"\1")) == b"xax"
    assert texts(replace("xax", "a", "b\\")) == texts(replace("xax", "a", "b\\y")) == b"xbx"
    assert texts(replace("xax", "a", "b\\y", replace_global=False)) == b"xax"


@pytest.mark.parametrize("pattern, why", [
    ("(", "missing \\)"), ("a(?=b)", "invalid perl operator"), (r"(ab)\1", "invalid escape sequence"),
    ("a{1001}", "invalid repetition size"), ("[a", "missing \\]"), ("*", "no argument for repetition operator")])
def test_what_is_no_pattern(tf, pattern, why):
    for call in (lambda: tf.strings.regex_replace("a", pattern, "x"), lambda: tf.strings.regex_full_match("a", pattern)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Invalid pattern: .*, error: {why}"):
            call()


def test_patterns_are_scalars(tf):
    for call in (lambda: tf.strings.regex_full_match("a", ["a", "b"]), lambda: tf.strings.regex_replace("a", ["a"], "x"),
                 lambda: tf.strings.regex_replace("a", tf.constant("a"), tf.constant(["x"]))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be scalar, but received"):
            call()


def test_text_as_numbers(tf):
    numbers = tf.strings.to_number
    assert texts(numbers(["1.5", "-2", " 3 ", "+5", ".5", "5.", "1e3", "0x10"])) == [1.5, -2, 3, 5, 0.5, 5, 1000, 16]
    assert texts(numbers(["inf", "-INF", "infinity", "1e400", "1e39"])) == [
        math.inf, -math.inf, math.inf, math.inf, math.inf]
    assert texts(numbers(["-0x10", "0x1.8p1", "\x0b1\x0c", "00012"])) == [-16, 3, 1, 12]
    assert math.isnan(texts(numbers("NaN"))) and texts(numbers("1e-50")) == 0
    assert texts(numbers(["0.1", "1e39"], tf.float64)) == [0.1, 1e39]
    assert texts(numbers(["0.1"])) == [float(np.float32(0.1))]
    assert texts(numbers([["12"], [" -7\n"]], tf.int64)) == [[12], [-7]]
    assert texts(numbers(["2147483647", "+5"], tf.int32)) == [2147483647, 5]
    assert texts(numbers("9223372036854775807", tf.int64)) == 9223372036854775807
    for text in ("x", "", " ", "1_0", "+ 5", "+-5", "1f", "1e", "1\x00", "１", "0x", "1 2", "."):
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
            numbers(text)
    for text in ("1.5", "0x10", "2147483648", "-2147483649", "inf", ""):
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
            numbers(text, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        numbers("1", tf.float16)


def test_numbers_as_text(tf):
    text = tf.strings.as_string
    assert texts(text([1, -20])) == [b"1", b"-20"]
    assert texts(text([1.5, 0.25], precision=2)) == [b"1.50", b"0.25"]
    assert texts(text([True, False], width=8)) == [b"true", b"false"]
    assert texts(text(3.14159, scientific=True, precision=2)) == b"3.14e+00"
    floats = [1.5, -0.1, 1e10, math.inf, math.nan, 1e-7, 0.0]
    assert texts(text(floats)) == [b"1.500000", b"-0.100000", b"10000000000.000000", b"inf", b"nan", b"0.000000",
                                   b"0.000000"]
    assert texts(text(floats, shortest=True)) == [b"1.5", b"-0.1", b"1e+10", b"inf", b"nan", b"1e-07", b"0"]
    assert texts(text(floats, width=10, precision=3, fill="+")) == [
        b"    +1.500", b"    -0.100", b"+10000000000.000", b"      +inf", b"      +nan", b"    +0.000", b"    +0.000"]
    assert texts(text(floats, precision=0)) == [b"2", b"-0", b"10000000000", b"inf", b"nan", b"0", b"0"]
    assert texts(text(5, width=4, fill="0")) == b"0005" and texts(text([1, -20], width=4, fill="-")) == [b"1   ", b"-20 "]
    assert texts(text([1, -20], fill=" ")) == [b" 1", b"-20"] and texts(text([1, -20], fill="+")) == [b"+1", b"-20"]
    assert texts(text(math.inf, width=6, fill="0")) == b"   inf" and texts(text(-1.5, width=10, fill="0")) == b"-01.500000"
    assert texts(text(tf.constant(200, tf.uint8), fill="+")) == b"200" and texts(text(tf.constant(-3, tf.int8))) == b"-3"
    assert texts(text(tf.constant(2 ** 40, tf.int64))) == b"1099511627776"
    assert texts(text(tf.constant([65535, 7], tf.uint16), width=6, fill="0")) == [b"065535", b"000007"]
    for dtype in (tf.float16, tf.bfloat16, tf.float64):
        assert texts(text(tf.constant([1.5], dtype), precision=1)) == [b"1.5"]
    assert texts(text("ab")) == b"ab" and texts(text("ab", width=4)) == b"  ab"
    assert texts(text(["ab"], width=4, fill="-")) == [b"ab  "]
    for call in (lambda: text(1, precision=2), lambda: text(1, scientific=True), lambda: text(True, shortest=True),
                 lambda: text(1.0, scientific=True, shortest=True), lambda: text(1, fill="x"), lambda: text(1, fill="00")):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()


def test_tensors_in_text(tf):
    shown = tf.strings.format
    assert texts(shown("x = {}, y = {}", (tf.constant([1, 2]), tf.constant(3.5)))) == b"x = [1 2], y = 3.5"
    assert texts(shown("{}", tf.range(9))) == b"[0 1 2 ... 6 7 8]" and texts(shown("{}", tf.range(6))) == b"[0 1 2 3 4 5]"
    assert texts(shown("{}", tf.range(12), summarize=-1)) == b"[0 1 2 3 4 5 6 7 8 9 10 11]"
    assert texts(shown("{}", tf.reshape(tf.range(27), [3, 3, 3]), summarize=1)) == (
        b"[[[0 ... 2]\n  ...\n  [6 ... 8]]\n\n ...\n\n [[18 ... 20]\n  ...\n  [24 ... 26]]]")
    assert texts(shown("{}", tf.constant([1]), summarize=0)) == b"[ ...]"
    assert texts(shown("{}{}", (tf.zeros([2, 0]), tf.zeros([0, 2])))) == b"[\n ...][]"
    assert texts(shown("{} {}", (tf.constant(True), tf.constant([True, False])))) == b"1 [1 0]"
    assert texts(shown("{}", tf.constant([1e10, 1.23456789, math.inf, 1 / 3, 123456789.0]), summarize=9)) == (
        b"[1e+10 1.23456788 inf 0.333333343 123456792]")
    assert texts(shown("{}", tf.constant([0.1, 1 / 3, 1e300], tf.float64))) == b"[0.1 0.33333333333333331 1e+300]"
    assert texts(shown("{}", tf.constant([0.1, 65504], tf.float16))) == b"[0.0999755859 65504]"
    assert texts(shown("{}", tf.constant("a\"\n\\'\x01é"))) == "\"a\\\"\\n\\\\\\'\\001é\"".encode()
    assert texts(shown("{}", tf.constant([["a", "b"], ["c", "d"]]))) == b'[["a" "b"]\n ["c" "d"]]'
    assert texts(shown("{}", tf.constant([65535, 7], tf.uint16))) == b"[65535 7]"
    assert texts(shown("%t% {}", tf.constant([-100], tf.int8), placeholder="%t%")) == b"[-100] {}"
    assert texts(shown("none", [])) == b"none"
    with pytest.raises(ValueError, match="expects 2 tensors, but the inputs only has 1"):
        shown("{} {}", tf.constant([1]))


def test_buckets(tf):
    words = ["", "a", "Hello", "TensorFlow", "0123456789abcdef", "0123456789abcdefg", "x" * 33, "y" * 64, "z" * 65,
             "w" * 129, "0123456789" * 50]
    found = texts(tf.strings.to_hash_bucket_fast(words, 1 << 40))
    assert found == [254201053263, 436859794915, 129694900359, 913356522190, 987247100007, 582576886346, 361916405303,
                     245123770552, 273332821813, 82215588723, 421633078982]
    assert texts(tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3)) == [0, 2, 2]
    words = ["Hello", "TensorFlow", "2.x", "", "a", "é"]
    assert texts(tf.strings.to_hash_bucket(words, 1000000007)) == [
        556243135, 140588495, 482288050, 727638525, 395105680, 789247740]
    assert texts(tf.strings.to_hash_bucket_strong(words, 1000000007, [1, 2])) == [
        652568428, 674053680, 964022552, 436933189, 142192448, 962526464]
    for call in (lambda: tf.strings.to_hash_bucket_fast("a", 0), lambda: tf.strings.to_hash_bucket("a", -1)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be at least minimum 1"):
            call()


def test_moved_and_compared(tf):
    names = tf.constant(["daisy", "rose", "tulip"])
    parts = tf.strings.split("flowers/rose/12.jpg", "/")
    assert texts(parts[-2] == names) == [False, True, False]
    assert int(tf.argmax(tf.cast(parts[-2] == names, tf.int32))) == 1
    assert texts(names != "rose") == [True, False, True]
    assert texts(tf.equal(names[:, tf.newaxis], ["rose", "tulip"])) == [[False, False], [True, False], [False, True]]
    assert texts(tf.gather(names, [2, 0, 2])) == [b"tulip", b"daisy", b"tulip"]
    assert texts(tf.concat([names, ["lily"]], 0)) == [b"daisy", b"rose", b"tulip", b"lily"]
    assert texts(tf.stack([names, names], 1))[1] == [b"rose", b"rose"]
    assert texts(tf.where([True, False, True], names, "none")) == [b"daisy", b"none", b"tulip"]
    assert texts(tf.where(names == "tulip")) == [[2]]
    assert texts(tf.tile(names, [2])) == texts(names) * 2
    assert texts(tf.transpose([["a", "b"], ["c", "d"]])) == [[b"a", b"c"], [b"b", b"d"]]
    assert texts(tf.boolean_mask(names, [True, False, True])) == [b"daisy", b"tulip"]
    assert [texts(t) for t in tf.split(names, 3)] == [[b"daisy"], [b"rose"], [b"tulip"]]
    assert texts(tf.reverse(names, [0])) == [b"tulip", b"rose", b"daisy"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.gather(names, [3])
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        tf.equal(names, [1, 2, 3])


def test_labels_from_paths(tf):
    """As in the tutorials on loading images."""
    class_names = np.array(["daisy", "rose", "tulip"])

    def label(path):
        parts = tf.strings.split(path, "/")
        return tf.argmax(parts[-2] == class_names)

    paths = tf.data.Dataset.from_tensor_slices(["a/tulip/1.jpg", "a/daisy/2.jpg", "a/rose/3.jpg"])
    assert [int(x) for x in paths.map(label)] == [2, 0, 1]


def test_base64(tf):
    words = ["ab", "", "abc", "ÿ?>"]
    assert texts(tf.io.encode_base64(words)) == [b"YWI", b"", b"YWJj", b"w78_Pg"]
    assert texts(tf.io.encode_base64(words, pad=True)) == [b"YWI=", b"", b"YWJj", b"w78_Pg=="]
    assert texts(tf.io.decode_base64(["YWI", "", "YWJj", "YWI=", "w78_Pg=="])) == [
        b"ab", b"", b"abc", b"ab", "ÿ?>".encode()]
    everything = bytes(range(256))
    assert texts(tf.io.decode_base64(tf.io.encode_base64(everything))) == everything
    for bad in ("!!", "a", "w78+Pg", "YW=I", "YWI=YWI="):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_base64(bad)


def test_sums_are_joined(tf):
    words = tf.constant(["a", "bc"])
    assert texts(words + words) == [b"aa", b"bcbc"]
    assert texts("x" + words) == [b"xa", b"xbc"] and texts(words + "x") == [b"ax", b"bcx"]
    assert texts(tf.add([["a"], ["b"]], ["c", "d"])) == [[b"ac", b"ad"], [b"bc", b"bd"]]
    names = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(lambda name: "in/" + name + ".txt")
    assert [t.numpy() for t in names] == [b"in/a.txt", b"in/b.txt"]
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        words + tf.constant(1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        words + ["a", "b", "c"]


def test_zeros_are_empty(tf):
    assert texts(tf.zeros([2], tf.string)) == [b"", b""]
    assert texts(tf.zeros_like(tf.constant([["a"]]))) == [[b""]]


def test_letters(tf):
    assert texts(tf.strings.unicode_split("äb€", "UTF-8")) == ["ä".encode(), b"b", "€".encode()]
    assert tf.strings.unicode_decode("äb€", "UTF-8").numpy().tolist() == [228, 98, 8364]
    assert tf.strings.unicode_decode(["äb", "", "c"], "UTF-8").to_list() == [[228, 98], [], [99]]
    letters, offsets = tf.strings.unicode_split_with_offsets(["äb", "c"], "UTF-8")
    assert letters.to_list() == [["ä".encode(), b"b"], [b"c"]] and offsets.to_list() == [[0, 2], [0]]
    numbers, offsets = tf.strings.unicode_decode_with_offsets("a€b", "UTF-8")
    assert numbers.numpy().tolist() == [97, 8364, 98] and offsets.numpy().tolist() == [0, 1, 4]
    assert offsets.dtype == tf.int64 and numbers.dtype == tf.int32
    assert texts(tf.strings.unicode_encode([228, 98], "UTF-8")) == "äb".encode()
    assert texts(tf.strings.unicode_encode([[228, 98], [99, 100]], "UTF-16-BE")) == [b"\x00\xe4\x00b", b"\x00c\x00d"]
    assert texts(tf.strings.unicode_encode(tf.ragged.constant([[228], [98, 99]]), "UTF-8")) == ["ä".encode(), b"bc"]
    assert texts(tf.strings.unicode_transcode(["äb"], "UTF-8", "UTF-16-BE")) == [b"\x00\xe4\x00b"]


def test_letters_that_are_none(tf):
    bad = [b"a\xffb", b"\xe2\x82"]
    transcode = tf.strings.unicode_transcode
    assert texts(transcode(bad, "UTF-8", "UTF-8")) == ["a\ufffdb".encode(), "\ufffd".encode()]
    assert texts(transcode(bad, "UTF-8", "UTF-8", errors="ignore")) == [b"ab", b""]
    assert texts(transcode(bad, "UTF-8", "UTF-8", replacement_char=63)) == [b"a?b", b"?"]
    assert tf.strings.unicode_decode(b"a\xffb", "UTF-8").numpy().tolist() == [97, 65533, 98]
    with pytest.raises(tf.errors.InvalidArgumentError):
        transcode(bad, "UTF-8", "UTF-8", errors="strict")


def test_words_side_by_side(tf):
    words = ["a", "b", "c", "d"]
    assert texts(tf.strings.ngrams(words, 2)) == [b"a b", b"b c", b"c d"]
    assert texts(tf.strings.ngrams(words[:3], [1, 2], separator="|")) == [b"a", b"b", b"c", b"a|b", b"b|c"]
    rows = tf.strings.ngrams(tf.ragged.constant([["a", "b"], ["c"]]), 2, pad_values=("<", ">"))
    assert rows.to_list() == [[b"< a", b"a b", b"b >"], [b"< c", b"c >"]]
    assert texts(tf.strings.ngrams(words[:2], 3, preserve_short_sequences=True)) == [b"a b"]
    assert texts(tf.strings.ngrams([words[:2], words[2:]], 2)) == [[b"a b"], [b"c d"]]
    assert texts(tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 3, separator=":")) == [b"a:c", b"b", b""]


def test_in_datasets(tf):
    dataset = tf.data.Dataset.from_tensor_slices(["a-1", "b-22"]).map(lambda t: tf.strings.split(t, "-")[1])
    assert [t.numpy() for t in dataset] == [b"1", b"22"]
    numbers = tf.data.Dataset.range(3).map(lambda i: tf.strings.join(["n", tf.strings.as_string(i)]))
    assert [t.numpy() for t in numbers] == [b"n0", b"n1", b"n2"]
