#!/bin/bash
# The Redfish service that unit.power.method_redfish switches machines with is one for others, too: redfishtool and sushy, two
# clients that are not ours, switch its machine on and off.  (What they cannot do with a service says what it lacks.)
#
# SPDX-License-Identifier: Apache-2.0
for need in redfishtool openssl /usr/bin/python3; do
    command -v $need >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
/usr/bin/python3 -c 'import sushy' 2>/dev/null || { echo "skipped: no python3-sushy here (make deps)"; exit 77; }
unset "${!REQUESTS_CA_@}" "${!CURL_CA_@}" # they would say whom sushy trusts
WORK=$(mktemp -d)
server=
trap 'kill $server; rm -rf "$WORK"' EXIT
fail() {
    echo "FAILED: $*"
    cat "$WORK"/requests "$WORK"/out 2>/dev/null
    exit 1
}
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bmc -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$WORK/key.pem" -out "$WORK/cert.pem" 2>/dev/null || fail "openssl req"
echo Off >"$WORK/power"
/usr/bin/python3 "$ROOST_SRC/tests/support/redfish_server.py" "$WORK" >>"$WORK/out" 2>&1 &
server=$!
for ((i = 0; i < 300; i++)); do
    [ -s "$WORK/port" ] && break
    sleep 0.1
done
port=$(cat "$WORK/port") || fail "the server does not listen"
power_is() { [ "$(cat "$WORK/power")" = "$1" ] || fail "$2: the machine is $(cat "$WORK/power")"; }

for auth in Session Basic; do
    for order in On:On GracefulShutdown:Off On:On ForceOff:Off; do
        redfishtool -r "127.0.0.1:$port" -u op -p 'pa"ss\wört' -A $auth -S Always Systems -F reset "${order%%:*}" >>"$WORK/out" 2>&1 ||
            fail "redfishtool, $auth, ${order%%:*}"
        power_is "${order#*:}" "redfishtool, $auth, ${order%%:*}"
    done
done
cat >"$WORK/client.py" <<'PY'
import sushy
import sushy.auth
import sys

folder, port = sys.argv[1:]
for kind in (sushy.auth.SessionAuth, sushy.auth.BasicAuth):
    service = sushy.Sushy(f"https://127.0.0.1:{port}/redfish/v1/", verify=folder + "/cert.pem",
                          auth=kind(username="op", password='pa"ss\\wört'))
    system = service.get_system("/redfish/v1/Systems/1")
    for mood in ("", "info", "etag", "task"):
        with open(folder + "/mood", "w", encoding="utf-8") as file:
            file.write(mood if mood != "etag" else "")
        system.refresh(force=True)
        assert len(system.get_allowed_reset_system_values()) >= 4 or mood == "info", mood
        for order, state in ((sushy.RESET_TYPE_ON, "On"), (sushy.RESET_TYPE_FORCE_OFF, "Off")):
            system.reset_system(order)
            if mood != "task":
                system.refresh(force=True)
                assert system.power_state.value == state, (mood, order, system.power_state)
PY
/usr/bin/python3 "$WORK/client.py" "$WORK" "$port" >>"$WORK/out" 2>&1 || fail "sushy"
grep -q '^DELETE /redfish/v1/SessionService/Sessions/.* 204$' "$WORK/requests" || fail "no session was deleted"
exit 0
