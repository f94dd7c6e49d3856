# tests/integration/lib_bmc.sh - management controllers of a test: ipmi_sim, and the Redfish service of tests/support.
#
# A controller is a folder $BMC/NAME with a program `chassis` of the test's, which is asked for the machine's power and told what
# to do with it (chassis makes it); `orders` has what was ordered, a line each, `sim` the pid of its ipmi_sim.  Source lib.sh before.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
PATH=$PATH:/sbin:/usr/sbin
for need in ipmi_sim ipmitool curl openssl /usr/bin/python3; do
    command -v $need >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
unset "${!CURL_CA_@}"
BMC=$WORK/bmc
mkdir -p "$BMC"
IPMI_USER=roost IPMI_PASSWORD=se-cret-7
REDFISH_USER=op REDFISH_PASSWORD='pa"ss\wört' # redfish_server.py's

# The programs as the rooster is to run them: each notes what can be seen of it from outside, and becomes the real one.
# ipmitool gives a controller up that is not there after 2 s and not 20.
for tool in ipmitool curl; do
    more=
    [ $tool = curl ] || more=" -N 1 -R 1"
    printf '#!/bin/sh\ncat /proc/$$/cmdline /proc/$$/environ >>"%s/seen.%s"\nexec %s%s "$@"\n' "$BMC" $tool "$(command -v $tool)" "$more" \
        >"$BMC/$tool"
    chmod 0755 "$BMC/$tool"
done
(
    umask 077
    echo "$IPMI_PASSWORD" >"$BMC/ipmi.password"
    echo "$REDFISH_PASSWORD" >"$BMC/redfish.password"
    echo "se-cret-8" >"$BMC/wrong.password"
    echo "5e:c2:e7:00:00:01" >"$BMC/secureon" # of Wake-on-LAN
)

# chassis NAME <TEXT: its program; "$1 $2" is what is to be done ("power 1", "power 0", "shutdown 1"), after it was written down.
# The function `runs` of the text says whether the machine does.
chassis() {
    mkdir -p "$BMC/$1"
    {
        printf '#!/bin/sh\ncd "%s" || exit 1\n' "$BMC/$1"
        cat
        cat <<'END'
shift
op=$1
shift
[ "$op" = get ] && for what; do
    [ "$what" = power ] && if runs; then echo power:1; else echo power:0; fi
done
[ "$op" = set ] && while [ $# -ge 2 ]; do
    echo "$1 $2" >>orders
    act "$1 $2"
    shift 2
done
exit 0
END
    } >"$BMC/$1/chassis"
    chmod 0755 "$BMC/$1/chassis"
}
# ipmi_begin NAME: its controller, in the background.
ipmi_begin() {
    local folder=$BMC/$1 port
    mkdir -p "$folder/state"
    port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    echo "$port" >"$folder/port"
    cat >"$folder/lan.conf" <<CONF
name "$1"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 $port
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "$folder/chassis 0x20"
  user 2 true "$IPMI_USER" "$IPMI_PASSWORD" operator 10 none md2 md5 straight
CONF
    printf 'mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\nsel_enable 0x20 1000 0x0a\nmc_enable 0x20\n' \
        >"$folder/sim.emu"
    env -u ROOST_CONFIG ipmi_sim -n -s "$folder/state" -c "$folder/lan.conf" -f "$folder/sim.emu" </dev/null >"$folder/out" 2>&1 &
    echo $! >"$folder/sim"
    disown # it may be killed
}
# redfish_begin NAME...: their controllers, one program in the background.
redfish_begin() {
    local name
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bmc -addext subjectAltName=IP:127.0.0.1 \
        -keyout "$BMC/key.pem" -out "$BMC/cert.pem" 2>/dev/null || fail "openssl req"
    for name; do mkdir -p "$BMC/$name"; done
    env -u ROOST_CONFIG /usr/bin/python3 "$ROOST_SRC/tests/support/redfish_server.py" "${@/#/$BMC/}" >"$BMC/redfish.out" 2>&1 &
    disown
    for name; do until_true 60 "the controller of $name listens" test -s "$BMC/$name/port"; done
}

# ipmi_node NAME [LINE...], redfish_node NAME [LINE...]: their `node` sections, with those lines.
ipmi_node() {
    local name=$1
    shift
    printf '%s\n' "node \"$name\" {" "method = ipmi" "bmc = \"127.0.0.1:$(cat "$BMC/$name/port")\"" "bmc_user = $IPMI_USER" \
        "bmc_password_file = \"$BMC/ipmi.password\"" "cipher_suite = 3" "ipmitool = \"$BMC/ipmitool\"" "$@" "}"
}
redfish_node() {
    local name=$1
    shift
    printf '%s\n' "node \"$name\" {" "method = redfish" "bmc = \"127.0.0.1:$(cat "$BMC/$name/port")\"" "bmc_user = $REDFISH_USER" \
        "bmc_password_file = \"$BMC/redfish.password\"" "bmc_ca = \"$BMC/cert.pem\"" "curl = \"$BMC/curl\"" "$@" "}"
}

orders() { uniq "$BMC/$1/orders" 2>/dev/null | tr '\n' ','; } # ipmitool may say one twice
resets() { sed -n 's/.*ComputerSystem.Reset //p' "$BMC/$1/requests" 2>/dev/null | tr '\n' ','; }
mood() { echo "$2" >"$BMC/$1/mood.new" && mv "$BMC/$1/mood.new" "$BMC/$1/mood"; }

# No secret is in what others can see: arguments, environments, ads, the ledger, logs, configuration.
no_secrets_seen() {
    {
        cat "$BMC"/seen.*
        "$ROOST" status -l
        "$ROOST" power status -l
        "$ROOST" power history -l
        "$ROOST" config dump
        cat "$POOL"/log/* "$POOL"/nodes/*/log/* 2>/dev/null
    } >"$WORK/seen" 2>&1
    tr '\0' '\n' <"$WORK/seen" | grep -aE 'se-cret|5e:c2:e7|5ec2e7|ss\\+wört|X-Auth-Token' >"$WORK/leaks" && fail "secrets are seen: $(cat "$WORK/leaks")"
    grep -qa lanplus "$BMC/seen.ipmitool" || fail "no ipmitool was seen"
    [ ! -e "$BMC/redfish.out" ] || grep -qa -- -K "$BMC/seen.curl" || fail "no curl was seen"
}
