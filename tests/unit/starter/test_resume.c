/* A starter whose job has checkpoints, with a shadow that the test plays, on whose disk they cannot
 * be read; and one whose job is root's, which asks for none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "classad/ad.h"
#include "classad/ad_parse.h"
#include "starter/starter.h"
#include "tests/support/config_memory.h"
#include "tests/support/fast_dir.h"
#include "wire/checkpoint_attrs.h"
#include "wire/job_record.h"
#include "wire/wire.h"

#define JOB                                                                      \
    "[ Cmd = \"/bin/true\"; Owner = \"nobody-here\"; User = \"x@elsewhere\"; "   \
    "TransferExecutable = false; TransferOutput = \"\"; WantCheckpoint = true; " \
    "CkptSequence = 2 ]"

#define MUST(call)                                 \
    do {                                           \
        struct err must_ = {""};                   \
        struct err *err = &must_;                  \
        if ((call) != 0) {                         \
            fail_msg("%s: %s", #call, must_.text); \
        }                                          \
    } while (0)

#define SANDBOX "/var/tmp/roost-job" /* CHECKPOINT_SANDBOX, unless told */

struct bed {
    char dir[FAST_DIR_SIZE], run_dir[FAST_DIR_SIZE + 32];
    struct loop *loop;
    struct os *os;
    struct config *config;
    struct daemon_env env;
    void *starter;
    struct tls_identity *identity;
    struct wire_context *wires;
    struct listener *listener;
    struct wire *wire;
    struct listener *startds; /* one that answers: the starter waits 30 s for it at its end */
    struct wire *startd;
    const char *owner; /* of the job in the record; NULL: the record has none */
    int64_t offered;   /* so many, the latest of which is 2 */
    int64_t asked;     /* the last one of which bytes were wanted */
    int refusals, starts;
    bool over;
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

static void on_request(void *arg, struct wire_request *request)
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
        bed->over = true;
        return;
    default:
        wire_reply_ok(request, NULL);
    }
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct bed *bed = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    bed->wire = NULL;
    bed->over = true;
}

static void on_incoming(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = on_request, .closed = on_closed};
    struct bed *bed = arg;
    const struct wire_accept how = {.identity = bed->identity, .no_token = true};
    MUST(wire_accept(bed->wires, incoming, &how, &EVENTS, bed, &bed->wire, err));
}

static void on_startd_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct bed *bed = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    bed->startd = NULL;
}

static void on_startd_request(void *arg, struct wire_request *request)
{
    (void)arg;
    wire_reply_ok(request, NULL);
}

static void on_starter(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = on_startd_request,
                                              .closed = on_startd_closed};
    struct bed *bed = arg;
    const struct wire_accept how = {.no_token = true};
    MUST(wire_accept(bed->wires, incoming, &how, &EVENTS, bed, &bed->startd, err));
}

static void write_record(struct bed *bed)
{
    struct ad *record = ad_create(), *slot = ad_create();
    struct strbuf text;
    char path[FAST_DIR_SIZE + 64];
    ad_set_string(record, "JobId", "1.0");
    ad_set_int(record, "ClaimEpoch", 1);
    ad_set_string(record, "ShadowAddress", listener_address(bed->listener));
    ad_set_string(record, "ShadowRoute", "shadow/somebody");
    ad_set_string(record, "ShadowPin", tls_identity_pin(bed->identity));
    ad_set_string(record, "SlotName", "slot1@wn");
    ad_set_string(record, "BootId", "b");
    ad_set_int(record, "LeaseDuration", 600);
    ad_set_int(record, "LeaseRemainingMs", 600000);
    ad_set_bool(slot, CKPT_HAS, true);
    ad_set_ad(record, "Slot", slot);
    if (bed->owner != NULL) {
        struct ad *job = ad_create();
        ad_set_string(job, "Owner", bed->owner);
        ad_set_string(job, "User", "x@elsewhere");
        ad_set_ad(record, "Job", job);
    }
    strbuf_init(&text, 0);
    static const struct wire_secret SECRETS[] = {{SECRET_CLAIM_ID, 0, "slot1@wn#b#00"},
                                                 {SECRET_NONCE, 0,
                                                  "00000000000000000000000000000000"}};
    job_record_write(record, SECRETS, 2, &text);
    (void)snprintf(path, sizeof path, "%s/job.record", bed->run_dir);
    MUST(os_write_file(bed->os, path, strbuf_text(&text), text.length, 0600, false, err));
    strbuf_fini(&text);
    ad_destroy(record);
}

/* Runs until the starter has begun the job, or wants nothing more. */
static void run(struct bed *bed, int64_t offered)
{
    static struct config_memory memory;
    static char text[512], name[] = "starter", option[] = "-dir";
    char address[FAST_DIR_SIZE + 32];
    bed->offered = offered;
    assert_true(fast_dir_make(bed->dir));
    assert_int_equal(chmod(bed->dir, 0711), 0);
    MUST(loop_create(&bed->loop, err));
    MUST(os_create(bed->loop, &bed->os, err));
    (void)snprintf(text, sizeof text, "LOCAL_DIR = \"%s\"\nRUN = \"%s\"\nSEC_DIRECTORY = \"%s\"\n",
                   bed->dir, bed->dir, bed->dir);
    memory = (struct config_memory){.files = {{"/roost.conf", text}}};
    struct config_source source = config_memory_source(&memory);
    const struct config_options options = {.subsystem = "STARTER",
                                           .path = "/roost.conf",
                                           .tables = starter_daemon.tables,
                                           .table_count = starter_daemon.table_count};
    MUST(config_load(&source, &options, &bed->config, err));
    (void)snprintf(bed->run_dir, sizeof bed->run_dir, "%s/dir_slot1_1.0_1", bed->dir);
    MUST(os_mkdirs(bed->os, bed->run_dir, 0711, err));
    const struct wire_context_options wires = {.loop = bed->loop,
                                               .os = bed->os,
                                               .uid_domain = "test"};
    MUST(wire_context_create(&wires, &bed->wires, err));
    MUST(tls_identity_ephemeral(bed->loop, "shadow", &bed->identity, err));
    MUST(listener_create(bed->loop, "tcp:127.0.0.1:0", on_incoming, bed, &bed->listener, err));
    (void)snprintf(address, sizeof address, "unix:%s/startd.sock", bed->dir);
    MUST(listener_create(bed->loop, address, on_starter, bed, &bed->startds, err));
    write_record(bed);
    char *const argv[] = {name, option, bed->run_dir, NULL};
    bed->env = (struct daemon_env){.loop = bed->loop,
                                   .os = bed->os,
                                   .config = bed->config,
                                   .name = "starter",
                                   .argc = 3,
                                   .argv = argv};
    MUST(starter_daemon.start(&bed->env, &bed->starter, err));
    loop_run_until(bed->loop, &bed->over);
}

static void end(struct bed *bed)
{
    starter_daemon.destroy(bed->starter);
    listener_destroy(bed->listener);
    listener_destroy(bed->startds);
    wire_close(bed->wire);
    wire_close(bed->startd);
    wire_context_destroy(bed->wires);
    tls_identity_destroy(bed->identity);
    config_destroy(bed->config);
    MUST(os_remove_tree(bed->os, bed->dir, err));
    os_destroy(bed->os);
    loop_destroy(bed->loop);
}

static void where_none_can_be_read_the_job_does_not_begin_anew(void **state)
{
    struct bed bed = {.over = false};
    (void)state;
    run(&bed, 1);
    assert_int_equal(bed.asked, 2);
    assert_int_equal(bed.refusals, 0);
    assert_int_equal(bed.starts, 0);
    end(&bed);
}

static void where_the_latest_cannot_be_read_the_one_before_is_asked_for(void **state)
{
    struct bed bed = {.over = false};
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
    assert_false(bed.over);
    assert_int_equal(bed.asked, 0);
    end(&bed);
    run(&other, 2);
    assert_int_equal(other.asked, 1);
    end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_none_can_be_read_the_job_does_not_begin_anew),
        cmocka_unit_test(where_the_latest_cannot_be_read_the_one_before_is_asked_for),
        cmocka_unit_test(a_job_of_root_does_not_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
