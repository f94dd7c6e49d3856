/* cli/token/cmd_token.h - shared by the files of `roost token`: arguments of options, and the
 * common parts of a token of this pool.
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

/* Parse arguments of options.  Return CLI_OK, or CLI_USAGE with the error printed. */
int token_read_scopes(struct cli *cli, const char *text, uint32_t *ret);
int token_read_text(struct cli *cli, const char *option, const char *text, char *ret, size_t size);
int token_read_slots(struct cli *cli, const char *text, uint32_t *ret);

/* token_of_this_pool() sets a new token's id and pool name.  token_signing_key() gives the path of
 * the key that signs tokens. */
void token_of_this_pool(struct cli *cli, struct token *token);
void token_signing_key(struct cli *cli, char *ret, size_t size);

/* Sets in a schedd's token the accounts as which its jobs may run; token->scopes must be set.
 * uid_domain "none": no account; "": that of the knob UID_DOMAIN.  owners "": all accounts of the
 * domain.  -EINVAL: the token is not a schedd's. */
int token_name_accounts(struct cli *cli, const char *uid_domain, const char *owners,
                        struct token *token, struct err *err);

/* Calls `each` with the name and text of every public key <kid>.pub of this configuration. */
int token_each_public_key(struct cli *cli,
                          int (*each)(void *arg, const char *kid, const char *pem, struct err *err),
                          void *arg, struct err *err);

/* ---- `create --request` (token_grant.c) */
struct token_grant {
    struct token_terms said;
    const char *request;             /* file name, or "-" for standard input */
    const char *fingerprint;         /* NULL: the user is asked for it */
    const char *collector;           /* NULL: the knob COLLECTOR_HOST */
    const char *file;                /* file for the answer; NULL: print it */
    const char *uid_domain, *owners; /* "": not given */
};
int token_grant_request(struct cli *cli, const struct token_grant *grant);
/* Appends a line that tells people as which accounts a schedd with this token may run jobs. */
void token_accounts_line(const struct token *token, struct strbuf *out);

/* ---- `roost token key`: the pool's signing keys (token_signing_key.c) */
int token_signing(struct cli *cli);

/* ---- the token holder's side (token_holder.c) */
int token_request(struct cli *cli);
int token_accept(struct cli *cli);

#endif
