#!/bin/bash
# Many short processes, pipes between them, and statuses that are waited for.
#
# SPDX-License-Identifier: Apache-2.0
sum=0
for _ in $(seq 20); do
    part=$(seq 1 2000 | awk '{a += $1} END {print a}')
    sum=$((sum + part))
    (sleep 0.02; exit 3) &
    wait $!
    sum=$((sum + $?))
done
echo "$sum"
exit 7
