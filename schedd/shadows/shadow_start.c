/* schedd/shadows/shadow_start.c - see shadow_start.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadows/shadow_start.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/plain_env.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "schedd/schedd_state.h"

#define ERRORS "ShadowErrors" /* file for its messages before it has a log */

/* Makes SPOOL/owner/<owner> and gives it to the owner; the shadow makes what is below. */
static int make_directory(const struct schedd *schedd, const char *path,
                          const struct shadow_account *account, struct err *err)
{
    struct strbuf parent;
    strbuf_init(&parent, 0);
    strbuf_printf(&parent, "%s/owner", schedd->self.spool);
    int result = os_mkdirs(schedd->os, strbuf_text(&parent), 0755, err);
    strbuf_fini(&parent);
    if (result == 0) {
        result = os_mkdirs(schedd->os, path, 0700, err);
    }
    if (result == 0 && schedd->self.is_root) {
        result = os_chown(schedd->os, path, account->uid, account->gid, err);
    }
    return result;
}

/* Returns whether the account may enter a directory, as far as its owner, its group and the rest of
 * the world tell. */
static bool may_enter(const struct os_stat *facts, const struct shadow_account *account)
{
    unsigned shift = facts->uid == account->uid ? 6 : facts->gid == account->gid ? 3 : 0;
    return (facts->mode >> shift & 1) != 0;
}

/* Says which directory keeps the account out of its own: the kernel names only the last one.
 * Leaves err as it is where no directory is found. */
static void name_closed(const struct schedd *schedd, const char *path,
                        const struct shadow_account *account, struct err *err)
{
    struct strbuf above;
    strbuf_init(&above, 0);
    for (const char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        struct os_stat facts;
        strbuf_clear(&above);
        strbuf_append(&above, path, (size_t)(at - path));
        if (os_stat(schedd->os, strbuf_text(&above), &facts) == 0 && facts.is_dir &&
            !may_enter(&facts, account)) {
            (void)err_set(err, -EACCES,
                          "the account %s cannot enter the directory %s, below which its shadow "
                          "works",
                          account->name, strbuf_text(&above));
            break;
        }
    }
    strbuf_fini(&above);
}

static void push_variable(struct vec *env, const char *name, const char *value)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s=%s", name, value);
    vec_push(env, strbuf_take(&text));
    strbuf_fini(&text);
}

int shadow_start(struct schedd *schedd, const struct shadow_account *account, os_exit_f on_exit,
                 void *arg, pid_t *ret, struct err *err)
{
    struct strbuf directory;
    strbuf_init(&directory, 0);
    strbuf_printf(&directory, "%s/owner/%s", schedd->self.spool, account->name);
    const char *const argv[] = {
        schedd->settings.shadow_path,
        "-instance",
        account->name,
        "-noresurrect",
        "-owner",
        account->name,
        "-hide",
        config_path(schedd->config, "LOG"),
        "-hide",
        config_path(schedd->config, "LOCK"),
        NULL,
    };
    struct vec env = {0}, more = {0};
    plain_env_make(schedd->os, schedd->config, &env);
    /* The owner can neither write where the daemons do, nor is our terminal, or the journal that
     * hears us, for the owner's process. */
    push_variable(&more, "ROOST_LOCK", strbuf_text(&directory));
    push_variable(&more, "ROOST_LOG", strbuf_text(&directory));
    vec_push(&more, NULL);
    const struct os_spawn spec = {
        .argv = argv,
        .env = (const char *const *)env.items,
        .env_add = (const char *const *)more.items,
        .cwd = strbuf_text(&directory),
        .stdout_path = schedd->self.is_root ? NULL : "-",
        .stderr_path = schedd->self.is_root ? ERRORS : "-",
        .truncate_output = true,
        .new_session = true,
        .no_new_privs = true,
        .change_user = schedd->self.is_root,
        .uid = account->uid,
        .gid = account->gid,
    };
    int result = make_directory(schedd, strbuf_text(&directory), account, err);
    if (result == 0) {
        result = os_spawn(schedd->os, &spec, on_exit, arg, ret, err);
        if (result == -EACCES) {
            name_closed(schedd, strbuf_text(&directory), account, err);
        }
    }
    vec_fini(&env, mem_free);
    vec_fini(&more, mem_free);
    strbuf_fini(&directory);
    return result;
}
