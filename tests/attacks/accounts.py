"""One host, several accounts: what root does for a user, and what an account is at the sockets.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import json
import os
import pwd
import subprocess

import wire_client
from ad_form import Ad
from attack import attack, worked
from pool import NAME, until
from wire_client import Ended, Refused


@attack("submitter", "root fetches his spooled output, and writes it where he says with root's rights")
def a_user_has_root_write_for_him(scene):
    home, roots = pwd.getpwnam("alice").pw_dir, os.path.join(scene.files, "roots")
    os.mkdir(roots, 0o700)

    def done(name):
        path = scene.at_home("fetch.sub", f"executable = /bin/sh\ntransfer_executable = false\narguments = \"-c 'echo made >{name}'\"\ninitialdir = {home}\n"
                             f"transfer_output_files = {name}\nrequest_memory = 1\nrequest_disk = 1\nqueue\n")
        cluster = int(scene.command("submit", path, "-terse", "-spool", account="alice").split(".")[0])
        scene.clusters.append(("alice", cluster))
        until("the spooled job is completed", 40, lambda: (scene.job(f"{cluster}.0") or {}).get("JobStatus") == 4)
        return cluster

    def fetch(cluster):
        try:
            return scene.command("transfer-data", str(cluster))
        except subprocess.CalledProcessError as error:
            return error.stderr

    said = fetch(done("fetched"))
    owner = os.stat(os.path.join(home, "fetched")).st_uid if os.path.exists(os.path.join(home, "fetched")) else None
    if owner != pwd.getpwnam("alice").pw_uid:
        raise AssertionError(f"root does not fetch alice's output for her (it is {owner}'s): {said}")
    cluster = done("evil")
    with scene.as_user("schedd", "alice") as schedd:
        reply = schedd.call("EDIT", {"Ids": [f"{cluster}.0"]}, [Ad(SUBMIT_Iwd=roots)])
        assert reply.args.get("Success", 0) == 1, f"EDIT of SUBMIT_Iwd: {reply.status} {reply.text}"
    fetch(cluster)
    if os.listdir(roots):
        worked(f"root has written {os.listdir(roots)} for alice")
    cluster = done("linked")
    os.symlink(os.path.join(roots, "linked"), os.path.join(home, "linked.roost-part"))
    fetch(cluster)
    if os.listdir(roots):
        worked(f"root has followed alice's link to {os.listdir(roots)}")
    administrator = os.path.join(scene.files, "administrator.token")
    scene.command("token", "create", "--identity", f"boss@{NAME}", "--scope", "READ,WRITE,ADMINISTRATOR", "--file", administrator)
    theirs = done("theirs")
    try:
        scene.command("transfer-data", "-name", NAME, str(theirs), ROOST_TOKEN_FILE=administrator)
    except subprocess.CalledProcessError as error:
        if "another user" not in error.stderr:
            raise AssertionError(f"an administrator is told: {error.stderr}") from error
        return
    worked("an administrator writes what alice's jobs name")


def asked_as_root_of_a_namespace(scene, account, address, route, *calls):
    """What a process of that account is told at a Unix socket, in a user namespace in which it is root: [identity and scopes, or why not, then each status]."""
    user = pwd.getpwnam(account)
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        told = []
        try:
            os.setgroups([])
            os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
            os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
            if ctypes.CDLL(None).prctl(4, 1, 0, 0, 0) != 0 or ctypes.CDLL(None).unshare(0x10000000) != 0:  # PR_SET_DUMPABLE, CLONE_NEWUSER
                told.append("no namespace")
            else:
                for name, said in (("setgroups", "deny"), ("uid_map", f"0 {user.pw_uid} 1"), ("gid_map", f"0 {user.pw_gid} 1")):
                    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                        file.write(said)
                assert os.getuid() == 0
                plain = wire_client.open_socket(address)
                plain.sendall(f"ROOST/1 {route}\n".encode())
                connection = wire_client.Connection(plain, address, route)
                connection.hello(wire_client.NOBODY)
                told.append(f"{connection.welcome['Identity']} {sorted(connection.scopes())}")
                told += [connection.call(*call).status for call in calls]
        except (Refused, Ended, OSError) as error:
            told.append(f"refused: {error}")
        finally:
            os.write(theirs, json.dumps(told).encode())
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        said = json.load(answer)
    os.waitpid(child, 0)
    return said


@attack("network", "an account that is root in a user namespace of its own, at the sockets")
def an_account_is_root_in_a_namespace(scene):
    alice, job = f"alice@{NAME}", scene.running("bob")
    for route in ("collector", "schedd", "shadow"):
        calls = {"collector": [("REVOKE", {"Ids": ["x"]}), ("CONFIG", {"Action": "Get", "Names": ["ALL_DEBUG"]})],
                 "schedd": [("JOB_ACCESS", {"Purpose": "Shell", "JobId": job}), ("CONFIG", {"Action": "Get", "Names": ["ALL_DEBUG"]})],
                 "shadow": [("SHADOW_HELLO", {"Owner": owner, "Pid": 1, "ShadowPin": "0" * 64}) for owner in ("bob", "root")]}[route]
        told = asked_as_root_of_a_namespace(scene, "alice", scene.socket("collector" if route == "collector" else "schedd"), route, *calls)
        if told == ["no namespace"]:
            raise AssertionError("users have no namespaces here")
        if not told[0].startswith(f"{alice} ") or "ADMINISTRATOR" in told[0]:
            worked(f"at the {route} it is {told[0]}")
        if any(status >= 0 for status in told[1:]) or len(told) != 1 + len(calls):
            worked(f"at the {route}: {told}")
    for route in ("starter", "kbdd", "startd"):
        told = asked_as_root_of_a_namespace(scene, "alice", "unix:" + scene.path("nodes/wn01/run/startd.sock"), route)
        if not told[0].startswith("refused"):
            worked(f"at a startd's socket, route {route}: {told}")
