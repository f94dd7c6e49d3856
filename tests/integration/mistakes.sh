#!/bin/bash
# What a new user gets wrong is answered by one line that names the thing at fault, and an exit status that is not 0: without a
# configuration, without a pool, without a token, with slips of the fingers.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
set -u
: "${ROOST_BIN:?where the programs are}"
PATH=$ROOST_BIN:$PATH
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
chmod 755 "$WORK"
unset ROOST_CONFIG
failures=0
cases=0

# says STATUS PATTERN roost WORDS...
says() {
    local want=$1 pattern=$2 status
    shift 2
    timeout 30 "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    status=$?
    cases=$((cases + 1))
    if [ "$status" -ne "$want" ] || [ "$(wc -l <"$WORK/err")" -ne 1 ] || ! grep -qE -e "$pattern" "$WORK/err" || [ -s "$WORK/out" ]; then
        echo "FAILED: $*: status $status (wanted $want), said:"
        cat "$WORK/out" "$WORK/err"
        echo "  wanted one line: $pattern"
        failures=$((failures + 1))
    fi
}

# ---- words
says 2 "no command given; .roost --help." roost
says 2 "unknown command 'statsu'; did you mean .roost status." roost statsu
says 2 "unknown command 'condor_rmm'; did you mean .roost rm." roost condor_rmm
says 2 "unknown command 'frobnicate'; .roost --help. lists all commands" roost frobnicate
says 2 "unknown option '-nobtach'; did you mean -nobatch" roost q -nobtach
says 2 "unknown option '-dag': Roost has no DAGMan" roost q -dag
says 2 "unknown option '-direct'" roost status -direct host
says 2 "unknown option '--frobnicate'; .roost submit --help. lists" roost submit --frobnicate
says 2 "unknown action 'statsu'; expected status, on, wake, off, sleep, lock, unlock, keep, test, history or report" roost power statsu
says 2 "--all does not go with on" roost power on --all
says 2 "power: --days and --since do not go with status" roost power status --days 3
says 2 "use either --all or machine names" roost power test wn01 --all
says 2 "no machines named" roost power test
says 2 "no jobs named; name ids, an owner, -constraint or -all" roost rm
says 2 "'1.x' is neither a job \(12 or 12.3\) nor a user name" roost rm 1.x
says 2 "-constraint JobStatus ==: at byte 12: expression expected" roost q -constraint "JobStatus =="
says 2 "-limit needs a number above 0, not 'x'" roost history -limit x
says 2 "-af needs the names of attributes" roost q -af
says 2 "no (job|slot|machine)s? named" roost why
says 2 "-queue needs a value" roost submit -queue
says 2 "unknown shell 'fish'; expected bash or zsh" roost completion fish
says 2 "unknown command 'stauts'; did you mean .roost status." roost help stauts
says 2 "-delay x: expected a time such as 2, 500ms or 1m" roost top -delay x
says 2 "unknown argument 'maybe'" roost who maybe
says 2 "unknown option '-usge'; did you mean -usage" roost userprio -usge

# ---- no configuration, a wrong one
for command in q status history userprio top who "rm 1" "wait 1" "why 1" "power status" "config dump" start stop; do
    # shellcheck disable=SC2086
    says 1 "ROOST_CONFIG: no configuration file /etc/roost/roost.conf" roost $command
done
ROOST_CONFIG=$WORK/none.conf says 1 "ROOST_CONFIG: $WORK/none.conf: No such file or directory" roost q
ROOST_CONFIG=$WORK says 1 "$WORK: is a directory" roost q
printf 'DAEMON_LIST = {MASTER\n' >"$WORK/broken.conf"
ROOST_CONFIG=$WORK/broken.conf says 1 "broken.conf:1: .* is not closed" roost status

# ---- a pool where its jobs cannot go
if [ "$(id -u)" -eq 0 ]; then # others' jobs run under their own account
    mkdir -m 700 "$WORK/closed"
    cases=$((cases + 1))
    roost init "$WORK/closed/pool" --nodes 1 2>"$WORK/err" >/dev/null || failures=$((failures + 1))
    grep -q "WARNING: the account .* cannot enter $WORK/closed/pool: no job of the account will run" "$WORK/err" ||
        { echo "FAILED: init below a closed directory: $(cat "$WORK/err")"; failures=$((failures + 1)); }
    cases=$((cases + 1))
    ROOST_CONFIG=$WORK/closed/pool/roost.conf roost start 2>"$WORK/err" >/dev/null || failures=$((failures + 1))
    grep -q "WARNING: the account .* cannot enter $WORK/closed/pool: no job of the account will run" "$WORK/err" ||
        { echo "FAILED: start below a closed directory: $(cat "$WORK/err")"; failures=$((failures + 1)); }
    # within_a_minute COMMAND...: waits at most a minute until the command is true
    within_a_minute() {
        local end=$((SECONDS + 60))
        until "$@"; do
            [ "$SECONDS" -lt "$end" ] || return 1
            sleep 0.1
        done
    }
    closed_is_named() {
        roost why 1.0 >"$WORK/out" 2>&1
        grep -q "the shadow of .* does not start: .* cannot enter the directory $WORK/closed," "$WORK/out"
    }
    job_is_done() { roost history 1.0 2>/dev/null | grep -q '^1\.0 '; }
    cases=$((cases + 1))
    export ROOST_CONFIG=$WORK/closed/pool/roost.conf
    printf 'executable = /bin/true\ninitialdir = /\nqueue\n' | roost submit >/dev/null 2>&1 || failures=$((failures + 1))
    within_a_minute closed_is_named ||
        { echo "FAILED: why below a closed directory: $(cat "$WORK/out")"; failures=$((failures + 1)); }
    cases=$((cases + 1))
    chmod 755 "$WORK/closed"
    within_a_minute job_is_done || { echo "FAILED: the opened directory: $(roost why 1.0)"; failures=$((failures + 1)); }
    roost stop >/dev/null || failures=$((failures + 1))
    unset ROOST_CONFIG
    rm -r "$WORK/closed"
fi

# ---- no pool, and settings that are wrong: each is said with its file and line
roost init "$WORK/pool" --nodes 1 >/dev/null || exit 1
export ROOST_CONFIG=$WORK/pool/roost.conf
good=$WORK/pool/roost.conf
line=$(($(wc -l <"$good") + 1))
# setting LINES PATTERN TEXT: `config check` says it of line LINES of what was added, of the pool's file and of a named one; and so
# does `roost start`, which starts nothing then.
setting() {
    sed "s|^SBIN = .*|SBIN = \"$ROOST_BIN\"|" "$good" >"$WORK/pool/wrong.conf"
    printf '%b\n' "$3" >>"$WORK/pool/wrong.conf"
    ROOST_CONFIG=$WORK/pool/wrong.conf says 1 "wrong.conf:$((line + $1 - 1)): $2" roost config check
    says 1 "wrong.conf:$((line + $1 - 1)): $2" roost config check "$WORK/pool/wrong.conf"
    ROOST_CONFIG=$WORK/pool/wrong.conf says 1 "wrong.conf:$((line + $1 - 1)): $2" roost start
}
setting 1 "ROOSTER_RESERVE: 'Mon-Fry .*' is not a valid rule" 'ROOSTER_RESERVE = "Mon-Fry 07:00-19:00 = 5"'
setting 1 "COLLECTOR_HOST: '127.0.0.1:99999': the port must be" 'COLLECTOR_HOST = {"127.0.0.1:99999"}'
setting 1 "COLLECTOR_PORT: '99999' is out of range" 'COLLECTOR_PORT = 99999'
setting 1 "COLLECTOR_LISTEN: '::1' is not HOST or HOST:PORT" 'COLLECTOR_LISTEN = "::1"'
setting 1 "DAEMON_LIST: SCHED is not a daemon of this installation" 'DAEMON_LIST = {COLLECTOR, SCHED}'
setting 1 "ROOSTER_RESERVE: .* is not a valid rule: expected a weekday" 'ROOSTER_RESERVE = "Mon-Fry 07:00-19:00 = 5"'
setting 1 "ROOSTER_RESERVE: .* an expression needs parentheses" 'ROOSTER_RESERVE = "PoolIdleJobs > 0 ? 1 : 0"'
setting 1 "ROOSTER_WAKE_DEADLINE_MIN: 3600 s is more than" 'ROOSTER_WAKE_DEADLINE_MIN = 1h'
setting 1 "include: a cycle: the file includes itself" 'include("wrong.conf")'
setting 2 "node 'n': another section of this name is in line $line; a machine has one section" 'node n { method = wol }\nnode n { method = wol }'
setting 1 "DAEMON_LIST is empty" 'DAEMON_LIST = {}'
setting 1 "DAEMON_LIST: SHADOW is started by the schedd" 'DAEMON_LIST = {COLLECTOR, SHADOW}'
setting 1 "DAEMON_LIST names collector twice" 'DAEMON_LIST = {COLLECTOR, collector}'
setting 1 "QUEUE_SUPER_USERS: 'alice' is not a full identity" 'QUEUE_SUPER_USERS = alice'
setting 1 "EVENT_LOG_FORMAT_OPTIONS: unknown word 'JASON'" 'EVENT_LOG_FORMAT_OPTIONS = JASON'
setting 1 "SPOOL: /etc/passwd is a file" 'SPOOL = /etc/passwd'
setting 1 "SLOT_TYPE_1: '200%' is not a valid percentage" 'SLOT_TYPE_1 = "cpus=200%"'
setting 1 "SLOT_TYPE_1: '1 memory=abc' is not a number" 'SLOT_TYPE_1 = "cpu=1 memory=abc"'
setting 1 "SLOT_TYPE_1: this machine has no resource 'cpu'" 'SLOT_TYPE_1 = "cpu=1"\nNUM_SLOTS_TYPE_1 = 1\nDAEMON_LIST = {STARTD}'
setting 1 "SLOT_TYPE_1: its 2 slots request" 'SLOT_TYPE_1 = "100%"\nNUM_SLOTS_TYPE_1 = 2\nDAEMON_LIST = {STARTD}'
setting 1 "MACHINE_RESOURCE_GPUs: -3 is not a valid amount" 'MACHINE_RESOURCE_GPUs = "-3"'
setting 1 "COLLECTOR_HOST: the list is empty" 'COLLECTOR_HOST = {}'
setting 1 "COLLECTOR_HOST: 'a;b': ';' is not valid in HOST" 'COLLECTOR_HOST = "a;b"'
setting 1 "COLLECTOR_LISTEN: '9618' is a port without a host; write HOST:9618, or \*:9618" 'COLLECTOR_LISTEN = "9618"'
setting 1 "COLLECTOR_PIN: 'zz' is not a SHA-256 fingerprint; expected 64 hex digits" 'COLLECTOR_PIN = zz'
setting 1 "SLOT1_CPU_AFFINITY: '0-' is not a list of CPUs; expected numbers below 1024 and ranges" 'SLOT1_CPU_AFFINITY = "0-"'
says 1 "wrong.conf:$line: SLOT1_CPU_AFFINITY: '0-' is not a list" roost-startd -check -config "$WORK/pool/wrong.conf" # its starters would not start
setting 1 "UID_DOMAIN: the value is empty; expected a name" 'UID_DOMAIN = ""'
for name in STARTD SCHEDD MASTER ROOSTER NEGOTIATOR; do
    setting 1 "${name}_NAME: 'a b': expected a name without blanks" "${name}_NAME = \"a b\""
done
setting 1 "SLOT_USER: jobs never run as root" 'SLOT_USER = root'
setting 1 "MEMORY: '8 GB': unknown unit 'GB'; expected a number without a unit .its unit is MiB" 'MEMORY = "8 GB"'
setting 1 "ROOSTER_INTERVAL: '5mm': unknown unit 'mm'; expected ms, s, m, h, d or w" 'ROOSTER_INTERVAL = "5mm"'
setting 1 "SPOOL_RESERVE: '5 MBs': unknown unit 'MBs'; expected B, KiB, MiB" 'SPOOL_RESERVE = "5 MBs"'
setting 1 "SCHEDD_DEBUG: 'loud' is not a log level" 'SCHEDD_DEBUG = loud'
setting 1 "LOG: 'log' is not an absolute path" 'LOG = log'
setting 1 "ROOSTER_INTERVAL: '10 fortnights'" 'ROOSTER_INTERVAL = "10 fortnights"'
setting 1 "START: at byte" 'START = "KeyboardIdle >"'
setting 1 "SLOT_TYPE_1_START: at byte" 'SLOT_TYPE_1_START = "KeyboardIdle >"'
setting 1 "SLOT_TYPE_1_PARTITIONABLE: 'perhaps'" 'SLOT_TYPE_1_PARTITIONABLE = perhaps'
setting 1 "NUM_SLOTS_TYPE_1: 'two' is not a whole number" 'NUM_SLOTS_TYPE_1 = two'
setting 1 "GROUP_QUOTA_a: 'many' is not a number" 'GROUP_QUOTA_a = many'
setting 1 "GROUP_ACCEPT_SURPLUS_a: 'maybe'" 'GROUP_ACCEPT_SURPLUS_a = maybe'
setting 1 "DEFAULT_USERLOG_FORMAT_OPTIONS: unknown word 'ISO_DAET'" 'DEFAULT_USERLOG_FORMAT_OPTIONS = ISO_DAET'
setting 1 "SYSTEM_PERIODIC_HOLD_NAMES names late, but" 'SYSTEM_PERIODIC_HOLD_NAMES = late'
setting 2 "SYSTEM_PERIODIC_HOLD_late: at byte" 'SYSTEM_PERIODIC_HOLD_NAMES = late\nSYSTEM_PERIODIC_HOLD_late = "a +"'
setting 1 "SUBMIT_ROOT_AS is root" 'SUBMIT_ROOT_AS = root'
setting 1 "ROOSTER_WAKEUP_CMD: 'wake' is not an absolute path" 'ROOSTER_WAKEUP_CMD = "wake -x"'
setting 1 "node n: no method; expected method = process" 'node n { }'
setting 2 "bmc: node n: no method" 'node n {\nbmc = x\n}'
setting 3 "hardware_address: node n: .* is not a hardware address" 'node n {\nmethod = wol\nhardware_address = "52:54:00"\n}'
setting 3 "subnet: node n: .* is not a network address" 'node n {\nmethod = wol\nsubnet = "10.0.0.0/33"\n}'
setting 2 "method: node n: method ipmi needs bmc" 'node n {\nmethod = ipmi\n}'
setting 3 "wake_command: node n: .*'wake' is not an absolute path" 'node n {\nmethod = command\nwake_command = wake\n}'
setting 3 "wake_port: node 'n': '99999' is out of range" 'node n {\nmethod = wol\nwake_port = 99999\n}'
setting 2 "node 'n': metod: unknown option of a 'node' section .did you mean method" 'node n {\nmetod = wol\n}'
setting 3 "next_methods: node n: 'imi' is not a power method" 'node n {\nmethod = wol\nnext_methods = {imi}\n}'
# an attribute that no ad has: a warning, because jobs may have attributes of their own
doubt() {
    sed "s|^SBIN = .*|SBIN = \"$ROOST_BIN\"|" "$good" >"$WORK/pool/wrong.conf"
    printf '%b\n' "$2" >>"$WORK/pool/wrong.conf"
    cases=$((cases + 1))
    for file in "" "$WORK/pool/wrong.conf"; do
        # shellcheck disable=SC2086
        if ! ROOST_CONFIG=$WORK/pool/wrong.conf roost config check $file >"$WORK/out" 2>"$WORK/err" ||
            [ "$(wc -l <"$WORK/err")" -ne 1 ] || ! grep -qE "wrong.conf:$line: $1" "$WORK/err"; then
            echo "FAILED: $2: $(cat "$WORK/out" "$WORK/err"), wanted a warning: $1"
            failures=$((failures + 1))
        fi
    done
}
doubt "HIBERNATE names the attribute 'S5', which no ad has; a level is a text" 'HIBERNATE = S5'
doubt "HIBERNATE may be 'S6', which is not a level of sleep" 'HIBERNATE = "\\"S6\\""'
doubt "HIBERNATE has no effect: POWER_METHOD is none" 'HIBERNATE = "\\"S5\\""\nDAEMON_LIST = {STARTD}'
doubt "START names the attribute 'Unclaimed', which no slot has; a state is a text" 'START = "State == Unclaimed"'
doubt "START names the attribute 'alice', which no ad has; a text needs quotes .* TARGET.alice" 'START = "Owner == alice"'
doubt "START names the attribute 'RequestMemry', which no ad has; did you mean RequestMemory" 'START = "TARGET.RequestMemry > 6"'
doubt "START calls the unknown function 'stringlistMemberr'; did you mean stringlistmember" 'START = "stringlistMemberr(Owner, \\"a\\")"'
doubt "ROOSTER_RESERVE names 'MatchingIdleJobs', which the rooster does not have" 'ROOSTER_RESERVE = "(MatchingIdleJobs > 0 ? 1 : 0)"'
doubt "ROOSTER_RESERVE: entry 2 is never reached" 'ROOSTER_RESERVE = "else 1, Mon = 5"'
doubt "ROOSTER_RESERVE: entry 1 begins and ends at 07:00" 'ROOSTER_RESERVE = "07:00-07:00 = 5"'
doubt "node a b: no machine's name has a blank" 'node "a b" { method = wol }'
doubt "node n: wake_command: /no/prog does not exist on this host" 'node n { method = command wake_command = "/no/prog on" }'
doubt "node n: wake_command: /etc/passwd is not a program" 'node n { method = command wake_command = /etc/passwd }'
doubt "node n: password_file: /no/file does not exist" 'node n { method = wol password_file = /no/file }'
doubt "node n: subnet: 10.0.0.5/24 is the address of a host; the network is 10.0.0.0/24" 'node n { method = wol subnet = "10.0.0.5/24" }'
doubt "node n: next_methods: wol is a method of the machine already" 'node n { method = wol next_methods = {wol} }'
doubt "node n: bmc: has no effect: the methods that read it .ipmi, redfish. are not" 'node n { method = wol bmc = h }'
doubt "ROOSTER_TICKET_CMD: /no/ticket does not exist on this host" 'ROOSTER_TICKET_CMD = /no/ticket'
doubt "SLOT_TYPE_1 has no effect without NUM_SLOTS_TYPE_1" 'SLOT_TYPE_1 = "50%"\nDAEMON_LIST = {STARTD}'
doubt "unknown knob 'SLOT_TYPE_1_PARTITONABLE' .did you mean SLOT_TYPE_1_PARTITIONABLE" \
    'SLOT_TYPE_1_PARTITONABLE = true\nNUM_SLOTS_TYPE_1 = 1\nDAEMON_LIST = {STARTD}'
doubt "GROUP_QUOTA_phsy has no effect: GROUP_NAMES has no group 'phsy'; did you mean phys" 'GROUP_QUOTA_phsy = 4\nGROUP_NAMES = phys'
doubt "GROUP_QUOTA_DYNAMIC_lab has no effect: GROUP_NAMES has no group 'lab'" 'GROUP_QUOTA_DYNAMIC_lab = 0.4'
doubt "NODE_GROUP_a: no group '@rack2': the configuration sets no NODE_GROUP_rack2; did you mean @rack1" 'NODE_GROUP_a = "wn1,@rack2"\nNODE_GROUP_rack1 = wn2'
doubt "NODE_GROUP_a: '@a': the group contains itself" 'NODE_GROUP_a = "wn1,@a"'
doubt "CLASSAD_USER_MAPFILE_m: /no/map: No such file or directory; the map is empty" 'CLASSAD_USER_MAPFILE_m = /no/map\nCLASSAD_USER_MAP_NAMES = m'
doubt "CLASSAD_USER_MAPFILE_grops has no effect: CLASSAD_USER_MAP_NAMES has no map 'grops'; did you mean groups" \
    'CLASSAD_USER_MAPFILE_grops = /dev/null\nCLASSAD_USER_MAP_NAMES = groups\nCLASSAD_USER_MAPDATA_groups = "* a b"'
doubt "CLASSAD_USER_MAP_NAMES: the map m is empty: neither" 'CLASSAD_USER_MAP_NAMES = m'
doubt "CLASSAD_USER_MAPDATA_m: line 1 is skipped:" 'CLASSAD_USER_MAPDATA_m = "alone"\nCLASSAD_USER_MAP_NAMES = m'
doubt "SLOT_USER: this host has no account 'nosuchuser'" 'SLOT_USER = nosuchuser'
doubt "SUBMIT_ROOT_AS: this host has no account 'nosuchuser'" 'SUBMIT_ROOT_AS = nosuchuser'
doubt "START names the attribute 'KeyboradIdle', which no ad has; did you mean KeyboardIdle" 'START = "KeyboradIdle > 60"'
doubt "HIBERNATE names the attribute 'EnteredCurentState'.*EnteredCurrentState" 'HIBERNATE = "ifThenElse(CurrentTime - EnteredCurentState > 9, 5, 0)"'
doubt "RANK names the attribute 'NoSuchThing', which no ad has" 'RANK = "MY.NoSuchThing"'
doubt "ROOSTER_UNHIBERNATE names the attribute 'Unhibernat'" 'ROOSTER_UNHIBERNATE = "Offline && Unhibernat"'
doubt "unknown knob 'STRAT' .did you mean START" 'STRAT = true'
# what starts at all is checked first; a daemon that ends all the same is named with its own words, long before 30 s are over
cp "$good" "$WORK/good.conf"
echo 'ROOSTER_RESERVE = "Mon-Fry = 5"' >>"$good"
says 1 "roost.conf:$line: ROOSTER_RESERVE: 'Mon-Fry = 5' is not a valid rule" roost start
[ ! -e "$WORK/pool/lock/master.lock" ] || { echo "FAILED: a master was started"; failures=$((failures + 1)); }
sed 's/^COLLECTOR_LISTEN = .*/COLLECTOR_LISTEN = "192.0.2.1"/' "$WORK/good.conf" >"$good"
echo 'MASTER_BACKOFF_CONSTANT = 10m' >>"$good" # its master goes on: the next `roost start` must not wait for it
begin=$SECONDS
says 1 "the collector does not start: cannot listen on tcp:192.0.2.1:.*; the logs are in $WORK/pool/log" roost start
[ $((SECONDS - begin)) -lt 10 ] || { echo "FAILED: 'roost start' waited"; failures=$((failures + 1)); }
grep -q 'daemon.ended .*said="roost-collector: cannot listen' "$WORK/pool/log/MasterLog" || { echo "FAILED: MasterLog"; failures=$((failures + 1)); }
cp "$WORK/good.conf" "$good"
# a token that has expired: its daemon would run, and nobody would listen to it
tokens=$WORK/pool/security/tokens
cp "$tokens/SCHEDD" "$WORK/schedd.token"
rm "$tokens/SCHEDD"
roost token create --identity schedd@personal --scope SCHEDD --expires 1s --file "$tokens/SCHEDD" >/dev/null 2>"$WORK/err" ||
    { echo "FAILED: token create: $(cat "$WORK/err")"; failures=$((failures + 1)); }
while roost config check >/dev/null 2>&1; do sleep 0.1; done
says 1 "token.expired: $tokens/SCHEDD: the SCHEDD's token expired at .*; replace the file" roost config check
begin=$SECONDS
says 1 "token.expired: $tokens/SCHEDD: the SCHEDD's token expired at" roost start
[ $((SECONDS - begin)) -lt 10 ] || { echo "FAILED: 'roost start' waited for a daemon with an expired token"; failures=$((failures + 1)); }
cp "$WORK/schedd.token" "$tokens/SCHEDD"
roost start >/dev/null || { echo "FAILED: a mended pool does not start"; failures=$((failures + 1)); }
# a token that the collector refuses: its daemon runs, but is not in the pool
# refused_token REASON: `roost start` says it, and does not wait; the pool is stopped again.
refused_token() {
    begin=$SECONDS
    says 1 "the schedd cannot join the pool: .* refused the connection: $1; the token is in $tokens/SCHEDD; the logs are in" roost start
    [ $((SECONDS - begin)) -lt 10 ] || { echo "FAILED: 'roost start' waited for a daemon that the collector refuses"; failures=$((failures + 1)); }
    roost stop >/dev/null
}
rm "$tokens/SCHEDD"
roost token create --identity schedd2@personal --scope SCHEDD --file "$tokens/SCHEDD" >/dev/null || failures=$((failures + 1))
roost token revoke "$(roost token list -constraint 'Identity == "schedd2@personal"' -af Id)" >/dev/null || failures=$((failures + 1))
roost stop >/dev/null
refused_token "token revoked .id '.*' of schedd2@personal."
roost init "$WORK/another" --pool another --nodes 1 >/dev/null || failures=$((failures + 1))
cp "$WORK/another/security/tokens/SCHEDD" "$tokens/SCHEDD"
refused_token ".*"
cp "$WORK/schedd.token" "$tokens/SCHEDD"
roost start >/dev/null || { echo "FAILED: a pool with its token back does not start"; failures=$((failures + 1)); }
# a reload that finds one keeps the old values, and says nothing else
echo 'ROOSTER_RESERVE = "Mon-Fry = 5"' >>"$good"
says 1 "roost.conf:$line: ROOSTER_RESERVE: 'Mon-Fry = 5' is not a valid rule" roost config reload
kill -HUP "$(head -n 1 "$WORK/pool/lock/rooster.lock")"
for _ in $(seq 200); do
    grep -q "config.bad .*ROOSTER_RESERVE.*kept=" "$WORK/pool/log/RoosterLog" && break
    sleep 0.05
done
grep -q "config.bad .*ROOSTER_RESERVE.*kept=" "$WORK/pool/log/RoosterLog" || { echo "FAILED: RoosterLog"; failures=$((failures + 1)); }
if sed '1,/config.bad/d' "$WORK/pool/log/RoosterLog" | grep -q "config.reloaded"; then echo "FAILED: a wrong setting was taken over"; failures=$((failures + 1)); fi
cp "$WORK/good.conf" "$good"
roost stop >/dev/null
rm "$WORK/pool/wrong.conf"
printf 'executable = /bin/true\nqueue\n' >"$WORK/good.sub"
for command in q status history userprio top "rm 1" "why 1" "power status" "submit $WORK/good.sub"; do
    # shellcheck disable=SC2086
    says 1 "cannot reach the collector: .*Connection refused; is the pool running\?" roost $command
done

# ---- files
says 1 "none.sub: No such file or directory" roost submit "$WORK/none.sub"
says 1 "$WORK: is a directory" roost submit "$WORK"
says 1 "none.ads: No such file or directory" roost q -jobads "$WORK/none.ads"
says 2 "none.cpf: No such file or directory" roost status -print-format "$WORK/none.cpf"
printf 'executable = /bin/true\n' >"$WORK/noqueue.sub"
says 1 "noqueue.sub: no queue statement, so no job to submit" roost submit "$WORK/noqueue.sub"
# refused PATTERN TEXT: of a submit file, as printf has it.
refused() {
    # shellcheck disable=SC2059
    printf "$2" >"$WORK/x.sub"
    says 1 "x.sub:$1" roost submit "$WORK/x.sub"
}
exe='executable = /bin/true\n'
refused "2: the line contains a zero byte; not a text file" "${exe}arguments = a\0b\nqueue\n"
refused "2: output: /nodir/out: no such directory: /nodir" "${exe}output = /nodir/out\nqueue\n"
refused "2: error: $WORK: is a directory" "${exe}error = $WORK\nqueue\n"
mkdir "$WORK/many" && chmod 777 "$WORK/many" && mkdir "$WORK/many/o.150" # far behind those that are looked at one by one
refused "2: output: $WORK/many/o.150: is a directory" "${exe}output = $WORK/many/o.\$(Process)\nqueue 200\n"
refused "2: log: $WORK/none/log: no such directory: $WORK/none" "${exe}log = $WORK/none/log\nqueue\n"
ln -s log "$WORK/link"
for command in log dagman_log; do
    refused "2: $command: $WORK/link: symbolic links are not followed" "${exe}$command = $WORK/link\nqueue\n"
done
refused "2: output: 'http://x/y' is a URL; expected a file" "${exe}output = http://x/y\nqueue\n"
refused "2: input: $WORK: is a directory" "${exe}input = $WORK\nqueue\n"
refused "1: Can't access executable file $WORK: is a directory" "executable = $WORK\nqueue\n"
refused "1: Can't access executable file \.\./\.\./nope\.sh: No such file or directory" "executable = ../../nope.sh\nqueue\n"
refused "2: the queue statement makes no job" "${exe}queue x matching files $WORK/nothing-like-*\n"
refused "2: \[1:a\] is not a slice" "${exe}queue x from [1:a] $WORK/items\n"
refused "2: output_destination: '/tmp/x' is not a URL" "${exe}output_destination = /tmp/x\nqueue\n"
refused "3: transfer_output_remaps: 'a' is not of the form NAME = NEW" "${exe}transfer_output_files = a\ntransfer_output_remaps = \"a\"\nqueue\n"
refused "2: Invalid concurrency limit 'b:x'" "${exe}concurrency_limits = a b:x\nqueue\n"

says 1 "roost.conf exists already: this directory holds a pool" roost init "$WORK/pool"
says 2 "--pool needs a name of at most 63 letters" roost init "$WORK/other" --pool "a b"

# ---- a pool that is there, and what is not in it
roost start >/dev/null || exit 1
trap 'roost stop >/dev/null 2>&1; rm -rf "$WORK"' EXIT
says 1 "no matching machine or slot 'nope'" roost status nope
says 1 "no such job: 999" roost why 999
says 1 "no such job: 999; neither the queue nor the history has it" roost wait 999
says 1 "'none.log' is neither a job, nor an existing job event log, nor a user" roost wait none.log
says 1 "jobs 999.0 are not in the queue" roost edit 999.0 JobPrio 1
says 1 "no such token: nosuch; .roost token list. lists the tokens that were made here" roost token revoke nosuch
says 1 "no such account: 'nobody'" roost userprio nobody
says 1 "no such schedd in the pool: 'nope'; .roost status -schedd. lists all schedds" roost q -name nope
says 1 "the startd of nope is not connected to the collector" roost config get --node nope START
mv "$WORK/pool/security/tokens" "$WORK/pool/security/tokens.away"
says 1 "no token: $WORK/pool/security/tokens/[A-Z]*: No such file or directory; .roost token create. on the pool's host makes a token" roost status
mv "$WORK/pool/security/tokens.away" "$WORK/pool/security/tokens"

# ---- what is shown on a terminal and elsewhere
roost status >"$WORK/out" && roost q >>"$WORK/out" && roost top >>"$WORK/out" || failures=$((failures + 1))
if grep -q $'\x1b' "$WORK/out"; then
    echo "FAILED: escape sequences in a pipe"
    failures=$((failures + 1))
fi
python3 "$(dirname "$0")/lib_terminal.py" || failures=$((failures + 1))

[ "$failures" -eq 0 ] || exit 1
echo "mistakes.sh: $cases mistakes, each one line"
