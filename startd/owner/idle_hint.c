/* startd/owner/idle_hint.c - asks logind whether somebody works in a graphical session, for
 * KeyboardIdle and ConsoleIdle.
 *
 * logind is asked through its own program, loginctl, at most every ASK_MS and only while there is
 * such a session: a machine without a screen pays nothing.  One answer is awaited before the next
 * question.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/idle_hint.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_power.h"
#include "base/vec.h"
#include "startd/machine/figures.h"
#include "startd/owner/idle_hint_plan.h"
#include "startd/startd_state.h"

#define ASK_MS           5000
#define SESSIONS_MAX     32
#define ANSWER_BYTES_MAX 65536

static void answer_path(const struct startd *startd, char ret[4200])
{
    (void)snprintf(ret, 4200, "%s/idle_hint.answer", config_path(startd->env.config, "SPOOL"));
}

static void loginctl_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct startd *startd = arg;
    char path[4200], *text = NULL;
    size_t length = 0;
    (void)pid;
    startd->idle_hint.pid = 0;
    answer_path(startd, path);
    /* A session that just ended is an error; what is said of the others counts. */
    if (how->signal == 0 &&
        os_read_file(startd->env.os, path, ANSWER_BYTES_MAX, &text, &length, NULL) == 0) {
        int64_t idle_s = idle_hint_plan_idle_s(text, loop_wall_s(startd->env.loop));
        if (idle_s >= 0) {
            figures_console_used(startd, idle_s);
        }
    }
    (void)os_remove(startd->env.os, path, NULL); /* left: small, and written over */
    mem_free(text);
}

static void add_session(void *arg, const char *id)
{
    struct vec *words = arg;
    size_t length = 0;
    while (isalnum((unsigned char)id[length])) { /* what else would it be a word of? */
        length++;
    }
    if (length > 0 && id[length] == '\0' && words->count < SESSIONS_MAX) {
        vec_push(words, mem_strdup(id));
    }
}

static void ask_loginctl(struct startd *startd, struct vec *words)
{
    char path[4200];
    struct err err;
    answer_path(startd, path);
    vec_push(words, NULL);
    const struct os_spawn spec = {.argv = (const char *const *)words->items,
                                  .cwd = "/",
                                  .stdout_path = path,
                                  .truncate_output = true,
                                  .new_session = true};
    if (os_spawn(startd->env.os, &spec, loginctl_ended, startd, &startd->idle_hint.pid, &err) !=
        0) {
        startd->idle_hint.pid = 0;
        startd->idle_hint.failed = true; /* once is enough */
        log_warn(startd->env.log, "idle_hint.spawn", err.text);
    }
}

void idle_hint_look(struct startd *startd)
{
    static const char *const QUESTION[] = {"show-session", "-p", "Type",         "-p",
                                           "IdleHint",     "-p", "IdleSinceHint"};
    struct idle_hint *hint = &startd->idle_hint;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    if (hint->pid != 0 || hint->failed || now_ms < hint->next_ms ||
        !config_bool(startd->env.config, "LOGIND_IDLE_HINT")) {
        return;
    }
    hint->next_ms = now_ms + ASK_MS;
    const char *root = config_string(startd->env.config, "POWER_ROOT");
    char program[600];
    struct vec words = {0};
    (void)snprintf(program, sizeof program, "%s/usr/bin/loginctl", root);
    vec_push(&words, mem_strdup(program));
    for (size_t i = 0; i < sizeof QUESTION / sizeof QUESTION[0]; i++) {
        vec_push(&words, mem_strdup(QUESTION[i]));
    }
    size_t bare = words.count;
    os_graphical_sessions(startd->env.os, root, add_session, &words);
    if (words.count > bare) {
        ask_loginctl(startd, &words);
    }
    vec_fini(&words, mem_free);
}

void idle_hint_close(struct startd *startd)
{
    if (startd->idle_hint.pid > 0) {
        os_forget(startd->env.os, startd->idle_hint.pid);
        (void)os_kill_group(startd->env.os, startd->idle_hint.pid, SIGKILL); /* gone: fine */
    }
}
