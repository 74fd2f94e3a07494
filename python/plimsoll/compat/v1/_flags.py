"""Flags of a command line, for where the package absl is not installed."""

import sys


class Error(Exception):
    """A flag that is not known, or a value that it cannot have."""


class _Flag:
    def __init__(self, name, default, help_text, parse, is_bool=False, is_many=False):
        self.name, self.default, self.value, self.help = name, default, default, help_text
        self.parse, self.is_bool, self.is_many = parse, is_bool, is_many
        self.present, self.is_required = 0, False

    def set(self, text):
        try:
            made = self.parse(text)
        except (ValueError, KeyError):
            raise Error(f"flag --{self.name}={text}: not a value that it can have") from None
        self.value = (self.value if self.present and self.is_many else []) + [made] if self.is_many else made
        self.present += 1


class FlagValues:
    """Flags by name; calling it with a command line sets them and returns the rest."""

    def __init__(self):
        self.__dict__["_all"] = {}
        self.__dict__["_parsed"] = False

    def __call__(self, argv, known_only=False):
        rest, words = [argv[0]], list(argv[1:])
        while words:
            word = words.pop(0)
            if word == "--":
                rest += words
                break
            if not word.startswith("-") or word == "-":
                rest.append(word)
                continue
            name, equals, text = word.lstrip("-").partition("=")
            if name in ("help", "helpfull", "h") and name not in self._all:
                print(self.get_help())
                sys.exit(1)
            flag = self._all.get(name)
            if flag is None and name.startswith("no") and name[2:] in self._all and (
                    self._all[name[2:]].is_bool):
                self._all[name[2:]].set("false")
                continue
            if flag is None:
                if known_only:
                    rest.append(word)
                    continue
                raise Error(f"Unknown command line flag '{name}'")
            if not equals:
                if flag.is_bool:
                    text = "true"
                elif words:
                    text = words.pop(0)
                else:
                    raise Error(f"Missing value for flag --{name}")
            flag.set(text)
        self.__dict__["_parsed"] = True
        for flag in self._all.values():
            if flag.is_required and flag.value is None:
                raise Error(f"Flag --{flag.name} must have a value other than None.")
        return rest

    def get_help(self):
        lines = []
        for flag in sorted(self._all.values(), key=lambda f: f.name):
            lines += [f"  --{'[no]' if flag.is_bool else ''}{flag.name}: {flag.help}",
                      f"    (default: {flag.default!r})"]
        return "\n".join(lines)

    def __getattr__(self, name):
        if name not in self._all:
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv, known_only=True)
        return self._all[name].value

    def __setattr__(self, name, value):
        if name not in self._all:
            raise AttributeError(f"Unknown command line flag '{name}'")
        self._all[name].value = value

    def __contains__(self, name):
        return name in self._all

    def __iter__(self):
        return iter(self._all)

    def __getitem__(self, name):
        return self._all[name]

    def flag_values_dict(self):
        return {name: flag.value for name, flag in self._all.items()}

    def is_parsed(self):
        return self._parsed

    def mark_as_parsed(self):
        self.__dict__["_parsed"] = True


FLAGS = FlagValues()


def _to_bool(text):
    if isinstance(text, bool):
        return text
    return {"true": True, "t": True, "1": True, "yes": True, "false": False, "f": False, "0": False,
            "no": False}[str(text).lower()]


def _to_list(text):
    return text if isinstance(text, list) else [part.strip() for part in text.split(",")] if text else []


def _definer(parse, **options):
    def define(name, default, help, flag_values=FLAGS, required=False, **unused):
        if name in flag_values._all:
            raise Error(f"The flag '{name}' is defined twice.")
        value = default
        if default is not None and not options.get("is_many"):
            value = parse(default)
        flag = flag_values._all[name] = _Flag(name, value, help, parse, **options)
        flag.is_required = required
        return flag

    return define


DEFINE_string, DEFINE_integer = _definer(str), _definer(lambda v: int(str(v), 0))
DEFINE_float, DEFINE_list = _definer(float), _definer(_to_list)
DEFINE_boolean = DEFINE_bool = _definer(_to_bool, is_bool=True)
DEFINE_multi_string = _definer(str, is_many=True)
DEFINE_multi_integer = _definer(lambda v: int(str(v), 0), is_many=True)
DEFINE_multi_float = _definer(float, is_many=True)


def DEFINE_enum(name, default, enum_values, help, flag_values=FLAGS, **unused):
    def parse(text):
        if text not in enum_values:
            raise ValueError(text)
        return text

    return _definer(parse)(name, default, help, flag_values)


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    flag_values._all[flag_name].is_required = True


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    for name in flag_names:
        mark_flag_as_required(name, flag_values)
