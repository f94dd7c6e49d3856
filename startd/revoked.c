/* startd/revoked.c - ends claims whose schedd's token was revoked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/revoked.h"

#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

/* Ends a claim whose schedd got it by a token that is refused from now on; does not wait to tell
 * the schedd. */
static void end_revoked(struct claim *claim)
{
    log_warn(claim->startd->env.log, "claim.revoked", "the token of the claim's schedd was revoked",
             LOG_TEXT("slot", claim->slot_name), LOG_TEXT("schedd", claim->schedd.name),
             LOG_TEXT("job", claim->job.id), LOG_TEXT("token_id", claim->schedd.token));
    wire_close(claim->link.wire);
    claim->link.wire = NULL;
    claim->lease.renewing = false;
    loop_timer_stop(claim->link.dial_timer);
    loop_timer_stop(claim->lease.alive_timer);
    claim->lease.end_ms = 0;
    if (claim->stage == CLAIM_OVER) {
        claim_drop(claim);
    } else {
        claim_end(claim, "the token of the claim's schedd was revoked", true);
    }
}

/* Ends the claims of one token; token_id NULL: of each token that is refused. */
static void end_claims(struct startd *startd, const char *token_id)
{
    struct vec ids = {0}; /* ending one takes it out of the list */
    for (size_t i = 0; i < startd->claims.count; i++) {
        struct claim *claim = startd->claims.items[i];
        if (token_id != NULL ? strcmp(claim->schedd.token, token_id) == 0
                             : wire_context_is_revoked(startd->wires, claim->schedd.token)) {
            vec_push(&ids, mem_strdup(claim->id));
        }
    }
    for (size_t i = 0; i < ids.count; i++) {
        struct claim *claim = claim_find(startd, ids.items[i]);
        if (claim != NULL) {
            end_revoked(claim);
        }
    }
    vec_fini(&ids, mem_free);
}

static void token_revoked(void *arg, const char *token_id)
{
    end_claims(arg, token_id);
}

void claims_revoked_start(struct startd *startd)
{
    wire_context_on_revoked(startd->wires, token_revoked, startd);
    end_claims(startd, NULL);
}
