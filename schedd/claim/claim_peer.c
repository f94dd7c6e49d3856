/* schedd/claim/claim_peer.c - connections of startds: CLAIM, ALIVE, CLAIM_GONE.
 *
 * A startd has no token that counts here.  It proves by the claim id, and by the nonce that it has
 * announced (wire/claim_nonce.h), that it was asked to come.  Before a CLAIM is accepted, a
 * connection can do nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/claim/claim_calls.h"
#include "schedd/claim/claim_wire.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/claim/job_claims.h"
#include "schedd/claim/job_match.h"
#include "schedd/job_events.h"
#include "schedd/job_moves.h"
#include "schedd/queue/job_queue.h"
#include "schedd/schedd_plan.h"
#include "schedd/schedd_state.h"
#include "wire/door.h"
#include "wire/wire.h"

#define CLAIM_PEERS_MAX 100000

/* ---- CLAIM ----------------------------------------------------------------------------------- */

static void attach_peer(struct claim *claim, struct claim_peer *peer)
{
    if (claim->peer == peer) {
        return;
    }
    if (claim->peer != NULL) {
        struct claim_peer *old = claim->peer; /* dialled again before we noticed the cut */
        claim_wire_end(old);
    }
    if (peer->claim != NULL) {
        peer->claim->peer = NULL;
    }
    claim->peer = peer;
    peer->claim = claim;
    wire_attend(peer->wire);
}

/* Makes the part of an answer about the lease.  It also tells our address and certificate, which
 * may have changed since DIAL_ME: the startd must find us again after its connection breaks. */
static struct ad *lease_answer(const struct claim *claim)
{
    const struct schedd *schedd = claim->schedd;
    struct ad *args = ad_create();
    ad_set_int(args, "LeaseDuration", (int64_t)(claim->lease_ms / 1000));
    ad_set_string(args, "ScheddAddress", schedd->self.address);
    ad_set_string(args, "ScheddPin", tls_identity_pin(door_identity(schedd->door)));
    return args;
}

static void answer_claim(const struct claim *claim, struct wire_request *request)
{
    struct ad *args = lease_answer(claim);
    if (claim->job != NULL) {
        ad_set_string(args, "JobId", claim->job_id);
        ad_set_int(args, "ClaimEpoch", claim->epoch);
    }
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void answer_waiting(struct claim *claim)
{
    struct wire_request *request = claim->claim_request;
    claim->claim_request = NULL;
    if (request != NULL) {
        answer_claim(claim, request);
    }
}

struct claim_ref {
    struct schedd *schedd;
    char id[CLAIM_ID_MAX + 1];
};

static void claim_committed(void *arg)
{
    struct claim_ref *ref = arg;
    struct claim *claim = claims_find(ref->schedd, ref->id);
    mem_free(ref);
    if (claim == NULL || claim->state != CLAIM_COMMITTING) {
        return;
    }
    claim->claimed_ms = loop_now_ms(claim->schedd->loop);
    claim_renewed(claim);
    answer_waiting(claim);
    if (claim->job != NULL) {
        claim_move(claim, CLAIM_STARTING);
        claim_start(claim);
    } else {
        claim->slot_idle = true;
        claim_move(claim, CLAIM_IDLE);
        claim_next(claim);
    }
}

static void accept_claim(struct claim *claim, struct wire_request *request)
{
    struct schedd *schedd = claim->schedd;
    if (claim->job == NULL) { /* removed or held since the match */
        struct job *other = autocluster_best(claim->autocluster);
        if (other == NULL) {
            claims_end(NULL, claim, "no job is left for the claim");
            wire_reply_error(request, -ENOKEY, "the job is gone, and no other job waits");
            return;
        }
        claim->job = other;
        other->claim = claim;
        queue_move(schedd, other, JOB_MATCHED);
    }
    const struct ad *args = wire_request_args(request);
    (void)snprintf(claim->boot_id, sizeof(claim->boot_id), "%s",
                   ad_string_or(args, "BootId", "")); /* compared only */
    claim_set_slot(claim, ad_string_or(args, "SlotName", ""),
                   wire_request_ad_count(request) > 0 ? wire_request_ad(request, 0) : NULL);
    claim->slot_idle = true;
    claim->claim_request = request;
    claim_move(claim, CLAIM_COMMITTING);
    struct claim_ref *ref = mem_zalloc(sizeof(*ref));
    ref->schedd = schedd;
    (void)snprintf(ref->id, sizeof(ref->id), "%s", claim->id); /* bounded at creation */
    struct change *change = change_begin(schedd);
    struct job *job = claim->job;
    ad_set_int(job_own(job), "NumJobMatches", job_int(job, "NumJobMatches", 0) + 1);
    ad_set_int(job_own(job), "LastMatchTime", loop_wall_s(schedd->loop));
    claim_assign(change, claim, job);
    change_commit(change, claim_committed, mem_free, ref);
}

/* Notes, once, since when nothing is heard of the job's machine. */
static void note_cut(const struct claim *claim, int64_t since_s, const char *why)
{
    struct job *job = claim->job;
    if (job == NULL || job->phase != JOB_ACTIVE || claim->schedd->stopping ||
        ad_has(job_own(job), "JobDisconnectedDate")) {
        return;
    }
    struct change *change = change_begin(claim->schedd);
    queue_note_disconnected(claim->schedd, job, since_s);
    events_disconnected(change, job, why);
    change_job(change, job);
    change_commit(change, NULL, NULL, NULL);
}

static void note_reconnected(const struct claim *claim)
{
    struct job *job = claim->job;
    if (job != NULL && ad_has(job_own(job), "JobDisconnectedDate")) {
        struct change *change = change_begin(claim->schedd);
        queue_note_disconnected(claim->schedd, job, 0);
        events_reconnected(change, job);
        change_job(change, job);
        change_commit(change, NULL, NULL, NULL);
    }
}

static void resume_claim(struct claim *claim, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = ad_string_or(args, "JobId", "");
    uint64_t now_ms = loop_now_ms(claim->schedd->loop);
    uint64_t end_ms = schedd_plan_lease_end(claim->renewed_ms, claim->lease_ms,
                                            claim->schedd->settings.lease_margin_ms);
    const struct plan_resume facts = {
        .lease_over = schedd_plan_lease_is_over(end_ms, now_ms),
        .has_job = claim->job != NULL,
        .same_job = strcmp(id, claim->job_id) == 0,
        .same_epoch = ad_int_or(args, "ClaimEpoch", 0) == claim->epoch,
        .startd_has_starter = id[0] != '\0',
    };
    enum plan_resumed verdict = schedd_plan_resume(&facts);
    if (claim->state == CLAIM_STOPPING || claim->state == CLAIM_RELEASING) {
        verdict = RESUME_REFUSE;
    }
    log_info(claim->schedd->log, "claim.resumed", "a startd has reconnected with its claim",
             LOG_TEXT("slot", claim->slot), LOG_TEXT("job", id),
             LOG_BOOL("accepted", verdict != RESUME_REFUSE));
    if (verdict == RESUME_REFUSE) {
        claim->peer->claim = NULL;
        claim->peer = NULL;
        wire_reply_error(request, -ENOKEY, "this claim has ended");
        claim_lost(claim, "the startd reconnected too late or with another job");
        return;
    }
    claim_renewed(claim);
    if (wire_request_ad_count(request) > 0) {
        claim_set_slot(claim, "", wire_request_ad(request, 0));
    }
    if (verdict == RESUME_RUNNING) {
        if (claim->state == CLAIM_STARTING) {
            claim_move(claim, CLAIM_BUSY); /* the answer to ACTIVATE was lost */
        }
        note_reconnected(claim);
        if (claim->job != NULL) {
            moves_suspension(claim->schedd, claim->job, args);
        }
        answer_claim(claim, request);
        return;
    }
    claim->slot_idle = true;
    answer_claim(claim, request);
    if (verdict == RESUME_AGAIN) {
        if (claim->state == CLAIM_BUSY || claim->state == CLAIM_STARTING) {
            claim_restart(claim);
        }
    } else if (claim->state == CLAIM_IDLE) {
        claim_next(claim);
    }
}

/* Returns whether this nonce is that of the machine that answered DIAL_ME.  A claim that an older
 * version has stored has no nonce, and is proved by its id alone. */
static bool is_the_machine(const struct claim *claim, const char *nonce)
{
    bool is_old = claim->nonce_digest[0] == '\0' && claim->state >= CLAIM_IDLE;
    return is_old || claim_nonce_fits(nonce, claim->nonce_digest);
}

/* Returns whether the request proves, by its nonce, that the claim's machine sent it; else answers
 * the request. */
static bool prove_machine(struct claim_peer *peer, const struct claim *claim,
                          struct wire_request *request)
{
    if (claim->nonce_digest[0] == '\0' && claim->state < CLAIM_COMMITTING) {
        wire_reply_error(request, -EAGAIN,
                         "the startd connected before its answer to DIAL_ME arrived; try again");
        return false;
    }
    if (!is_the_machine(claim, wire_request_secret(request, SECRET_NONCE))) {
        log_warn(peer->schedd->log, "claim.refused",
                 "a startd presented a claim id without the machine's nonce",
                 LOG_TEXT("machine", claim->machine), LOG_TEXT("slot", claim->slot),
                 LOG_TEXT("peer", wire_request_peer(request)->address),
                 LOG_TEXT("verb", wire_verb_name(wire_request_verb(request))));
        wire_reply_error(request, -ENOKEY, "this machine was not asked to connect");
        return false;
    }
    return true;
}

static void handle_claim(struct claim_peer *peer, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct claim *claim = claims_find(peer->schedd, wire_request_secret(request, SECRET_CLAIM_ID));
    if (peer->schedd->stopping) { /* its successor knows the claim: the job is to go on */
        wire_reply_error(request, -ESHUTDOWN, "this schedd is stopping");
        return;
    }
    if (claim == NULL || strcmp(claim->machine, ad_string_or(args, "Machine", "")) != 0) {
        log_info(peer->schedd->log, "claim.refused",
                 "a startd presented an unknown or old claim id",
                 LOG_TEXT("machine", ad_string_or(args, "Machine", "")),
                 LOG_TEXT("slot", ad_string_or(args, "SlotName", "")));
        wire_reply_error(request, -ENOKEY, "no such claim in this schedd");
        return;
    }
    if (!prove_machine(peer, claim, request)) {
        return;
    }
    wire_proved(peer->wire);
    attach_peer(claim, peer);
    switch (claim->state) {
    case CLAIM_ASKED:
    case CLAIM_WAITING:
    case CLAIM_EXPECTED:
        accept_claim(claim, request);
        break;
    case CLAIM_COMMITTING: /* the startd dialled again before it had the answer */
        claim_wire_refuse(claim, -ESTALE,
                          "the startd has sent a newer CLAIM request for this claim");
        claim->claim_request = request;
        break;
    default:
        if (ad_bool_or(args, "Resume", false) || claim->job_id[0] != '\0') {
            resume_claim(claim, request);
        } else {
            answer_claim(claim, request);
        }
        break;
    }
}

/* ---- ALIVE and CLAIM_GONE -------------------------------------------------------------------- */

/* To be called when the startd reports that the claim has no starter. */
static void slot_became_idle(struct claim *claim)
{
    claim->slot_idle = true;
    if (claim->state == CLAIM_IDLE) {
        claim_next(claim);
    } else if (claim->state == CLAIM_BUSY ||
               (claim->state == CLAIM_STARTING && claim->start.await_idle)) {
        claim_restart(claim);
    } /* starting: it was said before our ACTIVATE got there; stopping: DEACTIVATE is answered */
}

static void handle_alive(struct claim_peer *peer, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct claim *claim = peer->claim;
    if (claim == NULL || strcmp(claim->id, wire_request_secret(request, SECRET_CLAIM_ID)) != 0) {
        wire_reply_error(request, -ENOKEY, "no such claim on this connection");
        return;
    }
    const char *id = ad_string_or(args, "JobId", "");
    int64_t epoch = ad_int_or(args, "ClaimEpoch", 0);
    if (claim->state == CLAIM_BUSY && id[0] != '\0' &&
        (strcmp(id, claim->job_id) != 0 || epoch != claim->epoch)) {
        wire_reply_error(request, -ENOKEY,
                         "this claim runs job %s with epoch %lld, not job %s with epoch %lld",
                         claim->job_id, (long long)claim->epoch, id, (long long)epoch);
        return;
    }
    bool has_starter = id[0] != '\0';
    claim_renewed(claim);
    if (has_starter && claim->job != NULL && epoch == claim->epoch) {
        moves_suspension(claim->schedd, claim->job, args);
    }
    struct ad *reply = lease_answer(claim);
    const struct wire_body body = {.args = reply};
    wire_reply_ok(request, &body);
    ad_destroy(reply);
    if (!has_starter) {
        slot_became_idle(claim);
    }
}

static void answer_gone(void *arg)
{
    wire_reply_ok(arg, NULL);
}

static void drop_gone(void *arg)
{
    wire_reply_error(arg, -ESHUTDOWN, "the schedd is stopping");
}

/* A startd may end a claim on a connection on which it has not said CLAIM: the claim ended before
 * the startd knew whether the schedd has made it. */
static void handle_gone(struct claim_peer *peer, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = wire_request_secret(request, SECRET_CLAIM_ID);
    struct claim *claim = peer->claim != NULL ? peer->claim : claims_find(peer->schedd, id);
    if (claim != NULL && peer->claim == NULL && peer->schedd->stopping) {
        drop_gone(request); /* the next schedd is to be told */
        return;
    }
    if (claim != NULL && peer->claim == NULL &&
        strcmp(claim->machine, ad_string_or(args, "Machine", "")) == 0) {
        if (!prove_machine(peer, claim, request)) {
            return;
        }
        attach_peer(claim, peer);
        claim_wire_refuse(claim, -ENOKEY, "the startd has ended this claim");
    }
    if (claim != NULL && peer->claim == claim && strcmp(claim->id, id) == 0) {
        char why[256];
        (void)snprintf(why, sizeof(why), "the startd ended the claim: %s",
                       ad_string_or(args, "Reason", "no reason given")); /* cut if long */
        peer->claim = NULL; /* the connection stays for the answer */
        claim->peer = NULL;
        if (ad_bool_or(args, "Preempted", false)) {
            claim_preempted(claim, why);
        } else if (ad_bool_or(args, "StarterFailed", false)) {
            claim_failed(claim, ad_string_or(args, "Reason", "no reason given"),
                         ad_bool_or(args, "MachineFault", false));
        } else {
            claim_lost(claim, why);
        }
    } /* else it is over here, too */
    change_commit(change_begin(peer->schedd), answer_gone, drop_gone, request);
}

/* ---- connections ----------------------------------------------------------------------------- */

static void on_request(void *arg, struct wire_request *request)
{
    struct claim_peer *peer = arg;
    switch (wire_request_verb(request)) {
    case VERB_CLAIM:
        handle_claim(peer, request);
        break;
    case VERB_ALIVE:
        handle_alive(peer, request);
        break;
    case VERB_CLAIM_GONE:
        handle_gone(peer, request);
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "the connection of a claim does not support %s",
                         wire_verb_name(wire_request_verb(request)));
        break;
    }
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    (void)wire;
    (void)status;
    struct claim_peer *peer = arg;
    struct claim *claim = peer->claim;
    claim_wire_end(peer);
    if (claim == NULL) {
        return;
    }
    log_info(claim->schedd->log, "claim.cut", "the connection of a claim was lost",
             LOG_TEXT("slot", claim->slot), LOG_TEXT("job", claim->job_id),
             LOG_TEXT("state", claim_state_name(claim->state)), LOG_TEXT("why", why));
    claim_wire_refuse(claim, -ECONNRESET, "the connection was lost");
    if (claim->job != NULL) {
        claim_ask_whether_known(claim);
    }
    if (claim->state == CLAIM_IDLE || claim->state == CLAIM_RELEASING ||
        claim->state == CLAIM_STOPPING) {
        struct change *change = change_begin(claim->schedd);
        claims_end(change, claim, "the connection was lost, and the claim has no job");
        change_commit(change, NULL, NULL, NULL);
    } else {
        note_cut(claim, loop_wall_s(claim->schedd->loop), why);
    }
}

/* The startd does not answer a PING on the claim's connection, or is heard again. */
static void on_silent(void *arg, struct wire *wire, uint64_t silent_ms)
{
    (void)wire;
    struct claim_peer *peer = arg;
    const struct claim *claim = peer->claim;
    peer->silent = silent_ms != 0;
    if (claim == NULL) {
        return;
    }
    if (silent_ms == 0) {
        note_reconnected(claim);
        return;
    }
    note_cut(claim, loop_wall_s(claim->schedd->loop) - (int64_t)(silent_ms / 1000),
             "the machine is not responding");
}

static int admit_startd(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                        struct err *err)
{
    struct claim_peer *claim_peer = arg;
    (void)peer;
    (void)err;
    const struct claim *claim =
        claims_find(claim_peer->schedd, wire_hello_secret(hello, SECRET_CLAIM_ID));
    /* Who comes before the answer to DIAL_ME may say CLAIM after it, with the ad of its slot: that
     * is no small frame. */
    if (claim != NULL && (claim->nonce_digest[0] == '\0' ||
                          is_the_machine(claim, wire_hello_secret(hello, SECRET_NONCE)))) {
        wire_proved(claim_peer->wire);
    }
    return 0; /* without a claim id, or with an ended one: answered when CLAIM comes */
}

void claim_peers_accept(struct schedd *schedd, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = on_request,
                                              .closed = on_closed,
                                              .silent = on_silent};
    if (schedd->claimed.peers.count >= CLAIM_PEERS_MAX) {
        log_error(schedd->log, "claim.too_many", "too many connections of startds");
        incoming_refuse(incoming);
        return;
    }
    const struct wire_accept how = {
        .identity = door_identity(schedd->door),
        .no_token = true,
        .proves_later = true, /* unless admit_startd() finds the claim's id in the greeting */
        .scopes = SCOPE_ADVERTISE,
        .admit = admit_startd,
    };
    struct claim_peer *peer = mem_zalloc(sizeof(*peer));
    peer->schedd = schedd;
    struct err err;
    if (wire_accept(schedd->context, incoming, &how, &EVENTS, peer, &peer->wire, &err) != 0) {
        log_warn(schedd->log, "claim.not_accepted", err.text);
        mem_free(peer);
        return;
    }
    vec_push(&schedd->claimed.peers, peer);
}

void claim_peers_fini(struct schedd *schedd)
{
    while (schedd->claimed.peers.count > 0) {
        claim_wire_end(schedd->claimed.peers.items[schedd->claimed.peers.count - 1]);
    }
    vec_fini(&schedd->claimed.peers, NULL);
}
