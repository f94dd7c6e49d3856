#!/bin/bash
# The samples in etc/ are configurations that the daemons of such a host take, with what they say.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

# value FILE SUBSYSTEM KNOB: what that daemon reads from the sample.
value() {
    ROOST_CONFIG=$ROOST_SRC/etc/$1 "$ROOST_BIN/roost" config dump -subsystem "$2" >"$WORK/dump" || fail "etc/$1 does not load"
    sed -n "s/^$3 = //p" "$WORK/dump"
}

equals "daemons of a central manager" "$(value roost.conf MASTER DAEMON_LIST)" "COLLECTOR, NEGOTIATOR, ROOSTER"
equals "port of the collector" "$(value roost.conf COLLECTOR COLLECTOR_LISTEN)" "0.0.0.0:9618"
equals "order of machines" "$(value roost.conf NEGOTIATOR NEGOTIATOR_PRE_JOB_RANK)" "-Memory"
equals "limit of wakes" "$(value roost.conf ROOSTER ROOSTER_MAX_WAKING)" "40"
equals "daemons of a machine that sleeps" "$(value node.conf MASTER DAEMON_LIST)" "STARTD"
equals "its HIBERNATE" "$(value node.conf STARTD HIBERNATE)" \
    'ifThenElse(State =?= "Unclaimed" && (false || CurrentTime - EnteredCurrentState >= 15 * 60), "S5", "NONE")'
equals "watts of a machine" "$(value energy.conf STARTD MACHINE_BUSY_WATTS)" "95"
equals "which machine is woken first" "$(value energy.conf ROOSTER ROOSTER_UNHIBERNATE_RANK)" \
    "ifThenElse(PowerBusyWatts =?= undefined, -1000, -PowerBusyWatts / DetectedCpus)"
equals "daemons of a submit host" "$(value submit.conf MASTER DAEMON_LIST)" "SCHEDD"
equals "port of the schedd" "$(value submit.conf SCHEDD SCHEDD_PORT)" "9619"
equals "START of a workstation" "$(value desktop.conf STARTD START)" "(LoadAvg - CondorLoadAvg) <= 0.3 && KeyboardIdle > 15 * 60"

# The examples of the summary of 1989, letter by letter.
cat >"$WORK/condor_config" <<'END'
BackgroundLoad    = 0.3
StartIdleTime    = 15 * $(MINUTE)
CPU_Idle    = LoadAvg <= $(BackgroundLoad)
START        : $(CPU_Idle) && KeyboardIdle > $(StartIdleTime)
PRIO        : (UserPrio * 10) + $(Expanded) - (QDate / 1000000000.0)
UPDATE_PRIO : Prio + Users - Running
END
old_value() { ROOST_CONFIG=$WORK/condor_config "$ROOST_BIN/roost" config get "$1"; }
equals "the START of 1989" "$(old_value START)" "LoadAvg <= 0.3 && KeyboardIdle > 15 * 60"
equals "the PRIO of 1989" "$(old_value PRIO)" "(UserPrio * 10) + Expanded - (QDate / 1000000000.0)"
equals "the UPDATE_PRIO of 1989" "$(old_value UPDATE_PRIO)" "Prio + Users - Running"
passed
