/* cli/token/token_parts.h - what several verbs of `roost token` need: arguments of options, and the
 * common parts of a token of this pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_TOKEN_PARTS_H
#define CLI_TOKEN_TOKEN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli;
struct err;
struct token;

/* False for a text with blanks, control characters, double quotes or backslashes. */
bool token_is_plain(const char *text);

/* Parses the value of --scope.  Returns CLI_OK, or CLI_USAGE with the error printed. */
int token_read_scopes(struct cli *cli, const char *text, uint32_t *ret);
/* Copies the value of an option to ret.  Returns CLI_OK, or CLI_USAGE with the error printed if the
 * value is empty, too long or not plain (token_is_plain()). */
int token_read_text(struct cli *cli, const char *option, const char *text, char *ret, size_t size);
/* Parses the value of --slots.  Returns CLI_OK, or CLI_USAGE with the error printed. */
int token_read_slots(struct cli *cli, const char *text, uint32_t *ret);

/* Sets the id of a new token and the name of the pool in the token. */
void token_of_this_pool(struct cli *cli, struct token *token);
/* Copies the path of the private key that signs new tokens (TOKEN_KEY) to ret. */
void token_signing_key(struct cli *cli, char *ret, size_t size);

/* Sets in a schedd's token the accounts as which its jobs may run; token->scopes must be set.
 * uid_domain "none": no account; "": that of the knob UID_DOMAIN.  owners "": all accounts of the
 * domain.  -EINVAL: the token is not a schedd's. */
int token_name_accounts(struct cli *cli, const char *uid_domain, const char *owners,
                        struct token *token, struct err *err);

#endif
