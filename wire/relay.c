/* wire/relay.c - our requests that a hub carries: signs them, and verifies the signed answers.
 *
 * A request names its receiver in full and the receiver's instance.  Both are learned from the hub:
 * a RELAY without a proof, or with an old instance, is answered by the hub or the receiver with
 * -ESTALE and what to sign.  The request is then signed (again) and sent.  The hub may lie there: a
 * signature for a wrong name or instance is refused by whoever gets it.  Instances are remembered
 * per connection, so that the next request to the same receiver is sent at once.
 *
 * Answers.  The receiver signs each part together with the digest of the request and the part's
 * number, so a hub can neither invent, change, reorder nor omit a part.  Refusals are not signed:
 * those of the hub, and those of a receiver that could not verify its caller.  A hub can refuse in
 * another's name; it cannot claim that something was done, and can add only a sentence to the
 * refusal.
 *
 * Rejected: holding later requests back while an earlier one is signed again.  A slow answer would
 * hold up all others, and no verb depends on the order of two unanswered requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "wire/wire_private.h"

#define NUMBERS       ((uint64_t)1 << 62) /* numbers of relays are above those of calls */
#define ATTEMPTS_MAX  8                   /* times that one request is signed */
#define TOKEN_AGE_MS  5000                /* our own token is read again when it is older */
#define INSTANCES_MAX 20000               /* receivers remembered per connection */
#define EARLY_MS      50                  /* before one that came too early is asked again */
#define EARLY_MAX     7                   /* times, each after twice the time: 6 s in all */

struct relay {
    struct id_node node; /* first */
    struct wire *wire;
    char *asked; /* "startd/wn01", "rooster/" */
    char target[WIRE_NAME_MAX + 1];
    enum wire_verb verb;
    uint32_t deadline_said_ms;
    uint64_t due_ms; /* 0: none */
    struct strbuf body;
    uint8_t body_digest[P256_DIGEST_BYTES];
    wire_reply_f call;
    void *arg;
    int64_t inner; /* the call that is under way */
    unsigned attempts, early;
    struct loop_timer *again; /* set while it waits to be asked again, without an inner call */
    uint8_t request_digest[P256_DIGEST_BYTES];
    uint64_t part;         /* number of the next part of the answer */
    struct caller *answer; /* the daemon that answers, once its token was verified; NULL: not yet */
    char *answer_token;
};

static void relay_free(struct relay *relay)
{
    loop_timer_destroy(relay->again);
    strbuf_fini(&relay->body);
    caller_unref(relay->answer);
    mem_free(relay->answer_token);
    mem_free(relay->asked);
    mem_free(relay);
}

static struct relay *relay_find(const struct wire *wire, uint64_t number)
{
    return (struct relay *)id_table_get(&wire->relays, number);
}

/* Ends the relay with a reply made on this side. */
static void relay_end(struct relay *relay, int status, const char *text)
{
    struct wire_reply reply = {.status = status, .text = text, .token_id = ""};
    wire_reply_f call = relay->call;
    void *arg = relay->arg;
    id_table_remove(&relay->wire->relays, &relay->node);
    relay_free(relay);
    call(arg, &reply);
}

bool relay_cancel(struct wire *wire, int64_t number)
{
    struct relay *relay = relay_find(wire, (uint64_t)number);
    if (((uint64_t)number & NUMBERS) == 0) {
        return false;
    }
    if (relay != NULL) {
        int64_t inner = relay->inner;
        id_table_remove(&wire->relays, &relay->node);
        relay_free(relay);
        wire_cancel(wire, inner);
    }
    return true;
}

static bool relay_waits(const struct relay *relay)
{
    return relay->again != NULL && loop_timer_is_set(relay->again);
}

void relay_tell_all_over(struct wire *wire)
{
    struct id_node *node = wire->relays.first;
    while (node != NULL) {
        struct relay *relay = (struct relay *)node;
        node = node->next;
        if (relay_waits(relay)) {
            relay_end(relay, -ECONNRESET, wire->end.why == NULL ? "" : wire->end.why);
            node = wire->relays.first; /* the callback may have cancelled others */
        }
    }
}

void relay_drop_all(struct wire *wire)
{
    while (wire->relays.first != NULL) {
        struct relay *relay = (struct relay *)wire->relays.first;
        id_table_remove(&wire->relays, &relay->node);
        relay_free(relay);
    }
    id_table_fini(&wire->relays);
    strmap_destroy(wire->instances, mem_free);
    wire->instances = NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void on_reply(void *arg, const struct frame *frame);

static bool is_prefix(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && name[length - 1] == '/';
}

/* Adds token, instance, number and proof to the arguments of a RELAY. */
static int relay_sign(struct relay *relay, const char *instance, struct ad *args)
{
    struct wire_context *context = relay->wire->context;
    const struct credential *own = wire_context_own(context, TOKEN_AGE_MS);
    if (own == NULL) {
        return -ENOKEY;
    }
    uint64_t number = 0;
    loop_secret(context->loop, &number, sizeof number);
    number &= INT64_MAX;
    const struct proof_relay statement = {.pool = own->token.pool,
                                          .token = own->text,
                                          .caller = own->token.identity,
                                          .target = relay->target,
                                          .instance = instance,
                                          .verb = (uint16_t)relay->verb,
                                          .deadline_ms = relay->deadline_said_ms,
                                          .number = number,
                                          .body_digest = relay->body_digest};
    uint8_t proof[PROOF_BYTES];
    char text[PROOF_TEXT_SIZE];
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    proof_put_relay(&statement, &bytes);
    credential_sign(own, &bytes, proof);
    proof_digest(strbuf_text(&bytes), bytes.length, relay->request_digest);
    strbuf_fini(&bytes);
    proof_text(proof, text);
    ad_set_string(args, "Token", own->text);
    ad_set_string(args, "Instance", instance);
    ad_set_int(args, "Number", (int64_t)number);
    ad_set_string(args, "Proof", text);
    return 0;
}

/* Sends the request; instance NULL: asks the hub for the instance first. */
static int relay_send(struct relay *relay, const char *instance)
{
    struct wire *wire = relay->wire;
    uint64_t now_ms = loop_now_ms(wire->context->loop);
    uint64_t left_ms = relay->due_ms == 0       ? WIRE_NO_DEADLINE
                       : relay->due_ms > now_ms ? relay->due_ms - now_ms
                                                : 1;
    struct ad *args = ad_create();
    ad_set_string(args, "Uplink", instance == NULL ? relay->asked : relay->target);
    ad_set_int(args, "Verb", relay->verb);
    ad_set_int(args, "Deadline", (int64_t)relay->deadline_said_ms);
    struct wire_body outer = {.args = args};
    int64_t rc = 0;
    if (instance != NULL) {
        rc = relay_sign(relay, instance, args);
        outer.blob = strbuf_text(&relay->body);
        outer.blob_length = relay->body.length;
    }
    if (rc == 0) {
        rc = wire_call_raw(wire, VERB_RELAY, &outer, left_ms, on_reply, relay);
    }
    ad_destroy(args);
    if (rc < 0) {
        return (int)rc;
    }
    relay->inner = rc;
    return 0;
}

int64_t wire_relay(struct wire *wire, const char *uplink_name, enum wire_verb verb,
                   const struct wire_body *body, uint64_t deadline_ms, wire_reply_f call, void *arg)
{
    const struct wire_verb_info *info = wire_verb_find(verb);
    CHECK(info != NULL && call != NULL);
    deadline_ms = deadline_ms == 0                  ? info->deadline_ms
                  : deadline_ms == WIRE_NO_DEADLINE ? 0
                                                    : deadline_ms;
    struct relay *relay = mem_zalloc(sizeof *relay);
    relay->wire = wire;
    relay->asked = mem_strdup(uplink_name);
    (void)snprintf(relay->target, sizeof relay->target, "%s", uplink_name);
    relay->verb = verb;
    relay->deadline_said_ms = deadline_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)deadline_ms;
    relay->due_ms = deadline_ms == 0 ? 0 : loop_now_ms(wire->context->loop) + deadline_ms;
    relay->call = call;
    relay->arg = arg;
    strbuf_init(&relay->body, WIRE_FRAME_MAX);
    frame_put_body(&relay->body, body);
    int rc = relay->body.failed || strlen(uplink_name) > WIRE_NAME_MAX ? -EMSGSIZE : 0;
    if (rc == 0) {
        const char *instance = is_prefix(uplink_name) || wire->instances == NULL
                                   ? NULL
                                   : strmap_get(wire->instances, uplink_name);
        proof_digest(strbuf_text(&relay->body), relay->body.length, relay->body_digest);
        rc = relay_send(relay, instance);
    }
    if (rc < 0) {
        relay_free(relay);
        return rc;
    }
    uint64_t number = NUMBERS | ++wire->last_relay;
    id_table_add(&wire->relays, number, &relay->node);
    return (int64_t)number;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_instance(const char *text)
{
    return strlen(text) == INSTANCE_TEXT_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == INSTANCE_TEXT_SIZE - 1;
}

/* Returns the instance from a refusal with -ESTALE, and learns the receiver's full name.  NULL: the
 * refusal does not say it, or names another receiver. */
static const char *instance_learn(struct relay *relay, const struct ad *args)
{
    struct wire *wire = relay->wire;
    const char *target = ad_string_or(args, "Uplink", "");
    const char *instance = ad_string_or(args, "Instance", "");
    bool fits = is_prefix(relay->asked)
                    ? strncmp(target, relay->asked, strlen(relay->asked)) == 0 && !is_prefix(target)
                    : strcasecmp(target, relay->asked) == 0;
    if (!fits || !is_instance(instance) || strlen(target) > WIRE_NAME_MAX) {
        return NULL;
    }
    if (wire->instances != NULL && strmap_count(wire->instances) >= INSTANCES_MAX) {
        strmap_destroy(wire->instances, mem_free);
        wire->instances = NULL;
    }
    if (wire->instances == NULL) {
        wire->instances = strmap_create(STRMAP_CASE_SENSITIVE);
    }
    (void)snprintf(relay->target, sizeof relay->target, "%s", target);
    char *copy = mem_strdup(instance);
    mem_free(strmap_set(wire->instances, target, copy));
    return copy;
}

/* Signs the request (again) and sends it, or ends the relay. */
static void relay_resend(struct relay *relay, const char *instance)
{
    int rc = relay_send(relay, instance);
    if (rc == -ENOKEY) {
        char why[CREDENTIAL_WHY_MAX];
        (void)snprintf(why, sizeof why, "%s", relay->wire->context->own.why);
        relay_end(relay, rc, why);
    } else if (rc < 0) {
        relay_end(relay, rc, err_code_text(rc));
    }
}

static void relay_on_again(void *arg)
{
    struct relay *relay = arg;
    struct strmap *instances = relay->wire->instances;
    relay_resend(relay, instances == NULL ? NULL : strmap_get(instances, relay->target));
}

/* The receiver has just connected and does not know yet which tokens are revoked.  Returns true
 * when it will be asked again, false when there is no time left. */
static bool relay_was_early(struct relay *relay)
{
    struct loop *loop = relay->wire->context->loop;
    uint64_t delay_ms = (uint64_t)EARLY_MS << relay->early;
    if (relay->early == EARLY_MAX ||
        (relay->due_ms != 0 && loop_now_ms(loop) + delay_ms >= relay->due_ms)) {
        return false;
    }
    relay->early++;
    relay->inner = 0;
    if (relay->again == NULL) {
        relay->again = loop_timer_create(loop, relay_on_again, relay);
    }
    loop_timer_set(relay->again, delay_ms);
    return true;
}

/* The instance that was signed is outdated, or none was named: signs for the new one. */
static void relay_again(struct relay *relay, const struct frame *frame)
{
    struct frame_message message = {0};
    const char *instance = NULL;
    if (frame->body_length > 0 &&
        frame_message_decode(frame->body, frame->body_length, &message, NULL) == 0) {
        instance = message.args == NULL ? NULL : instance_learn(relay, message.args);
        frame_message_fini(&message);
    }
    if (instance == NULL || ++relay->attempts > ATTEMPTS_MAX) {
        relay_end(
            relay, -ESTALE,
            "the collector sent no usable instance id of the daemon that is to answer; try again");
        return;
    }
    relay_resend(relay, instance);
}

/* Checks that the signer of an answer may use the name that was asked. */
static int answerer_judge(struct relay *relay, const struct frame *frame, struct err *err)
{
    struct evp_pkey_st *holder = NULL;
    if (frame->token_length == 0 || frame->token_length > TOKEN_TEXT_MAX) {
        return err_set(err, -EBADMSG, "the answer contains no token");
    }
    char *token = mem_strndup(frame->token, frame->token_length);
    struct caller *answer = caller_create(relay->target);
    int rc = greeting_judge_token(relay->wire->context, token, answer, &holder, err);
    rc = rc < 0 ? rc : greeting_judge_name(answer, relay->target, err);
    if (rc < 0) {
        caller_unref(answer);
        mem_free(token);
        return rc;
    }
    relay->answer = answer;
    relay->answer_token = token;
    return 0;
}

static int answer_judge(struct relay *relay, const struct frame *frame, struct err *err)
{
    struct wire_context *context = relay->wire->context;
    struct evp_pkey_st *holder = NULL;
    uint8_t digest[P256_DIGEST_BYTES];
    int rc = relay->answer == NULL ? answerer_judge(relay, frame, err) : 0;
    if (rc < 0) {
        return rc;
    }
    /* Judged again for each part: it may have been revoked meanwhile. */
    rc = greeting_judge_token(context, relay->answer_token, relay->answer, &holder, err);
    if (rc < 0) {
        return rc;
    }
    proof_digest(frame->body, frame->body_length, digest);
    const struct proof_answer answer = {.pool = relay->answer->token.pool,
                                        .token = relay->answer_token,
                                        .target = relay->target,
                                        .request_digest = relay->request_digest,
                                        .part = relay->part,
                                        .more = (frame->flags & FRAME_FLAG_MORE) != 0,
                                        .status = frame->status,
                                        .text = frame->text,
                                        .text_length = frame->text_length,
                                        .body_digest = digest};
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_answer(&answer, &statement);
    bool good = p256_verify(holder, strbuf_text(&statement), statement.length, frame->proof);
    strbuf_fini(&statement);
    if (!good) {
        return err_set(err, -EBADMSG, "bad signature");
    }
    relay->part++;
    return 0;
}

static void relay_refuse(struct relay *relay, const char *why)
{
    char text[ERR_TEXT_MAX];
    struct wire *wire = relay->wire;
    int64_t inner = relay->inner;
    (void)snprintf(text, sizeof text, "%s: the answer is not signed by this daemon: %s",
                   relay->target, why);
    log_warn(wire->context->log, "wire.unsigned", "answer through the hub refused",
             LOG_TEXT("peer", wire->caller->address), LOG_TEXT("uplink", relay->target),
             LOG_TEXT("verb", wire_verb_name(relay->verb)), LOG_TEXT("reason", why));
    wire_cancel(wire, inner);
    relay_end(relay, -EBADMSG, text);
}

static void relay_show(struct relay *relay, const struct frame *frame)
{
    struct wire *wire = relay->wire;
    struct frame_message message = {0};
    struct err err = {{0}};
    char text[FRAME_TEXT_MAX], token_id[sizeof((struct token *)0)->id] = "";
    bool more = (frame->flags & FRAME_FLAG_MORE) != 0;
    struct ad_pool *pool = wire->pool != NULL ? wire->pool : wire->context->args_pool;
    if (frame->body_length > 0 &&
        frame_message_decode_in(pool, frame->body, frame->body_length, &message, &err) < 0) {
        relay_refuse(relay, err.text);
        return;
    }
    if (relay->answer != NULL) {
        (void)snprintf(token_id, sizeof token_id, "%s", relay->answer->token.id);
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)frame->text_length, frame->text);
    struct wire_reply reply = {.status = frame->status,
                               .text = text,
                               .more = more,
                               .token_id = token_id,
                               .args = message.args,
                               .ads = message.ads,
                               .ad_count = message.ad_count,
                               .blob = message.blob,
                               .blob_length = message.blob_length};
    wire_reply_f call = relay->call;
    void *arg = relay->arg;
    uint64_t number = id_of(&relay->node);
    if (!more) {
        id_table_remove(&wire->relays, &relay->node);
        relay_free(relay);
    }
    call(arg, &reply);
    frame_message_fini(&message);
    relay = more ? relay_find(wire, number) : NULL;
    if (relay != NULL) {
        wire_call_return_window(wire, relay->inner, (uint32_t)frame->payload_length);
    }
}

/* Handles an unsigned refusal, which anybody on the way may have made: it ends the request, and
 * nothing but its text is passed on. */
static void relay_refused(struct relay *relay, const struct frame *frame)
{
    char text[FRAME_TEXT_MAX];
    (void)snprintf(text, sizeof text, "%.*s", (int)frame->text_length, frame->text);
    relay_end(relay, frame->status, text);
}

static void on_reply(void *arg, const struct frame *frame)
{
    struct relay *relay = arg;
    struct err why = {{0}};
    bool is_signed = (frame->flags & FRAME_FLAG_SIGNED) != 0;
    if (!is_signed && relay->part == 0 && frame->status == -ESTALE) {
        relay_again(relay, frame);
    } else if (!is_signed && relay->part == 0 && frame->status == -EAGAIN &&
               relay_was_early(relay)) {
        return;
    } else if (is_signed && answer_judge(relay, frame, &why) < 0) {
        relay_refuse(relay, why.text);
    } else if (!is_signed && frame->status >= 0) {
        relay_refuse(relay, "the signature is missing");
    } else if (!is_signed) {
        relay_refused(relay, frame);
    } else {
        relay_show(relay, frame);
    }
}
