#!/bin/bash
# A token whose key never travels: the holder's laptop makes the key and a request, the administrator compares the
# fingerprint and signs, the holder compares and accepts, and works from there.  Whoever stands between them, with all
# that is mailed, gets nothing by exchanging, altering or repeating it; and what a pilot starts from is made the same way.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
# Functions are called by until_true, too.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"

# The laptop is a directory of another ordinary account, which cannot read the pool's, and has no configuration.
laptop=$WORK/laptop
mail=$WORK/mail
as=()
mkdir -m 0700 "$laptop" "$laptop/mallory"
mkdir -m 1777 "$mail"
cp "$ROOST" "$WORK/roost" && chmod 0755 "$WORK/roost"
if [ "$(id -u)" -eq 0 ]; then
    as=(setpriv --reuid=daemon --regid=daemon --clear-groups)
    chown -R daemon "$laptop"
fi
# on HOME COMMAND...: the holder whose home that is, without a terminal
on() {
    local home=$1
    shift
    (cd "$mail" && umask 022 && env -u ROOST_CONFIG HOME="$home" "${as[@]}" timeout 30 "$WORK/roost" "$@" </dev/null)
}
fingerprint_in() { grep -oE '^    ([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{4}$' "$1" | tr -d ' '; }

# refused STATUS MESSAGE COMMAND...: ends with it, with one line on standard error that says so, and prints nothing
refused() {
    local wanted=$1 message=$2 status=0
    shift 2
    "$@" >"$WORK/out.txt" 2>"$WORK/err.txt" || status=$?
    equals "exit status of $*" "$status" "$wanted"
    equals "what it prints" "$(cat "$WORK/out.txt")" ""
    grep -qE -- "$message" "$WORK/err.txt" || fail "$* says: $(cat "$WORK/err.txt")"
    equals "messages" "$(grep -c '^roost token: ' "$WORK/err.txt")" 1
}
ids() { "$ROOST" token list -af Id | sort; }

pool_init --nodes 1 --asleep
pool_start
identity=$(id -un)@personal
[ "$(id -u)" -ne 0 ] || identity=daemon@personal

say "the request: a key of the holder's own, and nothing of it in what is mailed"
on "$laptop" token request "$identity" --pool personal --out "$mail/request" 2>"$WORK/request.err" ||
    fail "token request: $(cat "$WORK/request.err")"
asked=$(fingerprint_in "$WORK/request.err")
[ -n "$asked" ] || fail "no fingerprint is shown: $(cat "$WORK/request.err")"
equals "modes of the key and its directory" "$(stat -c %a "$laptop/.roost/request.key" "$laptop/.roost" | xargs)" "600 700"
secret=$(sed -n '/BEGIN PRIVATE/,/END PRIVATE/p' "$laptop/.roost/request.key" | sed -n 2p)
[ ${#secret} -ge 60 ] || fail "no private key in $(cat "$laptop/.roost/request.key")"
refused 1 "an earlier request still waits for its answer; --again" on "$laptop" token request "$identity"
refused 1 "other users may write to this directory" on "$laptop" token request "$identity" --directory "$mail"
refused 1 "or contains '\"', '.' or '\\$'" on "$laptop" token request "$identity" --directory "$laptop/\$(x)"
refused 1 "this directory holds the secrets of a pool" "$ROOST" token request "$identity" --directory "$POOL/security"
refused 2 "the identity is missing" on "$laptop" token request
refused 1 "cannot write /nonexistent/x" on "$laptop/mallory" token request "$identity" --out /nonexistent/x
equals "requests that nobody got" "$(ls "$laptop/mallory/.roost")" ""

say "the administrator: nothing is signed before the fingerprint is compared"
before=$(ids)
refused 2 "--bundle does not go with --request: the answer contains the pool's CA" "$ROOST" token create --request "$mail/request" --bundle --fingerprint "$asked"
refused 2 "--fingerprint and --collector need --request" "$ROOST" token create --identity x --fingerprint "$asked"
refused 2 "--fingerprint and --collector need --request" "$ROOST" token create --identity x --collector cm
refused 2 "the fingerprint of the request is needed.* --fingerprint" \
    "$ROOST" token create --request "$mail/request" --file "$mail/answer" </dev/null
refused 1 "'Q9W1-DFWF-077Y-MGA1-83F5' is not the fingerprint of the request; the fingerprint is $asked" \
    "$ROOST" token create --request "$mail/request" --fingerprint Q9W1-DFWF-077Y-MGA1-83F5 --file "$mail/answer"
refused 1 "'${asked%-*}' is not the fingerprint" \
    "$ROOST" token create --request "$mail/request" --fingerprint "${asked%-*}" --file "$mail/answer"

# Mallory reads and writes the mail: the same wish, with a key of his own.
on "$laptop/mallory" token request "$identity" --pool personal --out "$mail/exchanged" 2>"$WORK/mallory.err" || fail "mallory's request"
hers=$(fingerprint_in "$WORK/mallory.err")
[ "$hers" != "$asked" ] || fail "two keys have one fingerprint"
refused 1 "'$asked' is not the fingerprint of the request; the fingerprint is $hers.*somebody has replaced the request" \
    "$ROOST" token create --request "$mail/exchanged" --fingerprint "$asked" --file "$mail/answer"
sed "s/^Identity: .*/Identity: root@personal/" "$mail/request" >"$mail/altered"
refused 1 "altered: bad proof: the request was changed, or its maker lacks the private key" \
    "$ROOST" token create --request "$mail/altered" --fingerprint "$asked" --file "$mail/answer"
{ sed '/^Proof:/,$d' "$mail/request" && sed -n '/^Proof:/,$p' "$mail/exchanged"; } >"$mail/altered"
refused 1 "bad proof" "$ROOST" token create --request "$mail/altered" --fingerprint "$asked" --file "$mail/answer"
equals "tokens that were made by then" "$(ids)" "$before"
[ ! -e "$mail/answer" ] || fail "an answer was written"

say "what a request alone does not give"
on "$laptop/mallory" token request x@personal --scope READ,ADMINISTRATOR --again --out "$mail/greedy" 2>"$WORK/greedy.err" || fail "request"
refused 1 "the request asks for ADMINISTRATOR, which needs the administrator.s consent: .*--scope READ,ADMINISTRATOR" \
    "$ROOST" token create --request "$mail/greedy" --fingerprint "$(fingerprint_in "$WORK/greedy.err")"
on "$laptop/mallory" token request x@personal --pool elsewhere --again --out "$mail/elsewhere" 2>"$WORK/elsewhere.err" || fail "request"
refused 1 "the request is for pool 'elsewhere', but this is pool 'personal'" \
    "$ROOST" token create --request "$mail/elsewhere" --fingerprint "$(fingerprint_in "$WORK/elsewhere.err")"
equals "tokens that were made by then" "$(ids)" "$before"

say "a submit host: what only the administrator gives, he shows, and the holder sees it"
on "$laptop/mallory" token request submit2 --scope READ,SCHEDD --name-pattern submit2 --again --out "$mail/schedd" 2>"$WORK/schedd.err" || fail "request"
"$ROOST" token create --request "$mail/schedd" --scope READ,SCHEDD --owners 'a*' --fingerprint "$(fingerprint_in "$WORK/schedd.err")" \
    --file "$mail/schedd.answer" 2>"$WORK/answer.err" || fail "a schedd's answer: $(cat "$WORK/answer.err")"
chmod 0644 "$mail/schedd.answer"
on "$laptop/mallory" token accept schedd.answer --fingerprint "$(fingerprint_in "$WORK/answer.err")" >/dev/null 2>"$WORK/accept.err" ||
    fail "accept: $(cat "$WORK/accept.err")"
for shown in answer accept; do
    grep -qx '  jobs of   a\*@personal' "$WORK/$shown.err" || fail "it is not shown as whom the jobs may run: $(cat "$WORK/$shown.err")"
done
rm -r "$laptop/mallory/.roost"
on "$laptop/mallory" token request x@personal --out "$mail/again" 2>/dev/null || fail "request"

say "typed on a terminal: wrong, then right, in other letters"
python3 "$(dirname "$0")/lib_pty.py" "$ROOST" token create --request "$mail/request" --file "$mail/answer" >"$WORK/pty" <<END || fail "on a terminal: $(cat "$WORK/pty")"
want identity  $identity
want scopes    READ,WRITE
want Its fingerprint, as the holder reads it to you:
type ${hers,,}\n
want The fingerprint is different
want Its fingerprint
type $(tr -d - <<<"${asked,,}" | tr 01 oi)\n
want Token [0-9a-f-]{36} was made
end 0
END
python3 "$(dirname "$0")/lib_pty.py" "$ROOST" token create --request - --collector cm.example --file "$mail/pasted" >"$WORK/pty" <<END || fail "pasted: $(cat "$WORK/pty")"
want Paste the block here; the last line is -----END ROOST TOKEN REQUEST-----
type $(awk '{ printf "%s\\n", $0 }' "$mail/request")
want Its fingerprint
type no\nnor this\nneither\n
want the fingerprint of the request is $asked, but another fingerprint was typed
end 1
END
[ ! -e "$mail/pasted" ] || fail "it was signed although nothing was compared"
python3 "$(dirname "$0")/lib_pty.py" "$ROOST" token create --request - --collector cm.example --file "$mail/pasted" >"$WORK/pty" <<END || fail "pasted: $(cat "$WORK/pty")"
want Paste the block here
type $(awk '{ printf "%s\\n", $0 }' "$mail/request")
want Its fingerprint
type $asked\n
want was made
end 0
END
equals "the address that was said" "$(sed -n 's/^Collector: //p' "$mail/pasted")" "cm.example:$(sed -n "s/^COLLECTOR_PORT = //p" "$ROOST_CONFIG")"
id=$("$ROOST" token list -constraint "Fingerprint == \"$asked\"" -af Id | head -n 1)
equals "what is noted of it" "$("$ROOST" token list -constraint "Id == \"$id\"" -af Identity Scopes Revoked File)" \
    "$identity READ,WRITE false $mail/answer"
# As in the answer to a script: the same again, for its fingerprint.
"$ROOST" token create --request - --fingerprint "$asked" <"$mail/request" >"$mail/answer" 2>"$WORK/answer.err" ||
    fail "token create --request: $(cat "$WORK/answer.err")"
told=$(fingerprint_in "$WORK/answer.err")
if grep -q PRIVATE "$mail"/* || grep -rqF "$secret" "$POOL" "$mail"; then
    fail "the private key is where the administrator or the mail is: $(grep -rlF "$secret" "$POOL" "$mail")"
fi

say "the holder: answers to others, of others, altered or not compared are refused"
chmod 0644 "$mail"/*
accept() { on "$laptop" token accept "$@"; }
refused 2 "the fingerprint of the answer is needed.* --fingerprint" accept answer
refused 1 "is not the fingerprint of the answer; the fingerprint is $told.*somebody has replaced the answer" accept answer --fingerprint "$asked"
refused 1 "this is an answer; expected a request for a token" "$ROOST" token create --request "$mail/answer" --fingerprint "$told"
refused 1 "this is a request for a token; expected an answer" accept request --fingerprint "$told"
# Mallory's own pool of the same name, for the key that he read in the request.
(
    export ROOST_CONFIG=$WORK/other/roost.conf
    "$ROOST" init "$WORK/other" --nodes 1 >/dev/null || fail "a second pool"
    "$ROOST" token create --request "$mail/request" --fingerprint "$asked" --file "$mail/lure" 2>"$WORK/lure.err" || fail "lure"
    chmod 0644 "$mail/lure"
) || exit 1
refused 1 "is not the fingerprint of the answer" accept lure --fingerprint "$told"
# The pool's token with his address, and with his CA.
sed "s/^Collector: .*/Collector: mallory.example:9618/" "$mail/answer" >"$mail/altered"
refused 1 "is not the fingerprint of the answer" accept altered --fingerprint "$told"
{ sed '/^-----BEGIN CERT/,$d' "$mail/answer" && sed -n '/^-----BEGIN CERT/,$p' "$mail/lure"; } >"$mail/altered"
refused 1 "token signature is wrong" accept altered --fingerprint "$told"
# What is for another key: Mallory repeats the answer that he saw, and is answered himself.
refused 1 "bound to another key than the one made here" on "$laptop/mallory" token accept "$mail/answer" --fingerprint "$told"
on "$laptop/mallory" token request "$identity" --again --out "$mail/hers" 2>"$WORK/mallory.err" || fail "request"
"$ROOST" token create --request "$mail/hers" --fingerprint "$(fingerprint_in "$WORK/mallory.err")" --file "$mail/hers.answer" \
    2>"$WORK/hers.err" || fail "answer"
refused 1 "bound to another key than the one made here \(request $asked\)" accept hers.answer --fingerprint "$(fingerprint_in "$WORK/hers.err")"
equals "files of the holder by then" "$(ls "$laptop/.roost")" request.key

say "accepted: the laptop is part of the pool"
cp -p "$laptop/.roost/request.key" "$WORK/request.key"
equals "what to do then" "$(accept answer --fingerprint "$told" 2>"$WORK/accept.err")" "export ROOST_CONFIG=$laptop/.roost/roost.conf"
equals "files of the holder" "$(cd "$laptop/.roost" && find . -type f | sort | xargs)" "./ca.pem ./keys/POOL.pub ./roost.conf ./token"
equals "modes of the token" "$(stat -c %a "$laptop/.roost/token")" 600
equals "the key in the token file" "$(sed -n 3p "$laptop/.roost/token")" "$secret"
refused 1 "no request waits for an answer there" accept answer --fingerprint "$told"
# As when the machine died before the request was taken away: once more, and it is as it was.
cp -p "$WORK/request.key" "$laptop/.roost/request.key"
sum=$(cd "$laptop/.roost" && cksum ca.pem keys/POOL.pub roost.conf token)
accept answer --fingerprint "$told" >/dev/null 2>&1 || fail "it cannot be accepted again after a crash"
equals "what is there then" "$(cd "$laptop/.roost" && cksum ca.pem keys/POOL.pub roost.conf token)" "$sum"
[ ! -e "$laptop/.roost/request.key" ] || fail "the request still waits"
export_config() { (cd "$mail" && env ROOST_CONFIG="$laptop/.roost/roost.conf" "${as[@]}" timeout 30 "$WORK/roost" "$@" </dev/null); }
equals "the pool's machines" "$(export_config status -af Machine)" wn01
printf '%s\n' "executable = /bin/true" "transfer_executable = false" "hold = true" queue >"$mail/job.sub"
export_config submit -remote personal job.sub >"$WORK/submit" 2>&1 || fail "submit: $(cat "$WORK/submit")"
equals "whose job it is" "$(export_config q -af User ProcId)" "$identity 0"
export_config edit 1 JobPrio 3 >/dev/null || fail "edit"
equals "what the pool's owner sees" "$("$ROOST" q -allusers -af User JobPrio)" "$identity 3"
refused_verb() { ! export_config token revoke --elsewhere "$id" >"$WORK/revoke" 2>&1 && grep -q "too weak" "$WORK/revoke"; }
refused_verb || fail "the token gives more than it says: $(cat "$WORK/revoke")"
export_config rm 1 >/dev/null || fail "rm"

say "another one, later: a configuration that somebody changed stays"
echo 'DEFAULT_UNIVERSE = "vanilla"' >>"$laptop/.roost/roost.conf"
echo stale >"$laptop/.roost/keys/OLD.pub"
on "$laptop" token request "$identity" --expires 1h --out "$mail/request" 2>"$WORK/request.err" || fail "a second request"
"$ROOST" token create --request "$mail/request" --fingerprint "$(fingerprint_in "$WORK/request.err")" --file "$mail/answer" \
    --identity elsewhere --scope READ 2>"$WORK/answer.err" || fail "a second answer: $(cat "$WORK/answer.err")"
grep -q "identity  elsewhere@personal   (asked: $identity)" "$WORK/answer.err" || fail "it shows: $(cat "$WORK/answer.err")"
chmod 0644 "$mail"/*
accept answer --fingerprint "$(fingerprint_in "$WORK/answer.err")" >/dev/null 2>"$WORK/accept.err" || fail "accept: $(cat "$WORK/accept.err")"
grep -q "roost.conf exists already and was not changed" "$WORK/accept.err" || fail "it says: $(cat "$WORK/accept.err")"
grep -q DEFAULT_UNIVERSE "$laptop/.roost/roost.conf" || fail "the configuration was replaced"
equals "signing keys" "$(ls "$laptop/.roost/keys")" POOL.pub
equals "who it is now" "$(cut -d. -f2 <"$laptop/.roost/token" | head -n 1 | tr '_-' '/+' | base64 -d 2>/dev/null | grep -o '"sub":"[^"]*"')" \
    '"sub":"elsewhere@personal"'
equals "the pool's machines" "$(export_config status -af Machine)" wn01

if [ -x "$ROOST_BIN/roost-pilot" ]; then
    say "a pilot, on a host that made its own key"
    cp "$ROOST_BIN/roost-pilot" "$WORK/roost-pilot" && chmod 0755 "$WORK/roost-pilot"
    on "$laptop" token request gl-1@personal --scope READ,ADVERTISE --name-pattern 'gl-*' --slots 4 --directory "$laptop/pilot" \
        --out "$mail/request" 2>"$WORK/request.err" || fail "the pilot's request: $(cat "$WORK/request.err")"
    "$ROOST" token create --request "$mail/request" --fingerprint "$(fingerprint_in "$WORK/request.err")" --file "$mail/answer" \
        2>"$WORK/answer.err" || fail "the pilot's answer: $(cat "$WORK/answer.err")"
    chmod 0644 "$mail"/*
    start=$(accept answer --fingerprint "$(fingerprint_in "$WORK/answer.err")" --directory "$laptop/pilot" --bundle "$laptop/bundle" \
        2>"$WORK/accept.err") || fail "accept --bundle: $(cat "$WORK/accept.err")"
    equals "mode of the bundle" "$(stat -c %a "$laptop/bundle")" 600
    equals "files beside it" "$(ls "$laptop/pilot")" ""
    equals "how it starts" "${start%% --collector*}" roost-pilot
    # shellcheck disable=SC2086
    (cd "$laptop" && exec env -u ROOST_CONFIG "${as[@]}" "$WORK/roost-pilot" ${start#roost-pilot} --execute "$laptop" --name gl-1 --cpus 1 \
        </dev/null >"$WORK/pilot.log" 2>&1) &
    pilot=$!
    has_joined() { [ -n "$("$ROOST" status -constraint 'Machine == "gl-1"' -af Name 2>/dev/null)" ]; }
    until_true 30 "the pilot joins" has_joined
    kill "$pilot" && wait "$pilot"
fi
passed
