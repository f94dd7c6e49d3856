/* sim/tap.c - see tap.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tap.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_binary.h"
#include "sim/sim.h"
#include "wire/frame.h"
#include "wire/wire.h"

struct asked { /* a request whose last reply has not come */
    uint64_t request;
    enum wire_verb verb;
    bool is_relay;
    struct sim_host *asker;
    uint64_t asker_serial;
    struct ad *args;
    char *claim_id;
};

struct direction {
    struct strbuf bytes; /* bytes that are not a whole frame yet */
    struct vec asked;    /* struct asked: requests of this direction */
};

struct conversation {
    struct direction directions[2]; /* index: by_client */
    bool broken;
};

struct tap {
    bool wanted[256];
    tap_f call;
    void *arg;
    struct vec conversations; /* index: number of the connection */
    struct ad *empty;
    uint64_t faults;
};

struct tap *tap_create(const enum wire_verb *verbs, tap_f call, void *arg)
{
    struct tap *tap = mem_zalloc(sizeof(*tap));
    for (size_t i = 0; verbs[i] != VERB_NONE; i++) {
        tap->wanted[(unsigned)verbs[i] & 255u] = true;
    }
    tap->call = call;
    tap->arg = arg;
    tap->empty = ad_create();
    return tap;
}

static void asked_destroy(void *item)
{
    struct asked *asked = item;
    ad_destroy(asked->args);
    mem_free(asked->claim_id);
    mem_free(asked);
}

static void conversation_destroy(void *item)
{
    struct conversation *conversation = item;
    if (conversation == NULL) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        strbuf_fini(&conversation->directions[i].bytes);
        vec_fini(&conversation->directions[i].asked, asked_destroy);
    }
    mem_free(conversation);
}

void tap_destroy(struct tap *tap)
{
    if (tap == NULL) {
        return;
    }
    vec_fini(&tap->conversations, conversation_destroy);
    ad_destroy(tap->empty);
    mem_free(tap);
}

uint64_t tap_faults(const struct tap *tap)
{
    return tap->faults;
}

static struct conversation *conversation_of(struct tap *tap, uint64_t number)
{
    while (tap->conversations.count <= number) {
        vec_push(&tap->conversations, NULL);
    }
    struct conversation *conversation = tap->conversations.items[number];
    if (conversation == NULL) {
        conversation = mem_zalloc(sizeof(*conversation));
        strbuf_init(&conversation->directions[0].bytes, 0);
        strbuf_init(&conversation->directions[1].bytes, 0);
        tap->conversations.items[number] = conversation;
    }
    return conversation;
}

static void request_seen(struct tap *tap, struct direction *direction, struct sim_process *from,
                         const struct frame *frame)
{
    struct frame_message message = {0};
    struct tap_message told = {.from = from,
                               .asker = sim_process_host(from),
                               .asker_serial = sim_process_serial(from),
                               .verb = (enum wire_verb)frame->verb};
    told.is_relay = told.verb == VERB_RELAY;
    if ((!tap->wanted[frame->verb & 255u] && !told.is_relay) ||
        frame_message_decode(frame->body, frame->body_length, &message, NULL) != 0) {
        return;
    }
    if (told.is_relay) {
        struct frame_message inner = {0};
        told.verb = (enum wire_verb)ad_int_or(message.args, "Verb", 0);
        if (!tap->wanted[(unsigned)told.verb & 255u] || message.blob_length == 0 ||
            frame_message_decode(message.blob, message.blob_length, &inner, NULL) != 0) {
            frame_message_fini(&message);
            return;
        }
        frame_message_fini(&message);
        message = inner;
    }
    told.args = message.args != NULL ? message.args : tap->empty;
    told.claim_id =
        wire_secret_find(message.secrets, message.secret_count, SECRET_CLAIM_ID, SECRET_OF_ARGS);
    told.ads = message.ads;
    told.ad_count = message.ad_count;
    tap->call(tap->arg, &told);
    struct asked *asked = mem_zalloc(sizeof(*asked));
    asked->request = frame->request;
    asked->verb = told.verb;
    asked->is_relay = told.is_relay;
    asked->asker = told.asker;
    asked->asker_serial = told.asker_serial;
    asked->args = ad_copy(told.args);
    asked->claim_id = mem_strdup(told.claim_id);
    vec_push(&direction->asked, asked);
    frame_message_fini(&message);
}

static void reply_seen(struct tap *tap, struct direction *other, struct sim_process *from,
                       const struct frame *frame)
{
    size_t at = 0;
    while (at < other->asked.count &&
           ((struct asked *)other->asked.items[at])->request != frame->request) {
        at++;
    }
    if (at == other->asked.count || (frame->flags & FRAME_FLAG_MORE) != 0) {
        return;
    }
    struct asked *asked = other->asked.items[at];
    struct frame_message message = {0};
    if (frame_message_decode(frame->body, frame->body_length, &message, NULL) == 0) {
        struct tap_message told = {.from = from,
                                   .asker = asked->asker,
                                   .asker_serial = asked->asker_serial,
                                   .verb = asked->verb,
                                   .is_reply = true,
                                   .is_relay = asked->is_relay,
                                   .status = frame->status,
                                   .args = message.args != NULL ? message.args : tap->empty,
                                   .request = asked->args,
                                   .claim_id = asked->claim_id};
        tap->call(tap->arg, &told);
        frame_message_fini(&message);
    }
    vec_remove_at(&other->asked, at);
    asked_destroy(asked);
}

void tap_bytes(struct tap *tap, struct sim_process *from, uint64_t connection, bool by_client,
               const void *data, size_t length)
{
    struct conversation *conversation = conversation_of(tap, connection);
    if (conversation->broken) {
        return;
    }
    struct direction *direction = &conversation->directions[by_client];
    struct direction *other = &conversation->directions[!by_client];
    strbuf_append(&direction->bytes, data, length);
    size_t used = 0, size = 0;
    struct frame frame;
    int code;
    while ((code = frame_decode(direction->bytes.data + used, direction->bytes.length - used,
                                WIRE_FRAME_MAX, &frame, &size, NULL)) == 1) {
        if (frame.type == FRAME_REQUEST) {
            request_seen(tap, direction, from, &frame);
        } else if (frame.type == FRAME_REPLY) {
            reply_seen(tap, other, from, &frame);
        }
        used += size;
    }
    if (code < 0) {
        conversation->broken = true;
        tap->faults++;
        used = direction->bytes.length;
    }
    size_t left = direction->bytes.length - used;
    memmove(direction->bytes.data, direction->bytes.data + used, left);
    direction->bytes.length = left;
    if (left == 0) {
        strbuf_fini(&direction->bytes);
        strbuf_init(&direction->bytes, 0);
    }
}
