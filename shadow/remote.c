/* shadow/remote.c - see remote.h.
 *
 * One server serves all runs.  It is made when the first run needs it, because most owners have no
 * such job.  A run's ticket is made from its nonce (wire/remote_ticket.h).  Connections come
 * through the schedd's port, as those of starters do, with a route of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/remote.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/stream/stream.h"
#include "rsyscall/server.h"
#include "shadow/remote_plan.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/remote_attrs.h"
#include "wire/remote_ticket.h"

/* most bytes of the path of the owner's home, with the terminating zero */
#define HOME_SIZE 4096

struct remotes {
    const struct config *config;
    struct rsys_server *server; /* NULL: no run has needed one */
    char home[HOME_SIZE];       /* home of the owner; "": not known */
    /* char *: directories of the schedd, which our own configuration does not name */
    struct vec hidden;
};

struct remote {           /* the remote system calls of a run */
    struct rsys_job *job; /* NULL: it cannot be served (status) */
    int status;
    struct err err;
};

void remotes_begin(struct shadow *shadow, const struct daemon_env *env)
{
    struct remotes *remotes = mem_zalloc(sizeof(*remotes));
    remotes->config = env->config;
    if (os_user_home(shadow->os, shadow->owner, remotes->home, sizeof(remotes->home), NULL) != 0) {
        remotes->home[0] = '\0';
    }
    for (int i = 0; i + 1 < env->argc; i++) {
        if (strcmp(env->argv[i], "-hide") == 0) {
            vec_push(&remotes->hidden, mem_strdup(env->argv[i + 1]));
        }
    }
    shadow->remotes = remotes;
}

void remotes_end(struct shadow *shadow)
{
    struct remotes *remotes = shadow->remotes;
    if (remotes != NULL) {
        rsys_server_destroy(remotes->server);
        vec_fini(&remotes->hidden, mem_free);
        mem_free(remotes);
        shadow->remotes = NULL;
    }
}

bool remotes_take(struct shadow *shadow, struct incoming *incoming)
{
    size_t length = strlen(REMOTE_ROUTE_PREFIX);
    if (strncmp(incoming_route(incoming), REMOTE_ROUTE_PREFIX, length) != 0) {
        return false;
    }
    if (shadow->remotes->server != NULL) {
        rsys_server_take(shadow->remotes->server, incoming, shadow->identity);
    } else {
        incoming_refuse(incoming); /* it dials again, and by then we know of its run */
    }
    return true;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct rsys_server *server_of(struct shadow *shadow)
{
    struct remotes *remotes = shadow->remotes;
    if (remotes->server == NULL) {
        const struct rsys_server_options options = {.loop = shadow->loop, .log = shadow->log};
        remotes->server = rsys_server_create(&options);
    }
    return remotes->server;
}

/* Adds the places that are hidden from every job, such as the queue and the secrets, whatever the
 * site offers. */
static void add_places(const struct remotes *remotes, struct vec *places)
{
    static const char *const NAMES[] = {"SPOOL", "SEC_DIRECTORY", "TOKEN_FILE", "EXECUTE",
                                        "LOG",   "LOCK",          "RUN"};
    for (size_t i = 0; i < remotes->hidden.count; i++) {
        vec_push(places, remotes->hidden.items[i]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        const char *path = config_path(remotes->config, NAMES[i]);
        if (path != NULL && path[0] == '/' && path[1] != '\0') {
            vec_push(places, (void *)(uintptr_t)path);
        }
    }
}

static int make_offer(struct run *run, struct remote *remote)
{
    const struct remotes *remotes = run->shadow->remotes;
    const struct config *config = remotes->config;
    struct vec places = {0};
    add_places(remotes, &places);
    struct remote_site site = {
        .home = remotes->home[0] == '/' ? remotes->home : NULL,
        .always = (const char *const *)places.items,
        .always_count = places.count,
        .bytes_max = config_bytes(config, "REMOTE_SYSCALL_QUOTA"),
        .files_max = config_int(config, "REMOTE_SYSCALL_MAX_FILES"),
        .now_ms = loop_wall_ms(run->shadow->loop),
        .lease_ms = (uint32_t)config_duration_ms(config, "REMOTE_SYSCALL_LEASE"),
    };
    site.roots = config_list(config, "REMOTE_SYSCALL_ROOTS", &site.root_count);
    site.readonly = config_list(config, "REMOTE_SYSCALL_READONLY", &site.readonly_count);
    site.hidden = config_list(config, "REMOTE_SYSCALL_HIDDEN", &site.hidden_count);
    struct remote_offer *offer = mem_zalloc(sizeof(*offer));
    char ticket[REMOTE_TICKET_SIZE];
    int result = remote_plan_offer(run->job, &site, offer, &remote->err);
    if (result == 0) {
        remote_ticket(run->nonce, ticket);
        result = rsys_job_open(server_of(run->shadow), ticket, &offer->offer, &remote->job);
        if (result != 0) {
            (void)err_set(&remote->err, result,
                          result == -EEXIST
                              ? "the server of remote system calls has this run already"
                              : "what the job may reach cannot be offered: a path is not absolute, "
                                "no directory is offered, or there are too many");
        }
        remote_offer_fini(offer);
    }
    mem_free(offer);
    vec_fini(&places, NULL);
    return result;
}

void remotes_open(struct run *run)
{
    if (!remote_plan_is_wanted(run->job) || run->remote != NULL ||
        strlen(run->nonce) != RUN_NONCE_SIZE - 1) {
        return;
    }
    struct remote *remote = mem_zalloc(sizeof(*remote));
    run->remote = remote;
    remote->status = make_offer(run, remote);
    if (remote->status != 0) {
        remote->job = NULL;
    } else {
        log_info(run->shadow->log, "remote.offered", "the job may now access its files",
                 LOG_TEXT("job", run->id));
    }
}

int remotes_check(const struct run *run, struct err *err)
{
    if (run->remote != NULL && run->remote->status != 0) {
        return err_set(err, run->remote->status, "the job's remote system calls: %s",
                       run->remote->err.text);
    }
    /* What its owner is to mend, not what a file server may be able to do in a while. */
    int problem = run->remote != NULL ? rsys_job_problem(run->remote->job, err) : 0;
    bool is_owners = problem == -ENOENT || problem == -ENOTDIR || problem == -EPERM ||
                     problem == -EXDEV || problem == -EACCES;
    return is_owners ? err_prefix(err, problem, "the job's remote system calls") : 0;
}

void remotes_close(struct run *run)
{
    struct remote *remote = run->remote;
    if (remote == NULL) {
        return;
    }
    run->remote = NULL;
    if (remote->job != NULL && run->shadow->remotes != NULL) {
        struct rsys_stats stats;
        rsys_job_get_stats(remote->job, &stats);
        log_info(run->shadow->log, "remote.over", "the job's remote system calls have ended",
                 LOG_TEXT("job", run->id), LOG_INT("requests", (int64_t)stats.requests),
                 LOG_INT("read", (int64_t)stats.bytes_read),
                 LOG_INT("written", (int64_t)stats.bytes_written));
        rsys_job_close(remote->job);
    }
    mem_free(remote);
}
