#!/bin/bash
# The owner moves the mouse of a real X server: kbdd tells the startd, and the slot suspends.  The X server is started
# again, and is found again.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

for program in Xvfb xdotool; do
    [ -n "$(command -v $program)" ] || { echo "$program is not installed: make deps"; exit 77; }
done
number=$((200 + $$ % 20000))
x_start() {
    Xvfb ":$number" -auth "$WORK/xauth" -screen 0 320x200x8 >"$WORK/x.log" 2>&1 &
    xvfb=$!
    until_true 10 "X is up" test -S "/tmp/.X11-unix/X$number"
}
# An Xauthority file: family 256 (local), no address, the number, the name, sixteen bytes.
python3 - "$number" "$WORK/xauth" <<'END'
import os, struct, sys
def counted(data): return struct.pack(">H", len(data)) + data
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack(">H", 256) + counted(os.uname().nodename.encode()) + counted(sys.argv[1].encode())
               + counted(b"MIT-MAGIC-COOKIE-1") + counted(os.urandom(16)))
END
chmod 600 "$WORK/xauth"
touch_mouse() { DISPLAY=:$number XAUTHORITY=$WORK/xauth xdotool mousemove_relative 5 5 2>"$WORK/xdotool.err"; }

pool_init --nodes 1 --cpus-per-node 1
{
    sed -n '/^BackgroundLoad/,$p' "$ROOST_SRC/etc/desktop.conf"
    cat <<END
DAEMON_LIST = {STARTD, KBDD}
StartIdleTime = "-1"
BackgroundLoad = "1000"
HighLoad = "1000"
KeyboardBusy = "ConsoleIdle < 3"
CONTINUE = "ConsoleIdle > 4"
POLLING_INTERVAL = 1
HIBERNATE = "NONE"
END
} >>"$POOL/nodes/wn01/roost.conf"
x_start
pool_start

slot_is() { [ "$("$ROOST" status -af State Activity 2>/dev/null)" = "$1" ]; }
# Again and again, as whoever is there does: a look at the machine may come late.
moved_and_suspended() {
    touch_mouse || fail "xdotool: $(cat "$WORK/xdotool.err")"
    slot_is "Claimed Suspended"
}
kbdd_log() { cat "$POOL"/nodes/wn01/log/KbddLog* 2>/dev/null; }
opened() { [ "$(kbdd_log | grep -c " display.open .*:$number")" -ge "$1" ]; }

until_true 15 "the display is watched" opened 1
if [ "$(id -u)" -eq 0 ]; then
    watcher=$(pgrep -f -- "-display :$number" | head -1)
    [ "$(awk '/^Uid:/ { print $2 }' "/proc/$watcher/status")" -ne 0 ] || fail "X is spoken with as root"
fi
printf 'executable = /bin/sleep\ntransfer_executable = false\narguments = 600\nrequest_memory = 100\nqueue\n' >"$WORK/job.sub"
submit "$WORK/job.sub" >/dev/null || exit 1
until_true 30 "the job runs" slot_is "Claimed Busy"

say "the mouse moves"
until_true 30 "the slot suspends" moved_and_suspended
until_true 30 "the job goes on" slot_is "Claimed Busy"

say "X is started again"
kill "$xvfb"
wait "$xvfb" 2>/dev/null
x_start
until_true 20 "the display is watched again" opened 2
until_true 30 "the slot suspends" moved_and_suspended
passed
