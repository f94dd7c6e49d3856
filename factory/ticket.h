/* factory/ticket.h - credentials of glideins.
 *
 * Each glidein is submitted with a ticket, a token that is good for one exchange: started, the
 * glidein makes a key of its own and gets a token for it, for its own name and lifetime
 * (docs/protocol/wire.md, section 4.15).  Both are signed with the limited key FACTORY_KEY
 * (wire/token_limits.h).  Whoever reads a ticket later has nothing; whoever uses it first is found
 * out, because the glidein itself is then refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_TICKET_H
#define FACTORY_TICKET_H

#include <stdint.h>

#include "base/vec.h"

struct err;
struct factory;
struct site;
struct wire_request;

/* What a submission needs of secrets. */
struct ticket_secrets {
    char *common;       /* the end of each glidein's file: CA and keys of the pool, or the bundle */
    struct vec tickets; /* of char *: token and private key of each glidein; empty with a bundle */
};

/* Gathers the secrets of a submission of `count` glideins: a ticket for each, or the bundle that
 * the site's section names (`token`).  Release *ret with ticket_wipe().  Returns 0; or -errno with
 * err, and *ret is empty. */
int ticket_gather(const struct site *site, const char *batch, int64_t count,
                  struct ticket_secrets *ret, struct err *err);
void ticket_wipe(struct ticket_secrets *secrets);
/* Answers TICKET. */
void ticket_serve(struct factory *factory, struct wire_request *request);

/* Checks that FACTORY_KEY can sign for as long as a glidein of the site needs it, or that the
 * site's own bundle (`token`) lasts so long.  Returns 0; or -errno, with what is to be done in err.
 */
int ticket_check(const struct site *site, struct err *err);

#endif
