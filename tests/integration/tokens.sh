#!/bin/bash
# A handshake is refused for an expired, a wrongly signed, a revoked and a too weak token, a request for a too weak one: each
# with its own message to the client, and the same in the collector's log.  A token file without a token, without its key or
# with another key is refused by the client itself.  A token of a new signing key is good where the old one answers for it.
#
# TIMEOUT: 60
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

log=$POOL/log/CollectorLog

# token NAME OPTION...: makes $WORK/token.NAME
token() {
    local name=$1
    shift
    "$ROOST" token create --identity "$name@personal" --file "$WORK/token.$name" "$@" || fail "token create $name"
}
# A `roost` that shows the token NAME.
with() {
    local name=$1
    shift
    ROOST_TOKEN_FILE=$WORK/token.$name timeout 20 "$ROOST" "$@"
}

# refused NAME EVENT MESSAGE COMMAND...: fails with that message, and the log has a new line of the event with it
refused() {
    local name=$1 event=$2 message=$3 before status=0
    shift 3
    before=$(wc -l <"$log")
    with "$name" "$@" >"$WORK/client.out" 2>"$WORK/client.err" || status=$?
    equals "exit status of a client whose token is $name" "$status" 1
    equals "output to a client whose token is $name" "$(cat "$WORK/client.out")" ""
    equals "lines of its message" "$(wc -l <"$WORK/client.err")" 1
    grep -qE "$message" "$WORK/client.err" || fail "$name: the client says: $(cat "$WORK/client.err")"
    tail -n "+$((before + 1))" "$log" | grep -E " collector warn $event .*reason=\"" | grep -qE "$message" ||
        fail "$name: the collector's log has: $(tail -n "+$((before + 1))" "$log")"
    say "$name: $(cat "$WORK/client.err")"
}

# refused_here NAME MESSAGE COMMAND...: fails with that message before the collector hears of it
refused_here() {
    local name=$1 message=$2 before status=0
    shift 2
    before=$(grep -c 'wire.refused' "$log")
    with "$name" "$@" >"$WORK/client.out" 2>"$WORK/client.err" || status=$?
    equals "exit status of a client whose token is $name" "$status" 1
    equals "lines of its message" "$(wc -l <"$WORK/client.err")" 1
    grep -qE "$message" "$WORK/client.err" || fail "$name: the client says: $(cat "$WORK/client.err")"
    equals "greetings refused by the collector" "$(grep -c 'wire.refused' "$log")" "$before"
    say "$name: $(cat "$WORK/client.err")"
}

pool_init --nodes 1 --asleep
pool_start

token good --scope READ
token expired --scope READ --expires 1s
token revoked --scope READ
token weak --scope READ
# Of another pool, whose key has the same name.
mkdir "$WORK/other"
"$ROOST" init "$WORK/other/pool" --nodes 1 >/dev/null || fail "a second pool"
(export ROOST_CONFIG=$WORK/other/pool/roost.conf && token alien --scope READ) || exit 1
# With another text, under a good signature.
IFS=. read -r head body signature <"$WORK/token.good"
echo "$head.$(base64 -d <<<"$(tr '_-' '/+' <<<"$body")==" 2>/dev/null | sed 's/READ/ADMINISTRATOR/' | base64 -w0 |
    tr '/+' '_-' | tr -d '=').$signature" >"$WORK/token.forged"
sed 1d "$WORK/token.good" >>"$WORK/token.forged"
echo "not.a.token" >"$WORK/token.garbage"
# As version 1 wrote it, and with the key of another.
head -n 1 "$WORK/token.good" >"$WORK/token.bare"
{ head -n 1 "$WORK/token.good" && sed 1d "$WORK/token.weak"; } >"$WORK/token.mixed"

equals "what a good token sees" "$(with good status -af Machine)" wn01
equals "what a token sees before it is revoked" "$(with revoked status -af Machine)" wn01
id=$("$ROOST" token list -constraint 'Identity == "revoked@personal"' -af Id)
"$ROOST" token revoke "$id" >/dev/null || fail "token revoke"
expired() { ! with expired status -af Machine >/dev/null 2>&1; }
until_true 10 "the token expires" expired

refused_here missing "no token: .*token\.missing" status
refused_here garbage "token\.garbage: malformed token|malformed token" status
refused_here bare "the private key of the token is missing" status
refused_here mixed 'the private key does not belong to the token' status
refused expired wire.refused 'token expired at 20.* of expired@personal' status
refused alien wire.refused 'token signature is wrong' status
refused forged wire.refused 'token signature is wrong' status
refused revoked wire.refused "token revoked \(id '$id' of revoked@personal\)" status
# Of an id that nobody here knows it says no more than what it did.
"$ROOST" token revoke nobodys-id >"$WORK/revoke.out" 2>&1 && fail "an unknown id was revoked: $(cat "$WORK/revoke.out")"
grep -q 'no such token: nobodys-id; .*--elsewhere' "$WORK/revoke.out" || fail "an unknown id: $(cat "$WORK/revoke.out")"
"$ROOST" token revoke --elsewhere nobodys-id >"$WORK/revoke.out" 2>"$WORK/revoke.err" || fail "token revoke --elsewhere"
equals "what was done" "$(cat "$WORK/revoke.out")" "From now on the pool refuses a token with the id nobodys-id."
grep -q 'WARNING: no token with this id was made here' "$WORK/revoke.err" || fail "no warning: $(cat "$WORK/revoke.err")"
refused weak wire.denied 'token is too weak: REVOKE needs ADMINISTRATOR; weak@personal has READ' token revoke --elsewhere nobody
refused weak wire.denied 'token is too weak: ' power on wn01


# A handshake that asks for more than its token gives: the uplink of a machine.
token other --scope READ --scope ADVERTISE --name-pattern wn99
uplink_refused() {
    local name=$1 said=$2 node=$POOL/nodes/wn01 before
    before=$(wc -l <"$log")
    ROOST_TOKEN_FILE=$WORK/token.$name timeout 20 "$ROOST_BIN/roost-startd" -config "$node/roost.conf" -noresurrect \
        -log "$WORK/startd.$name" -asleep &
    local pid=$!
    until_true 15 "the startd's uplink is refused: $name" grep -Eq "uplink.down .*$said" "$WORK/startd.$name"
    until_true 5 "the collector logs it: $name" eval "tail -n +$((before + 1)) '$log' | grep -Eq 'wire.refused .*$said'"
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}
uplink_refused weak 'too weak'
uplink_refused other 'wn99'

# A daemon whose token ends within a week says so.
token ending --scope READ --scope ADVERTISE --name-pattern wn01 --expires 2d
ROOST_TOKEN_FILE=$WORK/token.ending timeout 20 "$ROOST_BIN/roost-startd" -config "$POOL/nodes/wn01/roost.conf" -noresurrect \
    -log "$WORK/startd.ending" -asleep &
ending=$!
until_true 15 "a token that ends soon is a warning" grep -q " startd warn token.ends .*identity=ending@personal" "$WORK/startd.ending"
kill "$ending" 2>/dev/null
wait "$ending" 2>/dev/null

# Another signing key, which the daemons have no file of: the one that they have answers for it.
# Whoever has none of the pool's keys can let any key answer for his own; nobody believes it.
administrator() { ROOST_POOL_KEYS=$WORK/keys ROOST_TOKEN_KEY=$1 "$ROOST" token "${@:2}"; }
cp -a "$POOL/security/keys" "$WORK/keys"
administrator POOL key create fresh >"$WORK/made" || fail "token key create"
grep -q "TOKEN_KEY = \"fresh\"" "$WORK/made" || fail "token key create says: $(cat "$WORK/made")"
administrator fresh create --identity fresh@personal --scope READ --file "$WORK/token.fresh" || fail "a token of the new key"
equals "what a token of the new key sees" "$(with fresh status -af Machine)" wn01
administrator POOL key create fresh 2>"$WORK/twice" && fail "a signing key is made twice"
grep -q "signing key 'fresh' exists" "$WORK/twice" || fail "made twice: $(cat "$WORK/twice")"
# A limited key: whoever steals it can sign nothing but glideins of its names.
administrator POOL key create glideins --names 'gl-*' --life 1h --expires 10d >"$WORK/made" || fail "a limited key"
grep -q "for the names gl-\* only: its tokens are valid for at most 3600 s each" "$WORK/made" || fail "limited key: $(cat "$WORK/made")"
[ ! -e "$WORK/keys/glideins.pub" ] || fail "a limited key with a public file would have no limits"
glidein() { administrator glideins create --identity gl-1 --name-pattern "$1" --scope "$2" --expires "$3" --file "$WORK/token.$4"; }
glidein gl-1 READ,ADVERTISE 1h gl-1 || fail "a token of the limited key"
equals "what a token of the limited key sees" "$(with gl-1 status -af Machine)" wn01
glidein gl-1 READ,WRITE 1h no 2>"$WORK/beyond" && fail "a limited key signs WRITE"
grep -q "the key 'glideins' may not sign the scope WRITE" "$WORK/beyond" || fail "WRITE: $(cat "$WORK/beyond")"
glidein wn01 READ,ADVERTISE 1h no 2>"$WORK/beyond" && fail "a limited key signs other names"
grep -q "may not sign for the names 'wn01': its own begin with 'gl-'" "$WORK/beyond" || fail "names: $(cat "$WORK/beyond")"
glidein gl-1 READ,ADVERTISE 2d no 2>"$WORK/beyond" && fail "a limited key signs for two days"
grep -q "may not sign a token that is valid for more than 3600 s" "$WORK/beyond" || fail "life: $(cat "$WORK/beyond")"
# The thief leaves its limits away.
cut -d' ' -f1,2 "$WORK/keys/glideins.by" >"$WORK/short" && cat "$WORK/short" >"$WORK/keys/glideins.by"
glidein gl-1 READ,WRITE 1h stolen || fail "a thief signs what he wants"
refused stolen wire.refused "token is signed with unknown key 'glideins', which 'POOL' has not endorsed" status
administrator POOL key create other --names '*' 2>"$WORK/beyond" && fail "a limited key for all names"
grep -q "'\*' is not the beginning of names" "$WORK/beyond" || fail "all names: $(cat "$WORK/beyond")"
administrator POOL key create other --life 1d 2>"$WORK/beyond" && fail "a life without names"
grep -q "use them with --names" "$WORK/beyond" || fail "life without names: $(cat "$WORK/beyond")"
mkdir "$WORK/forger"
(
    export ROOST_POOL_KEYS=$WORK/forger ROOST_TOKEN_KEY=mine
    # His own key of the name of ours: nothing answers for it yet, and that is said.
    "$ROOST" token key create POOL 2>"$WORK/forged" && fail "a key that is not there answers for another"
    grep -q "signing key 'POOL' was made, but 'mine' did not endorse it: .*mine.key" "$WORK/forged" ||
        fail "without a key that answers: $(cat "$WORK/forged")"
    "$ROOST" token key create mine --by POOL >/dev/null || fail "the forger's key"
    token forger --scope ADMINISTRATOR
) || exit 1
refused forger wire.refused "token is signed with unknown key 'mine', which 'POOL' has not endorsed" status

equals "wakes by a weak token" "$(wakes)" ""
equals "what a good token sees at the end" "$(with good status -af Machine)" wn01

# A revoked token stays revoked.
pool_stop
pool_start
refused revoked wire.refused "token revoked \(id '$id' of revoked@personal\)" status
pool_stop
passed
