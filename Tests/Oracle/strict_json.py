"""JSON as the event specification reads it: strict, and compared by value.

`json.loads` is too kind: it takes NaN, repeated keys and lone surrogates. This reader takes none of them, and it
remembers where each member of the outermost object stands, so that the size of a wrapped event can be measured.
"""
import math
import re


class NotJSON(Exception):
    pass


NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
BLANKS = re.compile(r"[ \t\n\r]*")
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# The event's own depth is asked afterwards, since a wrapper is not counted; this one only ends the recursion.
DEEPEST_LINE = 300


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0
        self.spans = {}   # member of the outermost object -> (first character, one past the last)

    def document(self):
        value = self.value(0)
        self.skip_blanks()
        if self.at != len(self.text):
            raise NotJSON("text after the value")
        return value

    def skip_blanks(self):
        self.at = BLANKS.match(self.text, self.at).end()

    def peek(self):
        return self.text[self.at:self.at + 1]

    def take(self, token):
        if not self.text.startswith(token, self.at):
            raise NotJSON("expected %s" % token)
        self.at += len(token)

    def value(self, depth):
        self.skip_blanks()
        first = self.peek()
        if first == "{":
            return self.object(depth + 1)
        if first == "[":
            return self.array(depth + 1)
        if first == '"':
            return self.string()
        for token, value in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(token, self.at):
                self.at += len(token)
                return value
        return self.number()

    def object(self, depth):
        if depth > DEEPEST_LINE:
            raise NotJSON("nested too deeply")
        self.take("{")
        members = {}
        self.skip_blanks()
        if self.peek() == "}":
            self.at += 1
            return members
        while True:
            self.skip_blanks()
            key = self.string()
            if key in members:
                raise NotJSON("key twice")
            self.skip_blanks()
            self.take(":")
            self.skip_blanks()
            first = self.at
            members[key] = self.value(depth)
            if depth == 1:
                self.spans[key] = (first, self.at)
            self.skip_blanks()
            if self.peek() == "}":
                self.at += 1
                return members
            self.take(",")

    def array(self, depth):
        if depth > DEEPEST_LINE:
            raise NotJSON("nested too deeply")
        self.take("[")
        items = []
        self.skip_blanks()
        if self.peek() == "]":
            self.at += 1
            return items
        while True:
            items.append(self.value(depth))
            self.skip_blanks()
            if self.peek() == "]":
                self.at += 1
                return items
            self.take(",")

    def string(self):
        self.take('"')
        parts = []
        while True:
            plain = PLAIN.match(self.text, self.at)
            parts.append(plain.group())
            self.at = plain.end()
            character = self.peek()
            if character == '"':
                self.at += 1
                break
            if character != "\\":
                raise NotJSON("control character or end inside a string")
            escape = self.text[self.at + 1:self.at + 2]
            self.at += 2
            if escape in ESCAPES:
                parts.append(ESCAPES[escape])
            elif escape == "u":
                parts.append(self.escaped_character())
            else:
                raise NotJSON("bad escape")
        return "".join(parts)

    def code_unit(self):
        digits = self.text[self.at:self.at + 4]
        if not re.fullmatch("[0-9a-fA-F]{4}", digits):
            raise NotJSON("bad \\u escape")
        self.at += 4
        return int(digits, 16)

    def escaped_character(self):
        unit = self.code_unit()
        if 0xD800 <= unit < 0xDC00:
            self.take("\\u")
            low = self.code_unit()
            if not 0xDC00 <= low < 0xE000:
                raise NotJSON("lone surrogate")
            return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        if 0xDC00 <= unit < 0xE000:
            raise NotJSON("lone surrogate")
        return chr(unit)

    def number(self):
        match = NUMBER.match(self.text, self.at)
        if not match:
            raise NotJSON("expected a value")
        self.at = match.end()
        if match.group(1) or match.group(2):
            return float(match.group())   # beyond double: infinite, refused where the field is read
        whole = match.group()
        if math.isinf(float(whole)):
            return float(whole)
        return int(whole)


def read(raw):
    """bytes -> (value, reader); raises NotJSON."""
    try:
        text = raw.decode("utf-8")   # Python's decoder refuses surrogates and overlong forms
    except UnicodeDecodeError:
        raise NotJSON("no UTF-8")
    reader = Reader(text)
    return reader.document(), reader


def depth(value):
    if isinstance(value, dict):
        return 1 + max((depth(item) for item in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth(item) for item in value), default=0)
    return 0


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def has_infinity(value):
    if isinstance(value, dict):
        return any(has_infinity(item) for item in value.values())
    if isinstance(value, list):
        return any(has_infinity(item) for item in value)
    return isinstance(value, float) and math.isinf(value)


def equal(a, b):
    """events.md: numbers as doubles (integers beyond 2^53 by their text), objects without regard to key order."""
    if is_number(a) and is_number(b):
        if isinstance(a, int) and isinstance(b, int):
            return a == b   # equal integers have equal texts; below 2^53 they are equal doubles too
        return float(a) == float(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    return a == b


def merge_patch(target, patch):
    """RFC 7396, without touching its arguments."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def fields(value, path=()):
    """The leaves of an object as {path: value}; a path is a tuple of keys. Arrays and empty objects are leaves."""
    leaves = {}
    for key, item in value.items():
        if isinstance(item, dict) and item:
            leaves.update(fields(item, path + (key,)))
        else:
            leaves[path + (key,)] = item
    return leaves


ABSENT = object()


def differing_fields(a, b, path=()):
    """{path: (value in a, value in b)} of the fields that differ; ABSENT where one side lacks it.

    Two objects differ in their members alone. Where only one side is an object, each of its leaves is a field of its
    own, and so is the other side's value.
    """
    if isinstance(a, dict) and isinstance(b, dict):
        found = {}
        for key in sorted(set(a) | set(b)):
            found.update(differing_fields(a.get(key, ABSENT), b.get(key, ABSENT), path + (key,)))
        return found
    if a is not ABSENT and b is not ABSENT and equal(a, b):
        return {}
    found = {}
    for side, value in enumerate((a, b)):
        if value is ABSENT:
            continue
        leaves = fields(value, path) if isinstance(value, dict) and value else {path: value}
        for leaf, item in leaves.items():
            pair = list(found.get(leaf, (ABSENT, ABSENT)))
            pair[side] = item
            found[leaf] = tuple(pair)
    return found


def with_field(value, path, item):
    """A copy of an object in which the field at `path` is `item`."""
    copy = dict(value)
    if len(path) == 1:
        copy[path[0]] = item
    else:
        below = copy.get(path[0])
        copy[path[0]] = with_field(below if isinstance(below, dict) else {}, path[1:], item)
    return copy
