#!/bin/bash
# Real machines: a libvirt daemon with three emulated guests, all off.  Jobs start as many of them as they need; idle ones go
# down again, one by shutting down, one by a managed save, and a second round wakes them, with libvirtd restarted in between.
# The third, switched on by name, does not listen to its button: it is destroyed, though libvirtd is restarted meanwhile.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"
. "$(dirname "$0")/lib_libvirt.sh"

chmod 1777 "$OUT"
pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guests see this host
cat >>"$ROOST_CONFIG" <<END
ROOSTER_WAKE_DEADLINE = 120
node "wx01" {
    method = libvirt
    uri = "$VIRT_URI"
    shutdown_timeout = 60
}
node "wx02" {
    method = libvirt
    uri = "$VIRT_URI"
    domain = "52:54:00:77:00:02"
}
node "wx03" {
    method = libvirt
    uri = "$VIRT_URI"
    domain = "11111111-1111-1111-1111-111111111103"
    shutdown_timeout = 10
}
END
# Jobs last until all of them run: what a guest sees of the gates that the test opens.
mkdir "$WORK/gates"
env -u ROOST_CONFIG python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$WORK/gates" >"$WORK/gates.log" 2>&1 &
until_true 20 "the gates can be seen" grep -q '^Serving' "$WORK/gates.log"
gates=$(sed -n 's/^Serving HTTP on .* port \([0-9]*\) .*/\1/p' "$WORK/gates.log")
libvirtd_start
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")

guests_make "$port"
for name in wx01:S5 wx02:S4 "wx03:S5 deaf=1"; do
    guest_define "${name%%:*}" "level=${name#*:}"
    guest_advertise "${name%%:*}"
done

# ---- rounds
offline_guests() { "$ROOST" status -constraint 'Offline =?= true && PowerState == "Off"' -af Machine | grep -c '^wx'; }
all_asleep() {
    [ "$(offline_guests)" = 3 ] && [ "$(awake_count)" = 0 ] && guest_is wx01 'shut off' && guest_is wx02 'shut off' && guest_is wx03 'shut off'
}
both_asleep() {
    [ "$("$ROOST" status -constraint 'Offline =?= true && PowerState == "Off"' -af Machine | grep -c '^wx0[12]')" = 2 ] &&
        guest_is wx01 'shut off' && guest_is wx02 'shut off'
}
show_consoles() { # for the trap, which is to see the status of what came before
    local status=$?
    tail -n 5 "$VIRT"/*.console "$VIRT/log/libvirtd.log"
    "$ROOST" power history 2>/dev/null | head -20
    grep -hE ' (wake|sleep|power|node)\.' "$POOL"/log/RoosterLog* | tail -30
    return "$status"
}
trap 'show_consoles; clean_up' EXIT
until_true 20 "all guests are off" all_asleep
are_running() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null | grep -c '^2$')" = "$2" ]; }
# round NAME GUESTS: six jobs of one core, that are two guests' work, on those of that pattern.
round() {
    local cluster begun
    begun=$(date +%s%3N)
    {
        printf 'executable = /bin/sh\ntransfer_executable = false\ninitialdir = %s\noutput = %s.$(Process)\n' "$OUT" "$1"
        printf "arguments = \"-c 'hostname; cat /proc/sys/kernel/random/boot_id; until wget -qO /dev/null http://10.0.2.2:%d/%s; do sleep 0.1; done'\"\n" \
            "$gates" "$1"
        printf 'should_transfer_files = YES\nwhen_to_transfer_output = ON_EXIT\nrequest_memory = 16\nrequest_disk = 1MB\n'
        printf 'requirements = regexp("^%s$", Machine)\nqueue 6\n' "$2"
    } >"$WORK/$1.sub"
    cluster=$(submit "$WORK/$1.sub") || exit 1
    until_true 100 "six jobs run" are_running "$cluster" 6
    say "six jobs run $(($(date +%s%3N) - begun)) ms after they were submitted"
    touch "$WORK/gates/$1"
    until_true 60 "the jobs of round $1" is_done "$cluster" 6
    check_committed "$cluster" 6
    for ((number = 0; number < 6; number++)); do
        tr '\n' ' ' <"$OUT/$1.$number"
        echo
    done | sort | uniq -c >"$WORK/$1.seen" # "3 wx01 boot-id"
    say "$1: $(tr '\n' ';' <"$WORK/$1.seen")"
}
boot_of() { awk -v guest="$2" '$2 == guest { print $3 }' "$WORK/$1.seen"; }
ran() { awk '{ print $1, $2 }' "$WORK/$1.seen" | tr '\n' ' '; } # jobs of each guest

round first 'wx0.'
equals "jobs of each guest" "$(ran first)" "3 wx01 3 wx02 "
equals "guests that were started" "$(wakes | cut -d' ' -f1,2 | sort | tr '\n' ' ')" "wx01 Up wx02 Up "
equals "boots that the ledger knows" "$(wakes | cut -d' ' -f1,3 | sort)" "$(awk '{ print $2, $3 }' "$WORK/first.seen")"
[ ! -e "$VIRT/wx03.console" ] || fail "wx03 was started"
# The third is to be destroyed while others do something else: it is told to go, and does not listen.
"$ROOST" power on wx03 >"$WORK/power_on" 2>&1 || fail "roost power on: $(cat "$WORK/power_on")"
until_true 60 "the two are off after the first round" both_asleep
grep -q "the button was pressed" "$VIRT/wx01.console" || fail "wx01 was not shut down"
! grep -q "the button was pressed" "$VIRT/wx02.console" || fail "wx02 was shut down"
guest_is_saved wx02 || fail "wx02 was not saved"
! guest_is_saved wx01 || fail "wx01 was saved"

was_pressed() { grep -qs "the button was pressed" "$VIRT/wx03.console"; }
until_true 90 "wx03 has been told to shut down" was_pressed
libvirtd_stop
libvirtd_start
round second 'wx0[12]'
until_true 90 "all guests are off after the second round" all_asleep
equals "jobs of each guest in the second round" "$(ran second)" "3 wx01 3 wx02 "
[ "$(boot_of second wx01)" != "$(boot_of first wx01)" ] || fail "wx01 did not boot again"
equals "the boot of wx02, which was saved" "$(boot_of second wx02)" "$(boot_of first wx02)"
equals "guests that were started in both rounds" "$(wakes | cut -d' ' -f1,2 | sort | tr '\n' ' ')" \
    "wx01 Up wx01 Up wx02 Up wx02 Up wx03 Up "
equals "how they went down" "$("$ROOST" power history -constraint 'Kind == "Sleep"' -af Machine Outcome Method | sort | grep ^wx | tr '\n' ' ')" \
    "wx01 Asleep libvirt wx01 Asleep libvirt wx02 Asleep libvirt wx02 Asleep libvirt wx03 Asleep libvirt "
grep -q 'wx03 (libvirt): the guest did not shut down in time and was destroyed' "$POOL"/log/RoosterLog* || fail "wx03 went down by itself"
! grep -q ' power.helper ' "$POOL"/log/RoosterLog* || fail "roost-libvirt did not live through it"
trap clean_up EXIT
pool_stop
libvirtd_stop
passed
