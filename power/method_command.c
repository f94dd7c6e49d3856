/* power/method_command.c - switches a machine by a program of the site.
 *
 * The command's text is split like a job's arguments (quotes '...'), and the node's name is
 * appended as the last argument.  The program gets the offline ad in long form on standard input,
 * like HTCondor's ROOSTER_WAKEUP_CMD, and ROOST_NODE and ROOST_LEVEL in its environment.  Exit
 * status 0 is success; of a status command, 0 means on, 1 off, anything else unknown.  It is killed
 * at the deadline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/vec.h"
#include "power/method.h"

static const char *text_of(const struct power_node *node, enum power_operation operation)
{
    switch (operation) {
    case POWER_DO_WAKE:
        return node->wake_command;
    case POWER_DO_SLEEP:
        return node->sleep_command;
    default:
        return node->status_command;
    }
}

static int command_check(const struct power_node *node, enum power_operation operation,
                         struct err *err)
{
    static const char *const NAMES[] = {"wake_command", "sleep_command", "status_command"};
    const char *text = text_of(node, operation);
    struct vec words = {0};
    int rc = 0;
    if (text == NULL || args_parse_v2(text, &words, err) != 0 || words.count == 0) {
        rc =
            err_set(err, -EINVAL, "node %s: method command needs %s", node->name, NAMES[operation]);
    } else if (((const char *)words.items[0])[0] != '/') {
        rc = err_set(err, -EINVAL, "node %s: method command: %s: '%s' is not an absolute path",
                     node->name, NAMES[operation], (const char *)words.items[0]);
    }
    vec_fini(&words, mem_free);
    return rc;
}

static void command_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct power_call *call = arg;
    (void)pid;
    call->pid = 0;
    if (call->operation == POWER_DO_STATUS) {
        enum power_state state = how->signal != 0   ? POWER_UNKNOWN
                                 : how->status == 0 ? POWER_ON
                                 : how->status == 1 ? POWER_OFF
                                                    : POWER_UNKNOWN;
        power_call_status(call, state, "as the status command reports");
        return;
    }
    if (how->signal != 0) {
        power_call_done(call, -EIO, "the command ended by signal %d", how->signal);
    } else if (how->status != 0) {
        power_call_done(call, -EIO, "the command ended with status %d", how->status);
    } else {
        power_call_done(call, 0, "the command succeeded");
    }
}

static void command_late(struct power_call *call)
{
    if (call->operation == POWER_DO_STATUS) {
        power_call_status(call, POWER_UNKNOWN, "the status command did not end in time");
        return;
    }
    power_call_done(call, -ETIMEDOUT, "the command did not end in time and was killed");
}

static void command_begin(struct power_call *call)
{
    struct vec words = {0};
    struct err err;
    (void)args_parse_v2(text_of(&call->node, call->operation), &words, &err); /* checked before */
    vec_push(&words, mem_strdup(call->node.name));
    vec_push(&words, NULL);
    char node[300], level[40];
    (void)snprintf(node, sizeof node, "ROOST_NODE=%s", call->node.name);
    (void)snprintf(level, sizeof level, "ROOST_LEVEL=%s", call->level);
    const char *env_add[] = {node, level, NULL};
    const struct os_spawn spec = {.argv = (const char *const *)words.items,
                                  .env_add = env_add,
                                  .cwd = "/",
                                  .input_text =
                                      call->node.ad_text != NULL ? call->node.ad_text : "",
                                  .new_session = true};
    int rc = os_spawn(call->os, &spec, command_ended, call, &call->pid, &err);
    vec_fini(&words, mem_free);
    if (rc != 0) {
        call->pid = 0;
        if (call->operation == POWER_DO_STATUS) {
            power_call_status(call, POWER_UNKNOWN, err.text);
        } else {
            power_call_done(call, rc, "%s", err.text);
        }
        return;
    }
    uint64_t now_ms = loop_now_ms(call->loop);
    power_call_later(call, call->end_ms > now_ms ? call->end_ms - now_ms : 0, command_late);
}

const struct power_method power_method_command = {.name = "command",
                                                  .check = command_check,
                                                  .begin = command_begin};
