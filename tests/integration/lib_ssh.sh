# tests/integration/lib_ssh.sh - hosts that are reached over ssh; sourced after lib.sh, by a test that runs as root in a
# network namespace of its own (ssh_enter).
#
# A host is an sshd of its own in a network namespace of its own (10.78.N.2), a directory of its own ($SSH/NAME/disk, 1 MiB in
# memory), and all processes that have come of that sshd: they have SSH_TEST_HOST=NAME in their environment, or are the
# sshd's descendants.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
SSH=$WORK/ssh # SSH/NAME/: what is known of a host

# ssh_enter SCRIPT ARGUMENT...: starts the script again in network and mount namespaces of its own; ends it (77) where none can
# be had.  Call before lib.sh.
ssh_enter() {
    [ -z "${ROOST_OWN_NET:-}" ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! unshare --net --mount true 2>/dev/null; then
        echo "skipped: hosts with an sshd need root and a network namespace"
        exit 77
    fi
    [ -x /usr/sbin/sshd ] || { echo "skipped: there is no sshd (package openssh-server)"; exit 77; }
    ROOST_OWN_NET=1 exec unshare --net --mount /bin/bash "$@"
}

ssh_begin() {
    mkdir -m 0700 "$SSH"
    mkdir -p /run/sshd && chmod 0755 /run/sshd # where sshd puts itself; no other place can be named
    # Mounts must go before clean_up() of lib.sh removes what is below WORK.
    # shellcheck disable=SC2154
    trap 'ended=$?; umount -l "$SSH"/*/disk 2>/dev/null; (exit "$ended"); clean_up' EXIT
    mount --make-rprivate / || fail "mount --make-rprivate"
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

in_ssh() { nsenter --target "$(<"$SSH/$1/holder")" --net -- "${@:2}"; } # in_ssh NAME COMMAND...

# Sanitizers report from hosts as from here.
ssh_sanitizer_env() {
    local name
    for name in ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
        [ -z "${!name:-}" ] || printf ' %s=%s' "$name" "${!name}"
    done
}

# ssh_host NAME NUMBER [KEYS PROGRAM]: a new host, which is on.
ssh_host() {
    local holder
    mkdir -p "$SSH/$1/disk"
    mount -t tmpfs -o size=1m,mode=1777 tmpfs "$SSH/$1/disk" || fail "the disk of $1"
    setpriv --pdeathsig KILL unshare --net sleep infinity </dev/null >/dev/null 2>&1 &
    holder=$!
    disown "$holder"
    echo "$holder" >"$SSH/$1/holder"
    echo "$2" >"$SSH/$1/number"
    until [ "$(readlink "/proc/$holder/ns/net")" != "$(readlink /proc/$$/ns/net)" ] &&
        [ "$(cat "/proc/$holder/comm" 2>/dev/null)" = sleep ]; do sleep 0.01; done
    {
        ip link add "veth$2" type veth peer name eth0 netns "$holder" && ip addr add "10.78.$2.1/30" dev "veth$2" &&
            ip link set "veth$2" up && in_ssh "$1" ip link set lo up && in_ssh "$1" ip addr add "10.78.$2.2/30" dev eth0 &&
            in_ssh "$1" ip link set eth0 up
    } || fail "the network of $1"
    cat >"$SSH/$1/sshd_config" <<EOF
ListenAddress 10.78.$2.2:22
HostKey $SSH/host_key
PidFile $SSH/$1/pid
AuthorizedKeysFile ${3:-$SSH/id.pub}
StrictModes no
UsePAM no
UseDNS no
PermitRootLogin yes
PasswordAuthentication no
MaxStartups 100
SetEnv SSH_TEST_HOST=$1$(ssh_sanitizer_env)
${4:+ForceCommand exec $4}
EOF
    printf 'Host %s\n  HostName 10.78.%s.2\n' "$1" "$2" | cat - "$SSH/config" >"$SSH/config.new" && mv "$SSH/config.new" "$SSH/config"
    ssh_on "$1"
}
# ssh_account NAME NUMBER: a new host where the login is an ordinary account, roost-ssh-test, which this mount namespace alone
# knows.
ssh_account() {
    local pclient=$WORK/pclient.$1
    { cat /etc/passwd; echo "roost-ssh-test:*:54322:54322::/tmp:/bin/sh"; } >"$SSH/passwd"
    chmod 0644 "$SSH/passwd"
    mount --bind "$SSH/passwd" /etc/passwd || fail "an account for $1"
    # The account may enter neither our folder of keys nor, perhaps, that of the programs.
    cp "$SSH/id.pub" "$WORK/$1.pub" && cp "$ROOST_BIN/pclient" "$pclient" && chmod 0644 "$WORK/$1.pub" && chmod 0755 "$pclient"
    ssh_host "$1" "$2" "$WORK/$1.pub" "$pclient"
    printf 'Host %s\n  User roost-ssh-test\n' "$1" | cat - "$SSH/config" >"$SSH/config.new" &&
        mv "$SSH/config.new" "$SSH/config"
}
ssh_on() {
    in_ssh "$1" /usr/sbin/sshd -f "$SSH/$1/sshd_config" -E "$SSH/$1/log" || fail "sshd of $1: $(cat "$SSH/$1/log")"
    until_true 10 "the sshd of $1" test -s "$SSH/$1/pid"
}
ssh_link() { ip link set "veth$(<"$SSH/$1/number")" "$2"; } # ssh_link NAME up|down

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
