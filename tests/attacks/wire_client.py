"""A client of the wire protocol that shares no code with Roost: written from docs/protocol/wire.md alone.

    with dial("127.0.0.1:9618", "collector") as connection:
        connection.hello(Holder(token))
        reply = connection.call("QUERY", {"Type": "Machine"})

It does as the page says where it is not told otherwise; an attack tells it otherwise: raw() sends any bytes, frame() any
frame, hello() any arguments.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re
import socket
import struct
import threading
import time

import ad_form
import proofs
from ad_form import Ad
from tls import Key, Tls, TlsError, base64url

VERSION = VERSION_MIN = 2
HELLO, WELCOME, REFUSED, REQUEST, REPLY, CANCEL, WINDOW, PING, PONG, GOODBYE = range(1, 11)
RELAYED, QUIET, MORE, SIGNED = 1, 2, 1, 4
INSTANCE_TRIES = 8  # as often a caller signs anew for an instance
FRAME_MAX = 16 << 20
HEADER = struct.Struct("<IBBHQ")
SOURCE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
VERB_ROW = re.compile(r"^\| (\d+) \| ([A-Z_]+) \| ([A-Z, -]+) \| (\d+) \|$", re.MULTILINE)
Verb = collections.namedtuple("Verb", "number name needs")

# Numbers of errors as section 7 has them, which are those of Linux on x86.
ENOENT, ESRCH, EAGAIN, EACCES, EBUSY, EINVAL, ENOSYS, EPROTO, EBADMSG = 2, 3, 11, 13, 16, 22, 38, 71, 74
EPERM, EHOSTUNREACH, ESTALE, ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED = 1, 113, 116, 126, 127, 128, 129


def verbs():
    """The table of section 4, by name."""
    with open(os.path.join(SOURCE, "docs/protocol/wire.md"), encoding="utf-8") as page:
        rows = VERB_ROW.findall(page.read())
    return {name: Verb(int(number), name, [] if needs.strip() == "-" else needs.split(", ")) for number, name, needs, _ in rows}


VERBS = verbs()


class Refused(Exception):
    """REFUSED, or an end of the connection where WELCOME should have come."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


class Ended(Exception):
    """The connection is over: GOODBYE's status and text, or 0 and how it ended."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status, self.text = status, text


class Frame:
    def __init__(self, kind, flags, verb, number, payload):
        self.kind, self.flags, self.verb, self.number, self.payload = kind, flags, verb, number, payload


# What proves something is beside the ads (section 3).  Here it is an entry of the dict that it belongs to, and is moved on its way.
SECRETS = {"ClaimId": 1, "Nonce": 2, "Ticket": 3}
SECRET_NAMES = {kind: name for name, kind in SECRETS.items()}
OF_ARGUMENTS = 0xFFFFFFFF
# Verbs with which an attacker says that he sets an attribute of such a name: it stays one.
PLAIN = {"SUBMIT", "EDIT", "ACT", "MERGE"}


def apart(ad, of, secrets):
    """The ad without its secrets, which are added to the list."""
    for name, kind in SECRETS.items():
        texts = ad.get(name + "List") or [ad.get(name)]
        secrets += [struct.pack("<BIH", kind, of, len(text)) + text.encode() for text in texts if isinstance(text, str)]
    return Ad({name: value for name, value in ad.items() if name.removesuffix("List") not in SECRETS})


class Message:
    """A body: the arguments, a list of ads, a blob; secrets among the entries of either."""

    def __init__(self, args=None, ads=(), blob=b""):
        self.args, self.ads, self.blob = Ad(args or {}), list(ads), blob

    def encode(self, plain=False):
        """plain: what is named as a secret stays an attribute."""
        secrets, ads = [], []
        for index, ad in enumerate(self.ads):
            ads.append(ad if isinstance(ad, bytes) else ad_form.encode(ad if plain else apart(ad, index, secrets)))
        args = self.args if plain else apart(self.args, OF_ARGUMENTS, secrets)
        if not plain and isinstance(args.get("Hello"), Ad):
            args["Hello"] = apart(args["Hello"], OF_ARGUMENTS, secrets)
        args = ad_form.encode(args) if args else b""
        out = bytearray(struct.pack("<I", len(args)) + args + struct.pack("<I", len(ads)))
        for data in ads:
            out += struct.pack("<I", len(data)) + data
        out += struct.pack("<I", len(self.blob)) + self.blob
        return bytes(out + (struct.pack("<I", len(secrets)) + b"".join(secrets) if secrets else b""))

    @classmethod
    def decode(cls, data):
        reader = ad_form.Reader(data)

        def sized():
            return reader.take(struct.unpack("<I", reader.take(4))[0])

        message = cls()
        args = sized()
        message.args = ad_form.decode(args) if args else Ad()
        message.ads = [ad_form.decode(sized()) for _ in range(struct.unpack("<I", reader.take(4))[0])]
        message.blob = sized()
        if reader.at < len(data):
            message.take_secrets(reader)
        if reader.at != len(data):
            raise ad_form.Malformed("bytes behind the body")
        return message

    def take_secrets(self, reader):
        for _ in range(struct.unpack("<I", reader.take(4))[0]):
            kind, of, length = struct.unpack("<BIH", reader.take(7))
            ad, name = self.args if of == OF_ARGUMENTS else self.ads[of], SECRET_NAMES[kind]
            ad.setdefault(name + "List", []).append(reader.take(length).decode())
            ad.setdefault(name, ad[name + "List"][0])


class Reply(Message):
    """The last reply, with the ads and the bytes of the parts that came before it."""

    status, text, parts = 0, "", 0
    signed = None  # of an answer that came through a hub: each part is signed by who was asked
    relayed = None  # (name that was asked, statement)
    answerer = ""  # the token of who answers


class Request:
    """A request of the other side, as it came: relayed ones with what the caller block says."""

    def __init__(self, frame):
        self.number, self.verb, self.relayed = frame.number, frame.verb, frame.flags & RELAYED != 0
        self.deadline_ms = struct.unpack_from("<I", frame.payload)[0]
        self.caller_block, at, self.parts = b"", 4, 0
        self.token = self.address = self.instance = ""
        if self.relayed:
            self.token, at = text16(frame.payload, at)
            self.address, at = text16(frame.payload, at)
            self.instance, at = text16(frame.payload, at)
            self.once, self.proof = struct.unpack_from("<Q64s", frame.payload, at)
            at += 72
            self.caller_block = frame.payload[4:at]
        self.body = frame.payload[at:]

    def statement(self, receiver):
        """What its caller has signed, if it was for this receiver."""
        claims = proofs.claims_of(self.token)
        return proofs.relay(claims["aud"], self.token, claims["sub"], receiver, self.instance, self.verb, self.deadline_ms, self.once, self.body)

    def message(self):
        return Message.decode(self.body)


def text16(data, at):
    length = struct.unpack_from("<H", data, at)[0]
    return data[at + 2 : at + 2 + length].decode("utf-8", "replace"), at + 2 + length


def put_text16(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<H", len(value)) + value


def caller_block(token, address, instance, number, proof):
    return put_text16(token) + put_text16(address) + put_text16(instance) + struct.pack("<Q64s", number, proof)


class Holder:
    """Who calls: a token, and the key that it names."""

    def __init__(self, token="", key=None):
        self.token, self.key = token, key

    @classmethod
    def of_text(cls, text):
        """What a token file holds: the token, and the key in PEM."""
        token, _, pem = text.strip().partition("\n")
        return cls(token, Key.of_pem(pem.encode() + b"\n") if pem.strip() else None)

    def claim(self, name):
        try:
            return str(proofs.claims_of(self.token).get(name, ""))
        except (ValueError, IndexError):
            return ""

    def sign(self, statement):
        return self.key.sign(statement) if self.key is not None else bytes(64)

    def hello_args(self, connection, name):
        if not self.token or not isinstance(connection.stream, Tls):
            return {}  # on a Unix socket the uid is who one is
        said = proofs.greeting(self.claim("aud"), self.token, connection.route, name, connection.stream.exporter())
        return {"Token": self.token, "Proof": base64url(self.sign(said))}

    def relay_args(self, uplink, instance, verb, deadline_ms, body):
        """(the last four arguments of RELAY, the statement that is signed)"""
        number = int.from_bytes(os.urandom(8), "little") >> 1
        said = proofs.relay(self.claim("aud"), self.token, self.claim("sub"), uplink, instance, verb, deadline_ms, number, body)
        return {"Token": self.token, "Instance": instance, "Number": number, "Proof": base64url(self.sign(said))}, said


NOBODY = Holder()


class Connection:
    """One connection, of whichever side.  Requests of the other side gather in .requests unless .on_request takes them."""

    def __init__(self, stream, peer="", route=""):
        self.stream, self.peer, self.route, self.data = stream, peer, route, bytearray()
        self.name, self.instances = "", {}
        self.last, self.replies, self.requests, self.on_request = 0, {}, collections.deque(), None
        self.welcome, self.holder, self.writing = Ad(), NOBODY, threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.stream.close()
        except OSError:
            pass

    # ---- frames

    def raw(self, data):
        try:
            with self.writing:
                self.stream.sendall(data)
        except (OSError, TlsError) as error:
            raise Ended(0, str(error)) from error

    def frame(self, kind, payload=b"", flags=0, verb=0, number=0):
        self.raw(HEADER.pack(len(payload) + 12, kind, flags, verb, number) + payload)

    def receive(self, timeout=None):
        """The stream's next bytes; False: none in that time."""
        try:
            if isinstance(self.stream, Tls):
                data = self.stream.recv(1 << 16, timeout)
            else:
                self.stream.settimeout(self.default_timeout() if timeout is None else max(timeout, 0.001))
                data = self.stream.recv(1 << 16)
        except TimeoutError:
            return False
        except (OSError, TlsError) as error:
            raise Ended(0, str(error)) from error
        if not data:
            raise Ended(0, "the other side has closed the connection")
        self.data += data
        return True

    @staticmethod
    def default_timeout():
        return 20

    def next_frame(self, timeout=None):
        """The next frame, or None when none came in that time."""
        until = time.monotonic() + (self.default_timeout() if timeout is None else timeout)
        while True:
            if len(self.data) >= 4:
                length = struct.unpack_from("<I", self.data)[0]
                if length < 12 or length > FRAME_MAX:
                    raise ad_form.Malformed(f"a frame of {length} bytes")
                if len(self.data) >= length + 4:
                    _, kind, flags, verb, number = HEADER.unpack_from(self.data)
                    payload = bytes(self.data[HEADER.size : length + 4])
                    del self.data[: length + 4]
                    return Frame(kind, flags, verb, number, payload)
            left = until - time.monotonic()
            if left <= 0 or not self.receive(left):
                return None

    # ---- greeting

    def send_hello(self, args, version=VERSION, version_min=VERSION_MIN):
        self.frame(HELLO, struct.pack("<HH", version, version_min) + Message(args).encode())

    def hello(self, holder=NOBODY, name=None, more=None, **args):
        """Greets and returns WELCOME's arguments; Refused where there are none."""
        self.holder = holder
        self.name = name or ""
        said = {**holder.hello_args(self, self.name), "Software": "attacks"}
        if name is not None:
            said.update(Name=name, Instance=os.urandom(16).hex())
        if more is not None:
            said["Hello"] = Ad(more)
        said.update(args)
        try:
            self.send_hello(said)
            frame = self.next_frame()
        except Ended as end:
            raise Refused(0, f"no answer: {end.text}") from end
        if frame is None:
            raise Refused(0, "no answer in time")
        if frame.kind == GOODBYE:
            status = struct.unpack_from("<i", frame.payload)[0]
            raise Refused(status, text16(frame.payload, 4)[0])
        body = Message.decode(frame.payload[4:])
        if frame.kind == REFUSED:
            raise Refused(body.args.get("ErrorCode", 0), body.args.get("ErrorString", ""))
        if frame.kind != WELCOME:
            raise Refused(0, f"a frame of type {frame.kind} in place of WELCOME")
        self.welcome = body.args
        return self.welcome

    def scopes(self):
        return set(filter(None, self.welcome.get("Scopes", "").split(",")))

    # ---- requests

    def send(self, verb, args=None, ads=(), blob=b"", deadline_ms=20000, flags=0, body=None, block=b""):
        """A REQUEST; its number.  body stands for args, ads and blob; block: a caller block."""
        number = VERBS[verb].number if isinstance(verb, str) else verb
        self.last += 1
        body = Message(args, ads, blob).encode(verb in PLAIN) if body is None else body
        self.replies[self.last] = Reply()
        self.frame(REQUEST, struct.pack("<I", deadline_ms) + block + body, flags, number, self.last)
        return self.last

    def cancel(self, number):
        self.replies.pop(number, None)
        self.frame(CANCEL, number=number)

    def take_reply(self, frame):
        reply = self.replies.get(frame.number)
        if reply is None:
            return  # cancelled
        status = struct.unpack_from("<i", frame.payload)[0]
        said, at = text16(frame.payload, 4)
        if frame.flags & SIGNED:
            token, at = text16(frame.payload, at)
            reply.answerer = token or reply.answerer
            proof, at = frame.payload[at : at + 64], at + 64
            if reply.relayed is not None:
                good = self.is_answer(reply, frame, status, said, proof, frame.payload[at:])
                reply.signed = good and reply.signed is not False
        body = Message.decode(frame.payload[at:]) if at < len(frame.payload) else Message()
        reply.ads += body.ads
        reply.blob += body.blob
        if frame.flags & MORE:
            reply.parts += 1
            reply.args = body.args
            # What we have got is worked off at once.
            self.frame(WINDOW, struct.pack("<I", len(frame.payload)), number=frame.number)
        else:
            reply.status, reply.text, reply.args, reply.over = status, said, body.args, True

    @staticmethod
    def is_answer(reply, frame, status, said, proof, body):
        uplink, statement = reply.relayed
        pool = proofs.claims_of(reply.answerer)["aud"]
        return proofs.proved(reply.answerer, proofs.answer(pool, reply.answerer, uplink, statement, reply.parts, frame.flags & MORE, status, said, body), proof)

    def turn(self, timeout=None):
        """Takes one frame; False: none came in that time."""
        frame = self.next_frame(timeout)
        if frame is None:
            return False
        if frame.kind == PING:
            self.frame(PONG, frame.payload)
        elif frame.kind == REPLY:
            self.take_reply(frame)
        elif frame.kind == REQUEST:
            request = Request(frame)
            if self.on_request is not None:
                self.on_request(self, request)
            else:
                self.requests.append(request)
        elif frame.kind == GOODBYE:
            raise Ended(struct.unpack_from("<i", frame.payload)[0], text16(frame.payload, 4)[0])
        return True

    def wait(self, number, timeout=20, parts=False):
        """The Reply of a request; with parts, at its first part as well.  None: not in that time."""
        reply, until = self.replies[number], time.monotonic() + timeout
        while not getattr(reply, "over", False) and not (parts and reply.parts > 0):
            left = until - time.monotonic()
            if left <= 0 or not self.turn(left):
                if time.monotonic() >= until:
                    return None
        return reply

    def call(self, verb, args=None, ads=(), blob=b"", timeout=20, **more):
        reply = self.wait(self.send(verb, args, ads, blob, **more), timeout)
        if reply is None:
            raise TimeoutError(f"no answer to {verb}")
        return reply

    def whose(self, uplink):
        """(full name, instance) of an uplink, as the hub knows it."""
        if uplink not in self.instances:
            self.learn(uplink, self.call("RELAY", {"Uplink": uplink, "Verb": VERBS["PING"].number}))
        return self.instances.get(uplink, (uplink, "0" * 32))

    def learn(self, uplink, reply):
        if reply.status == -ESTALE and reply.args.get("Instance"):
            self.instances[uplink] = reply.args["Uplink"], reply.args["Instance"]
            return True
        return False

    def send_relay(self, uplink, verb, args=None, ads=(), blob=b"", deadline_ms=20000, holder=None, **override):
        """RELAY of a request that the holder signs as the protocol has it; override: other arguments of RELAY."""
        number = VERBS[verb].number if isinstance(verb, str) else verb
        body = Message(args, ads, blob).encode(verb in PLAIN)
        name, instance = self.whose(uplink)
        proof, statement = (holder or self.holder).relay_args(name, instance, number, deadline_ms, body)
        sent = self.send("RELAY", {"Uplink": name, "Verb": number, "Deadline": deadline_ms, **proof, **override}, blob=body)
        self.replies[sent].relayed = name, statement
        return sent

    def relay(self, uplink, verb, args=None, ads=(), blob=b"", timeout=20, **override):
        for _ in range(INSTANCE_TRIES):
            reply = self.wait(self.send_relay(uplink, verb, args, ads, blob, **override), timeout)
            if reply is None:
                raise TimeoutError(f"no answer to {verb} from {uplink}")
            if not self.learn(uplink, reply):
                break
        return reply

    # ---- answers

    def answer(self, request, status=0, said="", args=None, ads=(), blob=b"", more=False, body=None):
        number = request if isinstance(request, int) else request.number
        body = Message(args, ads, blob).encode() if body is None else body
        flags, proof = MORE if more else 0, b""
        if isinstance(request, Request) and request.relayed and self.holder.key is not None:
            token = self.holder.token
            statement = proofs.answer(self.holder.claim("aud"), token, self.name, request.statement(self.name), request.parts, more, status, said, body)
            proof = put_text16(token if request.parts == 0 else "") + self.holder.sign(statement)
            flags |= SIGNED
            request.parts += 1
        self.frame(REPLY, struct.pack("<i", status) + put_text16(said) + proof + body, flags, 0, number)

    def next_request(self, timeout=20):
        """The other side's next request, or None."""
        until = time.monotonic() + timeout
        while not self.requests:
            left = until - time.monotonic()
            if left <= 0:
                return None
            self.turn(left)
        return self.requests.popleft()


def open_socket(address, timeout=20):
    if address.startswith("unix:"):
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(timeout)
        plain.connect(address[5:])
        return plain
    host, port = address.removeprefix("tcp:").rsplit(":", 1)
    plain = socket.create_connection((host, int(port)), timeout)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return plain


def dial(address, route, timeout=20):
    """A connection that is to greet: over TLS to HOST:PORT, in clear to unix:PATH.  A server that hangs up: Refused."""
    try:
        plain = open_socket(address, timeout)
        plain.sendall(f"ROOST/1 {route}\n".encode())
        return Connection(plain if address.startswith("unix:") else Tls(plain, timeout=timeout), address, route)
    except (OSError, TlsError) as error:
        raise Refused(0, str(error)) from error


def greet(address, route, holder=NOBODY, **how):
    """Dials and greets."""
    connection = dial(address, route)
    try:
        connection.hello(holder, **how)
    except BaseException:
        connection.close()
        raise
    return connection
