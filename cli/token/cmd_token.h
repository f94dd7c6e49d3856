/* cli/token/cmd_token.h - the verbs of `roost token`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_CMD_TOKEN_H
#define CLI_TOKEN_CMD_TOKEN_H

#include "cli/token/token_terms_plan.h"
#include "wire/verbs.h"

struct cli;
struct strbuf;
struct token;

#define TOKEN_DEFAULT_SCOPES (SCOPE_READ | SCOPE_WRITE)
#define TOKEN_DEFAULT_DAYS   365

/* ---- `create --request` (token_grant.c) */

/* The options of `roost token create --request`. */
struct token_grant {
    struct token_terms said;
    const char *request; /* name of the file with the request; "-": standard input */
    /* fingerprint of the request; NULL: the user is asked for it */
    const char *fingerprint;
    /* address of the collector, which is written into the answer; NULL: the value of the knob
     * COLLECTOR_HOST */
    const char *collector;
    const char *file;                /* file for the answer; NULL: print it */
    const char *uid_domain, *owners; /* values of --uid-domain and --owners; "": not given */
};
int token_grant_request(struct cli *cli, const struct token_grant *grant);
/* Appends a line that tells people as which accounts a schedd with this token may run jobs. */
void token_accounts_line(const struct token *token, struct strbuf *out);

/* ---- signing keys of the pool (token_signing_key.c) */

/* Runs `roost token key`; returns the exit status. */
int token_signing(struct cli *cli);

/* ---- the token holder's side (token_holder.c) */

/* Runs `roost token request`; returns the exit status. */
int token_request(struct cli *cli);
/* Runs `roost token accept`; returns the exit status. */
int token_accept(struct cli *cli);

#endif
