/* cli/cmd_classad.c - `roost classad VERB`: the ClassAd language at the command line.
 *
 * It reads files and standard input and talks to nobody, so that it works without a pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/classad_tool.h"
#include "cli/cli.h"

static int read_stdin(char **text, size_t *length, struct err *err)
{
    struct strbuf all;
    char block[65536];
    size_t got;
    strbuf_init(&all, AD_TEXT_MAX);
    while (!all.failed && (got = fread(block, 1, sizeof block, stdin)) > 0) {
        strbuf_append(&all, block, got);
    }
    int rc = 0;
    if (all.failed) {
        rc = err_set(err, -E2BIG, "standard input is longer than %zu bytes", AD_TEXT_MAX);
    } else if (ferror(stdin)) {
        rc = err_set(err, -EIO, "standard input cannot be read");
    } else {
        (void)strbuf_text(&all); /* at least the terminating zero */
        *length = all.length;
        *text = strbuf_take(&all);
    }
    strbuf_fini(&all);
    return rc;
}

int classad_tool_text(const struct cli *cli, const char *path, char **text, size_t *length,
                      struct err *err)
{
    if (strcmp(path, "-") == 0) {
        return read_stdin(text, length, err);
    }
    return os_read_file(cli->os, path, AD_TEXT_MAX, text, length, err);
}

int classad_tool_ad(const struct cli *cli, const char *path, struct ad **ret, struct err *err)
{
    char *text;
    size_t length;
    int rc = classad_tool_text(cli, path, &text, &length, err);
    if (rc != 0) {
        return rc;
    }
    const char *first = text + strspn(text, " \t\r\n");
    rc = *first == '[' ? ad_parse(text, length, ret, err) : ad_parse_long(text, length, ret, err);
    mem_free(text);
    return rc != 0 ? err_prefix(err, rc, "%s", path) : 0;
}

int cmd_classad(struct cli *cli)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *cli);
    } VERBS[] = {{"eval", classad_tool_eval}, {"unparse", classad_tool_eval}};
    for (size_t i = 0; cli->argc > 1 && i < sizeof VERBS / sizeof VERBS[0]; i++) {
        if (strcmp(cli->argv[1], VERBS[i].name) == 0) {
            return VERBS[i].run(cli);
        }
    }
    return cli->argc > 1 ? cli_usage(cli, "there is no '%s'", cli->argv[1])
                         : cli_usage(cli, "what is to be done is missing");
}
