/* tests/unit/pcontrol/test_states_plan.c - the two tables of states, against the seed document's
 * own lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/check.h"
#include "pcontrol/phost_states_plan.h"
#include "pcontrol/pjob_states_plan.h"
#include "tests/support/unit.h"

/* Copied from the seed, "Job State Transitions" and "Host State Transitions"; then our rows. */
static const char *const JOB_LINES[] = {
    "NEW -> PENDING : AddJob",
    "PENDING -> BUSY : StartJob",
    "PENDING -> DEL : DelJob",
    "BUSY -> DONE : CheckBusyJob | KillJob",
    "DONE -> EXIT : CheckDoneJob",
    "DONE -> CRASH : CheckDoneJob",
    "BUSY -> PENDING : CheckJob | CheckHost",
    "EXIT -> DEL : DelJob",
    "CRASH -> DEL : DelJob",
    "DONE -> CRASH : CheckHost",      /* ours: output lost */
    "DONE -> PENDING : CheckHost",    /* ours: the same, with -retries */
    "DONE -> PENDING : CheckDoneJob", /* ours: -retries */
};

static const char *const HOST_LINES[] = {
    "NEW -> OFF : AddHost",        "OFF -> DEL : DelHost",
    "OFF -> DOWN : OnHost",        "DOWN -> OFF : OffHost",
    "IDLE -> OFF : OffHost",       "DOWN -> IDLE : StartHost",
    "IDLE -> BUSY : StartJob",     "BUSY -> IDLE : CheckJob | KillJob",
    "BUSY -> BUSY-OFF : OffHost",  "BUSY -> DOWN : CheckJob | CheckHost",
    "BUSY-OFF -> OFF : CheckJob",  "IDLE -> DOWN : CheckHost", /* ours */
    "IDLE -> DOWN : StopHost",                                 /* ours: host NAME -stop */
    "BUSY-OFF -> OFF : CheckHost",                             /* ours */
    "BUSY-OFF -> OFF : KillJob",                               /* ours */
    "BUSY-OFF -> BUSY : OnHost",                               /* ours */
};

/* Returns whether "FROM -> TO : BY | BY" contains this move. */
static bool line_has(const char *line, const char *from, const char *to, const char *by)
{
    char head[64], tail[64];
    (void)snprintf(head, sizeof(head), "%s -> %s : ", from, to);
    if (strncmp(line, head, strlen(head)) != 0) {
        return false;
    }
    (void)snprintf(tail, sizeof(tail), "%s", line + strlen(head));
    for (char *word = tail, *next; word != NULL; word = next) {
        next = strstr(word, " | ");
        if (next != NULL) {
            *next = '\0';
            next += 3;
        }
        if (strcmp(word, by) == 0) {
            return true;
        }
    }
    return false;
}

static bool lines_have(const char *const *lines, size_t count, const char *from, const char *to,
                       const char *by)
{
    for (size_t i = 0; i < count; i++) {
        if (line_has(lines[i], from, to, by)) {
            return true;
        }
    }
    return false;
}

static void jobs_move_as_the_seed_says_and_not_otherwise(void **state)
{
    (void)state;
    size_t allowed = 0;
    for (enum pjob_state from = PJOB_NEW; from <= PJOB_DEL; from++) {
        for (enum pjob_state to = PJOB_NEW; to <= PJOB_DEL; to++) {
            for (enum pjob_operation by = PJOB_ADD; by <= PJOB_CHECK_HOST; by++) {
                bool expected =
                    lines_have(JOB_LINES, ARRAY_COUNT(JOB_LINES), pjob_states_name(from),
                               pjob_states_name(to), pjob_states_operation(by));
                assert_int_equal(pjob_states_allow(from, to, by), expected);
                allowed += expected ? 1 : 0;
            }
        }
    }
    assert_int_equal(allowed, 14);
}

static void hosts_move_as_the_seed_says_and_not_otherwise(void **state)
{
    (void)state;
    size_t allowed = 0;
    for (enum phost_state from = PHOST_NEW; from <= PHOST_DEL; from++) {
        for (enum phost_state to = PHOST_NEW; to <= PHOST_DEL; to++) {
            for (enum phost_operation by = PHOST_ADD; by <= PHOST_STOP; by++) {
                bool expected =
                    lines_have(HOST_LINES, ARRAY_COUNT(HOST_LINES), phost_states_name(from),
                               phost_states_name(to), phost_states_operation(by));
                assert_int_equal(phost_states_allow(from, to, by), expected);
                allowed += expected ? 1 : 0;
            }
        }
    }
    assert_int_equal(allowed, 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_move_as_the_seed_says_and_not_otherwise),
        cmocka_unit_test(hosts_move_as_the_seed_says_and_not_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
