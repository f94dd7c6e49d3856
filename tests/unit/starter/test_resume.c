/* A starter whose job has checkpoints, with a shadow that the test plays, on whose disk they cannot
 * be read; and one whose job is root's, which asks for none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/starter/starter_bed.h"

#include "wire/checkpoint_attrs.h"

#define JOB                                                                      \
    "[ Cmd = \"/bin/true\"; Owner = \"nobody-here\"; User = \"x@elsewhere\"; "   \
    "TransferExecutable = false; TransferOutput = \"\"; WantCheckpoint = true; " \
    "CkptSequence = 2 ]"

#define SANDBOX "/var/tmp/roost-job" /* CHECKPOINT_SANDBOX, unless told */

struct bed {
    struct starter_bed base;
    const char *owner; /* of the job in the record; NULL: the record has none */
    int64_t offered;   /* so many, the latest of which is 2 */
    int64_t asked;     /* the last one of which bytes were wanted */
    int refusals, starts;
};

static void offer(const struct bed *bed, struct wire_request *request)
{
    struct ad *ads[2];
    for (int64_t i = 0; i < bed->offered; i++) {
        ads[i] = ad_create();
        ad_set_int(ads[i], CKPT_SEQUENCE, 2 - i);
        ad_set_int(ads[i], CKPT_IMAGE_STORED, 8);
        ad_set_int(ads[i], CKPT_FILES_STORED, 8);
        ad_set_string(ads[i], CKPT_SANDBOX, SANDBOX);
    }
    const struct wire_body body = {.ads = (const struct ad *const *)ads,
                                   .ad_count = (size_t)bed->offered};
    wire_reply_ok(request, &body);
    for (int64_t i = 0; i < bed->offered; i++) {
        ad_destroy(ads[i]);
    }
}

static void shadow_asked(void *arg, struct wire_request *request)
{
    struct bed *bed = arg;
    const struct ad *args = wire_request_args(request);
    switch (wire_request_verb(request)) {
    case VERB_JOB_FETCH: {
        struct ad *job;
        assert_int_equal(ad_parse(JOB, strlen(JOB), &job, NULL), 0);
        const struct ad *ads[] = {job};
        const struct wire_body body = {.ads = ads, .ad_count = 1};
        wire_reply_ok(request, &body);
        ad_destroy(job);
        return;
    }
    case VERB_CKPT_LOOK:
        offer(bed, request);
        return;
    case VERB_CKPT_GET:
        bed->asked = ad_int_or(args, CKPT_SEQUENCE, 0);
        wire_reply_error(request, -EIO, "the image cannot be read");
        return;
    case VERB_CKPT_REFUSED:
        assert_false(ad_bool_or(args, "Damaged", false)); /* it would be removed */
        bed->refusals++;
        wire_reply_ok(request, NULL);
        return;
    case VERB_JOB_STARTED:
    case VERB_JOB_DONE:
        bed->starts++;
        wire_reply_ok(request, NULL);
        bed->base.over = true;
        return;
    default:
        wire_reply_ok(request, NULL);
    }
}

static void startd_asked(void *arg, struct wire_request *request)
{
    (void)arg;
    wire_reply_ok(request, NULL);
}

/* Runs until the starter has begun the job, or wants nothing more. */
static void run(struct bed *bed, int64_t offered)
{
    char job[80];
    bed->offered = offered;
    starter_bed_open(&bed->base, shadow_asked, startd_asked);
    (void)snprintf(job, sizeof job, "[ Owner = \"%s\"; User = \"x@elsewhere\" ]", bed->owner);
    write_record(&bed->base, "1.0", tls_identity_pin(bed->base.identity), "[ " CKPT_HAS " = true ]",
                 bed->owner != NULL ? job : NULL);
    starter_bed_start(&bed->base);
    loop_run_until(bed->base.loop, &bed->base.over);
}

static void end(struct bed *bed)
{
    starter_bed_close(&bed->base);
}

static void where_none_can_be_read_the_job_does_not_begin_anew(void **state)
{
    struct bed bed = {.owner = NULL};
    (void)state;
    run(&bed, 1);
    assert_int_equal(bed.asked, 2);
    assert_int_equal(bed.refusals, 0);
    assert_int_equal(bed.starts, 0);
    end(&bed);
}

static void where_the_latest_cannot_be_read_the_one_before_is_asked_for(void **state)
{
    struct bed bed = {.owner = NULL};
    (void)state;
    run(&bed, 2);
    assert_int_equal(bed.asked, 1);
    assert_int_equal(bed.refusals, 1);
    assert_int_equal(bed.starts, 0);
    end(&bed);
}

static void a_job_of_root_does_not_begin(void **state)
{
    struct bed bed = {.owner = "root"}, other = {.owner = "nobody-here"};
    (void)state;
    run(&bed, 2); /* the starter stops the loop */
    assert_false(bed.base.over);
    assert_int_equal(bed.asked, 0);
    end(&bed);
    run(&other, 2);
    assert_int_equal(other.asked, 1);
    end(&other);
}

UNIT_TESTS(UNIT(where_none_can_be_read_the_job_does_not_begin_anew),
           UNIT(where_the_latest_cannot_be_read_the_one_before_is_asked_for),
           UNIT(a_job_of_root_does_not_begin))
