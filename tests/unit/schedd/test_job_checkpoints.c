/* tests/unit/schedd/test_job_checkpoints.c - what shadows report of checkpoints, on a real schedd.
 *
 * The test is the shadow.  Nothing runs here: a report is taken also of a job that is idle, as long
 * as no other run has begun.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

struct shadow {
    struct wire_context *context;
    struct wire *wire;
    bool ready;
    char stopped[256]; /* whose checkpoints were to be removed, in all */
    bool told;
};

static void shadow_ready(void *arg, struct wire *wire)
{
    (void)wire;
    ((struct shadow *)arg)->ready = true;
}

static void shadow_asked(void *arg, struct wire_request *request)
{
    struct shadow *shadow = arg;
    const char *ids = ad_string_or(wire_request_args(request), "Checkpoints", "");
    if (wire_request_verb(request) == VERB_JOB_STOP && ids[0] != '\0') {
        size_t length = strlen(shadow->stopped);
        (void)snprintf(shadow->stopped + length, sizeof(shadow->stopped) - length, "%s;", ids);
        shadow->told = true;
    }
    wire_reply_ok(request, NULL);
}

static void shadow_closed(void *arg, struct wire *wire, int status, const char *why)
{
    (void)status;
    (void)why;
    ((struct shadow *)arg)->wire = NULL;
    wire_close(wire);
}

/* checkpoints: what the schedd is to answer. */
static void become_shadow(struct world *world, struct shadow *shadow, const char *checkpoints)
{
    static const struct wire_events EVENTS = {.ready = shadow_ready,
                                              .request = shadow_asked,
                                              .closed = shadow_closed};
    const struct wire_dial how = {.address = world->local, .route = "shadow", .name = ""};
    struct answer answer;
    struct connection connection = {.world = world};
    char hello[256];
    *shadow = (struct shadow){0};
    assert_int_equal(ordinary_dial(world->os, world->context, &how, &EVENTS, shadow, &shadow->wire,
                                   NULL),
                     0);
    wait_for(world, &shadow->ready);
    connection.wire = shadow->wire;
    (void)snprintf(hello, sizeof(hello), "[Owner = \"%s\"; Pid = 1]", world->me);
    assert_int_equal(call_on(&connection, VERB_SHADOW_HELLO, hello, NULL, &answer), 0);
    assert_string_equal(ad_string_or(answer.args, "Checkpoints", "?"), checkpoints);
    answer_fini(&answer);
}

static int report(struct world *world, const struct shadow *shadow, const char *job,
                  const char *event, const char *rest)
{
    struct connection connection = {.world = world, .wire = shadow->wire};
    struct answer answer;
    char args[600];
    (void)snprintf(args, sizeof(args), "[JobId = \"%s\"; Event = \"%s\"; %s]", job, event, rest);
    int status = call_on(&connection, VERB_JOB_STATUS, args, NULL, &answer);
    answer_fini(&answer);
    return status;
}

static void shows(struct world *world, const char *type, const char *constraint)
{
    char args[600];
    (void)snprintf(args, sizeof(args), "[Type = \"%s\"; Constraint = \"%s\"]", type, constraint);
    count_is(world, args, 1);
}

static void leave(struct shadow *shadow)
{
    if (shadow->wire != NULL) {
        wire_close(shadow->wire);
    }
}

#define MACHINE "CkptArch = \"X86_64\"; CkptOpSys = \"LINUX\"; CkptFeatures = \"avx\""
#define FIRST   "ClaimEpoch = 0; CkptSequence = 1; CkptImageSize = 4096; ImageSize = 77; " MACHINE
#define SECOND  "ClaimEpoch = 0; CkptSequence = 2; CkptPrevious = 1; CkptImageSize = 9; " MACHINE
#define NEEDS                                                                             \
    "Requirements = MY.CkptArch =?= undefined || stringListSubsetMatch(MY.CkptFeatures, " \
    "TARGET.CkptFeatures)"
#define WANTS GOOD "; WantCheckpoint = true; " NEEDS

static void a_checkpoint_is_durable_when_it_is_answered_and_counts_once(void **state)
{
    struct world *world = *state;
    struct shadow shadow;
    assert_int_equal(submit(world, "[" WANTS "; ProcCount = 2]"), 1);
    become_shadow(world, &shadow, "");
    assert_int_equal(report(world, &shadow, "1.0", "Checkpointed", FIRST), 0);
    leave(&shadow);
    restart(world);
    shows(world, "Job",
          "CkptSequence == 1 && NumCkpts == 1 && CkptImageSize == 4096 && ImageSize == 77"
          " && LastCkptTime > QDate - 60 && CkptFeatures == \\\"avx\\\"");
    become_shadow(world, &shadow, "1.0");
    assert_int_equal(report(world, &shadow, "1.0", "Checkpointed", FIRST), 0);
    assert_int_equal(report(world, &shadow, "1.0", "Checkpointed", SECOND), 0);
    shows(world, "Job", "CkptSequence == 2 && CkptPrevious == 1 && NumCkpts == 2");
    assert_int_equal(report(world, &shadow, "1.0", "CheckpointRefused",
                            "ClaimEpoch = 0; CkptSequence = 2; CkptPrevious = 1; Damaged = true;"
                            " Reason = \"the sum is wrong\""),
                     0);
    leave(&shadow);
    restart(world);
    shows(world, "Job",
          "CkptSequence == 1 && CkptPrevious == 0 && CkptImageSize == 4096 && NumCkpts == 2"
          " && LastCkptRefused == \\\"the sum is wrong\\\"");
}

static void a_job_with_an_image_asks_for_other_machines_than_its_siblings(void **state)
{
    struct world *world = *state;
    struct shadow shadow;
    assert_int_equal(submit(world, "[" WANTS "; ProcCount = 3]"), 1);
    become_shadow(world, &shadow, "");
    assert_int_equal(report(world, &shadow, "1.1", "Checkpointed", FIRST), 0);
    shows(world, "Job", "ProcId == 1 && AutoClusterId == 2");
    shows(world, "Job", "ProcId == 0 && AutoClusterId == 1");
    assert_int_equal(report(world, &shadow, "1.1", "CheckpointRefused",
                            "ClaimEpoch = 0; CkptSequence = 1; Damaged = true"),
                     0);
    shows(world, "Job", "ProcId == 1 && AutoClusterId == 1 && CkptSequence == 0");
    leave(&shadow);
}

static void a_checkpoint_of_another_run_is_refused(void **state)
{
    struct world *world = *state;
    struct shadow shadow;
    assert_int_equal(submit(world, "[" WANTS "]"), 1);
    become_shadow(world, &shadow, "");
    assert_int_equal(report(world, &shadow, "1.0", "Checkpointed",
                            "ClaimEpoch = 1; CkptSequence = 1; " MACHINE),
                     -ESTALE);
    assert_int_equal(report(world, &shadow, "1.0", "Checkpointed",
                            "ClaimEpoch = -2; CkptSequence = 1; " MACHINE),
                     -ESTALE);
    assert_int_equal(report(world, &shadow, "7.0", "Checkpointed", FIRST), -ESTALE);
    /* that of the run which has just been taken from it, while no other has begun */
    assert_int_equal(report(world, &shadow, "1.0", "Checkpointed",
                            "ClaimEpoch = -1; CkptSequence = 1; " MACHINE),
                     0);
    assert_int_equal(report(world, &shadow, "1.0", "CheckpointRefused",
                            "ClaimEpoch = -1; CkptSequence = 1; Damaged = true"),
                     -ESTALE);
    shows(world, "Job", "CkptSequence == 1");
    leave(&shadow);
}

static void a_held_job_keeps_its_image_and_a_removed_one_does_not(void **state)
{
    struct world *world = *state;
    struct shadow shadow;
    assert_int_equal(submit(world, "[" WANTS "; ProcCount = 4]"), 1);
    become_shadow(world, &shadow, "");
    for (int i = 0; i < 3; i++) {
        char id[] = "1.0";
        id[2] = (char)('0' + i);
        assert_int_equal(report(world, &shadow, id, "Checkpointed", FIRST), 0);
    }
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\"}]", "Success", 1);
    act(world, "[Action = \"Release\"; Ids = {\"1.0\"}]", "Success", 1);
    shows(world, "Job", "ProcId == 0 && CkptSequence == 1 && JobStatus == 1");
    assert_string_equal(shadow.stopped, "");
    act(world, "[Action = \"Remove\"; Ids = {\"1.1\", \"1.2\", \"1.3\"}]", "Success", 3);
    wait_for(world, &shadow.told);
    assert_string_equal(shadow.stopped, "1.1,1.2;"); /* in one call, of those that had one */
    shows(world, "History", "ProcId == 1 && NumCkpts == 1 && LastCkptTime > 0");
    leave(&shadow);
    become_shadow(world, &shadow, "1.0");
    leave(&shadow);
}

static void nobody_sets_what_the_schedd_knows_of_checkpoints(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const changes[] = {"[CkptSequence = 7]", NULL};
    assert_int_equal(submit(world,
                            "[" WANTS "; NumCkpts = 5; CkptSequence = 3; CommittedTime = 9]"),
                     1);
    shows(world, "Job", "NumCkpts == 0 && CkptSequence =?= undefined && CommittedTime == 0");
    assert_int_equal(call(world, VERB_EDIT, "[Ids = {\"1.0\"}]", changes, &answer), -EPERM);
    answer_fini(&answer);
}

static void now(struct world *world, const char *args, const char *id, const char *result)
{
    struct answer answer;
    assert_int_equal(call(world, VERB_JOB_CHECKPOINT, args, NULL, &answer), 0);
    assert_int_equal(answer.ads.count, id != NULL ? 1 : 0);
    assert_int_equal(ad_int_or(answer.args, "Failed", -1), id != NULL ? 1 : 0);
    assert_int_equal(ad_int_or(answer.args, "Success", -1), 0);
    if (id != NULL) {
        assert_string_equal(ad_string_or(answer.ads.items[0], "Id", ""), id);
        assert_string_equal(ad_string_or(answer.ads.items[0], "Result", ""), result);
    }
    answer_fini(&answer);
}

static void who_wants_one_now_is_told_why_there_is_none(void **state)
{
    struct world *world = *state;
    struct answer answer;
    assert_int_equal(submit(world, "[" WANTS "]"), 1);
    assert_int_equal(submit(world, "[" GOOD "]"), 2);
    now(world, "[Ids = {\"1.0\"}]", "1.0", "BadStatus");
    now(world, "[Ids = {\"2\", \"7.0\"}]", "2.0", "NotWanted");
    now(world, "[Constraint = \"true\"]", NULL, NULL); /* those that run are meant */
    assert_int_equal(call(world, VERB_JOB_CHECKPOINT, "[Constraint = \"((\"]", NULL, &answer),
                     -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_JOB_CHECKPOINT, "[Ids = {\"x\"}]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_checkpoint_is_durable_when_it_is_answered_and_counts_once),
        CASE(a_job_with_an_image_asks_for_other_machines_than_its_siblings),
        CASE(a_checkpoint_of_another_run_is_refused),
        CASE(a_held_job_keeps_its_image_and_a_removed_one_does_not),
        CASE(who_wants_one_now_is_told_why_there_is_none),
        CASE(nobody_sets_what_the_schedd_knows_of_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
