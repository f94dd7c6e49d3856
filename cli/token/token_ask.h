/* cli/token/token_ask.h - what people bring to `roost token`: texts that were mailed, fingerprints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_TOKEN_ASK_H
#define CLI_TOKEN_TOKEN_ASK_H

#include <stddef.h>

struct cli;
struct err;

/* A request or an answer out of a file, or "-": of standard input, to the line `end`, so that a
 * text can be pasted into a terminal and the fingerprint typed behind it.  The caller frees it. */
int token_ask_text(struct cli *cli, const char *path, const char *end, char **ret, struct err *err);

struct token_question {
    const char *of;     /* "the request", "the answer" */
    const char *prompt; /* for people */
    const char *danger; /* what it means when the fingerprints differ */
};

/* Has somebody compared the fingerprint?  typed: what the option --fingerprint says; NULL: it is
 * asked for, on a terminal.  It is not shown before it is typed: who could copy it from his own
 * screen has compared nothing.  CLI_OK, or another status with the reason printed. */
int token_ask_fingerprint(struct cli *cli, const struct token_question *question, const char *typed,
                          const char *fingerprint);

#endif
