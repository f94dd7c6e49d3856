#!/bin/bash
# A guest that others switch behind the rooster's back, and one that its agent suspends, wakes and shuts down; roost-libvirt,
# libvirtd and the rooster are killed in between.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: a build with sanitizers has no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"
. "$(dirname "$0")/lib_libvirt.sh"
PATH=$PATH:/usr/sbin
command -v qemu-ga >/dev/null || { echo "skipped: no qemu-ga here (make deps)"; exit 77; }

export GUEST_AGENT=1 # for guests_make
chmod 1777 "$OUT"
pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guests see this host
cat >>"$ROOST_CONFIG" <<END
ROOSTER_WAKE_DEADLINE = 120
node "wx01" {
    method = libvirt
    uri = "$VIRT_URI"
    domain_sleep = suspend
}
node "wx02" {
    method = libvirt
    uri = "$VIRT_URI"
    domain_sleep = agent
}
END
libvirtd_start
pool_start
guests_make "$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")"
guest_define wx01 level=NONE
guest_advertise wx01

show_all() { # for the trap, which is to see the status of what came before
    local status=$?
    tail -n 8 "$VIRT"/*.console "$VIRT/log/libvirtd.log"
    "$ROOST" power status -l wx01
    grep -hE ' (wake|sleep|power|node)\.' "$POOL"/log/RoosterLog* | tail -30
    return "$status"
}
trap 'show_all; clean_up' EXIT
# What the rooster says of wx01: "State Says".
says() { "$ROOST" power status wx01 -af PowerState PowerMethodSays 2>/dev/null; }
is_said() { [ "$(says)" = "$1" ]; }
reason() { "$ROOST" power status wx01 -af PowerStateReason; }
shown() { "$ROOST" status -constraint 'Machine == "wx01"' -af PowerState; }
is_shown() { [ "$(shown | sort -u)" = "$1" ]; }

# ---- behind its back
until_true 30 "it is off" is_said "Off Off"
equals "what can be done with it" "$("$ROOST" power status wx01 -af PowerMethodCan | tr -d ' ')" '{"Wake","Sleep","Status","Watch"}'
virsh_ start wx01 >/dev/null || fail "virsh start"
until_true 20 "the rooster hears that somebody has started it" is_said "Unknown On"
equals "why it is Unknown" "$(reason)" "the machine was switched on from outside and has not joined the pool; its power method says: running (booted)"
until_true 20 "nothing is matched to it meanwhile" is_shown Unknown
until_true 100 "it has joined" is_said "On On"
equals "why it is up" "$(reason)" "the machine came up without an order"
virsh_ suspend wx01 >/dev/null || fail "virsh suspend"
until_true 20 "the rooster hears that it is paused" is_said "Unknown Unknown"
equals "why it is Unknown" "$(reason)" "the machine's ads say that it is on; its power method says: paused (by somebody)"
kill -9 "$(pids_of libvirt)" || fail "no roost-libvirt"
virsh_ resume wx01 >/dev/null || fail "virsh resume"
until_true 30 "another roost-libvirt tells that it runs" is_said "On On"
libvirtd_stop
libvirtd_start

# ---- by its agent
[ "$(wakes)" = "" ] || fail "the rooster woke it: $(wakes)"
"$ROOST" power sleep --force wx01 >"$WORK/order" 2>&1 || fail "roost power sleep: $(cat "$WORK/order")"
until_true 60 "it is suspended" guest_is wx01 pmsuspended
until_true 30 "the rooster knows" is_said "Off Off"
until_true 20 "it may be matched" is_shown Off
kill -9 "$(pids_of rooster)" || fail "no rooster"
cluster=$({
    printf 'executable = /bin/sh\ntransfer_executable = false\ninitialdir = %s\noutput = boot\nrequest_memory = 16\nrequest_disk = 1MB\n' "$OUT"
    printf 'should_transfer_files = YES\nwhen_to_transfer_output = ON_EXIT\nrequirements = Machine == "wx01"\n'
    printf 'arguments = "-c '\''cat /proc/sys/kernel/random/boot_id'\''"\nqueue\n'
} >"$WORK/sub" && submit "$WORK/sub") || exit 1
until_true 100 "the job" is_done "$cluster" 1
until_true 30 "the rooster sees that it is up" is_said "On On"
equals "what the ledger says of the wake" "$(wakes | cut -d' ' -f1-3)" "wx01 Up $(cat "$OUT/boot")"
sed -i 's/domain_sleep = suspend/domain_sleep = agent/' "$ROOST_CONFIG"
kill -HUP "$(pids_of rooster)"
reloaded() { grep -q ' config.reloaded ' "$POOL"/log/RoosterLog*; }
until_true 20 "the rooster has read its configuration again" reloaded
"$ROOST" power sleep --force wx01 >"$WORK/order" 2>&1 || fail "roost power sleep: $(cat "$WORK/order")"
until_true 60 "it is off" guest_is wx01 'shut off'
until_true 30 "the rooster knows" is_said "Off Off"
grep -q "the agent shuts down" "$VIRT/wx01.console" || fail "it was not the agent that shut it down"
equals "how it went down" "$("$ROOST" power history -constraint 'Kind == "Sleep"' -af Machine Outcome Method | sort | grep ^wx | tr '\n' ' ')" \
    "wx01 Asleep libvirt wx01 Asleep libvirt "

# ---- it goes down although the call that tells it to fails: here it has no agent; one with an agent may be gone before
# the answer comes
GUEST_AGENT='' guest_define wx02 level=NONE
guest_advertise wx02
virsh_ start wx02 >/dev/null || fail "virsh start"
says_of_2() { [ "$("$ROOST" power status wx02 -af PowerState PowerMethodSays 2>/dev/null)" = "$1" ]; }
until_true 100 "wx02 has joined" says_of_2 "On On"
"$ROOST" power sleep --force wx02 >"$WORK/order" 2>&1 || fail "roost power sleep: $(cat "$WORK/order")"
begins() { grep -q ' sleep.begins .* machine=wx02' "$POOL"/log/RoosterLog*; }
until_true 30 "the rooster takes it down" begins
virsh_ shutdown --mode acpi wx02 >/dev/null || fail "virsh shutdown"
until_true 30 "wx02 is off" guest_is wx02 'shut off'
until_true 30 "the rooster knows" says_of_2 "Off Off"
equals "how wx02 went down" "$("$ROOST" power history -constraint 'Kind == "Sleep"' -af Machine Outcome Method | grep ^wx02)" \
    "wx02 Asleep libvirt"

# ---- gone
virsh_ undefine wx01 >/dev/null || fail "virsh undefine"
until_true 20 "the rooster hears that there is no such guest" is_said "Unknown Unknown"
equals "why it is Unknown" "$(reason)" "the machine's ads say that it is asleep; its power method says: no such domain: 'wx01'"
trap clean_up EXIT
pool_stop
libvirtd_stop
passed
