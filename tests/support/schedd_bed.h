/* tests/support/schedd_bed.h - a real schedd beside the collector of a bed (collector_bed.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_SCHEDD_BED_H
#define TESTS_SUPPORT_SCHEDD_BED_H

#include <sys/stat.h>

#include "base/daemon/daemon_run.h"
#include "schedd/schedd.h"
#include "tests/support/collector_bed.h"
#include "tests/support/ordinary_account.h"
#include "wire/claim_nonce.h"

/* Writes the certificate and the configuration of a schedd "s" into the directory of the bed;
 * token_id: name of the file in that directory that has the schedd's token; path becomes the path
 * of the configuration. */
static inline void schedd_bed_write(struct bed *bed, const char *token_id, char path[300])
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "LOCAL_DIR = \"%s/schedd\"\nLOG = \"%s/schedd\"\nRUN = \"%s/schedd\"\n"
                   "SEC_DIRECTORY = \"%s\"\nTOKEN_FILE = \"%s/%s\"\nCOLLECTOR_HOST = \"%s\"\n"
                   "SCHEDD_HOST = \"127.0.0.1\"\nSCHEDD_NAME = \"s\"\nUID_DOMAIN = \"pool\"\n%s",
                   bed->dir, bed->dir, bed->dir, bed->dir, bed->dir, token_id,
                   bed->tcp + strlen("tcp:"), ordinary_knob());
    /* so that shadows of other accounts can read the directory */
    assert_int_equal(chmod(bed->dir, 0755), 0);
    bed_path(bed, "schedd.conf", path);
    bed_write(bed, "schedd.conf", text, 0600);
    pool_rig_make_cert(bed->os, bed->dir, "schedd", "s");
}

static inline struct daemon_run *schedd_bed_start(struct bed *bed, char *path)
{
    char name[] = "roost-schedd", option[] = "-config", alone[] = "-noresurrect";
    char *const argv[] = {name, option, path, alone, NULL};
    struct daemon_run *run;
    MUST(daemon_run_start(&schedd_daemon, bed->loop, bed->os, NULL, 4, argv, &run, err));
    return run;
}

/* Connects over the schedd's Unix socket, on the given route. */
static inline struct client *dial_schedd_by(struct bed *bed, const char *route)
{
    static const struct wire_events EVENTS = {.ready = client_ready, .closed = client_closed};
    struct client *client = client_dial(bed, 0, "", NULL, NULL);
    char address[400];
    struct err err = {""};
    (void)snprintf(address, sizeof address, "unix:%s/schedd/spool/schedd.sock", bed->dir);
    const struct wire_dial how = {.address = address, .route = route, .name = ""};
    wire_close(client->wire);
    client->over = false;
    bool as_shadow = strcmp(route, "shadow") == 0;
    if ((as_shadow
             ? ordinary_dial(bed->os, client->context, &how, &EVENTS, client, &client->wire, &err)
             : wire_dial(client->context, &how, &EVENTS, client, &client->wire, &err)) != 0) {
        fail_msg("%s", err.text);
    }
    loop_rig_await(bed->loop, &client->over, NULL);
    assert_int_equal(client->status, 0);
    return client;
}

/* Connects a client to the schedd. */
static inline struct client *dial_schedd(struct bed *bed)
{
    return dial_schedd_by(bed, "schedd");
}

static inline size_t count_ads(struct client *client, const char *type, const char *constraint)
{
    char args[300];
    struct answer answer;
    (void)snprintf(args, sizeof args, "[ Type = \"%s\"; Constraint = \"%s\" ]", type, constraint);
    assert_int_equal(client_call(client, VERB_QUERY, args, NULL, &answer), 0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

/* Waits until the collector has `count` ads of this type for which constraint is true. */
static inline void wait_for_ads(struct client *client, const char *type, const char *constraint,
                                size_t count)
{
    for (int i = 0; i < 3000 && count_ads(client, type, constraint) != count; i++) {
        loop_rig_turn(client->bed->loop, 10);
    }
    assert_int_equal(count_ads(client, type, constraint), count);
}

static inline void call_ok(struct client *client, enum wire_verb verb, const char *args,
                           const char *const *ads)
{
    struct answer answer;
    if (client_call(client, verb, args, ads, &answer) != 0) {
        fail_msg("%s", answer.text);
    }
    answer_fini(&answer);
}

/* Tells the schedd, as the negotiator does, why the jobs of an autocluster got no slot. */
static inline void say_why(struct client *negotiator, int64_t autocluster, const char *why)
{
    struct answer answer;
    char ad[300];
    const char *const ads[] = {ad, NULL};
    (void)snprintf(ad, sizeof ad, "[ AutoClusterId = %lld; LastRejMatchReason = \"%s\" ]",
                   (long long)autocluster, why);
    assert_int_equal(client_relay(negotiator, "schedd/s", VERB_NO_MATCH,
                                  "[LastRejMatchNegotiator = \"n\"]", ads, &answer),
                     0);
    answer_fini(&answer);
}

/* Tells the schedd, as the negotiator does, that the first request of the schedd got the slot with
 * this claim id; returns the status of the reply. */
static inline int match(struct client *negotiator, const char *claim_id)
{
    static const char *const SLOT[] = {"[ Name = \"slot1@x\"; Machine = \"x\" ]", NULL};
    struct answer answer;
    char args[300];
    (void)snprintf(args, sizeof args,
                   "[ RequestName = \"s#1\"; AutoClusterId = 1; SlotName = \"slot1@x\"; "
                   "Machine = \"x\"; StartdUplink = \"startd/x\"; ClaimId = \"%s\" ]",
                   claim_id);
    int status = client_relay(negotiator, "schedd/s", VERB_MATCH, args, SLOT, &answer);
    answer_fini(&answer);
    return status;
}

/* Answers the request DIAL_ME as a startd does in whose slot another job must end first. */
static inline void startd_waits(struct wire_request *request, const char *nonce)
{
    char digest[CLAIM_NONCE_DIGEST_SIZE];
    struct ad *args = ad_create();
    claim_nonce_digest(nonce, digest);
    ad_set_string(args, "NonceDigest", digest);
    ad_set_bool(args, "Waits", true);
    ad_set_int(args, "WaitMax", 1000);
    ad_set_int(args, "AskAgain", 30);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

/* Answers a repeated DIAL_ME as a startd that cannot connect to the schedd. */
static inline void startd_dials(struct wire_request *request)
{
    struct ad *args = ad_create();
    ad_set_bool(args, "Dialing", true);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

/* Answers the request DIAL_ME as a startd does: the answer has the digest of the nonce with which
 * the startd will prove itself when it connects. */
static inline void startd_takes(struct wire_request *request, const char *nonce)
{
    char digest[CLAIM_NONCE_DIGEST_SIZE];
    struct ad *args = ad_create();
    claim_nonce_digest(nonce, digest);
    ad_set_string(args, "NonceDigest", digest);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

#endif
