"""A hub that lies: it stands in the collector's place, with the collector's own key, and can do what whoever owns that host can.

It keeps ads, tells of them, grants leases, carries requests, as a collector does; what an attack changes is: ads that are shown (.show),
requests and answers that are carried (.carry, .carry_back), and what it asks an uplink by itself (uplink()).

SPDX-License-Identifier: Apache-2.0
"""
import copy
import socket
import struct
import threading
import time

import wire_client
from ad_form import Ad
from evil import NAMES
from tls import Tls, TlsError, base64url_decode
from wire_client import EHOSTUNREACH, ESTALE, GOODBYE, HELLO, MORE, RELAYED, REPLY, REQUEST, WELCOME, Connection, Ended, Message, VERBS, caller_block

CHANGED, GONE = 1, 2
ALL_SCOPES = "READ,WRITE,ADVERTISE,SCHEDD,ROOSTER,MASTER,NEGOTIATOR,ADMINISTRATOR"


class Carried:
    """One relayed request on its way: change it, send it again, send it elsewhere."""

    def __init__(self, hub, caller, request, args, body):
        self.hub, self.caller, self.request, self.args = hub, caller, request, Ad(args)
        self.uplink, self.verb, self.deadline_ms, self.body = args["Uplink"], args["Verb"], args.get("Deadline", 0), body
        self.block = hub.block_of(caller, args)
        self.answer = None

    def name(self):
        return NAMES.get(self.verb, str(self.verb))

    def with_(self, **changes):
        """The same with changes: uplink, verb, deadline_ms, block, body."""
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other


class Member(Connection):
    """Somebody's connection to the hub."""

    def __init__(self, hub, stream, peer):
        super().__init__(stream, peer)
        self.hub, self.hello_args, self.carried, self.number_lock = hub, Ad(), {}, threading.Lock()
        self.on_request = hub.handle
        self.watches = {}

    def ask(self, verb, deadline_ms, block, body, flags, back):
        """A REQUEST of the hub's to this member; back gets each frame of the answer."""
        with self.number_lock:
            self.last += 1
            number = self.last
            self.carried[number] = back
        self.frame(REQUEST, struct.pack("<I", deadline_ms) + block + body, flags, verb, number)
        return number

    def take_reply(self, frame):
        back = self.carried.get(frame.number)
        if back is None:
            return
        if not frame.flags & MORE:
            del self.carried[frame.number]
        back(frame)


class Answer:
    """What came back to a request of the hub's own."""

    def __init__(self):
        self.over, self.status, self.text, self.frames = threading.Event(), None, "", []

    def take(self, frame):
        self.frames.append(frame)
        if not frame.flags & MORE:
            self.status = struct.unpack_from("<i", frame.payload)[0]
            self.text = wire_client.text16(frame.payload, 4)[0]
            self.over.set()

    def wait(self, seconds=10):
        """Its status; None: nothing came."""
        self.over.wait(seconds)
        return self.status


class Hub:
    def __init__(self, port, certificate, key):
        self.certificate, self.key = certificate, key
        self.lock, self.members, self.uplinks, self.ads, self.leases = threading.RLock(), [], {}, {}, {}
        self.epoch, self.sequence, self.stopped = int(time.time()), 0, False
        self.seen = []  # every Carried, in order
        self.tokens = []  # every token that anybody has shown
        self.show = lambda _member, ad: ad
        self.carry = lambda carried: [carried]
        self.carry_back = lambda _carried, frame: [frame]
        self.listener = socket.create_server(("127.0.0.1", port))
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def close(self):
        self.stopped = True
        self.listener.close()
        for member in list(self.members):
            member.close()

    # ---- connections

    def listen(self):
        while not self.stopped:
            try:
                plain, peer = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(plain, f"{peer[0]}:{peer[1]}"), daemon=True).start()

    def serve(self, plain, peer):
        try:
            plain.settimeout(10)
            route = b""
            while not route.endswith(b"\n"):
                byte = plain.recv(1)
                if not byte or len(route) > 300:
                    return
                route += byte
            member = Member(self, Tls(plain, server=True, certificate=self.certificate, key=self.key), peer)
        except (OSError, TlsError):
            plain.close()
            return
        try:
            self.greet(member)
            while not self.stopped:
                member.turn(1)
        except (Ended, OSError, TlsError, struct.error):
            pass
        finally:
            self.forget(member)

    def greet(self, member):
        frame = member.next_frame(10)
        if frame is None or frame.kind != HELLO:
            raise Ended(0, "no HELLO")
        member.hello_args = Message.decode(frame.payload[4:]).args
        newest = struct.unpack_from("<H", frame.payload)[0]
        if member.hello_args.get("Token"):
            self.tokens.append(member.hello_args["Token"])
        said = {"Identity": "somebody@pool", "Scopes": ALL_SCOPES, "ServerTime": int(time.time()), **self.welcome_more(member)}
        member.frame(WELCOME, struct.pack("<HH", min(newest, wire_client.VERSION), 0) + Message(said).encode())
        with self.lock:
            self.members.append(member)
            if member.hello_args.get("Name"):
                self.uplinks[member.hello_args["Name"]] = member

    def welcome_more(self, _member):
        return {}

    def forget(self, member):
        member.close()
        with self.lock:
            if member in self.members:
                self.members.remove(member)
            self.uplinks = {name: one for name, one in self.uplinks.items() if one is not member}

    def uplink(self, name, seconds=30):
        end = time.monotonic() + seconds
        while name not in self.uplinks:
            if time.monotonic() > end:
                raise AssertionError(f"no uplink {name}, only {sorted(self.uplinks)}")
            time.sleep(0.05)
        return self.uplinks[name]

    # ---- what it is asked

    def handle(self, member, request):
        name = NAMES.get(request.verb, "?")
        answer = getattr(self, "do_" + name.lower(), None)
        if answer is None:
            member.answer(request, -wire_client.ENOSYS, f"{name} is not answered here")
        else:
            answer(member, request)

    def do_ping(self, member, request):
        member.answer(request, body=request.body)

    def do_update(self, member, request):
        message = request.message()
        with self.lock:
            for ad in message.ads:
                key = ad.get("MyType", ""), ad.get("Name", "")
                if message.args.get("Full") or key not in self.ads:
                    self.ads[key] = ad
                else:
                    for name in ad.get("Delete") or []:
                        self.ads[key].pop(name, None)
                    self.ads[key].update({name: value for name, value in ad.items() if name != "Delete"})
                self.tell(CHANGED, key)
        member.answer(request)

    def do_merge(self, member, request):
        message = request.message()
        key = message.args.get("Type"), message.args.get("Name")
        with self.lock:
            if key not in self.ads:
                member.answer(request, -wire_client.ENOENT, "no such ad")
                return
            for name in message.args.get("Delete") or []:
                self.ads[key].pop(name, None)
            for ad in message.ads:
                self.ads[key].update(ad)
            self.tell(CHANGED, key)
        member.answer(request)

    def do_invalidate(self, member, request):
        args = request.message().args
        with self.lock:
            gone = [(args.get("Type"), name) for name in args.get("Names") or [] if (args.get("Type"), name) in self.ads]
            for key in gone:
                del self.ads[key]
                self.tell(GONE, key)
        member.answer(request, args={"Count": len(gone)})

    def chosen(self, member, args):
        """Ads of the type asked for; constraints are not looked at, which is one of its lies."""
        kind = args.get("Type", "Any")
        shown = [self.show(member, ad) for (type_, _), ad in self.ads.items() if kind in ("Any", type_)]
        return [ad for ad in shown if ad is not None]

    def do_query(self, member, request):
        with self.lock:
            # What daemons look for is what they left here before they were started: there is none.
            ads = [] if member.hello_args.get("Name") else self.chosen(member, request.message().args)
        member.answer(request, args={"Count": len(ads)}, ads=ads)

    def do_watch(self, member, request):
        args = request.message().args
        with self.lock:
            member.watches[request.number] = args.get("Type", "Any")
            ads = self.chosen(member, args)
            self.event(member, request.number, "Changes", [(CHANGED, ad.get("Name"), ad) for ad in ads])
            self.event(member, request.number, "Synced", [])

    def event(self, member, number, event, operations):
        self.sequence += 1
        blob = b"".join(struct.pack("<B", operation) + wire_client.put_text16(key) for operation, key, _ in operations)
        ads = [ad for operation, _, ad in operations if operation == CHANGED]
        member.answer(number, args={"Event": event, "Epoch": self.epoch, "Sequence": self.sequence}, ads=ads, blob=blob, more=True)

    def tell(self, operation, key):
        for member in self.members:
            for number, kind in member.watches.items():
                if kind in ("Any", key[0]):
                    ad = self.show(member, self.ads[key]) if operation == CHANGED else None
                    try:
                        self.event(member, number, "Changes", [(operation if ad is not None else GONE, key[1], ad)])
                    except Ended:
                        pass

    def do_lease(self, member, request):
        args = request.message().args
        said = {"Role": args.get("Role"), "Holder": args.get("Holder"), "HolderIdentity": "somebody@pool", "Remaining": args.get("Duration", 0)}
        member.answer(request, args=said)

    def do_instance(self, member, request):
        member.hello_args["Instance"] = request.message().args.get("Instance", "")
        member.answer(request)

    def do_revoke(self, member, request):
        member.answer(request)  # and nobody is told

    # ---- what it carries

    def block_of(self, caller, args):
        """The caller block that an honest hub would send with this RELAY."""
        return caller_block(args.get("Token", ""), caller.peer, args.get("Instance", ""), args.get("Number", 0), base64url_decode(args.get("Proof", "")))

    def do_relay(self, caller, request):
        message = request.message()
        name, target = self.target(message.args.get("Uplink", ""))
        if target is None:
            caller.answer(request, -EHOSTUNREACH, f"no uplink '{name}' here")
            return
        instance = target.hello_args.get("Instance", "")
        if not message.args.get("Proof") or message.args["Uplink"] != name or message.args.get("Instance") != instance:
            caller.answer(request, -ESTALE, "sign for this instance", args={"Uplink": name, "Instance": instance})
            return
        self.tokens.append(message.args["Token"])
        carried = Carried(self, caller, request, message.args, message.blob)
        self.seen.append(carried)
        for one in self.carry(carried):
            self.deliver(one)

    def target(self, name):
        """(full name, connection) of who is reached by that name."""
        found = sorted(name_ for name_ in self.uplinks if name_ == name or name.endswith("/") and name_.startswith(name))
        return (found[0], self.uplinks[found[0]]) if found else (name, None)

    def deliver(self, carried):
        _, target = self.target(carried.uplink)
        if target is None:
            carried.caller.answer(carried.request, -EHOSTUNREACH, f"no uplink '{carried.uplink}' here")
            return

        def back(frame):
            for one in self.carry_back(carried, frame):
                try:
                    carried.caller.frame(REPLY, one.payload, one.flags, 0, carried.request.number)
                except Ended:
                    pass

        try:
            target.ask(carried.verb, carried.deadline_ms, carried.block, carried.body, RELAYED, back)
        except Ended:
            carried.caller.answer(carried.request, -wire_client.EAGAIN, "the uplink was lost")

    # ---- what it asks by itself

    def say(self, uplink, verb, block, body, flags=RELAYED, deadline_ms=10000):
        """A request of the hub's own invention, or one that it has seen, to an uplink: an Answer."""
        answer = Answer()
        number = VERBS[verb].number if isinstance(verb, str) else verb
        self.uplink(uplink).ask(number, deadline_ms, block, body, flags, answer.take)
        return answer

    def cut(self, uplink):
        """Ends an uplink's connection: it will dial again."""
        member = self.uplink(uplink)
        try:
            member.frame(GOODBYE, struct.pack("<i", 0) + wire_client.put_text16("later"))
        except Ended:
            pass
        self.forget(member)
