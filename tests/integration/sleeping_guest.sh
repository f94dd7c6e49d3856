#!/bin/bash
# A machine that puts itself to sleep (POWER_METHOD = host), and the rooster that wakes it: the startd of a guest suspends it through its
# kernel, then switches it off.  It comes back as the same boot, then as another one.
#
# The rooster's command is what an adapter or a BMC is elsewhere: it wakes the emulator, or starts it.
#
# TIMEOUT: 300
# SPDX-License-Identifier: Apache-2.0
case " $(ldd "$ROOST_BIN/roost-startd") " in
*libasan* | *libtsan*) echo "skipped: a guest is too small for a sanitizer"; exit 77 ;;
esac
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: there is no static roost-pilot"; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"

pool_init --nodes 1 --asleep
sed -i "s/^SCHEDD_HOST = .*/SCHEDD_HOST = \"10.0.2.2\"\nSCHEDD_LISTEN = \"127.0.0.1\"/" "$ROOST_CONFIG" # as the guest sees this host
printf 'ROOSTER_WAKEUP_CMD = "%s/wake.sh"\nROOSTER_WAKE_DEADLINE = 200\n' "$WORK" >>"$ROOST_CONFIG"

# ---- how it is woken
# `status`, or `wake`: it does not sleep at once when its offline ads are there, so that is waited for.
cat >"$WORK/qmp.py" <<'END'
import json, socket, sys, time
monitor = socket.socket(socket.AF_UNIX)
monitor.settimeout(20)
try:
    monitor.connect(sys.argv[1])
except OSError:
    sys.exit(1)
lines = monitor.makefile("rw")
def ask(what):
    lines.write(json.dumps({"execute": what}) + "\n")
    lines.flush()
    for line in lines:
        answer = json.loads(line)
        if "return" in answer:
            return answer["return"]
    sys.exit(1)
lines.readline()
ask("qmp_capabilities")
end = time.monotonic() + 20
while sys.argv[2] == "wake" and ask("query-status")["status"] != "suspended":
    if time.monotonic() > end:
        sys.exit(1)
    time.sleep(0.1)
print(ask("query-status")["status"])
if sys.argv[2] == "wake":
    ask("system_wakeup")
END
cat >"$WORK/wake.sh" <<END
#!/bin/sh
python3 $WORK/qmp.py $WORK/qmp wake >>$WORK/woken 2>&1 && exit 0
setsid $WORK/boot.sh >>$WORK/console 2>&1 &
END
cat >"$WORK/boot.sh" <<END
#!/bin/bash
export ROOST_GUEST_ROOT='${ROOST_GUEST_ROOT:-}'
. '$ROOST_SRC/tests/integration/lib_guest.sh'
echo \$\$ >$WORK/guest.pid
guest_run "" $WORK/initramfs -netdev user,id=net0 -device virtio-net-pci,netdev=net0 -qmp unix:$WORK/qmp,server=on,wait=off
END
chmod 0755 "$WORK/wake.sh" "$WORK/boot.sh"
pool_start
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")

# ---- the guest
guest=$WORK/guest
guest_tree "$guest" virtio_pci virtio_net
guest_program "$guest" "$ROOST_BIN/roost-startd"
mkdir -p "$guest/roost/security/keys"
cp "$POOL/security/ca.pem" "$guest/roost/security/"
cp "$POOL"/security/keys/*.pub "$guest/roost/security/keys/"
"$ROOST" token create --identity guest --scope ADVERTISE,READ --expires 1h --file "$guest/roost/token" || fail "roost token create"
chmod 0600 "$guest/roost/token"
cat >"$guest/roost/roost.conf" <<END
LOCAL_DIR = "/roost"
SEC_DIRECTORY = "/roost/security"
TOKEN_FILE = "/roost/token"
COLLECTOR_HOST = "10.0.2.2:$port"
SBIN = "/bin"
STARTD_NAME = "guest"
NUM_CPUS = 1
POWER_METHOD = host
HIBERNATION_OVERRIDE_WOL = true
ENABLE_WAKE_ON_LAN = false
HIBERNATE_CHECK_INTERVAL = 0
UPDATE_INTERVAL = 3600
POLLING_INTERVAL = 1
END
# What `poweroff` asks of process 1 is done as init would.
guest_init "$guest" guest <<'INIT'
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
trap 'echo SWITCHED OFF; poweroff -f' USR2
roost-startd -config /roost/roost.conf -log - &
while :; do wait; sleep 1; done
INIT
guest_pack "$guest" "$WORK/initramfs"
show_console() { # for the trap, which is to see the status of what came before
    local status=$?
    [ "$status" -eq 0 ] || tail -n 40 "$WORK/console" "$WORK/woken"
    return "$status"
}
trap 'show_console; clean_up' EXIT

live() { "$ROOST" status -constraint 'Machine == "guest" && Offline =!= true' -af "$@" 2>/dev/null; }
asleep() { "$ROOST" status -constraint 'Machine == "guest" && Offline =?= true' -af "$@" 2>/dev/null; }
is_live() { [ -n "$(live BootId)" ]; }
is_asleep_at() { [ "$(asleep HibernationState)" = "$1" ]; }
is_suspended() { [ "$(python3 "$WORK/qmp.py" "$WORK/qmp" status)" = suspended ]; }
is_gone() { ! kill -0 "$(cat "$WORK/guest.pid")" 2>/dev/null; }
outcomes() { "$ROOST" power history guest -af Kind Outcome 2>/dev/null | sort | tr '\n' ' '; }

"$WORK/wake.sh"
until_true 120 "the guest has joined" is_live
boot=$(live BootId)
live HibernationSupportedStates | grep -q 'S3.*S5' || fail "its levels: $(live HibernationSupportedStates)"
equals "who does it" "$(live HibernationMethod CanHibernate)" "/sys true"

say "to memory, and back"
"$ROOST" drain guest --then sleep >/dev/null || fail "roost drain --then sleep"
until_true 60 "its offline ad is there" is_asleep_at S3
until_true 60 "it is suspended" is_suspended
equals "its ad while it sleeps" "$(asleep PowerState OfflineBootId PowerKeptOff)" "Off $boot undefined"
"$ROOST" power on guest >/dev/null || fail "roost power on"
until_true 60 "it is back" is_live
equals "its boot" "$(live BootId)" "$boot"
equals "what woke it" "$(cat "$WORK/woken")" "suspended"
equals "offline ads" "$(asleep Name)" ""
grep -q "hibernate.woke" "$WORK/console" || fail "its startd does not know that it slept"

say "off, and on"
is_known() { [[ $(outcomes) == *"Wake Up "* ]]; }
until_true 30 "the rooster knows that it came" is_known
"$ROOST" power off guest >/dev/null || fail "roost power off"
until_true 60 "it is switched off" is_gone
grep -q "^SWITCHED OFF" "$WORK/console" || fail "the emulator ended otherwise"
equals "its ad while it is off" "$(asleep HibernationState OfflineBootId PowerKeptOff)" "S5 $boot true"
came() { [ "$(asleep WakeSuccessRate)" = 1.0 ]; }
until_true 30 "its ad says that it came when it was woken" came
"$ROOST" power on guest >/dev/null || fail "roost power on"
until_true 120 "it is back" is_live
[ "$(live BootId)" != "$boot" ] || fail "it is the same boot"
equals "offline ads" "$(asleep Name)" ""
kill "$(cat "$WORK/guest.pid")"
pool_stop
passed
