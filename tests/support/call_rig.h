/* tests/support/call_rig.h - requests over the wire whose arguments and ads are written as ClassAd
 * text, and their answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_CALL_RIG_H
#define TESTS_SUPPORT_CALL_RIG_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "tests/support/loop_rig.h"
#include "tests/support/told_secrets.h"
#include "wire/wire.h"

/* All parts of a reply. */
struct answer {
    bool over; /* the last part has arrived */
    int status;
    char text[ERR_TEXT_MAX];
    struct ad *args; /* arguments of the last part; an empty ad if that part had none */
    struct vec ads;
    int parts;
    /* Filled only if answer_init() was called.  bytes: the blobs of all parts, one after the other;
     * sums: all attributes Checksum; offsets: all attributes Offset, such as "0;65536;" */
    struct strbuf bytes, sums, offsets;
};

static inline void answer_init(struct answer *answer)
{
    *answer = (struct answer){.over = false};
    strbuf_init(&answer->bytes, 0);
    strbuf_init(&answer->sums, 0);
    strbuf_init(&answer->offsets, 0);
}

static inline void answer_fini(struct answer *answer)
{
    ad_destroy(answer->args);
    vec_fini(&answer->ads, ad_destroy_item);
    strbuf_fini(&answer->bytes);
    strbuf_fini(&answer->sums);
    strbuf_fini(&answer->offsets);
    *answer = (struct answer){.over = false};
}

static inline void answer_bytes(struct answer *answer, const struct wire_reply *reply)
{
    strbuf_append(&answer->bytes, reply->blob, reply->blob_length);
    if (reply->args != NULL) {
        strbuf_puts(&answer->sums, ad_string_or(reply->args, "Checksum", ""));
    }
    if (reply->args != NULL && ad_has(reply->args, "Offset")) {
        strbuf_printf(&answer->offsets, "%lld;", (long long)ad_int_or(reply->args, "Offset", 0));
    }
}

static inline void answer_part(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->parts++;
    for (size_t i = 0; i < reply->ad_count; i++) {
        struct ad *ad = wire_reply_take_ad(reply, i);
        told_show(reply, ad, (uint32_t)i);
        vec_push(&answer->ads, ad);
    }
    if (answer->bytes.max > 0) {
        answer_bytes(answer, reply);
    }
    if (!reply->more) {
        answer->status = reply->status;
        (void)snprintf(answer->text, sizeof answer->text, "%s", reply->text);
        answer->args = reply->args != NULL ? ad_copy(reply->args) : ad_create();
        answer->over = true;
    }
}

static inline struct ad *ad_from_text(const char *text)
{
    struct ad *ad = NULL;
    MUST(ad_parse(text, strlen(text), &ad, err));
    return ad;
}

/* Sends a request without waiting: to the peer, or, if route is not NULL, through the peer to the
 * daemon of that route.  Returns the number of the call, or -errno, which then also is the status
 * in *answer. */
static inline int64_t answer_ask(struct answer *answer, struct wire *wire, const char *route,
                                 enum wire_verb verb, const struct wire_body *body)
{
    answer_init(answer);
    int64_t call = route == NULL ? wire_call(wire, verb, body, 0, answer_part, answer)
                                 : wire_relay(wire, route, verb, body, 0, answer_part, answer);
    if (call < 0) {
        answer->status = (int)call;
        answer->args = ad_create();
        answer->over = true;
    }
    return call;
}

/* Like answer_ask(), with a body of texts: arguments, ads (ended by NULL; may be NULL), and a blob
 * (may be NULL).  Attributes that stand for secrets are sent as told_secrets.h says. */
static inline int64_t answer_ask_text(struct answer *answer, struct wire *wire, const char *route,
                                      enum wire_verb verb, const char *args_text,
                                      const char *const *ad_texts, const char *blob)
{
    static struct ad *ads[1100]; /* room for more ads than the largest message of a test has */
    size_t count = 0;
    struct told_secrets told = {.count = 0};
    struct ad *args = ad_from_text(args_text);
    for (; ad_texts != NULL && ad_texts[count] != NULL; count++) {
        ads[count] = ad_from_text(ad_texts[count]);
        told_take(&told, ads[count], (uint32_t)count);
    }
    told_take(&told, args, SECRET_OF_ARGS);
    struct wire_body body = {.args = args,
                             .ads = (const struct ad *const *)ads,
                             .ad_count = count,
                             .blob = blob,
                             .blob_length = blob != NULL ? strlen(blob) : 0};
    told_put(&told, &body);
    int64_t call = answer_ask(answer, wire, route, verb, &body);
    ad_destroy(args);
    for (size_t i = 0; i < count; i++) {
        ad_destroy(ads[i]);
    }
    told_fini(&told);
    return call;
}

#endif
