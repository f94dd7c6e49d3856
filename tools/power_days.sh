#!/bin/bash
# tools/power_days.sh FIRST LAST [NODES [HOURS [AT ONCE]]] - days of simulated pools whose machines sleep, by seed.
#
# Two days of 2,000 machines take some minutes of a core and 2 GB; what was seen: docs/PERFORMANCE.md.  A seed that breaks a promise:
# build/bin/roost-sim --power HOURS --nodes NODES --seed N shows which, with the end of the trace (all of it: --trace).
#
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { sed -n 's/^# \(tools.*\)/usage: \1/p' "$0" >&2; exit 2; }
first=$1 last=$2 nodes=${3:-2000} hours=${4:-48} at_once=${5:-1}
tools/build.sh release roost-sim >&2
exec nice build/bin/roost-sim --power "$hours" --nodes "$nodes" --seeds "$first-$last" --parallel "$at_once"
