#!/bin/bash
# A server of the pool in another's place: it has a certificate of the pool's CA, and gets no token, of a command or of a
# daemon.  Old certificates, which name no role, are refused with the command that makes new ones; it does.
#
# TIMEOUT: 150
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --asleep
security=$POOL/security
port=$(sed -n 's/^COLLECTOR_PORT = //p' "$ROOST_CONFIG")

# An impostor: reads the line before TLS, shows a certificate, and notes how the handshake ended and what came after it.
cat >"$WORK/impostor.py" <<'PY'
import socket, ssl, sys
port, cert, key, notes = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.minimum_version = ssl.TLSVersion.TLSv1_3
context.load_cert_chain(cert, key)
door = socket.socket()
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
door.bind(("127.0.0.1", port))
door.listen(16)
with open(notes, "w", buffering=1) as out:
    print("listens", door.getsockname()[1], file=out)
    while True:
        plain, _ = door.accept()
        plain.settimeout(10)
        line = b""
        while not line.endswith(b"\n"):
            byte = plain.recv(1)
            if not byte:
                break
            line += byte
        try:
            with context.wrap_socket(plain, server_side=True) as secret:
                print("got", len(secret.recv(65536)), line.decode().strip(), file=out)
        except (ssl.SSLError, OSError) as error:
            print("refused", line.decode().strip(), str(error).replace("\n", " "), file=out)
PY

# impostor PORT CERT KEY: until end_impostor; $place is where it listens, 0: anywhere.
impostor() {
    : >"$WORK/notes"
    python3 "$WORK/impostor.py" "$1" "$2" "$3" "$WORK/notes" 2>"$WORK/impostor.err" &
    impostor_pid=$!
    until_true 10 "the impostor listens" grep -q '^listens' "$WORK/notes"
    place=127.0.0.1:$(awk '{ print $2; exit }' "$WORK/notes")
}
end_impostor() {
    kill "$impostor_pid"
    wait "$impostor_pid" 2>/dev/null
}
# The impostor was dialled and refused in the handshake, and has read nothing.
got_nothing() {
    until_true 10 "the impostor is dialled" grep -q '^refused ROOST/1 ' "$WORK/notes"
    if grep -q '^got' "$WORK/notes"; then fail "the impostor got: $(cat "$WORK/notes")"; fi
}
# refused WORDS ARGUMENT...: roost fails with these words in its one line.
refused() {
    local status=0
    timeout 30 "$ROOST" "${@:2}" >"$WORK/client.out" 2>"$WORK/client.err" || status=$?
    equals "exit status of: $*" "$status" 1
    equals "lines of its message" "$(wc -l <"$WORK/client.err")" 1
    grep -qF -- "$1" "$WORK/client.err" || fail "not '$1', but: $(cat "$WORK/client.err")"
}
# made NAME SAN: a certificate of the pool's CA with that subject alternative name, as another tool would make it.
made() {
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$WORK/$1-key.pem" \
        -out "$WORK/$1.csr" 2>/dev/null || fail "openssl req"
    printf 'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName=%s\n' "$2" >"$WORK/$1.ext"
    openssl x509 -req -in "$WORK/$1.csr" -CA "$security/ca.pem" -CAkey "$security/ca-key.pem" -days 30 \
        -extfile "$WORK/$1.ext" -out "$WORK/$1.pem" 2>/dev/null || fail "openssl x509"
    openssl verify -CAfile "$security/ca.pem" "$WORK/$1.pem" >/dev/null || fail "openssl verify"
}

say "what roost init made names role and name"
for role in collector schedd; do
    openssl x509 -in "$security/$role.pem" -noout -ext subjectAltName |
        grep -qE "URI:roost://personal/$role/personal(,|$)" || fail "$role.pem names no role"
done

say "a collector's certificate in the collector's place: the greeting comes, so the impostor can read what comes"
impostor 0 "$security/collector.pem" "$security/collector-key.pem"
ROOST_COLLECTOR_HOST=$place timeout 30 "$ROOST" status >/dev/null 2>&1 && fail "the impostor answers"
grep -qE '^got [1-9][0-9]+ ROOST/1 collector' "$WORK/notes" || fail "no greeting came: $(cat "$WORK/notes")"
end_impostor

say "the schedd's certificate in the collector's place"
impostor 0 "$security/schedd.pem" "$security/schedd-key.pem"
export ROOST_COLLECTOR_HOST=$place
expected="tcp:$place: the server shows the certificate of schedd 'personal' of pool 'personal', expected a collector of pool 'personal'; check the address and the server at this address"
refused "$expected" status
refused "$expected" power status
refused "$expected" q -name personal
got_nothing
unset ROOST_COLLECTOR_HOST
end_impostor

say "certificates that another tool made with the pool's CA"
made none DNS:localhost,IP:127.0.0.1
made other URI:roost://other/collector/personal
made two URI:roost://personal/collector/personal,URI:roost://personal/schedd/personal
made escaped URI:roost://personal/%63ollector/personal
made upper URI:ROOST://PERSONAL/COLLECTOR/PERSONAL
made dns DNS:roost://personal/collector/personal
made right URI:roost://personal/collector/another,DNS:localhost
try() {
    impostor 0 "$WORK/$1.pem" "$WORK/$1-key.pem"
    ROOST_COLLECTOR_HOST=$place refused "$2" status
    got_nothing
    end_impostor
}
try none "the certificate names no role (collector or schedd): \`roost cert renew\` or \`roost cert create\` on the host of the pool's CA makes the right one"
try other "the server shows the certificate of collector 'personal' of pool 'other', expected a collector of pool 'personal'"
try two "the certificate names 2 roles, expected one"
try escaped "the certificate names a malformed role"
try upper "the certificate names a malformed role"
try dns "the certificate names no role"
impostor 0 "$WORK/right.pem" "$WORK/right-key.pem"
ROOST_COLLECTOR_HOST=$place timeout 30 "$ROOST" status >/dev/null 2>&1
grep -qE '^got [1-9][0-9]+' "$WORK/notes" || fail "another tool cannot make a right one: $(cat "$WORK/notes")"
end_impostor

say "a daemon gives its token to no impostor, and says whom it met"
impostor "$port" "$security/schedd.pem" "$security/schedd-key.pem"
"$ROOST_BIN/roost-negotiator" -config "$ROOST_CONFIG" -noresurrect >"$WORK/negotiator.out" 2>&1 &
negotiator_pid=$!
met() {
    grep -hF "the server shows the certificate of schedd 'personal' of pool 'personal', expected a collector" "$POOL"/log/NegotiatorLog* |
        grep -qF "tcp:$place: "
}
until_true 20 "the negotiator says whom it met" met
got_nothing
kill "$negotiator_pid"
wait "$negotiator_pid" 2>/dev/null
end_impostor

say "a pool of before roles: its servers do not start, and say what to do"
old_pin=$(openssl x509 -in "$security/collector.pem" -noout -fingerprint -sha256)
for role in collector schedd; do
    cp "$WORK/none.pem" "$security/$role.pem"
    cp "$WORK/none-key.pem" "$security/$role-key.pem"
    status=0
    timeout 20 "$ROOST_BIN/roost-$role" -config "$ROOST_CONFIG" -noresurrect >"$WORK/start.out" 2>&1 || status=$?
    equals "exit status of the $role" "$status" 1
    grep -qF "$security/$role.pem: the certificate names no role (collector or schedd): \`roost cert renew\`" "$WORK/start.out" ||
        fail "the $role says: $(cat "$WORK/start.out")"
done

say "roost cert renew, and all is well"
mv "$security/ca-key.pem" "$WORK/ca-key.pem"
refused "make certificates on the host of the pool's CA" cert renew
mv "$WORK/ca-key.pem" "$security/ca-key.pem"
"$ROOST" cert renew >"$WORK/renew.out" 2>&1 || fail "roost cert renew: $(cat "$WORK/renew.out")"
pin=$(openssl x509 -in "$security/collector.pem" -noout -fingerprint -sha256)
[ "$pin" != "$old_pin" ] || fail "the same certificate as before"
pin=$(printf '%s' "${pin#*=}" | tr -d : | tr '[:upper:]' '[:lower:]')
grep -qxF "$security/collector.pem: collector 'personal', SHA-256 $pin" "$WORK/renew.out" || fail "renew says: $(cat "$WORK/renew.out")"
equals "mode of the key" "$(stat -c %a "$security/collector-key.pem")" 600
pool_start
[ "$("$ROOST" status -schedd -af Name)" = personal ] || fail "the schedd is not there"
ROOST_COLLECTOR_PIN=$pin ROOST_POOL_CA=/nowhere "$ROOST" status >/dev/null || fail "the pin that was said does not fit"

say "renewed while the pool runs"
"$ROOST" cert renew >/dev/null || fail "roost cert renew"
"$ROOST" config reload >/dev/null || fail "roost config reload"
until_true 20 "the new certificate is shown" eval '! ROOST_COLLECTOR_PIN='"$pin"' ROOST_POOL_CA=/nowhere "$ROOST" status >/dev/null 2>&1'
"$ROOST" status >/dev/null || fail "roost status after renewing"

say "a second submit host has a certificate of its own"
mkdir "$POOL/second" "$WORK/second"
SECOND=$POOL/second.conf
schedd_port=$(sed -n 's/^SCHEDD_PORT = //p' "$ROOST_CONFIG")
sed -e 's,^LOCAL_DIR = .*,LOCAL_DIR = "$(POOL_DIR)/second",' -e 's,^SCHEDD_NAME = .*,SCHEDD_NAME = "second",' \
    -e "s,^SCHEDD_PORT = .*,SCHEDD_PORT = $((schedd_port < 60000 ? schedd_port + 1000 : schedd_port - 1000))," "$ROOST_CONFIG" >"$SECOND"
status=0
timeout 20 "$ROOST_BIN/roost-schedd" -config "$SECOND" -noresurrect >"$WORK/second.out" 2>&1 || status=$?
equals "exit status of a schedd with another's certificate" "$status" 1
grep -qF "the server shows the certificate of schedd 'personal' of pool 'personal', expected schedd 'second'" "$WORK/second.out" ||
    fail "it says: $(cat "$WORK/second.out")"
"$ROOST" cert create schedd second --directory "$WORK/second" >/dev/null || fail "roost cert create"
refused "exists already" cert create schedd second --directory "$WORK/second"
"$ROOST" token create --identity schedd@personal --scope READ,SCHEDD --name-pattern second --file "$WORK/second/token" || fail "token create"
printf 'SCHEDD_CERT = "%s"\nSCHEDD_KEY = "%s"\nTOKEN_FILE = "%s"\n' "$WORK/second/schedd.pem" "$WORK/second/schedd-key.pem" "$WORK/second/token" >>"$SECOND"
"$ROOST_BIN/roost-schedd" -config "$SECOND" -noresurrect >"$WORK/second.out" 2>&1 &
until_true 20 "both schedds are known" eval '[ "$("$ROOST" status -schedd -af Name | sort | xargs)" = "personal second" ]'
"$ROOST" q -name second >/dev/null || fail "q -name second"
"$ROOST" q -name personal >/dev/null || fail "q -name personal"

say "an ad that names one schedd and the address of another, or of a Unix socket"
address=$("$ROOST" status -schedd -constraint 'Name == "second"' -af MyAddress)
"$ROOST" token create --identity liar@personal --scope SCHEDD --file "$WORK/token.liar" || fail "token create"
lie() { ROOST_TOKEN_FILE=$WORK/token.liar "$ROOST" advertise Scheduler <<<"[ Name = \"third\"; MyAddress = \"$1\" ]" >/dev/null || fail "advertise"; }
lie "$address"
refused "the server shows the certificate of schedd 'second' of pool 'personal', expected schedd 'third' of pool 'personal'" q -name third
lie "unix:$WORK/evil.sock"
refused "a Unix socket has no certificate to check" q -name third

equals "usage: no role" "$("$ROOST" cert create startd x 2>/dev/null; echo $?)" 2
equals "usage: no name" "$("$ROOST" cert create schedd 2>/dev/null; echo $?)" 2
equals "usage: no verb" "$("$ROOST" cert 2>/dev/null; echo $?)" 2
passed
