/* A job that has an image, and a negotiator that finds no machine for it.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/schedd_bed.h"
#include "tests/support/unit.h"

#include <stdlib.h>

#define JOB                                                                    \
    "[Cmd = \"/bin/true\"; Iwd = \"/tmp\"; WantCheckpoint = true; "            \
    "Requirements = MY.CkptArch =?= undefined || MY.CkptAnywhere =?= true || " \
    "MY.CkptArch == TARGET.Arch; "

static void report(struct client *shadow, const char *args)
{
    call_ok(shadow, VERB_JOB_STATUS, args, NULL);
}

static void a_job_whose_image_no_machine_runs_is_given_to_any(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    struct client *negotiator = client_dial(bed, SCOPE_READ | SCOPE_NEGOTIATOR, "", NULL, NULL);
    const struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADVERTISE, "", NULL, NULL);
    char path[300], me[64], hello[128];
    schedd_bed_write(bed, token->token_id, path);
    assert_int_equal(setenv("ROOST_CHECKPOINT_PATIENCE", "1", 1), 0);
    assert_int_equal(setenv("ROOST_PERIODIC_EXPR_INTERVAL", "1", 1), 0);
    struct daemon_run *run = schedd_bed_start(bed, path);
    assert_int_equal(unsetenv("ROOST_CHECKPOINT_PATIENCE"), 0);
    assert_int_equal(unsetenv("ROOST_PERIODIC_EXPR_INTERVAL"), 0);
    struct client *schedd = dial_schedd(bed), *shadow = dial_schedd_by(bed, "shadow");
    assert_int_equal(ordinary_name(bed->os, me, sizeof me), 0);
    (void)snprintf(hello, sizeof hello, "[Owner = \"%s\"; Pid = 1]", me);
    call_ok(shadow, VERB_SHADOW_HELLO, hello, NULL);
    call_ok(schedd, VERB_SUBMIT, JOB "ProcCount = 2]", NULL);
    wait_for_ads(negotiator, "Request", "JobCount == 2", 1);
    report(shadow, "[JobId = \"1.0\"; ClaimEpoch = 0; Event = \"Checkpointed\"; CkptSequence = 1;"
                   " CkptArch = \"PDP11\"; CkptOpSys = \"LINUX\"]");
    /* What it needs is in its request. */
    wait_for_ads(negotiator, "Request", "JobCount == 1 && CkptArch == \\\"PDP11\\\"", 1);
    wait_for_ads(negotiator, "Request", "JobCount == 1 && CkptArch =?= undefined", 1);
    say_why(negotiator, 1, "no match found");
    assert_int_equal(count_ads(schedd, "Job", "CkptAnywhere =?= true"), 0);
    say_why(negotiator, 2, "no match found");
    wait_for_ads(schedd, "Job", "ProcId == 0 && CkptAnywhere =?= true", 1);
    wait_for_ads(negotiator, "Request", "JobCount == 1 && CkptAnywhere =?= true", 1);
    assert_int_equal(count_ads(schedd, "Job", "CkptAnywhere =?= true"), 1);
    report(shadow, "[JobId = \"1.0\"; ClaimEpoch = 0; Event = \"Checkpointed\"; CkptSequence = 2;"
                   " CkptArch = \"VAX\"; CkptOpSys = \"LINUX\"]");
    assert_int_equal(count_ads(schedd, "Job",
                               "CkptArch == \\\"VAX\\\" && CkptAnywhere =?= undefined"),
                     1);
    client_close(shadow);
    client_close(schedd);
    daemon_run_destroy(run);
    bed_destroy(bed);
}

UNIT_TESTS(UNIT(a_job_whose_image_no_machine_runs_is_given_to_any))
