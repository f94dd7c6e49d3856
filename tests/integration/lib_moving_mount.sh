#!/bin/bash
# lib_moving_mount.sh PROGRAM... - runs it where all of / is remote, each time anew: the job's own files (/files) have moved
# to another directory since, another server has them, and they are mounted in another place.
#
# MOVING: where the job's files are (files.N), and what is noted of them.  TICKET: a file with what lets one in.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
bin=$(dirname "$0")
cd "$MOVING"
before=$(echo files.*)
now=files.$((${before#files.} + 1))
[ ! -e server.pid ] || kill -9 "$(cat server.pid)" # its machine is lost, too
mv "$before" "$now"
rm -f served server.pid
(
    "$bin/roost-rsys-serve" --listen tcp:127.0.0.1:0 --ticket-file "$TICKET" --root /=/ --root "/files=$MOVING/$now" --lease 30s >served 2>>server.log &
    echo $! >server.pid
)
for _ in $(seq 3000); do
    ! grep -qs '^pin ' served || break
    sleep 0.01
done
exec "$bin/roost-rsys-mount" --server "$(sed -n 's/^listening //p' served)" --pin "$(sed -n 's/^pin //p' served)" --ticket-file "$TICKET" --cwd /files -- "$@"
