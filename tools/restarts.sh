#!/bin/bash
# tools/restarts.sh [-j JOBS] [-n NODES] [-t TIMES]: every daemon is restarted while JOBS (200) jobs run on NODES (4) nodes.
#
# The jobs wait at a gate.  Each daemon of the pool is ended with SIGTERM and with kill -9, TIMES (2) each, the nodes' startds also
# with SIGQUIT, their masters with kill -9, all in random order; in the end the
# pool's master with everything it keeps is told to stop, and started again.  Then the gate opens: every job must have begun once.
# The short form of it in the suite is integration.restart.
#
# ROOST_BIN: the programs (build/bin).  ROOST_TEST_SEED: repeats the order.  ROOST_TEST_KEEP=DIR: keeps the pool of a run that
# failed.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
JOBS=200 NODES=4 TIMES=2
take_options "j=JOBS n=NODES t=TIMES" 0 0 "$@"
use_test_pool

pool_init --nodes "$NODES" --cpus-per-node $(((JOBS + NODES - 1) / NODES)) --idle 3600
pool_start
gate_jobs "$JOBS" # sets cluster
until_true $((60 + JOBS)) "all jobs run" have_begun "$JOBS"
say "all jobs run"
restart_each "$TIMES"
say "stopping the pool without its nodes, then starting it again"
master=$(holders master)
kill "$master"
until_true 60 "the pool's daemons are gone" is_gone "$master"
pool_start
open_gate
check_restarts "$JOBS" $((60 + JOBS))
pool_stop
passed
