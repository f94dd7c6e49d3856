/* rooster/knobs.c - the table of the rooster's knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "base/knob_check.h"
#include "rooster/reserve_plan.h"
#include "rooster/look.h"
#include "rooster/rooster.h"

static const struct knob KNOBS[] = {
    {.name = "ROOSTER_NAME",
     .type = KNOB_STRING,
     .check = knob_check_name,
     .restart = true,
     .help = "Name of the rooster in its ad; default: the host name."},
    {.name = "ROOSTER_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "300",
     .min = 1,
     .max = 86400,
     .help = "How often the rooster examines all offline ads when nothing changes; it acts on "
             "changes at once."},
    {.name = "ROOSTER_MAX_UNHIBERNATE",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "machines",
     .help = "How many machines the rooster wakes at most in one pass over the offline ads; 0: no "
             "limit."},
    {.name = "ROOSTER_MAX_WAKING",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "machines",
     .help = "How many machines may be waking at the same time; 0: no limit."},
    {.name = "ROOSTER_MAX_WAKING_PERCENT",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 100,
     .help = "How many machines may be waking at the same time, in percent of the pool's machines, "
             "at least one; 0: no limit."},
    {.name = "ROOSTER_MAX_WAKES_PER_MINUTE",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "orders",
     .help = "How many wake orders, repeated ones included, the rooster gives in any minute; 0: no "
             "limit."},
    {.name = "ROOSTER_MAX_WAKES_PER_DAY",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = WAKE_DAY_MAX,
     .unit = "wakes",
     .help = "How often one machine may be woken for jobs in 24 hours; 0: no limit. `roost power "
             "on NAME` is not limited."},
    {.name = "ROOSTER_DRY_RUN",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether the rooster only reports what it would switch (in its log, and as WouldWake "
             "in the status of its nodes) and switches nothing."},
    {.name = "ROOSTER_MAX_WATTS",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000000,
     .unit = "W",
     .help = "The most that the pool may draw, in watts, if all machines that are awake had all "
             "their cores at work (the watts of the 'node' sections). A machine that would exceed "
             "it is not woken, not even by name; 0: no limit."},
    {.name = "ROOSTER_RESERVE",
     .type = KNOB_STRING,
     .fallback = "",
     .check = reserve_plan_check,
     .next_expr = reserve_plan_next_expr,
     .help = "How many idle machines are kept awake (and woken if too few are): `5`, or `10%` of "
             "the pool, or by day and local time `Mon-Fri 07:00-19:00 = 5, else 1`; the first "
             "entry that applies counts. An expression in parentheses may stand for a number: "
             "`(PoolIdleJobs > 0 ? 5 : 1)`."},
    {.name = "ROOSTER_MIN_UP",
     .type = KNOB_DURATION_S,
     .fallback = "0",
     .min = 0,
     .max = 864000,
     .help = "How long every machine of the pool stays up after it was started or woken."},
    {.name = "ROOSTER_BREAK_EVEN",
     .type = KNOB_REAL,
     .fallback = "1",
     .min = 0,
     .max = 1000,
     .help = "Keeps a machine from sleeps that cost more than they save. A sleep breaks even when "
             "it has saved what the boot after it draws; a machine whose last sleeps were shorter "
             "than this many times the break-even time stays up, idle, for that time. 0: off. The "
             "watts of the machine must be known."},
    {.name = "ROOSTER_CYCLE_ENERGY",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "Wh",
     .help = "What one sleep costs besides the energy of the boot, for example wear; counted in "
             "ROOSTER_BREAK_EVEN."},
    {.name = "ROOSTER_MAX_SLEEPS_PER_DAY",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = WAKE_DAY_MAX,
     .unit = "sleeps",
     .help =
         "How often one machine may go to sleep by its own HIBERNATE in 24 hours; 0: no limit."},
    {.name = "ROOSTER_MAX_SLEEPS_PER_MINUTE",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "machines",
     .help = "How many machines may begin to go down in any minute; 0: no limit."},
    {.name = "ROOSTER_MAX_GOING_DOWN",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "machines",
     .help = "How many machines may be going down at the same time; 0: no limit."},
    {.name = "ROOSTER_MAX_GOING_DOWN_PERCENT",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 100,
     .help = "How many machines may be going down at the same time, in percent of the pool's "
             "machines, at least one; 0: no limit."},
    {.name = "ROOSTER_MAX_DOWN_PERCENT",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 100,
     .help =
         "How many of the pool's machines, in percent, may be asleep or going down; 0: no limit."},
    {.name = "ROOSTER_GOING_DOWN_TIME",
     .type = KNOB_DURATION_S,
     .fallback = "1m",
     .min = 1,
     .max = 3600,
     .help = "How long a machine that got permission to sleep counts as going down. A machine that "
             "the rooster itself takes down counts only until it is down."},
    {.name = "ROOSTER_COLLECTOR_MIN_AGE",
     .type = KNOB_DURATION_S,
     .fallback = "5m",
     .min = 0,
     .max = 86400,
     .help =
         "A collector that has run for less than this time may not know the whole pool yet. "
         "Until then at most ROOSTER_YOUNG_MAX_DOWN machines may go to sleep, and no machine is "
         "woken for the reserve."},
    {.name = "ROOSTER_YOUNG_MAX_DOWN",
     .type = KNOB_INT,
     .fallback = "10",
     .min = 0,
     .max = 1000000,
     .unit = "machines",
     .help = "How many machines may go to sleep in the time from the collector's start until it is "
             "ROOSTER_COLLECTOR_MIN_AGE old; machines that were asleep before do not count. 0: no "
             "limit."},
    {.name = "ROOSTER_ASLEEP_WATTS",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "W",
     .help =
         "What a machine draws while it sleeps, if its 'node' section does not say; 0: unknown."},
    {.name = "ROOSTER_IDLE_WATTS",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "W",
     .help = "What a machine draws when it is on and idle, if its 'node' section does not say; 0: "
             "unknown."},
    {.name = "ROOSTER_BUSY_WATTS",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "W",
     .help = "What a machine draws with all its cores at work, if its 'node' section does not say; "
             "0: unknown."},
    {.name = "ROOSTER_ENERGY_DAYS",
     .type = KNOB_INT,
     .fallback = "60",
     .min = 1,
     .max = 4000,
     .unit = "days",
     .help = "For how many days the energy of each day is kept (`roost power report`): the newest "
             "days on which the rooster ran."},
    {.name = "ROOSTER_UNHIBERNATE",
     .type = KNOB_EXPR,
     .fallback = "Offline && Unhibernate",
     .help = "Which machines this rooster may wake; evaluated in the offline ad."},
    {.name = "ROOSTER_UNHIBERNATE_RANK",
     .type = KNOB_EXPR,
     .help = "Machines for which this expression is higher are woken first; evaluated in the "
             "offline ad."},
    {.name = "ROOSTER_WAKEUP_CMD",
     .type = KNOB_STRING,
     .check = knob_check_program,
     .help = "The program that wakes machines without a 'node' section; it reads the offline ad "
             "from standard input."},
    {.name = "ROOSTER_TEST_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "0",
     .min = 0,
     .max = 86400000,
     .help = "A sleeping machine whose last successful wake is longer ago than this is woken as a "
             "test, one machine at a time; 0: never."},
    {.name = "ROOSTER_ASSUME_ASLEEP",
     .type = KNOB_DURATION_S,
     .fallback = "300",
     .min = 0,
     .max = 864000,
     .help = "After how much silence a machine whose power methods can wake it, but cannot tell "
             "its state (Wake-on-LAN), is taken as asleep, so that jobs wake it. A machine whose "
             "method says that it is on, or does not answer, is then kept as Unknown until it is "
             "heard again or is off. A machine whose method says that it is off is taken as asleep "
             "at once. 0: never; such machines are forgotten after CLASSAD_LIFETIME, below which "
             "this must be."},
    {.name = "ROOSTER_TICKET_CMD",
     .type = KNOB_STRING,
     .check = knob_check_program,
     .help = "The program that tells an operator (for example by a ticket) about a machine that "
             "needs attention: its wakes were given up, it keeps going back to sleep, or it joined "
             "with fewer resources than its offline ad promised. Its argument is the machine's "
             "name; it reads from standard input what happened."},
    {.name = "ROOSTER_WAKE_DEADLINE",
     .type = KNOB_DURATION_S,
     .fallback = "5m",
     .min = 1,
     .max = 86400,
     .help =
         "How long a woken machine may take to join the pool, until it has done so 3 times. From "
         "then on the deadline is learned: twice the 95th percentile of its last 32 boots."},
    {.name = "ROOSTER_WAKE_DEADLINE_MIN",
     .type = KNOB_DURATION_S,
     .fallback = "1m",
     .min = 1,
     .max = 86400,
     .help = "Lower limit of a learned deadline; a shorter ROOSTER_WAKE_DEADLINE lowers it."},
    {.name = "ROOSTER_WAKE_DEADLINE_MAX",
     .type = KNOB_DURATION_S,
     .fallback = "30m",
     .min = 1,
     .max = 86400,
     .help = "Upper limit of a learned deadline; a longer ROOSTER_WAKE_DEADLINE raises it."},
    {.name = "ROOSTER_WAKE_ATTEMPTS",
     .type = KNOB_INT,
     .fallback = "3",
     .min = 1,
     .max = 100,
     .help =
         "How many wakes are tried with each method of a machine before it is put in quarantine."},
    {.name = "ROOSTER_WAKE_BACKOFF",
     .type = KNOB_DURATION_S,
     .fallback = "10s",
     .min = 1,
     .max = 86400,
     .help = "How long the rooster waits after a failed wake before it tries again; doubled each "
             "time."},
    {.name = "ROOSTER_QUARANTINE",
     .type = KNOB_DURATION_S,
     .fallback = "1h",
     .min = 1,
     .max = 8640000,
     .help = "How long a machine that could not be woken is left alone; doubled each time until a "
             "wake succeeds. `roost power on NAME` ends it."},
    {.name = "ROOSTER_QUARANTINE_MAX",
     .type = KNOB_DURATION_S,
     .fallback = "1d",
     .min = 1,
     .max = 8640000,
     .help = "Upper limit of the quarantine; if less than ROOSTER_QUARANTINE, the quarantine does "
             "not grow."},
    {.name = "ROOSTER_ASLEEP_AGAIN",
     .type = KNOB_DURATION_S,
     .fallback = "1m",
     .min = 0,
     .max = 86400,
     .help = "Finds machines that are woken for jobs in vain. A machine that goes back to sleep "
             "within this time without a claim, although jobs still wait for it, "
             "ROOSTER_WAKE_ATTEMPTS times in a row, is put in quarantine; 0: off."},
};

const struct knob_table rooster_knobs = {.owner = "ROOSTER",
                                         .knobs = KNOBS,
                                         .knob_count = ARRAY_COUNT(KNOBS)};
