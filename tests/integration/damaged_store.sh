#!/bin/bash
# A real queue whose file is damaged while the pool is down: a flipped bit in a job sets that job aside by name, a flipped bit
# in a job's key does not stop the schedd, an overwritten page is refused and its other rows are salvaged, and a queue that is
# lost is not replaced by an empty one that gives ids again.  Nor is the write-ahead log of a killed schedd lost in silence,
# and a queue from a backup gives no id again.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

DB=$POOL/spool/schedd.db
queued() { "$ROOST" q -af ClusterId ProcId 2>/dev/null | sort; }
count_is() { [ "$(queued | wc -l)" -eq "$1" ]; }
log_has() { grep -rq "$1" "$POOL/log"; }
stop() { pool_stop; rm -rf "$POOL/log"/*; }
# start_until SECONDS WHAT COMMAND...: starts a pool whose schedd does not come up, for which `roost start` would wait.
start_until() {
    "$ROOST" start >"$WORK/start.out" 2>&1 &
    local starting=$!
    until_true "$@"
    kill "$starting" 2>/dev/null # it may have given up
    wait "$starting"
}
restore() { cp "$WORK/good/"schedd.db* "$POOL/spool/"; }
# flip TEXT NTH: changes one bit in the NTH place of the file where TEXT is.
flip() {
    python3 - "$DB" "$1" "$2" <<'PY'
import sys
path, text, nth = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
data = bytearray(open(path, "rb").read())
at = -1
for _ in range(nth):
    at = data.index(text, at + 1)
data[at + len(text) - 1] ^= 2
open(path, "wb").write(data)
PY
}

pool_init --nodes 1 --idle 600
pool_start
cat >"$WORK/jobs.sub" <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo Marker\$(Process)End'"
hold = true
queue 200
SUB
cluster=$(submit "$WORK/jobs.sub") || exit 1
until_true 10 "200 jobs" count_is 200
pool_stop
mkdir "$WORK/good"
"$ROOST" store check "$DB" >"$WORK/said" || fail "check of a good store: $(cat "$WORK/said")"
grep -q '^jobs  *200 rows$' "$WORK/said" || fail "check: $(cat "$WORK/said")"
cp "$POOL/spool/"schedd.db* "$WORK/good/"

say "a flipped bit within a job"
flip 'Marker123End' 1
"$ROOST" store check "$DB" >"$WORK/said" && fail "check found nothing: $(cat "$WORK/said")"
grep -q '^damaged: jobs 0*1.0*123: ' "$WORK/said" || fail "check: $(cat "$WORK/said")"
rm -rf "$POOL/log"/*
pool_start
until_true 10 "199 jobs" count_is 199
queued | grep -qx "$cluster 123" && fail "the damaged job is served"
log_has ' store.row_damaged .*row="jobs 0*1.0*123"' || fail "the row is not named in the log"
shown() { "$ROOST" status -problems | grep -q '1 damaged row of .*schedd.db set aside: jobs 0*1.0*123'; }
until_true 10 "it is shown: $("$ROOST" status -problems)" shown
equals "StoreDamagedRows" "$("$ROOST" status -schedd -af StoreDamagedRows)" 1

for place in 1 2; do
    say "a flipped bit in a job's key, place $place"
    stop
    restore
    flip '0000000001.0000000077' "$place"
    pool_start
    until_true 10 "the queue is there" count_is 200
    [ -z "$("$ROOST" rm "$cluster.77" 2>&1 >/dev/null)" ] || fail "the job cannot be removed"
    until_true 10 "it is removed" count_is 199
    log_has ' store.row_damaged .*row="jobs 0*1.0*77"\| store.row_damaged .*row="jobs ' || fail "nothing in the log"
done

say "an overwritten page"
stop
restore
python3 - "$DB" <<'PY'
import sys
path = sys.argv[1]
data = bytearray(open(path, "rb").read())
at = data.index(b"Marker150End") // 4096 * 4096
data[at:at + 4096] = b"\xa5" * 4096
open(path, "wb").write(data)
PY
start_until 20 "the schedd says what to do" log_has 'schedd.db: .*roost store salvage'
shown_down() { "$ROOST" status -problems 2>/dev/null | grep -q 'the schedd does not run: .*schedd.db: damaged file'; }
until_true 30 "it is shown: $("$ROOST" status -problems 2>&1)" shown_down
"$ROOST" q >"$WORK/said" 2>&1 && fail "q without a schedd"
grep -q 'q: cannot reach the schedd: it does not run: .*schedd.db: damaged file' "$WORK/said" || fail "q: $(cat "$WORK/said")"
ROOST_LOCK=$WORK "$ROOST" q >"$WORK/said" 2>&1 && fail "q without a schedd" # as on another host: its master is asked
grep -q 'q: cannot reach the schedd: it does not run on .*schedd.db: damaged file' "$WORK/said" || fail "q, by the master: $(cat "$WORK/said")"
stop
"$ROOST" store check "$DB" >"$WORK/said" 2>&1 && fail "check found nothing"
rm "$DB.witness" # everything but the start of the daemon works without one
"$ROOST" store salvage "$DB" "$WORK/new.db" >"$WORK/said" 2>"$WORK/warned"
equals "exit status of a salvage that leaves rows out" $? 3
grep -q 'witness is missing' "$WORK/warned" || fail "salvage: $(cat "$WORK/warned")"
grep -q '^missing: jobs 0*1.0*150$' "$WORK/said" || fail "salvage: $(cat "$WORK/said")"
saved=$(awk '$1 == "jobs" {print $2}' "$WORK/said")
equals "missing jobs" "$(awk '$1 == "jobs" {print $4}' "$WORK/said")" $((200 - saved))
if [ "$saved" -lt 180 ] || [ "$saved" -ge 200 ]; then fail "salvaged $saved of 200: $(cat "$WORK/said")"; fi
rm "$DB"*
for suffix in '' .witness; do mv "$WORK/new.db$suffix" "$DB$suffix"; done
pool_start
until_true 10 "$saved jobs are back" count_is "$saved"

say "export and import"
stop
"$ROOST" store export "$DB" >"$WORK/rows" || fail "export"
equals "jobs in the export" "$(grep -c 'Table = "jobs"' "$WORK/rows")" "$saved"
"$ROOST" store import "$WORK/again.db" <"$WORK/rows" || fail "import"
"$ROOST" store export "$WORK/again.db" | cmp - "$WORK/rows" || fail "the import differs"
grep -q 'Hex =' "$WORK/rows" && fail "a value is not shown as an ad: $(grep 'Hex =' "$WORK/rows" | head -1)"
{ cat "$WORK/rows"; echo 'not a row'; } | "$ROOST" store import "$WORK/bad.db" 2>"$WORK/said" && fail "a bad line was taken"
for file in "$WORK"/bad.db*; do [ ! -e "$file" ] || fail "the failed import left $file"; done
sed 's/Marker20End/Marker99999End/g' "$WORK/rows" | "$ROOST" store import "$WORK/edited.db" || fail "import of an edited export"
"$ROOST" store export "$WORK/edited.db" | grep -q 'Marker99999End' || fail "the edit is lost"

say "a row whose key contradicts its job, with a right checksum"
rm "$DB"*
sed 's/"0000000001.0000000012"/"0000000001.0000000912"/' "$WORK/rows" | "$ROOST" store import "$DB" || fail "import"
pool_start
until_true 10 "the others are there" count_is $((saved - 1))
log_has ' store.row_damaged .*row="jobs 0*1.0*912"' || fail "the row is not named in the log"
stop

say "the queue is lost"
rm "$DB"
start_until 20 "the schedd refuses" log_has 'schedd.db: the file is missing, but .*witness says'
[ ! -e "$DB" ] || fail "a new queue was made"
stop
"$ROOST" store import --empty "$DB" || fail "import --empty"
pool_start
until_true 10 "an empty queue" count_is 0
cluster=$(submit "$WORK/jobs.sub") || exit 1
[ "$cluster" -gt 200 ] || fail "id $cluster is given again"

say "the write-ahead log of a killed schedd is lost"
kill_all() {
    local pids
    pids=$(pids_of master; pids_of schedd)
    # shellcheck disable=SC2086
    kill -9 $pids
    stop
}
kill_all
[ -s "$DB-wal" ] || fail "no log after a kill"
mv "$DB-wal" "$WORK/kept-wal"
start_until 20 "the schedd refuses" log_has 'schedd.db-wal is missing, but the daemon did not stop in order'
stop
"$ROOST" store check "$DB" 2>"$WORK/said" && fail "check finds nothing"
grep -q 'roost store accept-loss' "$WORK/said" || fail "check: $(cat "$WORK/said")"
head -c "$(stat -c %s "$WORK/kept-wal")" /dev/zero >"$DB-wal"
start_until 20 "the schedd refuses zeros, too" log_has 'schedd.db-wal is damaged'
stop
mv "$WORK/kept-wal" "$DB-wal"
pool_start
until_true 10 "all jobs are there again" count_is 200

say "going on without it, and no id is given again"
kill_all
: >"$DB-wal"
"$ROOST" store accept-loss "$DB" || fail "accept-loss"
pool_start
log_has ' store.older_copy ' || fail "nothing in the log"
again=$(submit "$WORK/jobs.sub") || exit 1
[ "$again" -gt "$cluster" ] || fail "id $again is given again"

say "a queue from a backup that is a few jobs old gives no id again"
stop
cp "$DB" "$WORK/backup"
pool_start
cluster=$(submit "$WORK/jobs.sub") || exit 1
equals "an ordinary restart goes on with the next id" "$cluster" $((again + 1))
stop
cp "$WORK/backup" "$DB"
pool_start
again=$(submit "$WORK/jobs.sub") || exit 1
[ "$again" -gt "$cluster" ] || fail "id $again is given again"

say "queue and witness are lost"
stop
rm "$DB" "$DB.witness"
start_until 20 "the schedd refuses" log_has 'the file and its witness are missing, but .*schedd.db.reserve'
stop
"$ROOST" store import --empty "$DB" || fail "import --empty"
pool_start
log_has ' store.created .*schedd.db' || fail "the new store is not logged"

say "a damaged row of the rooster's"
stop
python3 - "$POOL/spool/rooster_energy.db" <<'PY'
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
table = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
         if name not in ("meta", "set_aside")][0]
store.execute(f"INSERT INTO {table} (key, value, sum) VALUES ('m bad', x'00', 1)")
store.commit()
PY
pool_start
rooster_shown() { "$ROOST" status -problems | grep -q '1 damaged row of .*rooster_energy.db'; }
until_true 30 "it is shown: $("$ROOST" status -problems)" rooster_shown
passed
