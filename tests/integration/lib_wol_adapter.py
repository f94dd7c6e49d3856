"""A network adapter of a sleeping machine: ends when it hears the magic packet that is for it.

usage: lib_wol_adapter.py INTERFACE HARDWARE_ADDRESS PASSWORD

It looks for the packet anywhere in a frame, as an adapter does.  It says "listening" when it can hear.

SPDX-License-Identifier: Apache-2.0
"""
import socket
import sys

ALL_PROTOCOLS = 3
interface, address, password = sys.argv[1:]
packet = b"\xff" * 6 + bytes.fromhex(address.replace(":", "")) * 16 + bytes.fromhex(password.replace(":", ""))
listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
listener.bind((interface, 0))
print("listening", flush=True)
while packet not in listener.recv(2048):
    pass
print("woken", flush=True)
