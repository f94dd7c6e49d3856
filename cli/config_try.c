/* cli/config_try.c - see config_try.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/config_try.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/node_groups.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "cli/cli.h"
#include "user_maps/user_world.h"
#include "wire/expr_attrs.h"
#include "wire/p256.h"
#include "wire/token.h"

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

/* Warns of accounts that this host does not have. */
static void warn_accounts(const struct cli *cli, const struct config *config)
{
    const char *name = NULL;
    const struct knob *knob = NULL;
    size_t at = 0;
    while (config_next(config, &at, &name, &knob)) {
        struct config_origin origin;
        uid_t uid;
        gid_t gid;
        bool is_account = text_glob("SLOT*_USER", name, true) || strcmp(name, "KBDD_USER") == 0 ||
                          strcmp(name, "SUBMIT_ROOT_AS") == 0;
        const char *account = is_account ? config_text(config, name) : NULL;
        if (account != NULL && account[0] != '\0' && config_why(config, name, &origin) &&
            origin.file != NULL && os_user_find(cli->os, account, &uid, &gid, NULL) != 0) {
            (void)cli_fail(cli, "%s:%u: %s: this host has no account '%s'", origin.file,
                           origin.line, name, account); /* a warning only */
        }
    }
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
                warn_accounts(cli, config);
            }
            config_destroy(config);
        }
    }
    return rc;
}

/* ---- daemons */

/* Runs one daemon with -check, whose message goes to our standard error. */
static int check_by(struct cli *cli, const struct config *config, const char *path,
                    const char *name, struct err *err)
{
    struct strbuf program;
    struct os_exit how;
    strbuf_init(&program, 0);
    strbuf_printf(&program, "%s/roost-", config_path(config, "SBIN"));
    for (const char *at = name; *at != '\0'; at++) {
        strbuf_putc(&program, text_lower(*at));
    }
    const char *argv[] = {strbuf_text(&program), "-check", path != NULL ? "-config" : NULL, path,
                          NULL};
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

/* Returns 0 if the file has a token that is valid now, -EKEYEXPIRED with err if it has expired;
 * another -errno: no token could be read. */
static int judge_token(struct cli *cli, const char *file, struct err *err)
{
    struct token token;
    char *text = NULL, *word = NULL;
    struct evp_pkey_st *key = NULL;
    size_t length = 0;
    int rc = os_read_file(cli->os, file, TOKEN_FILE_MAX, &text, &length, err);
    rc = rc != 0 ? rc : token_file_parse(text, &word, &key, err);
    rc = rc != 0 ? rc : token_peek(word, &token, err);
    rc = rc != 0 ? rc : token_check_dates(&token, loop_wall_s(cli->loop), err);
    if (text != NULL) {
        secret_wipe(text, length);
    }
    p256_free(key);
    mem_free(word);
    mem_free(text);
    return rc;
}

/* Refuses the token of a daemon if it has expired: the daemon would run, and nobody would listen to
 * it.  What cannot be read here is not judged.  A good token in the usual place, beside that of the
 * master, is enough; else the configuration is loaded as the daemon loads it. */
static int check_token(struct cli *cli, const char *path, const struct config *master,
                       const char *name, struct err *err)
{
    struct config *config;
    struct strbuf subsystem, usual;
    struct err why;
    const char *file = config_path(master, "TOKEN_FILE");
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    strbuf_init(&subsystem, 0);
    strbuf_init(&usual, 0);
    for (const char *at = name; *at != '\0'; at++) {
        strbuf_putc(&subsystem, (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at));
    }
    if (slash != NULL && strcmp(slash, "/MASTER") == 0) {
        strbuf_printf(&usual, "%.*s/%s", (int)(slash - file), file, strbuf_text(&subsystem));
    }
    int rc = 0;
    if (usual.length > 0 && judge_token(cli, strbuf_text(&usual), NULL) == 0) {
        goto out;
    }
    const struct config_options how = {.path = path,
                                       .tables = knob_tables,
                                       .table_count = config_try_tables(),
                                       .subsystem = strbuf_text(&subsystem),
                                       .only_title = ""};
    rc = cli_config_load(cli, &how, &config, err);
    if (rc == 0) {
        file = config_path(config, "TOKEN_FILE");
        if (file != NULL && judge_token(cli, file, &why) == -EKEYEXPIRED) {
            rc = err_set(err, -EKEYEXPIRED,
                         "token.expired: %s: the %s's %s; replace the file (`roost token create`)",
                         file, strbuf_text(&subsystem), why.text);
        }
        config_destroy(config);
    }
out:
    strbuf_fini(&usual);
    strbuf_fini(&subsystem);
    return rc;
}

int config_try_daemons(struct cli *cli, const char *path, struct err *err)
{
    struct config *config;
    struct config_origin origin;
    size_t count;
    const struct config_options how = {.path = path,
                                       .tables = knob_tables,
                                       .table_count = config_try_tables(),
                                       .subsystem = "MASTER",
                                       .only_title = ""};
    int rc = cli_config_load(cli, &how, &config, err);
    if (rc != 0) {
        return rc;
    }
    const char *const *names = config_list(config, "DAEMON_LIST", &count);
    bool is_host = config_why(config, "DAEMON_LIST", &origin) && origin.layer != CONFIG_BUILTIN;
    if (is_host) {
        rc = check_by(cli, config, path, "MASTER", err);
    } else { /* a host of users, which has no master */
        const struct daemon_checking checking = {.os = cli->os,
                                                 .config = config,
                                                 .doubt = print_doubt,
                                                 .arg = cli};
        node_groups_check(&checking);
        user_world_check(&checking);
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (!text_equal_nocase(names[i], "MASTER")) {
            rc = check_by(cli, config, path, names[i], err);
            rc = rc != 0 ? rc : check_token(cli, path, config, names[i], err);
        }
    }
    config_destroy(config);
    return rc;
}
