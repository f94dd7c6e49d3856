#!/bin/bash
# Each glidein is sent with a ticket, and gets a token of its own for it, once.  Whoever has read the ticket has nothing: not
# later, and not earlier without being found out.
#
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
GLIDEINS=$WORK/glideins GATE=$WORK/gate
mkdir -p "$GLIDEINS" "$WORK/pilots" && chmod 1777 "$WORK/pilots"
# A pilot that begins when the gate is open; until then its ticket is in nobody's use.
cat >"$WORK/pilot" <<END
#!/bin/bash
read -r -t 200 <>"$GATE" || exit 9
exec "$ROOST_BIN/roost-pilot" "\$@"
END
chmod +x "$WORK/pilot"
mkfifo "$GATE"
pool_init --nodes 0
cat >>"$ROOST_CONFIG" <<END
DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, FACTORY}
FACTORY_BACKOFF = 500ms
FACTORY_BACKOFF_MAX = 2s
site "here" {
    type = process
    options = {"directory=$GLIDEINS", "pilot=$WORK/pilot"}
    example = {"TotalSlotDisk = 100000000"}
    cpus = 2
    memory = "256 MiB"
    idle_timeout = 100
    max_total = 1
}
END
export TMPDIR=$WORK/pilots
address=$(sed -n 's/^COLLECTOR_HOST = {"\(.*\)"}/\1/p' "$ROOST_CONFIG")
factory_pid() { head -n 1 "$POOL/lock/factory.lock"; }
glidein() { "$ROOST" factory glideins -af Name 2>/dev/null; }
has_ticket() { [ -s "$GLIDEINS/local/$(glidein).token" ]; }
in_state() { [ "$("$ROOST" factory glideins -af State 2>/dev/null)" = "$1" ]; }
is_another() { [ "$(glidein)" != "$1" ]; }
find_tokens() { mapfile -t tokens < <(find "$WORK/pilots" -name token -path "*security*") && [ ${#tokens[@]} -gt 0 ]; }
token_says() { python3 -c 'import base64, json, sys
part = open(sys.argv[1]).readline().split(".")[1]
print(eval(sys.argv[2], {}, {"token": json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))}))' "$@"; }
open_gate() { timeout 60 sh -c "echo go >'$GATE'" || fail "nobody is at the gate"; }
# stolen NAME: a second pilot with the ticket of this glidein
stolen() { exec timeout 60 "$ROOST_BIN/roost-pilot" --collector "$address" --token "$WORK/stolen" --name "$1" >"$WORK/thief" 2>&1; }
pool_start

say "a ticket is good for nothing but the exchange"
number_jobs 1 0.2 >"$WORK/one.sub"
cluster=$(submit "$WORK/one.sub")
until_true 30 "a glidein waits at the gate" has_ticket
name=$(glidein)
ticket=$GLIDEINS/local/$name.token
equals "mode of the ticket" "$(stat -c %a "$ticket")" 600
cp "$ticket" "$WORK/stolen"
equals "what the ticket allows" "$(token_says "$ticket" 'token["scope"], token["pattern"]')" "('TICKET', '$name')"
sed '/BEGIN CERTIFICATE/,$d' "$ticket" >"$WORK/as_token" && chmod 600 "$WORK/as_token"
ROOST_TOKEN_FILE=$WORK/as_token "$ROOST" status >"$WORK/seen" 2>&1 && fail "a ticket reads ads: $(cat "$WORK/seen")"
grep -q "QUERY" "$WORK/seen" || fail "a ticket that reads: $(cat "$WORK/seen")"

say "the factory is killed before the ticket is used: the glidein waits for it, and gets its token"
kill -STOP "$(factory_pid)"
open_gate
until_true 20 "the pilot runs" find_tokens
equals "tokens of pilots" "${#tokens[@]}" 1
equals "it still has the ticket" "$(token_says "${tokens[0]}" 'token["scope"]')" TICKET
kill -KILL "$(factory_pid)"
until_true 60 "the job" is_done "$cluster" 1
equals "what its own token allows" "$(token_says "${tokens[0]}" 'token["scope"], token["pattern"], token["exp"] - token["iat"]')" \
    "('READ ADVERTISE', '$name', $((12 * 3600 + 3600)))"
[ "$(token_says "$ticket" 'token["cnf"]')" != "$(token_says "${tokens[0]}" 'token["cnf"]')" ] || fail "the key came with the ticket"

say "a ticket that was used is refused, the theft is an error, and the glidein is removed"
(stolen "$name") && fail "a ticket was used twice"
grep -q "no token for this glidein: the ticket of glidein $name was used with another key already" "$WORK/thief" ||
    fail "the thief hears: $(cat "$WORK/thief")"
grep -q "factory error ticket.used_twice .*glidein=$name" "$POOL/log/FactoryLog" || fail "the theft is not told"
until_true 30 "the glidein is removed" is_another "$name"

say "who is earlier than the glidein is found out, too"
cluster=$(submit "$WORK/one.sub")
until_true 30 "a glidein waits at the gate" has_ticket
name=$(glidein)
cp "$GLIDEINS/local/$name.token" "$WORK/stolen"
(stolen "$name") &
thief=$!
until_true 30 "the thief is there" in_state Joined
open_gate
until_true 30 "the theft is told" grep -q "factory error ticket.used_twice .*glidein=$name" "$POOL/log/FactoryLog"
until_true 60 "the glidein is removed" is_another "$name"
kill "$thief" 2>/dev/null
wait "$thief"

say "a ticket of a glidein that the factory does not have any more"
(stolen "$name") && fail "a ticket of nobody was exchanged"
grep -q "no token for this glidein: the factory does not have glidein $name" "$WORK/thief" || fail "nobody: $(cat "$WORK/thief")"
say "a key that cannot sign for so long is told before a glidein is asked for"
sed -i 's/^    max_total = 1/    max_total = 1\n    lifetime = 23h\n    queue_timeout = 60d/' "$ROOST_CONFIG"
"$ROOST" reconfig >/dev/null || fail "roost reconfig"
cluster=$(submit "$WORK/one.sub")
says_why() { "$ROOST" factory why here 2>/dev/null | grep -q "FACTORY_KEY: .*factory.key: the key 'factory' may not sign a token that is valid for more than"; }
until_true 30 "why tells it" says_why
equals "glideins" "$(glidein)" ""
passed
