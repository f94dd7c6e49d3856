/* power/method_process.c - switches a machine that is a process group of this host.
 *
 * Waking starts roost-master with the node's configuration, in a session of its own, with a new
 * boot id (a UUID that sorts by time) and boot time.  The node runs as long as somebody holds its
 * master.lock.  A node that is still going down is waited for: two boots of a node never overlap,
 * because the lock has one holder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

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

static void wake_process(struct power_call *call)
{
    pid_t pid = lock_holder(call);
    if (pid != 0) {
        if (loop_now_ms(call->loop) >= call->end_ms) {
            power_call_done(call, -EBUSY, "the node's master (pid %d) is still running", (int)pid);
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
        power_call_status(call, pid != 0 ? POWER_ON : POWER_OFF,
                          pid != 0 ? "the node's master is running" : "no process");
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
