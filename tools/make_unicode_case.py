#!/usr/bin/env python3
"""Writes src/data/unicode_case.def, the tables of upper and lower case, from those of Python.

    tools/make_unicode_case.py > src/data/unicode_case.def
"""

import unicodedata

LETTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]


def runs(change):
    """(first, last, step, distance) of letters that one letter takes the place of, a fixed distance away."""
    found = []
    for letter in LETTERS:
        made = change(letter)
        if made == letter or len(made) != 1:
            continue
        code, distance = ord(letter), ord(made) - ord(letter)
        if found and found[-1][3] == distance:
            first, last, step, _ = found[-1]
            if code - last == step or (first == last and code - last <= 2):
                found[-1] = (first, code, code - last, distance)
                continue
        found.append((code, code, 1, distance))
    return found


def ranges(has):
    found = []
    for code in (ord(letter) for letter in LETTERS if has(letter)):
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def is_cased(letter):
    return (letter + "\u03a3").lower()[-1] == "\u03c2"  # after which a sigma is the final one


def is_ignored(letter):
    return not is_cased(letter) and ("A" + letter + "\u03a3").lower()[-1] == "\u03c2"


def show(name, rows):
    line = ""
    for row in rows:
        item = f"{name}({', '.join(row)})"
        if line and len(line) + 1 + len(item) > 100:
            print(line)
            line = ""
        line = f"{line} {item}" if line else item
    print(line)


def main():
    print(f"// Upper and lower case of Unicode {unicodedata.unidata_version}. Written by tools/make_unicode_case.py.")
    print("// LOWER, UPPER: first, last, step, distance. UPPER_LONG: a letter and the ones it becomes.")
    print("// CASED, IGNORED: first, last of those that a final sigma is told by.")
    for name, change in (("LOWER", str.lower), ("UPPER", str.upper)):
        show(name, ([f"{a:#x}", f"{b:#x}", str(step), str(distance)] for a, b, step, distance in runs(change)))
    show("UPPER_LONG", ([f"{ord(c):#x}", *(f"{ord(u):#x}" for u in c.upper().ljust(3, "\0"))]
                        for c in LETTERS if len(c.upper()) > 1))
    show("CASED", ([f"{a:#x}", f"{b:#x}"] for a, b in ranges(is_cased)))
    show("IGNORED", ([f"{a:#x}", f"{b:#x}"] for a, b in ranges(is_ignored)))


if __name__ == "__main__":
    main()
