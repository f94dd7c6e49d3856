#!/bin/bash
# Where systemd is the machine's init, a machine goes to sleep through logind: whom logind knows as logged in or as forbidding it
# keeps it up, who only wants to be told does not, and the order is logind's to carry out.
#
# A real logind on a bus of its own.  As root, in namespaces of mounts and processes, where /run and /sys/power are directories of the
# test; in systemd's place stands a program that writes down what it is told to start.
#
# SPDX-License-Identifier: Apache-2.0
LOGIND=/lib/systemd/systemd-logind
[ "$(id -u)" -eq 0 ] || { echo "skipped: root only"; exit 77; }
for need in unshare dbus-daemon systemd-inhibit busctl loginctl $LOGIND; do
    command -v "$need" >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
if [ -z "${ROOST_TEST_INSIDE:-}" ]; then
    [ -d /sys/power ] || { echo "skipped: no /sys/power here"; exit 77; }
    unshare -mp --fork true 2>/dev/null || { echo "skipped: no namespaces here"; exit 77; }
    export ROOST_TEST_INSIDE=yes
    exec unshare -mp --fork --kill-child --mount-proc bash "$0"
fi
. "$(dirname "$0")/lib.sh"

# ---- a machine of its own; it is not to see this one's devices: it would say whose they are.
mkdir "$WORK/run" "$WORK/power"
echo "freeze mem" >"$WORK/power/state"
echo "[s2idle] deep" >"$WORK/power/mem_sleep"
if ! { mount -t tmpfs none /dev && mount --bind "$WORK/run" /run && mount --bind "$WORK/power" /sys/power; }; then
    echo "skipped: nothing can be mounted here"
    exit 77
fi
for node in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do
    mknod -m 0666 "/dev/${node% *}" c 1 "${node#* }" || fail "no /dev/${node% *}"
done
ln -s /proc/self/fd /dev/fd
umask 022 # logind refuses directories that others may write to
mkdir -p /run/dbus /run/user /run/systemd/{system,seats,sessions,users,inhibit,logind.conf.d,sleep.conf.d}
printf '[Login]\nInhibitDelayMaxSec=1\n' >/run/systemd/logind.conf.d/test.conf
printf '[Sleep]\nAllowSuspend=no\n' >/run/systemd/sleep.conf.d/test.conf
dbus-daemon --system --nofork --nopidfile --nosyslog >"$WORK/logind.log" 2>&1 &
for _ in $(seq 200); do [ ! -S /run/dbus/system_bus_socket ] || break; sleep 0.1; done
bus() { exec python3 "$ROOST_SRC/tests/integration/lib_systemd_bus.py" /run/dbus/system_bus_socket "$@"; }
# The bus must not be asked for who is not there yet: it would look for a program to start, and logind for another way.
has_owner() {
    busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus NameHasOwner s "$1" 2>/dev/null | grep -q true
}
bus units "$WORK/started" >>"$WORK/logind.log" 2>&1 &
until_true 60 "something stands in systemd's place" has_owner org.freedesktop.systemd1
$LOGIND >>"$WORK/logind.log" 2>&1 &
for _ in $(seq 200); do has_owner org.freedesktop.login1 && break; sleep 0.1; done
systemd-inhibit --list >/dev/null || { echo "skipped: logind does not run here: $(tail -n 1 "$WORK/logind.log")"; exit 77; }

# inhibit NAME WHAT MODE WHO WHY: until the gate NAME is opened.
inhibit() {
    systemd-inhibit --what="$2" --mode="$3" --who="$4" --why="$5" sh -c "touch $WORK/inhibits.$1; $(gate "$1")" &
    until_true 30 "$4 inhibits" test -e "$WORK/inhibits.$1"
}
show_orders() { # for the trap, which is to see the status of what came before
    local status=$?
    [ "$status" -eq 0 ] || tail -n 20 "$WORK/started" "$WORK/logind.log"
    return "$status"
}
trap 'show_orders; clean_up' EXIT
pool_init --nodes 1
sed -i '/^POWER_METHOD/d; /^HIBERNATE/d; /^NODE_IDLE_TIME/d' "$POOL/nodes/wn01/roost.conf"
cat >>"$POOL/nodes/wn01/roost.conf" <<END
POWER_METHOD = host
HIBERNATION_OVERRIDE_WOL = true
ENABLE_WAKE_ON_LAN = false
HIBERNATE_CHECK_INTERVAL = 0
POLLING_INTERVAL = 1
UPDATE_INTERVAL = 1
NUM_SLOTS = 1
END
inhibit upgrade shutdown block apt "upgrading packages"
pool_start
figure() { "$ROOST" status -af "$@" 2>/dev/null; }
equals "who would do it" "$(figure HibernationMethod)" "logind"

say "what it may do is for logind to say"
can() { [ "$(figure HibernationSupportedStates)" = "$1" ]; }
until_true 30 "sleep.conf allows no suspend" can S1,S5
rm /run/systemd/sleep.conf.d/test.conf
ROOST_CONFIG=$POOL/nodes/wn01/roost.conf "$ROOST" config reload >/dev/null || fail "roost config reload"
until_true 30 "suspend is allowed" can S1,S3,S5

say "somebody forbids it"
refused() { # COMMAND... -- TEXT
    local text=${*: -1}
    set -- "${@:1:$#-2}"
    "$ROOST" "$@" >"$WORK/refused" 2>&1 && fail "roost $*: $(cat "$WORK/refused")"
    grep -q "$text" "$WORK/refused" || fail "roost $*: $(cat "$WORK/refused")"
}
refused power off wn01 -- "an inhibitor: apt: upgrading packages"
open_gate upgrade
nobody_inhibits() { [ -z "$(ls /run/systemd/inhibit)" ]; }
until_true 30 "nobody forbids it any more" nobody_inhibits

say "somebody is logged in, at a desktop"
sleep 1000 &
bus session 65534 $! wayland >"$WORK/session" 2>&1 &
login=$!
has_session() { [ "$(wc -w <"$WORK/session")" -eq 2 ]; }
until_true 30 "a session" has_session
read -r session _ <"$WORK/session"
is_logged_in() { grep -qs '^TYPE=wayland' "/run/systemd/sessions/$session"; }
until_true 30 "logind has written down the session" is_logged_in
refused power off wn01 -- "nobody is logged in (1 session; HIBERNATE_WITH_USERS = true skips this check)"
uses_console() { [ "$(figure ConsoleIdle)" -lt 30 ]; }
until_true 60 "the machine's console is in use" uses_console
loginctl show-session "$session" -p IdleSinceHint | grep -qE '^IdleSinceHint=[0-9]+$' || fail "it says since when in other words"
kill $login
has_left() { ! grep -qs '^STATE=active' "/run/systemd/sessions/$session"; }
until_true 30 "he is logged out" has_left

say "off"
"$ROOST" power off wn01 >/dev/null || fail "roost power off"
was_started() { [ "$(tail -n 1 "$WORK/started" 2>/dev/null)" = "$1" ]; }
until_true 30 "logind switches the machine off" was_started poweroff.target
equals "its offline ad" "$(figure Offline HibernationState)" "true S5"
kill -9 "$(pids_of startd wn01)" # it waits for its end; in the same boot it is awake
is_awake() { [ "$(figure Offline)" = undefined ]; }
until_true 60 "it shows itself again" is_awake

say "to memory; who only wants to be told does not forbid it"
inhibit backup sleep delay backup "wants to be told"
"$ROOST" drain wn01 --then sleep >/dev/null || fail "roost drain --then sleep"
until_true 60 "logind suspends the machine" was_started suspend.target
equals "its choice of memory sleep" "$(cat "$WORK/power/mem_sleep")" "deep"
equals "its offline ad" "$(figure Offline HibernationState)" "true S3"

open_gate backup
for pid in $(jobs -p); do # they know the pool's name, too
    kill -9 "$pid" && wait "$pid" 2>/dev/null
done
pool_stop
passed
