#!/usr/bin/python3
"""lib_cutting_proxy.py LISTEN_PORT_FILE SERVER_PORT CONTROL_DIR - passes TCP connections on, and cuts them.

Listens on a free port of the loopback, which it writes to LISTEN_PORT_FILE.  While CONTROL_DIR/down is there nobody gets
through: connections are cut, new ones are refused.  CONTROL_DIR/cut cuts all once, and is removed when it is done;
CONTROL_DIR/silent lets nothing pass and cuts nothing; CONTROL_DIR/bytes cuts each connection after as many bytes as it
holds, in either direction together.

SPDX-License-Identifier: Apache-2.0
"""
import os
import selectors
import socket
import sys


def main():
    port_file, server_port, control = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    with open(port_file + ".new", "w") as file:
        file.write(str(listener.getsockname()[1]))
    os.rename(port_file + ".new", port_file)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    peer, passed = {}, {}

    def has(name):
        return os.path.exists(os.path.join(control, name))

    def cut(one):
        for each in (one, peer.pop(one, None)):
            if each is not None:
                peer.pop(each, None)
                passed.pop(each, None)
                selector.unregister(each)
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                each.close()

    while True:
        events = selector.select(0.02)
        if has("down") or has("cut"):
            for one in list(peer):
                if one in peer:
                    cut(one)
            if has("cut"):
                os.unlink(os.path.join(control, "cut"))
            if events and any(key.fileobj is listener for key, _ in events):
                listener.accept()[0].close()
            continue
        if has("silent"):
            continue
        limit = 0
        if has("bytes"):
            with open(os.path.join(control, "bytes")) as file:
                limit = int(file.read() or 0)
        for key, _ in events:
            one = key.fileobj
            if one is listener:
                client = listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", server_port))
                for each, other in ((client, server), (server, client)):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    peer[each] = other
                    passed[each] = 0
                    selector.register(each, selectors.EVENT_READ)
                continue
            if one not in peer:
                continue
            try:
                data = one.recv(1 << 16)
                other = peer[one]
                if data:
                    other.sendall(data)
            except OSError:
                data = b""
            if data:
                passed[one] += len(data)
                if limit and passed[one] + passed[other] > limit:
                    data = b""
            if not data:
                cut(one)


main()
