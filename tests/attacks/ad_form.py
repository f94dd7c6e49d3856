"""The binary form of ads, as docs/protocol/wire.md section 3 has it: literals are written, every kind of node is read.

An ad is a dict in the order of its attributes; names compare without case (Ad.get).  Python's None, bool, int, float, str,
list and Ad stand for undefined, bool, int, real, string, list and ad; an expression is an Expr, which keeps its tree and
prints as text; Expr.of_bytes() puts a node that is given as bytes into an ad.

SPDX-License-Identifier: Apache-2.0
"""
import struct

OPERATORS = [None, "||", "&&", "|", "^", "&", "==", "!=", "=?=", "=!=", "<", "<=", ">", ">=", "<<", ">>", ">>>", "+", "-", "*", "/", "%", "!", "~", "+", "-"]
DEPTH_MAX = 1000


class Malformed(Exception):
    pass


class Ad(dict):
    def get(self, name, default=None):
        for key, value in self.items():
            if key.lower() == name.lower():
                return value
        return default


class Expr:
    """A node that is not a literal: its kind, its parts, and its bytes."""

    def __init__(self, kind, parts=(), data=b""):
        self.kind, self.parts, self.data = kind, parts, data

    @classmethod
    def of_bytes(cls, data):
        return Reader(data).node(0)

    def __repr__(self):
        return f"<{self.kind} {' '.join(map(str, self.parts))}>"


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def signed(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(len(value)) + value


def node(value):
    if value is None:
        return b"\0"
    if isinstance(value, bool):
        return bytes([2, value])
    if isinstance(value, int):
        return b"\3" + signed(value)
    if isinstance(value, float):
        return b"\4" + struct.pack("<d", value)
    if isinstance(value, (str, bytes)):
        return b"\5" + text(value)
    if isinstance(value, (list, tuple)):
        return b"\x08" + varint(len(value)) + b"".join(map(node, value))
    if isinstance(value, dict):
        return b"\x09" + attributes(value)
    if isinstance(value, Expr):
        return value.data
    raise TypeError(type(value))


def reference(name, base=None, absolute=False):
    """The node of NAME, BASE.NAME or .NAME."""
    flags = (base is not None) | absolute << 1
    return Expr("reference", (name,), bytes([10, flags]) + text(name) + (b"" if base is None else node(base)))


def chain(first, *rest):
    """first, then (operator, value) for each further one."""
    data = bytes([12]) + varint(1 + len(rest)) + node(first)
    return Expr("chain", (), data + b"".join(bytes([OPERATORS.index(operator)]) + node(value) for operator, value in rest))


def conditional(condition, true, false):
    return Expr("cond", (), bytes([13]) + node(condition) + node(true) + node(false))


def call(name, *arguments):
    return Expr("call", (name,), bytes([17]) + text(name) + varint(len(arguments)) + b"".join(map(node, arguments)))


def attributes(ad):
    return varint(len(ad)) + b"".join(text(name) + node(value) for name, value in ad.items())


def encode(ad):
    """An ad's bytes."""
    names = b"".join(name.encode() + b"\0" for name in ad)
    out = bytearray(b"\2" + varint(len(ad)) + varint(len(names)) + names)
    for value in ad.values():
        if isinstance(value, (str, bytes)):
            data = b"\5" + (value if isinstance(value, bytes) else value.encode()) + b"\0"
        else:
            data = node(value)
        out += varint(len(data)) + data
    return bytes(out)


class Reader:
    def __init__(self, data):
        self.data, self.at = bytes(data), 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Malformed(f"{count} bytes wanted at {self.at}, {len(self.data) - self.at} are there")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if byte == 0 and shift > 7:
                    raise Malformed("a number is not in its shortest form")
                return number
            if shift > 63:
                raise Malformed("a number is too long")

    def signed(self):
        number = self.varint()
        return number >> 1 if number & 1 == 0 else -(number >> 1) - 1

    def text(self):
        return self.take(self.varint()).decode("utf-8", "surrogateescape")

    def real(self):
        return struct.unpack("<d", self.take(8))[0]

    def nodes(self, count, depth):
        return [self.node(depth) for _ in range(count)]

    def attributes(self, depth):
        ad = Ad()
        for _ in range(self.varint()):
            name = self.text()
            ad[name] = self.node(depth)
        return ad

    def node(self, depth):
        begin = self.at
        kind = self.byte()
        if depth > DEPTH_MAX:
            raise Malformed("nested too deep")
        if kind in (0, 2, 3, 4, 5, 8, 9):
            return self.literal(kind, depth + 1)
        name, parts = self.composed(kind, depth + 1)
        return Expr(name, parts, self.data[begin : self.at])

    def literal(self, kind, depth):
        if kind == 0:
            return None
        if kind == 2:
            return self.byte() != 0
        if kind == 8:
            return self.nodes(self.varint(), depth)
        if kind == 9:
            return self.attributes(depth)
        return {3: self.signed, 4: self.real, 5: self.text}[kind]()

    def composed(self, kind, depth):
        if kind == 1:
            return "error", []
        if kind == 6:
            return "abstime", [self.signed(), self.signed()]
        if kind == 7:
            return "reltime", [self.real()]
        if kind == 10:
            flags = self.byte()
            return "reference", [self.text(), flags] + self.nodes(flags & 1, depth)
        if kind == 11:
            return "unary", [OPERATORS[self.byte()]] + self.nodes(1, depth)
        if kind == 12:
            count = self.varint()
            parts = self.nodes(1, depth)
            for _ in range(count - 1):
                parts += [OPERATORS[self.byte()]] + self.nodes(1, depth)
            return "chain", parts
        if kind == 17:
            name = self.text()
            return "call", [name] + self.nodes(self.varint(), depth)
        fixed = {13: ("cond", 3), 14: ("else", 2), 15: ("subscript", 2), 16: ("paren", 1)}
        if kind not in fixed:
            raise Malformed(f"node of kind {kind} at {self.at - 1}")
        name, count = fixed[kind]
        return name, self.nodes(count, depth)

    def ad(self):
        version = self.byte()
        if version != 2:
            raise Malformed(f"ad of version {version}")
        count, names_bytes = self.varint(), self.varint()
        names = self.take(names_bytes).split(b"\0")
        if len(names) != count + 1 or names[-1] != b"":
            raise Malformed(f"{len(names) - 1} names, {count} announced")
        ad = Ad()
        for name in names[:-1]:
            value = Reader(self.take(self.varint()))
            if value.data[0] == 5:
                if value.data[-1] != 0:
                    raise Malformed("a string without its end")
                ad[name.decode()] = value.data[1:-1].decode("utf-8", "surrogateescape")
            else:
                ad[name.decode()] = value.node(0)
                if value.at != len(value.data):
                    raise Malformed("bytes behind a value")
        return ad


def decode(data):
    reader = Reader(data)
    ad = reader.ad()
    if reader.at != len(reader.data):
        raise Malformed("bytes behind the ad")
    return ad
