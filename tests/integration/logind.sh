#!/bin/bash
# Who forbids a shutdown keeps the machine up: a real logind, on a bus of its own, writes down who does, and the startd reads it.
#
# As root, in namespaces; the startd's machine is the directory on which they have their /run.
#
# SPDX-License-Identifier: Apache-2.0
LOGIND=/lib/systemd/systemd-logind
[ "$(id -u)" -eq 0 ] || { echo "skipped: root only"; exit 77; }
for need in unshare dbus-daemon systemd-inhibit $LOGIND; do
    command -v "$need" >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
unshare -mp --fork true 2>/dev/null || { echo "skipped: no namespaces here"; exit 77; }
. "$(dirname "$0")/lib.sh"

mkdir -p "$WORK/root/run"
cat >"$WORK/off.sh" <<END
#!/bin/sh
echo \$ROOST_LEVEL >$WORK/off
END
chmod 0755 "$WORK/off.sh"
pool_init --nodes 1
sed -i '/^POWER_METHOD/d; /^HIBERNATE/d; /^NODE_IDLE_TIME/d' "$POOL/nodes/wn01/roost.conf"
cat >>"$POOL/nodes/wn01/roost.conf" <<END
POWER_METHOD = host
POWER_ROOT = "$WORK/root"
POWER_SLEEP_CMD = "$WORK/off.sh"
HIBERNATION_OVERRIDE_WOL = true
ENABLE_WAKE_ON_LAN = false
HIBERNATE_CHECK_INTERVAL = 0
END
# It is not to see this machine's devices: it would say whose they are.
cat >"$WORK/logind.sh" <<END
mkdir $WORK/dev && cd $WORK/dev || exit 1
for node in null zero full random urandom; do touch \$node && mount --bind /dev/\$node \$node || exit 1; done
mount --rbind $WORK/dev /dev || exit 1
mount --bind $WORK/root/run /run && mkdir -p /run/dbus /run/user /run/systemd/{system,seats,sessions,users,inhibit} || exit 1
dbus-daemon --system --nofork --nopidfile --nosyslog &
until [ -S /run/dbus/system_bus_socket ]; do sleep 0.1; done
$LOGIND &
until systemd-inhibit --list >/dev/null; do sleep 0.1; done
systemd-inhibit --what=shutdown --who=apt --why="upgrading packages" \
    sh -c 'touch $WORK/inhibits; until [ -e $WORK/release ]; do sleep 0.1; done'
wait
END
unshare -mp --fork --kill-child --mount-proc bash "$WORK/logind.sh" >"$WORK/logind.log" 2>&1 &
logind=$!
for _ in $(seq 200); do [ ! -e "$WORK/inhibits" ] || break; sleep 0.1; done
[ -e "$WORK/inhibits" ] || { echo "skipped: logind does not run here: $(tail -n 1 "$WORK/logind.log")"; exit 77; }

pool_start
equals "who would do it" "$("$ROOST" status -constraint 'SlotID == 1' -af HibernationMethod)" "logind"
"$ROOST" power off wn01 2>"$WORK/refused" && fail "it is switched off although somebody forbids it"
grep -q "an inhibitor: apt: upgrading packages" "$WORK/refused" || fail "$(cat "$WORK/refused")"
[ ! -e "$WORK/off" ] || fail "it was switched off"
touch "$WORK/release"
goes_off() { "$ROOST" power off wn01 >/dev/null 2>&1; }
until_true 30 "nobody forbids it any more" goes_off
equals "its level" "$(cat "$WORK/off")" "S5"
kill -9 "$logind" # it does not end otherwise before its children do
wait "$logind" 2>/dev/null
pool_stop
passed
