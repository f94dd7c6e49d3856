"""One host, several accounts: what root does for a user, and what an account is at the sockets.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pwd
import subprocess

from ad_form import Ad
from attack import attack, worked
from pool import NAME, until


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
        if "another's" not in error.stderr:
            raise AssertionError(f"an administrator is told: {error.stderr}") from error
        return
    worked("an administrator writes what alice's jobs name")
