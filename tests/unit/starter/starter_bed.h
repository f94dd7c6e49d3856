/* tests/unit/starter/starter_bed.h - a starter, and the shadow and the startd that the test plays.
 *
 * The struct of a test begins with a struct starter_bed, so that the callbacks of the test, whose
 * arg is the bed, can use arg as that struct.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_STARTER_STARTER_BED_H
#define TESTS_UNIT_STARTER_STARTER_BED_H

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stream/stream.h"
#include "starter/starter.h"
#include "tests/support/call_rig.h"
#include "tests/support/daemon_rig.h"
#include "wire/job_record.h"
#include "wire/wire.h"

struct starter_bed {
    char dir[FAST_DIR_SIZE], run_dir[128];
    struct loop *loop;
    struct os *os;
    struct daemon_rig daemon;
    struct starter *starter; /* its state */
    char *argv[4];
    struct wire_context *wires;
    struct tls_identity *identity; /* of the shadow */
    struct listener *listener;
    struct wire *wire; /* the starter's connection to the shadow */
    int connections;   /* that the starter made to the shadow */
    bool over;         /* the test sets it when it has seen the end; so does the end of `wire` */
    struct listener *startd; /* the startd's socket; NULL: there is none */
    struct wire *startd_wire;
    bool has_moved; /* the record of the run has an address at which the shadow is not */
    wire_handler_f shadow_asked, startd_asked;
};

static inline void shadow_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct starter_bed *bed = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    bed->wire = NULL;
    bed->over = true; /* the starter wants nothing more */
}

static inline void shadow_incoming(void *arg, struct incoming *incoming)
{
    struct starter_bed *bed = arg;
    const struct wire_events events = {.request = bed->shadow_asked, .closed = shadow_closed};
    const struct wire_accept how = {.identity = bed->identity, .no_token = true};
    bed->connections++;
    MUST(wire_accept(bed->wires, incoming, &how, &events, bed, &bed->wire, err));
}

static inline void startd_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct starter_bed *bed = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    bed->startd_wire = NULL;
}

static inline void startd_incoming(void *arg, struct incoming *incoming)
{
    struct starter_bed *bed = arg;
    const struct wire_events events = {.request = bed->startd_asked, .closed = startd_closed};
    const struct wire_accept how = {.no_token = true};
    MUST(wire_accept(bed->wires, incoming, &how, &events, bed, &bed->startd_wire, err));
}

/* Writes the record of a run. slot_text, job_text: ads, or NULL. */
static inline void write_record(struct starter_bed *bed, const char *job_id, const char *pin,
                                const char *slot_text, const char *job_text)
{
    static const struct wire_secret SECRETS[] = {{SECRET_CLAIM_ID, 0, "slot1@wn#b#00"},
                                                 {SECRET_NONCE, 0,
                                                  "00000000000000000000000000000000"}};
    struct ad *record = ad_from_text("[ ClaimEpoch = 1; ShadowRoute = \"shadow/somebody\";"
                                     " SlotName = \"slot1@wn\"; BootId = \"b\";"
                                     " LeaseDuration = 600; LeaseEndMs = 4000000000000 ]");
    struct strbuf text;
    ad_set_string(record, "JobId", job_id);
    ad_set_string(record, "ShadowAddress",
                  bed->has_moved ? "tcp:127.0.0.1:1" : listener_address(bed->listener));
    ad_set_string(record, "ShadowPin", pin);
    if (slot_text != NULL) {
        ad_set_ad(record, "Slot", ad_from_text(slot_text));
    }
    if (job_text != NULL) {
        ad_set_ad(record, "Job", ad_from_text(job_text));
    }
    strbuf_init(&text, 0);
    job_record_write(record, SECRETS, 2, &text);
    loop_rig_write(bed->os, bed->run_dir, "job.record", strbuf_text(&text), 0600);
    strbuf_fini(&text);
    ad_destroy(record);
}

/* Makes all but the starter. startd_asked: NULL: there is no startd. */
static inline void starter_bed_open(struct starter_bed *bed, wire_handler_f shadow_asked,
                                    wire_handler_f startd_asked)
{
    char text[512];
    bed->shadow_asked = shadow_asked;
    bed->startd_asked = startd_asked;
    loop_rig_open(&bed->loop, &bed->os, bed->dir);
    assert_int_equal(chmod(bed->dir, 0711), 0); /* so that SLOT_USER can reach the sandbox */
    (void)snprintf(text, sizeof text, "LOCAL_DIR = \"%s\"\nRUN = \"%s\"\nSEC_DIRECTORY = \"%s\"\n",
                   bed->dir, bed->dir, bed->dir);
    daemon_rig_load(&bed->daemon, &starter_daemon, text);
    (void)snprintf(bed->run_dir, sizeof bed->run_dir, "%s/dir_slot1_1.0_1", bed->dir);
    MUST(os_mkdirs(bed->os, bed->run_dir, 0711, err));
    const struct wire_context_options options = {.loop = bed->loop,
                                                 .os = bed->os,
                                                 .uid_domain = "test"};
    MUST(wire_context_create(&options, &bed->wires, err));
    MUST(tls_identity_ephemeral(bed->loop, "shadow", &bed->identity, err));
    MUST(listener_create(bed->loop, "tcp:127.0.0.1:0", shadow_incoming, bed, &bed->listener, err));
    if (startd_asked != NULL) {
        (void)snprintf(text, sizeof text, "unix:%s/startd.sock", bed->dir);
        MUST(listener_create(bed->loop, text, startd_incoming, bed, &bed->startd, err));
    }
}

static inline void starter_bed_start(struct starter_bed *bed)
{
    bed->argv[0] = (char *)"starter";
    bed->argv[1] = (char *)"-dir";
    bed->argv[2] = bed->run_dir;
    bed->daemon.env.argc = 3;
    bed->daemon.env.argv = bed->argv;
    bed->starter = daemon_rig_start(&bed->daemon, bed->loop, bed->os, NULL);
}

static inline void starter_bed_close(struct starter_bed *bed)
{
    daemon_rig_fini(&bed->daemon);
    listener_destroy(bed->listener);
    listener_destroy(bed->startd);
    wire_close(bed->startd_wire);
    wire_close(bed->wire);
    wire_context_destroy(bed->wires);
    tls_identity_destroy(bed->identity);
    loop_rig_close(bed->loop, bed->os, bed->dir);
}

#endif
