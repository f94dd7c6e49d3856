#!/usr/bin/python3
"""A site of the factory for tests: speaks docs/protocol/site.md, and starts pilots on this machine.

Its directory (the option "directory") keeps a file for each glidein with its pid and exit status, so that a later process
of the same site knows them; "mode" has the name of the fault to be made, and "started" a line for each glidein ever
started.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import sys
import time


def start(directory, name, request):
    """Starts a pilot below a shell of its own that writes down how it ended."""
    if os.path.exists(f"{directory}/glideins/{name}"):
        return
    secret = f"{directory}/secret.{name}"
    with os.fdopen(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        number = int(name.rsplit(".", 1)[1])
        file.write(request["tickets"][number - 1] if "tickets" in request else "")
        file.write(request["secret"])
    script = 'echo $$ >"$1.new" && mv "$1.new" "$1"; trap : TERM; shift; "$@" & wait $!; wait $!; echo "$?" >>"$0"'
    record = f"{directory}/glideins/{name}"
    with open(f"{directory}/log.{name}", "wb") as log:
        subprocess.Popen(["/bin/bash", "-c", script, record, record, request["pilot"], "--token", secret, "--name", name,
                          "--execute", directory, "MOUNT_UNDER_SCRATCH=/var/tmp"] + request["arguments"],
                         stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    with open(f"{directory}/started", "a", encoding="utf-8") as file:
        file.write(name + "\n")
    while not os.path.exists(record):
        time.sleep(0.005)


def look(directory, mode):
    with open(f"{directory}/looks", "a", encoding="utf-8") as file:
        file.write("look\n")
    glideins = []
    for name in sorted(os.listdir(f"{directory}/glideins")):
        if name.endswith(".new"):
            continue
        with open(f"{directory}/glideins/{name}", encoding="utf-8") as file:
            lines = file.read().split()
        ended = len(lines) > 1
        glideins.append({"name": name, "id": lines[0], "state": "ended" if ended else "running",
                         "reason": f"exit status {lines[1]}" if ended else ""})
    if mode in ("half", "part"):
        glideins = glideins[::2]
    return {"complete": mode != "part", "glideins": glideins}


def remove(directory, names):
    for name in names:
        try:
            with open(f"{directory}/glideins/{name}", encoding="utf-8") as file:
                lines = file.read().split()
            if len(lines) == 1:
                os.killpg(int(lines[0]), 15)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return {"removed": names}


def submit(directory, mode, request):
    if mode == "refuse":
        return {"error": "refuses", "text": "the quota of this account is used up"}
    if mode in ("die", "mute"):
        request = dict(request, pilot="/bin/false" if mode == "die" else f"{directory}/mute")
    if mode == "slow":
        time.sleep(3.4)  # the factory looks twice meanwhile
    for i in range(1, request["count"] + 1):
        start(directory, f"{request['batch']}.{i}", request)
    if mode == "lost":
        sys.exit(9)
    return {"taken": request["count"]}


def main():
    directory = mode = ""
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        if request["do"] == "begin":
            directory = request["options"]["directory"]
            os.makedirs(f"{directory}/glideins", exist_ok=True)
            unknown = sorted(set(request["options"]) - {"directory"})
            if unknown:
                answer.update({"error": "wrong", "text": f"unknown option {unknown[0]}"})
        if os.path.exists(f"{directory}/mode"):
            with open(f"{directory}/mode", encoding="utf-8") as file:
                mode = file.read().strip()
        if request["do"] == "submit":
            if mode == "hang":
                time.sleep(1000)
            if mode == "garbage":
                print("Submitted batch job 42", flush=True)
                continue
            answer.update(submit(directory, mode, request))
        elif request["do"] == "look":
            answer.update(look(directory, mode))
        elif request["do"] == "remove":
            answer.update(remove(directory, request["names"]))
        print(json.dumps(answer), flush=True)


main()
