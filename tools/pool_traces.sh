# tools/pool_traces.sh - which processes belong to a directory of a pool; sourced by the demo and the integration tests.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# traces PATH: pids of processes that have PATH in their environment or arguments, or work below it.  The path goes
# to grep through a file descriptor and ROOST_CONFIG not at all, or grep would find itself.
traces() {
    local link
    (
        unset ROOST_CONFIG
        grep -lsaF -f /dev/fd/3 /proc/[0-9]*/environ /proc/[0-9]*/cmdline
        # One program for all processes, not one for each: this is asked again and again.
        find /proc/[0-9]*/cwd -maxdepth 0 -printf '%p %l/\n' 2>/dev/null | while read -r link; do
            case ${link#* } in "$1"*) echo "${link%% *}" ;; esac
        done
    ) 3< <(printf '%s\n' "$1") | env -u ROOST_CONFIG cut -d/ -f3 | env -u ROOST_CONFIG sort -un
}

# describe PID...: the processes with their command lines, for a message.
describe() {
    local pid
    for pid in "$@"; do
        printf '%s (%s) ' "$pid" "$( (tr '\0' ' ' <"/proc/$pid/cmdline") 2>/dev/null | cut -c1-120)"
    done
}
