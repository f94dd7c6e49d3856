#!/bin/bash
# The command line is completed in a real bash: commands, their verbs and options, jobs; each option that is offered is
# in the command's help.
#
# TIMEOUT: 60
# SPDX-License-Identifier: Apache-2.0
set -u
: "${ROOST_BIN:?where the programs are}"
PATH=$ROOST_BIN:$PATH
unset ROOST_CONFIG

fail() {
    echo "FAILED: $*"
    exit 1
}

# shellcheck source=/dev/null
. <(roost completion bash) || fail "the script does not load"
complete -p roost >/dev/null || fail "nothing completes roost"

# offers WORD... : what is offered for the last of these words, on one line
offers() {
    COMP_WORDS=(roost "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _roost
    echo "${COMPREPLY[*]}"
}

# is "OFFERS" WORD...
is() {
    local want=$1 got
    shift
    got=$(offers "$@")
    [ "$got" = "$want" ] || fail "roost $*: '$got', not '$want'"
}

is "history" hist
is "-nobatch" q -nob
is "-allusers" q -al
is "-completedsince" history -comp
is "--nodes" init --no
is "status" power st
is "request revoke" token re
is "bash" completion b
is "" q 12 # no pool, no jobs
is "userprio" help userp
for command in $(roost --help | sed -n 's/^  \([a-z]\+\) .*/\1/p'); do
    for option in $(offers "$command" -); do
        roost "$command" --help | grep -q -e "$option" || [ "$option" = --help ] || fail "$command: $option"
    done
    [[ " $(offers "$command" -) " == *" --help "* ]] || fail "$command is not completed"
done
[ "$(roost completion fish 2>&1 | head -1)" = "roost completion: unknown shell 'fish'; expected bash or zsh" ] || fail "fish"
[ "$(roost completion zsh | head -1)" = "#compdef roost" ] || fail "zsh"
echo "completion.sh: passed"
