# tests/integration/lib_ssh.sh - hosts that are reached over ssh; sourced after lib.sh, by a test that runs as root in a
# network namespace of its own (ssh_enter).
#
# A host is an sshd of its own at 127.0.0.N, and all processes that have come of it: they have SSH_TEST_HOST=NAME in their
# environment, or are the sshd's descendants.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
SSH=$WORK/ssh # SSH/NAME/: what is known of a host

# ssh_enter SCRIPT ARGUMENT...: starts the script again in a network namespace of its own; ends it (77) where none can be
# had.  Call before lib.sh.
ssh_enter() {
    [ -z "${ROOST_OWN_NET:-}" ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! unshare --net true 2>/dev/null; then
        echo "skipped: hosts with an sshd need root and a network namespace"
        exit 77
    fi
    [ -x /usr/sbin/sshd ] || { echo "skipped: there is no sshd (package openssh-server)"; exit 77; }
    ROOST_OWN_NET=1 exec unshare --net /bin/bash "$@"
}

ssh_begin() {
    mkdir -m 0700 "$SSH"
    mkdir -p /run/sshd && chmod 0755 /run/sshd # where sshd puts itself; no other place can be named
    ip link set lo up || fail "ip link"
    ssh-keygen -q -t ed25519 -N '' -f "$SSH/id" || fail "ssh-keygen"
    ssh-keygen -q -t ed25519 -N '' -f "$SSH/host_key" || fail "ssh-keygen"
    cat >"$SSH/config" <<EOF
Host *
  User root
  IdentityFile $SSH/id
  IdentitiesOnly yes
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  LogLevel ERROR
  BatchMode yes
EOF
    export ROOST_PCONTROL_COMMAND="ssh -T -F $SSH/config"
    export ROOST_PCONTROL_SHELL=$ROOST_BIN/pclient
}

# ssh_host NAME NUMBER: a new host, which is on.
ssh_host() {
    mkdir -p "$SSH/$1"
    cat >"$SSH/$1/sshd_config" <<EOF
ListenAddress 127.0.0.$2:22
HostKey $SSH/host_key
PidFile $SSH/$1/pid
AuthorizedKeysFile $SSH/id.pub
StrictModes no
UsePAM no
UseDNS no
PermitRootLogin yes
PasswordAuthentication no
MaxStartups 100
SetEnv SSH_TEST_HOST=$1
EOF
    printf 'Host %s\n  HostName 127.0.0.%s\n' "$1" "$2" | cat - "$SSH/config" >"$SSH/config.new" && mv "$SSH/config.new" "$SSH/config"
    ssh_on "$1"
}
ssh_on() {
    /usr/sbin/sshd -f "$SSH/$1/sshd_config" -E "$SSH/$1/log" || fail "sshd of $1: $(cat "$SSH/$1/log")"
    until_true 10 "the sshd of $1" test -s "$SSH/$1/pid"
}

# ssh_pids NAME: all processes of the host.
ssh_pids() {
    python3 - "$1" "$(cat "$SSH/$1/pid" 2>/dev/null)" <<'EOF'
import os, sys
name, sshd = sys.argv[1], sys.argv[2]
parents, marked = {}, set()
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            parents[pid] = f.read().rsplit(b")", 1)[1].split()[1].decode()
        with open(f"/proc/{pid}/environ", "rb") as f:
            if f"SSH_TEST_HOST={name}".encode() in f.read().split(b"\0"):
                marked.add(pid)
    except OSError:
        pass
def is_below(pid):
    while pid in parents and pid != sshd:
        pid = parents[pid]
    return sshd != "" and pid == sshd
print("\n".join(p for p in parents if p in marked or is_below(p)))
EOF
}
# ssh_off NAME: its power is cut.
ssh_off() {
    local pids
    while mapfile -t pids < <(ssh_pids "$1") && [ -n "${pids[0]:-}" ]; do
        kill -9 "${pids[@]}" 2>/dev/null
    done
    rm -f "$SSH/$1/pid"
}
# ssh_pclients NAME: the processes of the pclient there: the watcher, then the one that works.
ssh_pclients() {
    local pid
    for pid in $(ssh_pids "$1" | sort -n); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != pclient ] || echo "$pid"
    done
}
# ssh_signal SIGNAL NAME [FIRST]: sends a signal to the processes of the pclient there, from the FIRST on (1).
ssh_signal() {
    local pids
    mapfile -t pids < <(ssh_pclients "$2" | tail -n +"${3:-1}")
    [ -n "${pids[0]:-}" ] || fail "no pclient on $2"
    kill -s "$1" "${pids[@]}"
}
