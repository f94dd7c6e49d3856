#!/bin/bash
# A job of the standard universe that is an enemy of its submit machine, from within and, with what its starter knows, from
# without: nothing outside of its root is read or changed, it reaches no socket, its shadow's memory is bounded, and another
# job of its owner, of the same shadow, works on.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: no checkpoints, and so no standard universe, in a build with sanitizers"; exit 77; }
[ -x "$ROOST_BIN/roost-rsys-mount" ] || { echo "skipped: there is no roost-rsys-mount"; exit 77; }
AS=()
[ "$(id -u)" != 0 ] || AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${AS[@]}" "$ROOST_BIN/roost-rsys-mount" --probe >/dev/null 2>&1 || { echo "skipped: no namespaces, or no /dev/fuse, here"; exit 77; }

pool_init --nodes 1 --cpus-per-node 2
pool_start
mkdir "$WORK/inside" "$WORK/outside" "$WORK/inside/own" "$WORK/friend"
cc -static -O1 -Wall -D_GNU_SOURCE -o "$WORK/inside/enemy" "$ROOST_SRC/tests/integration/jobs/enemy.c" || fail "the enemy does not compile"
cat >"$WORK/friend/friend.py" <<'END'
import os, sys, time
count, worst = 0, 0.0
while not os.path.exists(sys.argv[1]):
    began = time.monotonic()
    text = "%d\n" % count
    with open("data", "w") as data:
        data.write(text)
    with open("data") as data:
        assert data.read() == text
    os.stat("data")
    count, worst = count + 1, max(worst, time.monotonic() - began)
    with open("beats", "a") as beats:
        beats.write(".")
    time.sleep(0.01)
print("%.1f" % worst)
END
cat >"$WORK/friend.sub" <<END
universe = standard
initialdir = $WORK/friend
executable = /usr/bin/python3
arguments = friend.py $WORK/gate
output = out
error = err
queue
END
friend=$(submit "$WORK/friend.sub") || exit 1
beats() { [ "$(stat -c %s "$WORK/friend/beats" 2>/dev/null || echo 0)" -ge "$1" ]; }
until_true 60 "the friend works" beats 20
# mount_of FRIEND|ENEMY OPTION: what a job's file system was told.
mount_of() {
    local pid words
    for pid in $(traces "$WORK/"); do
        words=$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null)
        case $1,$words in
        friend,*roost-rsys-mount*/friend*--ticket-file* | friend,*roost-rsys-mount*--ticket-file*/friend*) ;;
        enemy,*/friend*) continue ;;
        enemy,*roost-rsys-mount*--ticket-file*) ;;
        *) continue ;;
        esac
        grep -A1 -x -- "$2" <<<"$words" | tail -n 1
        return
    done
    fail "the $1 has no file system"
}
shadow=$(cat "$POOL"/spool/owner/*/shadow.*.lock | head -n 1)
server=$(mount_of friend --server) || exit 1
route=$(mount_of friend --route) || exit 1
mapfile -t sockets < <(find "$POOL" -type s)
[ "${#sockets[@]}" -gt 0 ] || fail "the pool has no sockets"
cat >"$WORK/enemy.sub" <<END
universe = standard
initialdir = $WORK/inside
remote_root = $WORK/inside
executable = $WORK/inside/enemy
arguments = 3 ${server##*:} ${sockets[*]}
output = own/out
error = own/err
queue
END
enemy=$(submit "$WORK/enemy.sub") || exit 1
is_there() { grep -q "^begins" "$WORK/inside/own/out" 2>/dev/null; }
until_true 60 "the enemy is there" is_there
ticket=$(mount_of enemy --ticket-file) || exit 1
cp "$ticket" "$WORK/ticket" || fail "no ticket"
before=$(stat -c %s "$WORK/friend/beats")
timeout 100 /usr/bin/python3 "$ROOST_SRC/tests/integration/lib_rsys_hostile.py" "$server/$route" "$shadow" "$WORK/inside" "$WORK/outside" 0.7 "$WORK/ticket" ||
    fail "a hostile starter"
until_true 60 "the friend works on" beats $((before + 20))
until_true 60 "the enemy has done its worst" is_done "$enemy" 1
cat "$WORK/inside/own/out"
equals "what the enemy says of errors" "$(cat "$WORK/inside/own/err")" ""
equals "what it reached" "$(grep -c '^reached' "$WORK/inside/own/out")" 0
equals "what is outside" "$(ls "$WORK/outside"; cat "$WORK/outside/secret")" "$(printf 'secret\nwhat nobody outside may read')"
: >"$WORK/gate"
until_true 60 "the friend is done" is_done "$friend" 1
equals "what the friend says of errors" "$(cat "$WORK/friend/err")" ""
say "the friend waited for $(cat "$WORK/friend/out") s at most"
[ "$(cut -d. -f1 "$WORK/friend/out")" -lt 10 ] || fail "the friend had to wait"
equals "the shadow" "$(cat "$POOL"/spool/owner/*/shadow.*.lock | head -n 1)" "$shadow"
pool_stop
passed
