/* cli/config_try.c - see config_try.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/config_try.h"

#include <errno.h>
#include <stdio.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "cli/cli.h"
#include "wire/expr_attrs.h"

#define CHECK_MS 30000 /* longest time that a daemon's check may take */

size_t config_try_tables(void)
{
    size_t count = 0;
    while (knob_tables[count] != NULL) {
        count++;
    }
    return count;
}

static void print_doubt(void *arg, const char *text)
{
    (void)cli_fail(arg, "%s", text); /* a warning only */
}

void config_try_warn(const struct cli *cli, const struct config *config)
{
    for (size_t i = 0; i < config_unknown_count(config); i++) {
        (void)cli_fail(cli, "%s", config_unknown(config, i)); /* a warning only */
    }
    expr_attrs_check(config, print_doubt, (void *)cli);
}

/* ---- files */

/* Puts the place where the knob was set before the message in err. */
static int place_error(const struct config *config, const char *knob, int rc, struct err *err)
{
    struct config_origin origin;
    return config_why(config, knob, &origin) && origin.file != NULL
               ? err_prefix(err, rc, "%s:%u: %s", origin.file, origin.line, knob)
               : err_prefix(err, rc, "%s", knob);
}

/* Checks <DAEMON>_DEBUG, or ALL_DEBUG: a daemon reads only what concerns its own log. */
static int check_level(const struct config *config, const char *owner, struct err *err)
{
    char knob[80];
    enum log_level level;
    (void)snprintf(knob, sizeof knob, "%s_DEBUG", owner[0] != '\0' ? owner : "ALL");
    const char *text = config_text(config, knob);
    int rc = text == NULL || text[0] == '\0' ? 0 : log_level_parse(text, &level, err);
    return rc == 0 ? 0 : place_error(config, knob, rc, err);
}

int config_try_file(struct cli *cli, const char *path, bool is_loud, size_t *files, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; knob_tables[i] != NULL && rc == 0; i++) {
        const char *owner = knob_tables[i]->owner;
        struct config *config;
        const struct config_options how = {.path = path,
                                           .tables = knob_tables,
                                           .table_count = config_try_tables(),
                                           .subsystem = owner[0] != '\0' ? owner : NULL};
        rc = cli_config_load(cli, &how, &config, err);
        if (rc == 0) {
            rc = check_level(config, owner, err);
            *files = config_file_count(config);
            if (i == 0 && rc == 0 && is_loud) {
                config_try_warn(cli, config);
            }
            config_destroy(config);
        }
    }
    return rc;
}

/* ---- daemons */

/* Runs one daemon with -check, whose message goes to our standard error. */
static int check_by(struct cli *cli, const struct config *config, const char *name, struct err *err)
{
    struct strbuf program;
    struct os_exit how;
    strbuf_init(&program, 0);
    strbuf_printf(&program, "%s/roost-", config_path(config, "SBIN"));
    for (const char *at = name; *at != '\0'; at++) {
        strbuf_putc(&program, text_lower(*at));
    }
    const char *argv[] = {strbuf_text(&program), "-check", NULL};
    const struct os_spawn spec = {.argv = argv, .stderr_path = "-", .new_session = true};
    int rc = os_run(cli->os, &spec, CHECK_MS, &how, err);
    if (rc == -ENOENT) {
        rc = err_set(err, rc, "%s is not a daemon of this installation: no program %s", name,
                     strbuf_text(&program));
        rc = place_error(config, "DAEMON_LIST", rc, err);
    } else if (rc == 0 && (how.status != 0 || how.signal != 0)) {
        err->text[0] = '\0';
        rc = -EINVAL;
    }
    strbuf_fini(&program);
    return rc;
}

int config_try_daemons(struct cli *cli, struct err *err)
{
    struct config *config;
    size_t count;
    const struct config_options how = {.tables = knob_tables,
                                       .table_count = config_try_tables(),
                                       .subsystem = "MASTER",
                                       .only_title = ""};
    int rc = cli_config_load(cli, &how, &config, err);
    if (rc != 0) {
        return rc;
    }
    const char *const *names = config_list(config, "DAEMON_LIST", &count);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = check_by(cli, config, names[i], err);
    }
    config_destroy(config);
    return rc;
}
