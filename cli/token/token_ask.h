/* cli/token/token_ask.h - reads what people give to `roost token`: texts from mails, and
 * fingerprints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_TOKEN_ASK_H
#define CLI_TOKEN_TOKEN_ASK_H

#include <stddef.h>

struct cli;
struct err;

/* Reads a request or an answer from a file; path "-" is standard input, read up to the line `end`,
 * so that a user can paste the text into a terminal and type the fingerprint after it.  The caller
 * frees *ret. */
int token_ask_text(struct cli *cli, const char *path, const char *end, char **ret, struct err *err);

struct token_question {
    const char *of;     /* what the fingerprint is of: "the request" or "the answer" */
    const char *prompt; /* the text of the prompt */
    const char *danger; /* warning that is printed when the fingerprints differ */
};

/* Makes sure that a person compared the fingerprint.  typed is the value of --fingerprint; NULL:
 * ask on the terminal.  The fingerprint is not shown before it is typed, because copying it from
 * the screen would compare nothing.  Returns CLI_OK, or another exit status with the reason
 * printed. */
int token_ask_fingerprint(struct cli *cli, const struct token_question *question, const char *typed,
                          const char *fingerprint);

#endif
