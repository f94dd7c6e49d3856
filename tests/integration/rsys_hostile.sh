#!/bin/bash
# Clients that are enemies of the server of remote system calls: nothing outside of what is offered is touched, its memory
# is bounded, and another job's calls in the same server are answered as before.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-rsys-serve" ] || { echo "skipped: there is no roost-rsys-serve"; exit 77; }
AS=()
[ "$(id -u)" != 0 ] || AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
mkdir "$WORK/bin"
mkdir -m 0777 "$WORK/files"
cp "$ROOST_BIN/roost-rsys-serve" "$ROOST_SRC/tests/integration/lib_rsys_hostile.py" "$WORK/bin/"
echo enemy >"$WORK/enemy"
echo friend >"$WORK/friend"
"${AS[@]}" mkdir "$WORK/files/inside" "$WORK/files/outside"
"${AS[@]}" "$WORK/bin/roost-rsys-serve" --listen "unix:$WORK/files/socket" --ticket-file "$WORK/enemy" --ticket-file "$WORK/friend" \
    --root "/=$WORK/files/inside" --max-bytes 256MiB --handles 200 --lease 30s >"$WORK/served" 2>"$WORK/server.log" &
server=$!
until_true 30 "it serves" grep -qs '^pin ' "$WORK/served"
timeout 100 "${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_rsys_hostile.py" "$WORK/files/socket" "$server" "$WORK/files/inside" "$WORK/files/outside" 0.6 ||
    fail "enemies: $(tail -n 5 "$WORK/server.log")"
kill "$server"
wait "$server"
equals "exit status of the server" $? 0
cat "$WORK/served"
passed
