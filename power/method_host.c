/* power/method_host.c - puts this machine itself to sleep.
 *
 * By one of these: the site's plug-in program, called with `set <level>` as HTCondor calls it; else
 * systemctl, if logind is in charge (it informs programs that asked for it, and may refuse); else
 * the kernel, through /sys/power.  With a root directory, that root's systemctl is used.  A write
 * to /sys/power/state returns only when the machine is awake again, so a child process writes, and
 * its exit status says whether the kernel accepted.  S1 to S4 have no deadline, because a machine
 * that slept for days is not late.
 *
 * This method cannot wake: the machine that would do it is asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/vec.h"
#include "power/method.h"

/* Shell script.  $1: value for mem_sleep, if it matters; $2: value for state, the best that the
 * kernel offers; $3: the root directory. */
static const char SUSPEND[] =
    "cd \"$3/sys/power\" || exit 1\n"
    "for state in $2; do case \" $(cat state 2>/dev/null) \" in *\" $state \"*) break ;; esac; "
    "done\n"
    "if [ \"$state\" = mem ] && [ -e mem_sleep ]; then echo \"$1\" >mem_sleep || exit 1; fi\n"
    "echo \"$state\" >state";
/* Shell script.  $1: the verb, $2: the root directory.  "suspend" means what mem_sleep has
 * chosen. */
static const char LOGIND[] = "[ \"$1\" != suspend ] || [ ! -e \"$2/sys/power/mem_sleep\" ] ||\n"
                             "    echo deep >\"$2/sys/power/mem_sleep\" || exit 1\n"
                             "exec \"$2/usr/bin/systemctl\" \"$1\"";
static const char SWITCH_OFF[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin; exec poweroff";

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void add_word(struct vec *words, const char *word)
{
    vec_push(words, mem_strdup(word));
}

static int add_program(struct vec *words, const char *text, const struct power_node *node,
                       struct err *err)
{
    struct err why;
    if (args_parse_v2(text, words, &why) != 0 || words->count == 0 ||
        ((const char *)words->items[0])[0] != '/') {
        return err_set(err, -EINVAL,
                       "node %s: method host: '%s' is not a command with an absolute path",
                       node->name, text);
    }
    return 0;
}

static int add_kernel(struct vec *words, const char *level, const struct power_node *node,
                      struct err *err)
{
    static const char *const WAYS[][3] = {{"S1", "s2idle", "freeze standby mem"},
                                          {"S3", "deep", "mem"},
                                          {"S4", "", "disk"}};
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        if (strcmp(level, WAYS[i][0]) == 0) {
            add_word(words, "/bin/sh");
            add_word(words, "-c");
            add_word(words, SUSPEND);
            add_word(words, "sh");
            add_word(words, WAYS[i][1]);
            add_word(words, WAYS[i][2]);
            add_word(words, node->root != NULL ? node->root : "");
            return 0;
        }
    }
    return err_set(err, -EINVAL, "node %s: method host: the kernel does not support '%s'",
                   node->name, level);
}

static void add_logind(struct vec *words, const char *verb, const struct power_node *node)
{
    add_word(words, "/bin/sh");
    add_word(words, "-c");
    add_word(words, LOGIND);
    add_word(words, "sh");
    add_word(words, verb);
    add_word(words, node->root != NULL ? node->root : "");
}

static int add_off(struct vec *words, const struct power_node *node, struct err *err)
{
    if (is_set(node->sleep_command)) {
        return add_program(words, node->sleep_command, node, err);
    }
    if (node->by_logind) {
        add_logind(words, "poweroff", node);
        return 0;
    }
    if (is_set(node->root)) { /* whose machine is it that is below there? not this one */
        return err_set(err, -EINVAL,
                       "node %s: method host: nothing below %s can switch the machine off; set "
                       "POWER_SLEEP_CMD",
                       node->name, node->root);
    }
    add_word(words, "/bin/sh");
    add_word(words, "-c");
    add_word(words, SWITCH_OFF);
    return 0;
}

static int command_for(const struct power_node *node, const char *level, struct vec *words,
                       struct err *err)
{
    int rc = 0;
    if (is_set(node->plugin)) {
        rc = add_program(words, node->plugin, node, err);
        add_word(words, "set");
        add_word(words, level);
    } else if (strcmp(level, "S5") == 0) {
        rc = add_off(words, node, err);
    } else if (node->by_logind && (strcmp(level, "S3") == 0 || strcmp(level, "S4") == 0)) {
        add_logind(words, strcmp(level, "S3") == 0 ? "suspend" : "hibernate", node);
    } else {
        rc = add_kernel(words, level, node, err);
    }
    vec_push(words, NULL);
    return rc;
}

static int host_check(const struct power_node *node, enum power_operation operation,
                      struct err *err)
{
    if (operation != POWER_DO_SLEEP) {
        return err_set(err, -EINVAL, "node %s: method host can put only its own machine to sleep",
                       node->name);
    }
    return 0;
}

static void host_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct power_call *call = arg;
    (void)pid;
    call->pid = 0;
    if (how->signal != 0) {
        power_call_done(call, -EIO, "%s: the program was ended by signal %d", call->level,
                        how->signal);
    } else if (how->status != 0) {
        power_call_done(call, -EIO, "%s: the program failed (exit status %d)", call->level,
                        how->status);
    } else {
        power_call_done(call, 0, "%s: done", call->level);
    }
}

static void host_late(struct power_call *call)
{
    power_call_done(call, -ETIMEDOUT, "%s: not done in time; the program was killed", call->level);
}

static void host_begin(struct power_call *call)
{
    struct vec words = {0};
    struct err err;
    char level[40];
    (void)snprintf(level, sizeof level, "ROOST_LEVEL=%s", call->level);
    const char *env_add[] = {level, NULL};
    int rc = command_for(&call->node, call->level, &words, &err);
    const struct os_spawn spec = {.argv = (const char *const *)words.items,
                                  .env_add = env_add,
                                  .cwd = "/",
                                  .new_session = true};
    rc = rc != 0 ? rc : os_spawn(call->os, &spec, host_ended, call, &call->pid, &err);
    vec_fini(&words, mem_free);
    if (rc != 0) {
        call->pid = 0;
        power_call_done(call, rc, "%s", err.text);
        return;
    }
    if (strcmp(call->level, "S5") == 0) {
        uint64_t now_ms = loop_now_ms(call->loop);
        power_call_later(call, call->end_ms > now_ms ? call->end_ms - now_ms : 0, host_late);
    }
}

const struct power_method power_method_host = {.name = "host",
                                               .check = host_check,
                                               .begin = host_begin};
