/* cli/token/cmd_token.h - what the parts of `roost token` share: words of options, and what a token
 * of this pool has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_CMD_TOKEN_H
#define CLI_TOKEN_CMD_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "cli/token/token_terms_plan.h"
#include "wire/verbs.h"

struct cli;
struct err;
struct strbuf;
struct token;

#define TOKEN_DEFAULT_SCOPES (SCOPE_READ | SCOPE_WRITE)
#define TOKEN_DEFAULT_DAYS   365

/* Arguments of options.  CLI_OK, or CLI_USAGE with the reason printed. */
int token_read_scopes(struct cli *cli, const char *text, uint32_t *ret);
int token_read_text(struct cli *cli, const char *option, const char *text, char *ret, size_t size);
int token_read_slots(struct cli *cli, const char *text, uint32_t *ret);

/* An id of its own and the pool's name for a token of this configuration, and where the key lies
 * that signs it. */
void token_of_this_pool(struct cli *cli, struct token *token);
void token_signing_key(struct cli *cli, char *ret, size_t size);

/* As whom the jobs of a schedd may run, in its token, whose scopes are known.  uid_domain "none":
 * nobody; "": UID_DOMAIN; owners "": all of it.  -EINVAL: the token is not a schedd's. */
int token_name_accounts(struct cli *cli, const char *uid_domain, const char *owners,
                        struct token *token, struct err *err);

/* Each <kid>.pub of this configuration, with its text. */
int token_each_public_key(struct cli *cli,
                          int (*each)(void *arg, const char *kid, const char *pem, struct err *err),
                          void *arg, struct err *err);

/* ---- `create --request` (token_grant.c) */
struct token_grant {
    struct token_terms said;
    const char *request;             /* a file, or "-" */
    const char *fingerprint;         /* NULL: it is asked for */
    const char *collector;           /* NULL: COLLECTOR_HOST */
    const char *file;                /* of the answer; NULL: it is printed */
    const char *uid_domain, *owners; /* "": not said */
};
int token_grant_request(struct cli *cli, const struct token_grant *grant);
/* Appends a line, for people, of the accounts as which a schedd with that token has jobs run. */
void token_accounts_line(const struct token *token, struct strbuf *out);

/* ---- `key`: the pool's signing keys (token_signing_key.c) */
int token_signing(struct cli *cli);

/* ---- the holder's side (token_holder.c) */
int token_request(struct cli *cli);
int token_accept(struct cli *cli);

#endif
