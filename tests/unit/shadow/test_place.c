/* tests/unit/shadow/test_place.c - output that cannot be moved to its place at once.
 *
 * renameat() of this program stands in the place of the C library's, so that the disk can fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/shadow_bed.h"

static int failures, error;

int renameat(int from, const char *old, int to, const char *new)
{
    if (failures > 0 && strcmp(new, "out") == 0) {
        failures--;
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

static void place_one(struct world *world, struct starter *starter)
{
    char text[512];
    put(world, "run.sh", "#!/bin/sh\n");
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, starter);
    put_file(world, starter, "_condor_stdout", "hello\n");
    assert_int_equal(call(world, starter->wire, VERB_JOB_DONE,
                          done_args("_condor_stdout", "hello\n", text), NULL, NULL),
                     0);
}

static void one_error_of_the_disk_does_not_hold_the_job(void **state)
{
    struct world *world = *state;
    struct starter starter;
    failures = 1;
    error = EIO;
    place_one(world, &starter);
    file_is(world, "out", "hello\n");
    reports_are(world, "JOB_RESULT exit 5;JOB_PLACED;");
    wire_close(starter.wire);
}

static void a_full_disk_holds_the_job_at_once(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char expected[512];
    failures = 1;
    error = ENOSPC;
    place_one(world, &starter);
    assert_int_equal(failures, 0);
    (void)snprintf(expected, sizeof(expected),
                   "JOB_RESULT exit 5;JOB_STATUS Hold 12 Transfer output files failure at the "
                   "access point. Details: %s/out: No space left on device;",
                   world->dir);
    reports_are(world, expected);
    wire_close(starter.wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_error_of_the_disk_does_not_hold_the_job),
        CASE(a_full_disk_holds_the_job_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
