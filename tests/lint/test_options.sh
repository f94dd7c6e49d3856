#!/bin/bash
# The scripts that are run by hand say which of their arguments is wrong, before they do anything.
#
# SPDX-License-Identifier: Apache-2.0
set -u
failures=0

# refuses WHAT SCRIPT ARGUMENT...
refuses() {
    local what=$1 script=$ROOST_SRC/tools/$2 out status
    out=$("$script" "${@:3}" 2>&1)
    status=$?
    if [ $status -ne 2 ] || [ "$(head -n 1 <<<"$out")" != "$script: $what" ] ||
        ! grep -q "^usage: tools/$2 .*\]" <<<"$out" || [ "$(wc -l <<<"$out")" -ne 2 ]; then
        printf 'FAILED: %s: exit status %s, and:\n%s\n' "$*" $status "$out"
        failures=$((failures + 1))
    fi
}
for script in chaos checkpoint_storm power_days restarts resumes; do
    refuses "unknown option -z" $script.sh -z 1
    refuses "option -n needs a number" $script.sh -n
    refuses "option -n: '0' is not a number of 1 or more" $script.sh -n 0
    refuses "option -n: 'all' is not a number of 1 or more" $script.sh -n all
done
refuses "unknown option -n" factory_days.sh -n 5 1 2
refuses "option -j: '0' is not a number of 1 or more" factory_days.sh -j 0 1 2
refuses "unexpected argument 'now'" chaos.sh -j 1 now
refuses "unexpected argument '3'" power_days.sh 1 2 3
refuses "too few arguments: 1 given, at least 2 expected" power_days.sh -n 5 1
refuses "too few arguments: 0 given, at least 1 expected" resumes.sh -n 5
refuses "option -s: 'x' is not a number of 1 or more" fuzz.sh -s x build
refuses "too few arguments: 0 given, at least 1 expected" fuzz.sh
[ $failures -eq 0 ] || exit 1
