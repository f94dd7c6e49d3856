#!/bin/bash
# roost advertise: ads of any type come, are shown, and go again; what a token may not have is refused, each in one line.
#
# TIMEOUT: 60
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

token() { "$ROOST" token create --identity "$1@personal" --file "$WORK/token.$1" "${@:2}" || fail "token create $1"; }
with() { ROOST_TOKEN_FILE=$WORK/token.$1 timeout 20 "$ROOST" "${@:2}"; }

# refused TOKEN WORDS ARGUMENT...: exit status 1 and one line with these words
refused() {
    local status=0
    with "$1" advertise "${@:3}" >"$WORK/client.out" 2>"$WORK/client.err" || status=$?
    equals "exit status of: $1 advertise ${*:3}" "$status" 1
    equals "lines of its message" "$(wc -l <"$WORK/client.err")" 1
    grep -qF "$2" "$WORK/client.err" || fail "$1 advertise ${*:3}: $(cat "$WORK/client.err")"
}
names() { "$ROOST" status -any -constraint "$1" -af Name | sort | tr '\n' ' '; }

pool_init --nodes 1 --asleep
pool_start
token worker --scope ADVERTISE --name-pattern 'wn7*'
token daemon --scope SCHEDD,ADVERTISE
token reader --scope READ

cat >"$WORK/machines" <<'END'
# two machines
Name = "slot1@wn70"
Machine = "wn70"
Cpus = 2
Requirements = TARGET.RequestCpus <= Cpus

Name = "slot1@wn71"
Machine = "wn71"
Cpus = 4
END
equals "two ads" "$(with worker advertise UPDATE_STARTD_AD "$WORK/machines")" "Sent 2 of 2 ads to the collector."
equals "what is shown" "$("$ROOST" status -constraint 'Cpus > 1' -sort Cpus -af Name Cpus MyType | tr '\n' ' ')" \
    "slot1@wn70 2 Machine slot1@wn71 4 Machine "
equals "an ad on standard input" \
    "$(echo '[ Name = "roof"; MyType = "Chiller"; Power = 7 ]' | with daemon advertise)" "Sent 1 of 1 ad to the collector."
equals "its type" "$("$ROOST" status -generic chiller -af Name Power MyType)" "roof 7 Chiller"
"$ROOST" status -any | grep -qE '^Chiller +None +roof$' || fail "-any: $("$ROOST" status -any)"

echo '[ Name = "slot1@wn80"; Machine = "wn80" ]' >"$WORK/other"
refused worker "may not advertise the name 'slot1@wn80': its token is for 'wn7*'" Machine "$WORK/other"
echo '[ Name = "slot1@wn72"; Machine = "wn80" ]' >"$WORK/other"
refused worker "may not advertise the machine 'wn80'" Machine "$WORK/other"
echo '[ Name = "wn70" ]' >"$WORK/other"
refused worker "may not send ads of type Scheduler" Scheduler "$WORK/other"
refused worker "may not send ads of type Negotiator" UPDATE_NEGOTIATOR_AD "$WORK/other"
refused daemon "may not send ads of type Collector" UPDATE_COLLECTOR_AD "$WORK/other"
refused reader "READ" Machine "$WORK/other"
echo 'Name = = 1' >"$WORK/other"
refused worker "$WORK/other: ad 1" Machine "$WORK/other"
refused worker "$WORK/nosuch" Machine "$WORK/nosuch"
equals "nothing else came" "$(names 'regexp("wn[78]", Name)')" "slot1@wn70 slot1@wn71 "

# A file that is read in two halves: everything arrives, and the ad and line of a mistake are those of the whole file.
awk 'BEGIN { for (i = 1; i <= 4000; i++) { printf "Name = \"many%d\"\nMyType = \"Chiller\"\n", i
    for (k = 0; k < 10; k++) printf "Attribute%d = \"something to fill the file\"\n", k; printf "\n" } }' >"$WORK/many"
equals "many ads" "$(with daemon advertise "$WORK/many")" "Sent 4000 of 4000 ads to the collector."
equals "each of them" "$("$ROOST" status -generic chiller -af Name | grep -c '^many')" 4000
equals "and back" "$("$ROOST" advertise -delete Chiller -constraint 'regexp("^many", Name)')" "Took back 4000 ads."
sed -i '41600s/.*/Attribute3 = = 1/' "$WORK/many" # the 3,200th; each has 13 lines
refused daemon "$WORK/many: ad 3200, line 41600, column " "$WORK/many"
equals "nothing came" "$("$ROOST" status -generic chiller -af Name)" roof

equals "usage" "$("$ROOST" advertise -delete -name x 2>/dev/null; echo $?)" 2
with worker advertise -delete Chiller -name roof 2>"$WORK/denied" && fail "another's ad was taken back"
grep -qF "your token does not allow you to remove the ad 'roof'" "$WORK/denied" || fail "it says: $(cat "$WORK/denied")"
equals "another's ad stays" "$("$ROOST" status -generic chiller -af Name)" roof
equals "one by constraint" "$(with worker advertise -delete Machine -constraint 'Cpus == 4')" "Took back 1 ad."
equals "what is left" "$(names 'MyType == "Machine" && Cpus > 1')" "slot1@wn70 "
equals "by a query" "$(echo '[ MyType = "Query"; TargetType = "Machine"; Requirements = Cpus == 2 ]' |
    with worker advertise INVALIDATE_STARTD_ADS -)" "Took back 1 ad."
equals "by name" "$(with daemon advertise -delete Chiller -name roof)" "Took back 1 ad."
equals "nothing is left" "$(names 'Cpus > 1 || MyType == "Chiller"')" ""
# The sleeping node's ad is not taken with the others.
equals "all of a type" "$("$ROOST" advertise -delete Machine -constraint true)" "Took back 0 ads."
equals "the sleeping node" "$("$ROOST" status -offline -af Machine)" wn01
equals "asleep, when it is meant" "$("$ROOST" advertise -delete Machine -offline -constraint true)" "Took back 1 ad."
equals "nobody sleeps" "$("$ROOST" status -offline -af Machine)" ""
passed
