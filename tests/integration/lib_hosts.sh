# tests/integration/lib_hosts.sh - hosts of a pool, each with a network, a disk, a clock and a power switch; sourced after
# lib.sh, by a test that runs as root in a network and a mount namespace of its own (hosts_enter).
#
# A host is a network namespace and a mount namespace.  The test's own network namespace is the router between the hosts:
# what it drops is a cut.  LOCAL_DIR of a host ($POOL/nodes/NAME) is an ext4 file system on a loop device.  A power cut
# shuts that file system down first (EXT4_IOC_SHUTDOWN without a flush of its journal: what was not made durable is lost,
# also what a file's metadata promises), then kills all processes of the host.  What a power cut here does not show: a
# disk that reorders what was flushed, torn sectors, and a disk that lies about its cache, because the image file has each
# write that the kernel sent to the loop device.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
HOSTS=${HOSTS:-$WORK/hosts} # HOSTS/NAME/: what is known of a host

# hosts_enter SCRIPT ARGUMENT...: starts the script again in namespaces of its own; ends it (77) where none can be had.
hosts_enter() {
    [ -z "${ROOST_OWN_HOSTS:-}" ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! unshare --mount --net true 2>/dev/null; then
        echo "hosts need root and namespaces"
        exit 77
    fi
    ROOST_OWN_HOSTS=1 exec unshare --mount --net /bin/bash "$@"
}

# hosts_begin: the router, and the clock's library.
hosts_begin() {
    mkdir -p "$HOSTS"
    mount --make-rprivate / || fail "mount --make-rprivate"
    ip link set lo up || fail "ip link"
    echo 1 >/proc/sys/net/ipv4/ip_forward || fail "ip_forward"
    ip rule add from 127.0.0.2 blackhole || fail "ip rule: the kernel has no policy routing, which one-way cuts need"
    cc -O2 -D_GNU_SOURCE -shared -fPIC -o "$HOSTS/clock_shift.so" "$ROOST_SRC/tests/integration/preloaded/clock_shift.c" ||
        fail "clock_shift.so"
}

host_address() { echo "10.77.$(<"$HOSTS/$1/number").2"; }
host_dir() { echo "$POOL/nodes/$1"; }
# in_host NAME COMMAND...
in_host() { nsenter --target "$(<"$HOSTS/$1/holder")" --mount --net -- "${@:2}"; }

# host_make NAME NUMBER MIB: what is below its LOCAL_DIR is put on its disk.
host_make() {
    local holder dir
    dir=$(host_dir "$1")
    mkdir -p "$HOSTS/$1" "$dir"
    setpriv --pdeathsig KILL unshare --net --mount --propagation private sleep infinity </dev/null >/dev/null 2>&1 &
    holder=$!
    disown "$holder"
    echo "$holder" >"$HOSTS/$1/holder"
    echo "$2" >"$HOSTS/$1/number"
    until [ "$(readlink "/proc/$holder/ns/net")" != "$(readlink /proc/$$/ns/net)" ] &&
        [ "$(readlink "/proc/$holder/ns/mnt")" != "$(readlink /proc/$$/ns/mnt)" ] &&
        [ "$(cat "/proc/$holder/comm" 2>/dev/null)" = sleep ]; do sleep 0.01; done
    stat -L -c %i "/proc/$holder/ns/net" >"$HOSTS/$1/net"
    head -c 8 /dev/zero >"$HOSTS/$1/clock"
    {
        ip link add "veth$2" type veth peer name eth0 netns "$holder" && ip addr add "10.77.$2.1/30" dev "veth$2" &&
            ip link set "veth$2" up && in_host "$1" ip link set lo up && in_host "$1" ip addr add "10.77.$2.2/30" dev eth0 &&
            in_host "$1" ip link set eth0 up && in_host "$1" ip route add default via "10.77.$2.1"
    } || fail "the network of $1"
    cp -a "$dir" "$HOSTS/$1/first"
    truncate -s "$3M" "$HOSTS/$1/disk"
    mkfs.ext4 -q "$HOSTS/$1/disk" || fail "mkfs.ext4"
    host_mount "$1"
    in_host "$1" cp -a "$HOSTS/$1/first/." "$dir/" && in_host "$1" sync
}

# host_mount NAME.  An unsynced rename may leave an empty file after a power cut: the kernel does not guess what was meant.
host_mount() {
    e2fsck -p "$HOSTS/$1/disk" >"$HOSTS/$1/fsck" 2>&1
    [ $? -le 1 ] || fail "the disk of $1: $(cat "$HOSTS/$1/fsck")"
    in_host "$1" mount -o loop,noauto_da_alloc "$HOSTS/$1/disk" "$(host_dir "$1")" || fail "mount the disk of $1"
}

# host_pids NAME [DAEMON]: its processes; those of one daemon ("keeper" and "job" are such names, too).
host_pids() {
    local path pid comm name=roost-${2:-} holder
    [ "${2:-}" != job ] || name=perl
    holder=$(<"$HOSTS/$1/holder")
    find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:\[$(<"$HOSTS/$1/net")\]" 2>/dev/null | while read -r path; do
        pid=${path#/proc/}
        pid=${pid%%/*}
        [ "$pid" != "$holder" ] || continue
        if [ $# -gt 1 ]; then
            { read -r comm <"/proc/$pid/comm"; } 2>/dev/null || continue
            [ "$comm" = "${name:0:15}" ] || continue
        fi
        echo "$pid"
    done
}
host_is_on() { [ -n "$(host_pids "$1" master)" ]; }

# host_master NAME: starts its master, in the boot that goes on.
host_master() {
    local config
    config=$(host_dir "$1")/roost.conf
    in_host "$1" env -i PATH="$PATH" ROOST_CONFIG="$config" ROOST_BOOT_ID="$(<"$HOSTS/$1/boot")" \
        ROOST_BOOT_TIME="$(<"$HOSTS/$1/boot_time")" LD_PRELOAD="$HOSTS/clock_shift.so" CLOCK_SHIFT="$HOSTS/$1/clock" \
        setsid "$ROOST_BIN/roost-master" -config "$config" </dev/null >>"$HOSTS/$1/out" 2>&1 &
}
# host_boot NAME: a new boot.
host_boot() {
    cat /proc/sys/kernel/random/uuid >"$HOSTS/$1/boot"
    date +%s >"$HOSTS/$1/boot_time"
    host_master "$1"
}
# host_wake NAME: what a wake command does: nothing to a machine without power or one that is on.
host_wake() {
    [ ! -e "$HOSTS/$1/dark" ] || { echo "$1 has no power"; return 1; }
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do # it may be on its way down
        host_is_on "$1" || { host_boot "$1"; return 0; }
        sleep 0.1
    done
}
# hosts_switch FILE: writes a program for `node` sections: FILE wake NAME, FILE status NAME.
hosts_switch() {
    {
        printf '#!/bin/bash\nHOSTS=%q POOL=%q ROOST_BIN=%q\n' "$HOSTS" "$POOL" "$ROOST_BIN"
        declare -f host_dir in_host host_pids host_is_on host_master host_boot host_wake
        cat <<'SWITCH'
exec 9>"$HOSTS/$2/lock"
flock 9
case $1 in
wake) host_wake "$2" 9>&- ;;
status) host_is_on "$2" ;;
esac
SWITCH
    } >"$1"
    chmod 0755 "$1"
}

host_link() { ip link set "veth$(<"$HOSTS/$1/number")" "$2"; }
# host_oneway NAME add|del [NAME]: nothing of the first comes to the second, or to anybody.
host_oneway() {
    local to=0.0.0.0/0
    [ $# -lt 3 ] || to=$(host_address "$3")
    ip rule "$2" from "$(host_address "$1")" to "$to" blackhole
}
# host_shift NAME SECONDS: its wall clock differs from the true time by so much.
host_shift() { perl -e 'print pack("q", $ARGV[0] * 1000000000)' -- "$2" | dd of="$HOSTS/$1/clock" conv=notrunc status=none; }
host_fill() { in_host "$1" sh -c 'cat /dev/zero >"$0/ballast" 2>/dev/null' "$(host_dir "$1")"; }
host_unfill() { in_host "$1" rm -f "$(host_dir "$1")/ballast"; }
# host_break NAME: its disk fails; the kernel lets nobody write to it any more.
host_break() { in_host "$1" mount -o remount,abort "$(host_dir "$1")"; }

# host_cut NAME: its power is cut; it stays dark until host_light NAME.
host_cut() {
    local pid pids end=$((SECONDS + 20))
    touch "$HOSTS/$1/dark"
    host_link "$1" down
    in_host "$1" python3 -c '
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))  # EXT4_IOC_SHUTDOWN, without a flush
' "$(host_dir "$1")" || fail "the power cut of $1"
    while mapfile -t pids < <(host_pids "$1") && [ ${#pids[@]} -gt 0 ]; do
        kill -9 "${pids[@]}" 2>/dev/null
        for pid in "${pids[@]}"; do host_thaw "$pid"; done
        [ $SECONDS -lt $end ] || fail "processes of $1 that do not die: $(describe "${pids[@]}")"
    done
    until in_host "$1" umount "$(host_dir "$1")" 2>"$HOSTS/$1/umount"; do
        [ $SECONDS -lt $end ] || fail "$(cat "$HOSTS/$1/umount")"
        sleep 0.02
    done
}
# host_thaw PID: a killed process that is frozen ends only when it is thawed.
host_thaw() {
    local group
    group=$(sed -n 's/^[0-9]*:freezer://p' "/proc/$1/cgroup" 2>/dev/null)
    [ "${group:-/}" = / ] || echo THAWED >"/sys/fs/cgroup/freezer$group/freezer.state"
} 2>/dev/null
# host_light NAME: power again; boots.
host_light() {
    host_mount "$1"
    host_link "$1" up
    host_unfill "$1"
    rm "$HOSTS/$1/dark"
    host_boot "$1"
}
# host_save NAME DIRECTORY: copies its files, for a failure.
host_save() { in_host "$1" cp -r "$(host_dir "$1")" "$2/" 2>/dev/null; }
