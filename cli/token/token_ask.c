/* cli/token/token_ask.c - see token_ask.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/token/token_ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "wire/fingerprint.h"
#include "wire/token_request.h"

#define TRIES          3
#define LINE_MAX_BYTES 1024 /* most bytes of a line, with the terminating zero */

static bool is_end(const char *line, const char *end)
{
    size_t length = strlen(end);
    return strncmp(line, end, length) == 0 &&
           line[length + strspn(line + length, " \t\r\n")] == '\0';
}

static int read_stdin(const char *end, char **ret, struct err *err)
{
    char line[LINE_MAX_BYTES];
    struct strbuf text;
    bool over = false;
    strbuf_init(&text, TOKEN_REQUEST_TEXT_MAX);
    if (isatty(STDIN_FILENO) == 1) {
        (void)fprintf(stderr, "Paste the block here; the last line is %s\n", end);
    }
    while (!over && !text.failed && fgets(line, sizeof line, stdin) != NULL) {
        strbuf_puts(&text, line);
        over = is_end(line, end);
    }
    int rc = text.failed ? err_set(err, -E2BIG, "standard input is longer than %zu bytes", text.max)
             : ferror(stdin) != 0 ? err_set(err, -EIO, "cannot read standard input")
                                  : 0;
    if (rc == 0) {
        strbuf_puts(&text, "");
        *ret = mem_strdup(strbuf_text(&text));
    }
    strbuf_fini(&text);
    return rc;
}

int token_ask_text(struct cli *cli, const char *path, const char *end, char **ret, struct err *err)
{
    size_t length = 0;
    if (strcmp(path, "-") == 0) {
        return read_stdin(end, ret, err);
    }
    int rc = os_read_file(cli->os, path, TOKEN_REQUEST_TEXT_MAX, ret, &length, err);
    if (rc == 0 && strlen(*ret) != length) {
        mem_free(*ret);
        *ret = NULL;
        rc = err_set(err, -EINVAL, "%s: not a text file (contains a zero byte)", path);
    }
    return rc;
}

int token_ask_fingerprint(struct cli *cli, const struct token_question *question, const char *typed,
                          const char *fingerprint)
{
    char line[LINE_MAX_BYTES];
    if (typed != NULL) {
        return fingerprint_is(fingerprint, typed)
                   ? CLI_OK
                   : cli_fail(cli, "'%s' is not the fingerprint of %s; the fingerprint is %s: %s",
                              typed, question->of, fingerprint, question->danger);
    }
    if (isatty(STDIN_FILENO) != 1) {
        return cli_usage(cli,
                         "the fingerprint of %s is needed; standard input is not a terminal, so "
                         "use --fingerprint",
                         question->of);
    }
    for (int i = 0; i < TRIES; i++) {
        (void)fprintf(stderr, "%s: ", question->prompt);
        (void)fflush(stderr);
        if (fgets(line, sizeof line, stdin) == NULL) {
            break;
        }
        if (fingerprint_is(fingerprint, line)) {
            return CLI_OK;
        }
        (void)fprintf(stderr, "The fingerprint is different.\n");
    }
    return cli_fail(cli, "the fingerprint of %s is %s, but another fingerprint was typed: %s",
                    question->of, fingerprint, question->danger);
}
