/* power/method_process.c - switches a machine that is a process group of this host.
 *
 * Waking starts roost-master with the node's configuration, in a session of its own, with a new
 * boot id (a UUID that sorts by time) and boot time.  The node runs as long as somebody holds its
 * master.lock, or a starter its lock: jobs run on when the daemons have ended, and a boot would end
 * them.  A node that is still going down is waited for: two boots of a node never overlap, because
 * each lock has one holder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/random.h"
#include "base/uuid.h"
#include "power/method.h"

#define POLL_MS 50

static int process_check(const struct power_node *node, enum power_operation operation,
                         struct err *err)
{
    if (node->lock_dir == NULL) {
        return err_set(err, -EINVAL, "node %s: method process needs lock_dir", node->name);
    }
    if (operation == POWER_DO_WAKE && (node->config == NULL || node->program == NULL)) {
        return err_set(err, -EINVAL, "node %s: method process needs config and program",
                       node->name);
    }
    return 0;
}

static pid_t lock_holder(struct power_call *call)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/master.lock", call->node.lock_dir);
    return os_lock_holder(call->os, path);
}

struct starters_look {
    struct power_call *call;
    pid_t pid; /* of a starter that runs; 0: none was found yet */
};

static void look_at_lock(void *arg, const char *name)
{
    struct starters_look *look = arg;
    char path[4096];
    if (look->pid == 0 && strncmp(name, "starter.", 8) == 0) {
        (void)snprintf(path, sizeof path, "%s/%s", look->call->node.lock_dir, name);
        look->pid = os_lock_holder(look->call->os, path);
    }
}

/* Returns the pid of one of the node's starters; 0: none runs. */
static pid_t starter_holder(struct power_call *call)
{
    struct starters_look look = {.call = call};
    (void)os_list(call->os, call->node.lock_dir, look_at_lock, &look, NULL); /* it may not exist */
    return look.pid;
}

static void wake_process(struct power_call *call)
{
    pid_t master = lock_holder(call), pid = master != 0 ? master : starter_holder(call);
    if (pid != 0) {
        if (loop_now_ms(call->loop) >= call->end_ms) {
            power_call_done(call, -EBUSY, "the node's %s (pid %d) is still running",
                            master != 0 ? "master" : "starter", (int)pid);
            return;
        }
        power_call_later(call, POLL_MS, wake_process);
        return;
    }
    char boot[80], boot_time[80], config[4200], id[UUID_TEXT_MAX];
    uuid_v7((uint64_t)loop_wall_ms(call->loop), loop_rng(call->loop), id);
    (void)snprintf(boot, sizeof boot, "ROOST_BOOT_ID=%s", id);
    (void)snprintf(boot_time, sizeof boot_time, "ROOST_BOOT_TIME=%lld",
                   (long long)loop_wall_s(call->loop));
    (void)snprintf(config, sizeof config, "ROOST_CONFIG=%s", call->node.config);
    const char *argv[] = {call->node.program, "-config", call->node.config, NULL};
    const char *env_add[] = {config, boot, boot_time, NULL};
    const struct os_spawn spec = {
        .argv = argv, .env_add = env_add, .cwd = "/", .new_session = true, .kin = OS_DETACHED};
    struct err err;
    pid_t started;
    int rc = os_spawn(call->os, &spec, NULL, NULL, &started, &err);
    if (rc != 0) {
        power_call_done(call, rc, "%s", err.text);
        return;
    }
    power_call_done(call, 0, "started as pid %d, boot %s", (int)started, id);
}

static void process_begin(struct power_call *call)
{
    if (call->operation == POWER_DO_WAKE) {
        wake_process(call);
        return;
    }
    pid_t pid = lock_holder(call);
    if (call->operation == POWER_DO_STATUS) {
        bool has_starter = pid == 0 && starter_holder(call) != 0;
        power_call_status(call, pid != 0 || has_starter ? POWER_ON : POWER_OFF,
                          pid != 0      ? "the node's master is running"
                          : has_starter ? "the node's daemons have ended, and a job runs on"
                                        : "no process");
        return;
    }
    int rc = pid != 0 ? os_kill(call->os, pid, SIGINT) : -ESRCH;
    power_call_done(call, rc, "%s",
                    rc == 0 ? "the node's master was told to end"
                            : "the node's master is not running, or could not be told to end");
}

const struct power_method power_method_process = {.name = "process",
                                                  .check = process_check,
                                                  .begin = process_begin};
