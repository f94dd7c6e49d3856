/* schedd/revoked.c - see revoked.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/revoked.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/claim/job_claims.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadows.h"
#include "wire/wire.h"

static void end_claim(struct claim *claim)
{
    log_warn(claim->schedd->log, "claim.revoked", "the token of the claim's machine was revoked",
             LOG_TEXT("slot", claim->slot), LOG_TEXT("job", claim->job_id),
             LOG_TEXT("token_id", claim->machine_token));
    claim_lost(claim, "the token of the claim's machine was revoked");
}

/* Ends the claims of machines with this token; NULL: with any token that is revoked. */
static void end_claims(struct schedd *schedd, const char *token_id)
{
    struct vec ids = {0}; /* losing one may end others */
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    while (strmap_next(schedd->claimed.by_id, &at, &id, &value)) {
        const char *token = ((const struct claim *)value)->machine_token;
        if (token_id != NULL ? strcmp(token, token_id) == 0
                             : wire_context_is_revoked(schedd->context, token)) {
            vec_push(&ids, mem_strdup(id));
        }
    }
    for (size_t i = 0; i < ids.count; i++) {
        struct claim *claim = claims_find(schedd, ids.items[i]);
        if (claim != NULL) {
            end_claim(claim);
        }
    }
    vec_fini(&ids, mem_free);
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* if it was not heard: revoked_hello() */
}

static void end_guests(struct schedd *schedd, const char *token_id)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Revoked", token_id);
    const struct wire_body body = {.args = args};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        struct wire *wire = shadows_wire(value);
        if (wire != NULL) {
            (void)wire_call(wire, VERB_JOB_STOP, &body, 0, ignore_answer, NULL);
        }
    }
    ad_destroy(args);
}

static void token_revoked(void *arg, const char *token_id)
{
    struct schedd *schedd = arg;
    end_claims(schedd, token_id);
    end_guests(schedd, token_id);
}

void revoked_start(struct schedd *schedd)
{
    wire_context_on_revoked(schedd->context, token_revoked, schedd);
    end_claims(schedd, NULL);
}

void revoked_hello(const struct schedd *schedd, const char *guests, struct ad *answer)
{
    struct strbuf refused;
    strbuf_init(&refused, 0);
    for (const char *at = guests; *at != '\0';) {
        char id[64];
        size_t length = strcspn(at, ",");
        if (length < sizeof id) {
            memcpy(id, at, length);
            id[length] = '\0';
            if (wire_context_is_revoked(schedd->context, id)) {
                strbuf_printf(&refused, "%s%s", refused.length > 0 ? "," : "", id);
            }
        }
        at += length + (at[length] == ',' ? 1 : 0);
    }
    if (refused.length > 0) {
        ad_set_string(answer, "Revoked", strbuf_text(&refused));
    }
    strbuf_fini(&refused);
}
