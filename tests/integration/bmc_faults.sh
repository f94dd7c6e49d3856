#!/bin/bash
# Controllers that do not let one in, that are gone, that lie, that answer garbage, that die after the order: the real ipmitool
# and curl, as the rooster runs them, with ipmi_sim and a Redfish service.  Nothing is switched that should not be, no machine is
# cycled, and what others can see holds no password.
#
# wn01 is a machine that really runs: magic packets with a password are tried first, then its controller starts its master.  The others are offline ads of machines that never come.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_bmc.sh"

pool_init --nodes 1 --idle 1 --asleep
node_conf=$POOL/nodes/wn01/roost.conf
sed -i 's/^POWER_METHOD = .*/POWER_METHOD = rooster/' "$node_conf"

# ---- the controllers
# wn01: `mood` says what it answers; it shuts down behind a gate, and its controller dies before it tells what became of that.
chassis wn01 <<END
mood=\$(cat mood)
master() { pid=\$(cat pid 2>/dev/null) && kill -0 "\$pid" 2>/dev/null; }
runs() { case \$mood in off) return 1 ;; garbage) echo power:perhaps; exit 0 ;; *) master ;; esac; }
act() {
    case "\$1" in
    "power 1") master || { setsid env ROOST_CONFIG="$node_conf" ROOST_BOOT_ID="boot-\$\$" "$ROOST_BIN/roost-master" -config "$node_conf" </dev/null >out.\$\$ 2>&1 &
        echo \$! >pid; } ;;
    "power 0") kill -9 "\$(cat pid)" ;;
    shutdown*) { until [ -e "$WORK/gate.down" ]; do sleep 0.05; done; kill -9 "\$(cat sim)"; kill "\$(cat pid)"; } >/dev/null 2>&1 & ;;
    esac
}
END
mood wn01 good
# The others never run, whatever is ordered; \`says\` is what their controllers say of them.
for name in i-wrong i-dead i-on i-garbage i-dies; do
    case $name in
    i-on) says='return 0' ;;
    i-garbage) says='echo power:perhaps; exit 0' ;;
    *) says='return 1' ;;
    esac
    chassis $name <<END
runs() { $says; }
act() { [ $name != i-dies ] || kill -9 "\$(cat sim)"; }
END
done
for name in wn01 i-wrong i-dead i-on i-garbage i-dies; do ipmi_begin $name; done
kill "$(cat "$BMC/i-dead/sim")"
for name in r-wrong r-dead r-on r-garbage r-dies r-never; do
    mkdir -p "$BMC/$name"
    echo Off >"$BMC/$name/power"
    mood $name "${name#r-}"
done
mood r-wrong ""
redfish_begin r-wrong r-dead r-on r-garbage r-dies r-never
echo 1 >"$BMC/r-dead/port" # nobody listens there

sed -i '/^node "wn01" {/,/^}/d' "$ROOST_CONFIG"
{
    printf '%s\n' 'ROOSTER_WAKE_ATTEMPTS = 1' 'ROOSTER_WAKE_DEADLINE = 2'
    ipmi_node wn01 'shutdown_timeout = 30' 'next_methods = {ipmi}' 'hardware_address = "52:54:00:00:00:01"' 'subnet = "127.0.0.0/8"' \
        'relay = never' "password_file = \"$BMC/secureon\"" | sed 's/method = ipmi/method = wol/'
    for name in i-dead i-on i-garbage i-dies; do ipmi_node $name; done
    ipmi_node i-wrong | sed 's|ipmi.password|wrong.password|'
    for name in r-dead r-on r-garbage r-dies r-never; do redfish_node $name; done
    redfish_node r-wrong | sed 's|redfish.password|wrong.password|'
} >>"$ROOST_CONFIG"
pool_start
others="i-wrong i-dead i-on i-garbage i-dies r-wrong r-dead r-on r-garbage r-dies r-never"
"$ROOST_BIN/roost-startd" -config "$node_conf" -noresurrect -asleep </dev/null >"$WORK/asleep.out" 2>&1 || fail "roost-startd -asleep" # as roost start
"$ROOST" status -constraint 'Machine == "wn01"' -l >"$WORK/asleep" || fail "roost status"
for name in $others; do
    { sed "s/wn01/$name/g; /^OfflineSince = /d" "$WORK/asleep" | grep . && echo 'OfflineSince = 5'; } >"$WORK/$name.ad" # for long
    equals "the offline ad of $name" "$("$ROOST" advertise UPDATE_STARTD_AD "$WORK/$name.ad")" "Sent 1 of 1 ad to the collector."
done

# ---- a machine that runs, and what its controller says of it
state_of() { "$ROOST" power status -constraint "Machine == \"$1\"" -af PowerState; }
is() { [ "$(state_of "$1")" = "$2" ]; }
begun=0
started() { [ -e "$POOL/nodes/wn01/log/StartLog" ]; }
says_again() { tail -n +$((begun + 1)) "$POOL/nodes/wn01/log/StartLog" | grep -q "$1"; }
from_now_on() { begun=$(wc -l <"$POOL/nodes/wn01/log/StartLog"); }

say "it is woken, by its controller when nobody has heard the magic packets"
# shellcheck disable=SC2086
"$ROOST" power on wn01 $others >"$WORK/on" 2>&1 || fail "power on: $(cat "$WORK/on")"
until_true 60 "it is awake" is wn01 On
grep -qs ' wake.sent "wn01 (wol): .*magic packets for 52:54:00:00:00:01' "$POOL"/log/RoosterLog* || fail "no magic packet was sent"
was_up() { [ "$("$ROOST" power history -constraint 'Machine == "wn01" && Kind == "Wake"' -af Outcome Method Attempts)" = "Up ipmi 2" ]; }
until_true 20 "the wake is in the ledger, by the second method" was_up
was_sent() { grep -qs ' wake.sent ".*switched on" machine=wn01' "$POOL"/log/RoosterLog*; }
until_true 20 "its controller has said that it is on" was_sent
equals "what was ordered" "$(orders wn01)" "power 1,"
master=$(cat "$BMC/wn01/pid")

say "it says that it is off, and it runs"
mood wn01 off
until_true 40 "it takes its sleep back" says_again 'hibernate.aborted .*the machine.s offline ad says Off, but the machine is running'
from_now_on
equals "what was ordered of one that is said to be off" "$(orders wn01)" "power 1,"

say "it answers garbage"
mood wn01 garbage
until_true 40 "it is left as it is" says_again 'hibernate.aborted .*Unspecified error'
from_now_on

say "it does not let one in"
mv "$BMC/ipmi.password" "$BMC/right.password"
cp -p "$BMC/wrong.password" "$BMC/ipmi.password"
mood wn01 good
from_now_on
until_true 40 "it is left as it is" says_again 'hibernate.aborted .*Unable to establish'
equals "what was ordered of one of which nothing is known" "$(orders wn01)" "power 1,"
kill -0 "$master" || fail "the machine has not been left alone"

say "the rooster is killed in the middle of a shutdown, and the controller dies before it is over"
failures() { cat "$POOL"/log/RoosterLog* | grep -c " sleep.failed .*machine=wn01"; }
shutdowns() { grep -c shutdown "$BMC/wn01/orders"; }
was_told() { [ "$(shutdowns)" -gt "$1" ]; }
mv "$BMC/right.password" "$BMC/ipmi.password"
until_true 40 "it is told to shut down" was_told 0
rooster=$(pids_of rooster) before=$(failures) count=$(shutdowns)
kill -9 "$rooster" || fail "no rooster"
is_another() { ! kill -0 "$rooster" 2>/dev/null && [ -n "$(pids_of rooster)" ]; }
until_true 40 "there is a rooster again" is_another
until_true 40 "it goes on with the shutdown" was_told "$count"
open_gate down
gone() { ! kill -0 "$master" 2>/dev/null; }
until_true 60 "it has shut down" gone
has_failed() { [ "$(failures)" -gt "$before" ]; }
until_true 40 "the rooster has heard nothing more" has_failed
equals "what was ordered of one that dies" "$(orders wn01)" "power 1,shutdown 1,"

# ---- machines that never come
say "machines that never come"
for name in $others; do
    until_true 60 "$name is left alone" is "$name" WakeFailed
    grep -q 'cycle\|power 0\|ForceOff\|Restart\|shutdown' "$BMC/$name"/{orders,requests} 2>/dev/null && fail "$name: $(cat "$BMC/$name"/{orders,requests})"
done
for name in i-wrong i-dead i-on i-garbage r-wrong r-dead r-on r-garbage r-never; do
    equals "what was ordered of $name" "$(orders $name)$(resets $name)" ""
done
equals "what was ordered of one that dies" "$(orders i-dies)" "power 1,"
equals "what was ordered of one that dies, by Redfish" "$(resets r-dies)" "204 On,"
# warned EVENT MACHINE: a line of its own, or one with a count.
warned() { grep -qsE " rooster warn $1 .*machine=$2( |\$)" "$POOL"/log/RoosterLog* || fail "the log does not warn of $2: $1"; }
for name in i-wrong i-garbage r-wrong r-garbage; do warned wake.failed "$name"; done
for name in $others; do warned node.state "$name"; done
fault_of() { "$ROOST" power status -constraint "Machine == \"$1\"" -af LastWakeFault; }
for name in i-on r-on; do equals "what is wrong with $name" "$(fault_of $name)" NeverJoins; done
for name in i-wrong i-garbage i-dies r-wrong r-garbage r-dies r-never; do equals "what is wrong with $name" "$(fault_of $name)" OrderFailed; done
"$ROOST" why i-on >"$WORK/why" || fail "roost why i-on"
grep -q 'the machine is on but did not join' "$WORK/why" || fail "roost why i-on: $(cat "$WORK/why")"
equals "sessions that were asked for with a wrong password" "$(grep -c 'POST /redfish/v1/SessionService/Sessions 401' "$BMC/r-wrong/requests")" 1

no_secrets_seen
passed
