#!/bin/bash
# A pool of somebody who is not root: machines wake, jobs run as that user, all sleep again.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || { echo "skipped: there is no setpriv to become an ordinary user with"; exit 77; }
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    home=$(mktemp -d /tmp/roost-home-XXXXXX)
    trap 'rm -rf "$home"' EXIT
    # Copies: the tree may be where only root can go, /root for example.
    mkdir -p "$home/bin" "$home/src/tests/integration" "$home/src/tools"
    cp "$ROOST_BIN"/roost* "$home/bin/"
    cp "$ROOST_SRC"/tests/integration/*.sh "$home/src/tests/integration/"
    cp "$ROOST_SRC"/tools/*.sh "$home/src/tools/"
    chown -R 65534:65534 "$home"
    HOME=$home ROOST_BIN=$home/bin ROOST_SRC=$home/src "${as[@]}" bash "$home/src/tests/integration/ordinary_user.sh"
    exit
fi
. "$(dirname "$0")/lib.sh"

pool_init --nodes 2 --idle 1 --asleep
pool_start
cat >"$WORK/who.sub" <<SUB
executable = /bin/sh
transfer_executable = false
arguments = "-c 'id -u; pwd; cat input'"
initialdir = $OUT
transfer_input_files = input
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
output = who.\$(Process)
error = err.\$(Process)
request_memory = 1
queue 4
SUB
echo "the input" >"$OUT/input"
cluster=$(submit "$WORK/who.sub") || exit 1
until_true 30 "the jobs are done" is_done "$cluster" 4
check_committed "$cluster" 4
for ((number = 0; number < 4; number++)); do
    equals "who ran job $number" "$(head -n 1 "$OUT/who.$number")" "$(id -u)"
    equals "input of job $number" "$(tail -n 1 "$OUT/who.$number")" "the input"
    equals "errors of job $number" "$(cat "$OUT/err.$number")" ""
done
number_jobs 10 0.2 >"$WORK/ten.sub"
cluster=$(submit "$WORK/ten.sub") || exit 1
until_true 30 "ten jobs are done" is_done "$cluster" 10
check_committed "$cluster" 10
check_outputs 10
until_true 20 "all are asleep" is_asleep 2
check_ledger

# Its jobs have the account of its daemons.
say "a job cannot change what the daemons read and run"
sha256sum "$ROOST_CONFIG" "$POOL"/nodes/*/roost.conf "$ROOST_BIN"/roost-* >"$WORK/before"
cat >"$WORK/evil.sh" <<END
echo evil >>$POOL/nodes/wn01/roost.conf # where the node is covered, it is a file of nobody
for file in $ROOST_CONFIG $ROOST_BIN/roost-starter $ROOST_BIN/roost-master; do
    (echo "STARTER = \"/bin/false\"" >>\$file) 2>/dev/null && grep -q false \$file && echo "appended to \$file"
    (echo evil >\$file) 2>/dev/null && [ "\$(cat \$file)" != evil ] && echo "wrote \$file"
    chmod 0777 \$file 2>/dev/null && echo "chmod \$file"
    (echo evil >\$file.new && mv -f \$file.new \$file) 2>/dev/null && echo "replaced \$file"
    rm -f \$file 2>/dev/null && [ ! -e \$file ] && [ -e $ROOST_CONFIG ] && echo "removed \$file"
done
(echo evil >$ROOST_BIN/roost-new) 2>/dev/null && echo "a new program"
for dir in $WORK $POOL $POOL/nodes $ROOST_BIN $(dirname "$ROOST_BIN"); do
    mv \$dir \$dir.old 2>/dev/null && echo "moved \$dir" && mv \$dir.old \$dir
done
unshare -Urm sh -c 'umount -l $ROOST_CONFIG; mount -o remount,rw,bind $ROOST_CONFIG; echo evil >>$ROOST_CONFIG && echo uncovered' 2>/dev/null
for dir in $POOL/config $POOL/nodes/wn01/config; do # of settings made at run time: nobody has made one yet
    { mkdir -p \$dir && echo 'STARTER = "/bin/false"' >\$dir/schedd.conf; } 2>/dev/null
done
echo tried
END
printf 'executable = %s\ninitialdir = %s\noutput = evil.out\nerror = evil.err\nqueue\n' "$WORK/evil.sh" "$OUT" >"$WORK/evil.sub"
sed -i '1i #!/bin/sh' "$WORK/evil.sh"
chmod 0755 "$WORK/evil.sh"
cluster=$(submit "$WORK/evil.sub") || exit 1
until_true 30 "it is done" is_done "$cluster" 1
sha256sum "$ROOST_CONFIG" "$POOL"/nodes/*/roost.conf "$ROOST_BIN"/roost-* >"$WORK/after"
equals "what the job did" "$(cat "$OUT/evil.out")" tried
equals "settings" "$(find "$POOL" -path '*/config/*')" ""
equals "what the daemons read and run" "$(cat "$WORK/after")" "$(cat "$WORK/before")"
until_true 20 "all are asleep" is_asleep 2
pool_stop
passed
