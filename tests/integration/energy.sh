#!/bin/bash
# What machines draw, and whose it is: a real UPS daemon is asked, a thrifty machine comes first, each job's energy is in its job
# ad, and what the report says of users is what their jobs' ads say - whoever was killed meanwhile.
#
# SPDX-License-Identifier: Apache-2.0
DUMMY=/lib/nut/dummy-ups UPSD=/lib/nut/upsd
for need in upsc $DUMMY $UPSD python3; do
    command -v "$need" >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
. "$(dirname "$0")/lib.sh"

mkdir -m 0700 "$WORK/nut" || exit 1
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf '[desk]\ndriver = dummy-ups\nport = %s\nmode = dummy-loop\npollinterval = 1\n' "$WORK/nut/desk.dev" >"$WORK/nut/ups.conf"
printf 'ups.status: OL\nups.load: 25\nups.realpower.nominal: 400\n' >"$WORK/nut/desk.dev"
printf 'LISTEN 127.0.0.1 %s\n' "$port" >"$WORK/nut/upsd.conf"
: >"$WORK/nut/upsd.users"
export NUT_CONFPATH=$WORK/nut NUT_STATEPATH=$WORK/nut NUT_ALTPIDPATH=$WORK/nut
$DUMMY -a desk -u "$(id -un)" -F >"$WORK/nut/driver.log" 2>&1 &
until_true 20 "the UPS's driver" test -S "$WORK/nut/dummy-ups-desk"
$UPSD -u "$(id -un)" -D >"$WORK/nut/upsd.log" 2>&1 &
upsd=$!
ups_answers() { upsc "desk@127.0.0.1:$port" ups.load >/dev/null 2>&1; }
until_true 20 "the UPS daemon" ups_answers

pool_init --nodes 2
sed -n '/^NEGOTIATOR_PRE_JOB_RANK/p; /^ROOSTER_UNHIBERNATE_RANK/p' "$ROOST_SRC/etc/energy.conf" >>"$ROOST_CONFIG"
printf 'STARTER_INITIAL_UPDATE_INTERVAL = 1\nSTARTER_UPDATE_INTERVAL = 1\n' >>"$ROOST_CONFIG"
cat >>"$POOL/nodes/wn01/roost.conf" <<END
NUT_UPS = "desk@127.0.0.1:$port"
NUT_INTERVAL = 1
POLLING_INTERVAL = 1
UPDATE_INTERVAL = 2
MACHINE_BUSY_WATTS = 800
END
cat >>"$POOL/nodes/wn02/roost.conf" <<END
POLLING_INTERVAL = 1
UPDATE_INTERVAL = 2
STARTER_INITIAL_UPDATE_INTERVAL = 1
STARTER_UPDATE_INTERVAL = 1
MACHINE_ASLEEP_WATTS = 2
MACHINE_IDLE_WATTS = 3000
MACHINE_BUSY_WATTS = 3600
POWER_SOURCE = model
END
sed -i '/^HIBERNATE/d; /^NODE_IDLE_TIME/d' "$POOL"/nodes/*/roost.conf
pool_start

says() { "$ROOST" status -constraint "SlotID == 1 && Machine == \"$1\" && Offline =!= true" -af "$2" 2>/dev/null; }
is_said() { [ "$(says "$1" "$2")" = "$3" ]; }
until_true 30 "the UPS's watts in the ad" is_said wn01 PowerDrawWatts 100.0
equals "where they come from" "$(says wn01 PowerSource)" "NUT"
until_true 30 "the model's" is_said wn02 PowerSource Model

say "the thrifty machine first"
# A core at work costs 800 W more at wn01, and 600 W at wn02, divided by the same number of CPUs.
gated_jobs 1 first >"$WORK/one.sub"
cluster=$(submit "$WORK/one.sub" -a "log = $OUT/log") || exit 1
runs_at() { [ "$("$ROOST" q "$1" -af RemoteHost)" = "$2" ]; }
runs_on() { "$ROOST" q "$1" -af RemoteHost | grep -q "@$2\$"; }
until_true 30 "the job runs on the thrifty machine" runs_on "$cluster" wn02

say "kWh in the job ad while it runs"
has_energy() { [ "$("$ROOST" q "$1" -af "$2 > 0")" = true ]; }
until_true 30 "the running job's energy" has_energy "$cluster" RemoteEnergyUsed

say "its startd and the rooster are killed meanwhile"
startd=$(pids_of startd wn02) rooster=$(pids_of rooster) master=$(pids_of master wn02) starter=$(pids_of starter wn02)
# The job's result goes to its shadow, and the schedd releases the claim: of that the startd hears nothing any more, and the
# next one is told that there is no such claim, before the starter is connected to it.
kill -STOP "$master" "$startd" || fail "no startd or no master"
kill -9 "$rooster" || fail "no rooster"
open_gate first
until_true 60 "the first job is done" is_done "$cluster" 1
kill -STOP "$starter" || fail "no starter"
kill -9 "$startd"
kill -CONT "$master"
is_told() { grep -q "claim.refused" "$POOL/nodes/wn02/log/StartLog"; }
until_true 30 "the next startd hears that there is no claim" is_told
kill -CONT "$starter"
script_jobs 3 "for i in \$(seq 100000); do :; done" >"$WORK/work.sub"
others=$(submit "$WORK/work.sub") || exit 1
until_true 60 "the others are done" is_done "$others" 3
grep -qE '^[[:blank:]]+Energy \(J\) +: +[0-9.]+ +$' "$OUT/log" || fail "no energy in the log: $(cat "$OUT/log")"

say "users have what their jobs had"
jobs_kwh() {
    "$ROOST" history -af CumulativeRemoteEnergyUsed 2>/dev/null | awk '{ sum += $1 } END { printf "%.12f", sum }'
}
jobs=$(jobs_kwh)
reported() { "$ROOST" power report "$@" 2>/dev/null; }
adds_up() {
    reported --users -af EnergyUsed | awk -v jobs="$jobs" '{ sum += $1 }
        END { d = sum - jobs; exit !(jobs > 0 && d < 1e-8 && d > -1e-8) }'
}
until_true 30 "users' kWh: $(reported --users -af Name EnergyUsed), jobs' $jobs" adds_up
reported --csv | grep -qE '^Node,"wn02",[0-9.]+,' || fail "roost power report --csv: $(reported --csv)"
# Whoever was killed: the machine has drawn more than its jobs had, and no more than all of it in that time.
"$ROOST" power report wn02 -af EnergyUsed EnergyOfJobs OnSeconds | awk -v most="$SECONDS" '
    { bad = $1 < $2 || $2 <= 0 || $3 > most + 5 || $1 > $3 * 3.6 / 3600 } END { exit bad || NR != 1 }' ||
    fail "wn02: $("$ROOST" power report wn02 -l), after $SECONDS s"

say "a run that is ended counts, too"
number_jobs 1 1000 >"$WORK/held.sub"
held=$(submit "$WORK/held.sub") || exit 1
until_true 30 "the running job's energy" has_energy "$held" RemoteEnergyUsed
"$ROOST" hold "$held" >/dev/null || fail "roost hold"
until_true 30 "the energy of the run that was held" has_energy "$held" CumulativeRemoteEnergyUsed
equals "of the run that is no more" "$("$ROOST" q "$held" -af RemoteEnergyUsed)" "0.0"

say "the UPS says something else, then nothing"
sed -i 's/25/15/' "$WORK/nut/desk.dev"
until_true 30 "other watts" is_said wn01 PowerDrawWatts 60.0
kill "$upsd"
until_true 30 "the model instead" is_said wn01 PowerSource Model
passed
