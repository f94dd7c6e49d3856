#!/bin/bash
# Six hosts on one wire: a manager, a submit host, a laptop, and three execute hosts which people switch off, cut from power and
# unplug at random while jobs come.  Every machine comes back when it is wanted, also when it still shuts down at that time, no
# job is lost or done twice, and what commands say is the truth of at most ten seconds ago (lib_people.py, which knows the
# truth, because it does all this).
#
# Each host is in network namespaces of its own on a bridge; an execute host that is on has a namespace of processes, too: the
# end of its init process is the end of its power.  wn1 and wn3 are on a switch that knows whether they are on (method
# command); wn2 is woken by magic packets.  Certificates and tokens are made as docs/howto/several-hosts.md says.
#
# SIX_HOSTS_SECONDS: how long people are about (6).  ROOST_TEST_SEED: repeats what they do.
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
[ "$(id -u)" = 0 ] || { echo "skipped: networks can be made by root alone"; exit 77; }
for need in nsenter unshare python3 ip; do
    command -v $need >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
if [ -z "${ROOST_SIX_INSIDE:-}" ]; then # in a network namespace of its own: nothing of it is left
    export ROOST_SIX_INSIDE=1
    unshare -n -p -f -m -u true 2>/dev/null || { echo "skipped: no namespaces here"; exit 77; }
    exec unshare -n "$BASH" "$0"
fi
. "$(dirname "$0")/lib.sh"
EXECUTE_HOSTS=(wn1 wn2 wn3)

# ---- the wire: the bridge is in our own namespace, and each host's end of a wire in that of a process
ip -batch - <<END || fail "ip"
link set lo up
link add br0 type bridge forward_delay 0
link set br0 up
END
declare -A holder address=([manager]=10.99.0.1 [submit]=10.99.0.2 [wn1]=10.99.0.11 [wn2]=10.99.0.12 [wn3]=10.99.0.13 [laptop]=10.99.0.20)
at() { # at HOST COMMAND...: in that host's network
    local pid=${holder[$1]}
    shift
    nsenter -t "$pid" -n "$@"
}
own_network() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
for name in "${!address[@]}"; do
    env -u ROOST_CONFIG unshare -n sleep 100000 &
    holder[$name]=$!
    until_true 20 "the namespace of $name" own_network "${holder[$name]}"
    ip -batch - <<END || fail "ip"
link add port-$name type veth peer name eth0 netns ${holder[$name]}
link set port-$name master br0 up
END
    at "$name" ip -batch - <<END || fail "ip"
link set lo up
addr add ${address[$name]}/24 dev eth0
link set eth0 up
END
done

# ---- the manager
pool_init --nodes 1 --pool campus
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")
sed -i -e '/^node /,/^}/d' -e 's/^\(COLLECTOR_HOST\|COLLECTOR_LISTEN\|SCHEDD_[A-Z]*\|DAEMON_LIST\|PERSONAL_NODES\|SUBMIT_ROOT_AS\) = .*/# \0/' "$ROOST_CONFIG"
cat >>"$ROOST_CONFIG" <<END
DAEMON_LIST = {COLLECTOR, NEGOTIATOR, ROOSTER}
COLLECTOR_HOST = {"${address[manager]}:$port"}
COLLECTOR_LISTEN = "${address[manager]}"
ROOSTER_WAKE_DEADLINE = 15
ROOSTER_WAKE_DEADLINE_MIN = 10
ROOSTER_WAKE_ATTEMPTS = 100
ROOSTER_ASSUME_ASLEEP = 8
END
mkdir "$WORK/power"
cat >"$WORK/switch" <<END
#!/bin/sh
# switch on|off|is-on MACHINE: what lib_people.py switches
case \$1 in
is-on) test -e "$WORK/power/\$2.power" ;;
*) : >"$WORK/power/\$2.\$1" ;;
esac
END
chmod 0755 "$WORK/switch"
hardware() { at "$1" ip -o link show dev eth0 | sed 's|.*link/ether ||; s| .*||'; }
for name in "${EXECUTE_HOSTS[@]}"; do
    case $name in
    wn2) printf 'node "%s" {\n method = wol\n hardware_address = "%s"\n subnet = "10.99.0.0/24"\n}\n' "$name" "$(hardware "$name")" ;;
    *) printf 'node "%s" {\n method = command\n wake_command = "%s on"\n status_command = "%s is-on"\n}\n' "$name" "$WORK/switch" "$WORK/switch" ;;
    esac
done >>"$ROOST_CONFIG"

# ---- the others get tokens: a request, an answer, two fingerprints
fingerprint_in() { grep -oE '^    ([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{4}$' "$1" | tr -d ' '; }
join() { # join NAME SCOPES OPTION...: $WORK/NAME/security
    local name=$1 scopes=$2
    shift 2
    mkdir -m 0755 "$WORK/$name" && mkdir -m 0700 "$WORK/$name/security"
    (
        cd "$WORK/$name" || exit 1
        env -u ROOST_CONFIG "$ROOST" token request "$name@campus" --pool campus --directory "$WORK/$name/security" --out request 2>said &&
            "$ROOST" token create --request request --fingerprint "$(fingerprint_in said)" --scope "$scopes" "$@" \
                --collector "${address[manager]}:$port" --file answer >created 2>&1 &&
            env -u ROOST_CONFIG "$ROOST" token accept answer --fingerprint "$(fingerprint_in created)" --directory "$WORK/$name/security" >accepted 2>&1
    ) </dev/null || fail "token of $name: $(tail -n 3 "$WORK/$name"/{said,created,accepted} 2>/dev/null)"
}
settings() { # settings NAME: the head of its configuration
    cat <<END
COLLECTOR_HOST = {"${address[manager]}:$port"}
LOCAL_DIR = "$WORK/$1"
LOG = "\$(LOCAL_DIR)/log"
RUN = "\$(LOCAL_DIR)/run"
SEC_DIRECTORY = "$WORK/$1/security"
TOKEN_FILE = "$WORK/$1/security/token"
SBIN = "$ROOST_BIN"
UID_DOMAIN = "campus"
MASTER_NAME = "$1"
CLAIM_LEASE_DURATION = 10
LEASE_MARGIN = 3
JOB_DEFAULT_LEASE_DURATION = 20
END
}
join submit READ,SCHEDD,MASTER --name-pattern submit --expires 30d
"$ROOST" cert create schedd submit --directory "$WORK/submit/security" >/dev/null 2>&1 || fail "roost cert create"
{
    settings submit
    cat <<END
DAEMON_LIST = {SCHEDD}
SCHEDD_NAME = "submit"
SCHEDD_HOST = "${address[submit]}"
SCHEDD_PORT = 9619
SUBMIT_ROOT_AS = "$JOBS_OF"
SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES = YES
END
} >"$WORK/submit/roost.conf"
join laptop READ,WRITE
settings laptop >"$WORK/laptop/roost.conf"
for name in "${EXECUTE_HOSTS[@]}"; do
    join "$name" READ,ADVERTISE --name-pattern "$name" --slots 2
    {
        settings "$name"
        cat <<END
DAEMON_LIST = {STARTD}
STARTD_NAME = "$name"
NUM_CPUS = 2
NUM_SLOTS = 2
MEMORY = 400
MOUNT_UNDER_SCRATCH = {"/var/tmp"}
KILLING_TIMEOUT = 2
POWER_METHOD = command
POWER_SLEEP_CMD = "$WORK/switch off"
HIBERNATE_CHECK_INTERVAL = 1
HIBERNATE = "ifThenElse(State =?= \"Unclaimed\" && CurrentTime - EnteredCurrentState >= 5, \"S5\", \"NONE\")"
END
    } >"$WORK/$name/roost.conf"
done
# What an execute host does when it has power: it is process 1 of its namespace.
cat >"$WORK/boot" <<END
#!/bin/bash
# boot NAME
sleep 1 # the firmware
hostname "\$1"
export ROOST_CONFIG=$WORK/\$1/roost.conf ROOST_BOOT_ID=\$(cat /proc/sys/kernel/random/uuid) ROOST_BOOT_TIME=\$(date +%s) ROOST_RESURRECT_MASTER=false
"$ROOST_BIN/roost-master" -config "\$ROOST_CONFIG" </dev/null >>$WORK/\$1/boot.out 2>&1 &
wait
while :; do sleep 1; done
END

start_at() { # start_at HOST CONFIGURATION
    ROOST_CONFIG=$2 at "$1" timeout 60 "$ROOST" start >"$WORK/start.out" 2>&1 || fail "roost start at $1: $(cat "$WORK/start.out")"
}
start_at manager "$ROOST_CONFIG"
start_at submit "$WORK/submit/roost.conf"
seed=${ROOST_TEST_SEED:-$(($(date +%s) % 100000))}
say "people are about for ${SIX_HOSTS_SECONDS:=6} s; ROOST_TEST_SEED=$seed"
hosts=()
for name in "${!holder[@]}"; do hosts+=("$name=${holder[$name]}"); done
PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/lib_people.py" --work "$WORK" --roost "$ROOST" --seconds "$SIX_HOSTS_SECONDS" --seed "$seed" \
    --hardware "$(hardware wn2)" "${hosts[@]}" || fail "the people (ROOST_TEST_SEED=$seed); see above"
passed
