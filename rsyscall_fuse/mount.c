/* rsyscall_fuse/mount.c - see mount.h.
 *
 * The keeper is made first, because it must not know a secret.  Then the session begins, which says
 * which user the job shall see itself as; the file system is mounted and served; the job starts.
 * At the end the keeper ends all processes of the job, the last data is waited for, and the session
 * is ended.
 *
 * If the session is lost for good, the job is ended, because all that it would read or write from
 * then on would be wrong.  Whoever started us starts it again from its last checkpoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/mount.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "rsyscall_fuse/kernel_linux.h"

#define NOBODY          65534 /* uid of a job whose owner is root at the submit machine */
#define LOOK_MS         5     /* at the end, interval of looks whether all is written */
#define PROGRAM         "roost-rsys-mount"
#define SIGNALS_MAX     6
#define PROBE_READ      4096
#define ENVIRONMENT_MAX ((size_t)4 << 20)

struct rfs_mount {
    struct rfs_mount_options options;
    struct loop *loop;
    struct os *os;
    struct rfs_cage *cage;
    struct rfs_link *link;
    struct rfs_kernel *kernel;
    struct rfs *fs;
    struct loop_timer *end_timer;
    struct rsys_reply hello;
    char ticket[RSYS_TICKET_MAX + 1];
    char address[RFS_ADDRESS_SIZE];
    char *environment;           /* text of the environment file */
    struct vec environment_ptrs; /* pointers to the variables in it */
    struct forward {
        struct rfs_mount *mount;
        int number;
    } forwards[SIGNALS_MAX];
    bool ended;
    int status; /* exit status of the job, as wait(2) returns it */
    int result; /* our own result; 0: none, the job's status counts */
};

static void print_message(const char *text)
{
    (void)fprintf(stderr, PROGRAM ": %s\n", text);
}

static void give_up(struct rfs_mount *mount, int result, const char *text)
{
    if (mount->result == 0) {
        mount->result = result;
        print_message(text);
    }
    loop_stop(mount->loop, result);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void look_whether_written(void *arg)
{
    struct rfs_mount *mount = arg;
    if (rfs_all_is_written(mount->fs)) {
        loop_stop(mount->loop, 0);
    } else {
        loop_timer_set(mount->end_timer, LOOK_MS);
    }
}

static void on_ended(void *arg, int status)
{
    struct rfs_mount *mount = arg;
    mount->ended = true;
    mount->status = status;
    look_whether_written(mount);
}

static void on_failed(void *arg, bool of_job, const char *why)
{
    struct rfs_mount *mount = arg;
    mount->ended = true;
    give_up(mount, of_job ? RFS_MOUNT_REFUSED : RFS_MOUNT_FAIL, why);
}

static void on_unmounted(void *arg)
{
    (void)arg; /* the keeper's end tells */
}

/* ---- the session ----------------------------------------------------------------------------- */

static void on_ready(void *arg, const struct rsys_reply *hello)
{
    struct rfs_mount *mount = arg;
    struct err err;
    mount->hello = *hello;
    mount->hello.data = mem_dup(hello->data, hello->data_length);
    mount->options.files.uid = hello->uid != 0 ? hello->uid : NOBODY;
    mount->options.files.gid = hello->gid != 0 ? hello->gid : NOBODY;
    if (rfs_cage_mount(mount->cage, mount->options.files.uid, mount->options.files.gid,
                       rfs_link_data_max(mount->link), &err) != 0) {
        give_up(mount, RFS_MOUNT_FAIL, err.text);
    }
}

static void on_lost(void *arg, int code, const char *why)
{
    struct rfs_mount *mount = arg;
    /* What it was to see is not there, or not offered. */
    bool of_job = code == -ENOENT || code == -ENOTDIR || code == -EXDEV;
    if (mount->fs != NULL) {
        give_up(mount, RFS_MOUNT_LOST, why);
    } else if (of_job) {
        give_up(mount, RFS_MOUNT_REFUSED,
                "a directory that the job needs is missing at the server, or may not be offered");
    } else {
        give_up(mount, RFS_MOUNT_FAIL, why);
    }
}

static void on_renew(void *arg)
{
    struct rfs_mount *mount = arg;
    if (mount->fs != NULL) {
        rfs_renew(mount->fs);
    } else {
        rfs_link_renewed(mount->link, 0, ""); /* nothing is open yet */
    }
}

static enum rfs_again on_again(void *arg, struct rfs_call *call, bool was_sent)
{
    struct rfs_mount *mount = arg;
    return rfs_judge_again(mount->fs, call, was_sent);
}

/* ---- the job --------------------------------------------------------------------------------- */

static void on_mounted(void *arg, int fuse_fd, int proc_fd)
{
    struct rfs_mount *mount = arg;
    struct err err;
    mount->kernel = rfs_kernel_create(mount->loop, fuse_fd, proc_fd, on_unmounted, mount);
    struct rfs_device device = rfs_kernel_device(mount->kernel);
    if (rfs_create(mount->loop, mount->link, &mount->hello, &mount->options.files, &device,
                   &mount->fs, &err) != 0) {
        give_up(mount, RFS_MOUNT_FAIL, err.text);
        return;
    }
    rfs_kernel_serve(mount->kernel, mount->fs);
}

static void on_started(void *arg)
{
    (void)arg;
}

static void on_signal(void *arg)
{
    const struct forward *forward = arg;
    struct rfs_mount *mount = forward->mount;
    if (mount->kernel == NULL) { /* there is no job yet */
        give_up(mount, 128 + forward->number, "ended by a signal before the job was started");
    } else {
        rfs_cage_signal(mount->cage, forward->number);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

int rfs_ticket_read(struct os *os, const char *file, char ret[RSYS_TICKET_MAX + 1], struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    int code = os_read_file(os, file, RSYS_TICKET_MAX + 1, &text, &length, err);
    if (code == 0) {
        text[strcspn(text, "\n")] = '\0';
        (void)snprintf(ret, RSYS_TICKET_MAX + 1, "%s", text);
        mem_free(text);
    }
    return code;
}

const char *rfs_address_read(struct os *os, const char *file, char ret[RFS_ADDRESS_SIZE])
{
    char *text = NULL;
    size_t length = 0;
    ret[0] = '\0';
    if (file != NULL && os_read_file(os, file, RFS_ADDRESS_SIZE - 1, &text, &length, NULL) == 0) {
        text[strcspn(text, "\n")] = '\0';
        (void)snprintf(ret, RFS_ADDRESS_SIZE, "%s", text);
        mem_free(text);
    }
    return ret[0] != '\0' ? ret : NULL;
}

static const char *on_dial(void *arg)
{
    struct rfs_mount *mount = arg;
    return rfs_address_read(mount->os, mount->options.server_file, mount->address);
}

int rfs_environment_read(struct os *os, const char *file, char **text, struct vec *ret,
                         struct err *err)
{
    size_t length = 0, begin = 0;
    int code = os_read_file(os, file, ENVIRONMENT_MAX, text, &length, err);
    for (size_t i = 0; code == 0 && i < length; i++) {
        if ((*text)[i] == '\0') {
            vec_push(ret, *text + begin);
            begin = i + 1;
        }
    }
    vec_push(ret, NULL);
    return code;
}

/* Reads the job's environment.  It must be read before the keeper is made, because the keeper is a
 * copy (fork) of us. */
static int read_environment(struct rfs_mount *mount, struct err *err)
{
    if (mount->options.environment_file == NULL) {
        return 0;
    }
    int code = rfs_environment_read(mount->os, mount->options.environment_file, &mount->environment,
                                    &mount->environment_ptrs, err);
    mount->options.cage.environment = (char *const *)mount->environment_ptrs.items;
    return code;
}

static int start_job(struct rfs_mount *mount, struct err *err)
{
    /* What the keeper mounts something over. */
    static const char *const PLACES[] = {"/proc", "/dev", NULL};
    static const char *const PLACES_AND_TMP[] = {"/proc", "/dev", "/tmp", NULL};
    static const struct rfs_cage_events CAGE = {on_mounted, on_started, on_ended, on_failed};
    static const struct rfs_link_events LINK = {on_ready, on_lost, on_renew, on_again, on_dial};
    static const int SIGNALS[SIGNALS_MAX] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    int code = read_environment(mount, err);
    code = code != 0 ? code
                     : rfs_cage_create(mount->loop, &mount->options.cage, &CAGE, mount,
                                       &mount->cage, err);
    code = code != 0 ? code
                     : rfs_ticket_read(mount->os, mount->options.ticket_file, mount->ticket, err);
    if (code != 0) {
        return code;
    }
    mount->options.link.ticket = mount->ticket;
    mount->options.files.places = mount->options.cage.scratch != NULL ? PLACES_AND_TMP : PLACES;
    mount->end_timer = loop_timer_create(mount->loop, look_whether_written, mount);
    for (size_t i = 0; i < SIGNALS_MAX; i++) {
        mount->forwards[i] = (struct forward){mount, SIGNALS[i]};
        loop_on_signal(mount->loop, SIGNALS[i], on_signal, &mount->forwards[i]);
    }
    return rfs_link_create(mount->loop, &mount->options.link, &LINK, mount, &mount->link, err);
}

static void say_stats(const struct rfs_mount *mount)
{
    struct rfs_stats files;
    struct rfs_link_stats link;
    rfs_get_stats(mount->fs, &files);
    rfs_link_get_stats(mount->link, &link);
    (void)fprintf(stderr,
                  PROGRAM ": requests %" PRIu64 " reads %" PRIu64 " ahead %" PRIu64
                          " writes %" PRIu64 " calls %" PRIu64 " connections %" PRIu64
                          " resent %" PRIu64 "\n",
                  files.requests, files.reads, files.ahead, files.writes, link.calls,
                  link.connections, link.resent);
}

static void end_all(struct rfs_mount *mount)
{
    /* Who waits for an answer of ours cannot die: first there is nobody to wait for. */
    if (!mount->ended && mount->cage != NULL) {
        rfs_cage_kill(mount->cage);
    }
    rfs_kernel_stop(mount->kernel);
    rfs_cage_destroy(mount->cage);
    rfs_link_destroy(mount->link);
    rfs_destroy(mount->fs);
    rfs_kernel_destroy(mount->kernel);
    loop_timer_destroy(mount->end_timer);
    mem_free((void *)(uintptr_t)mount->hello.data);
    vec_fini(&mount->environment_ptrs, NULL);
    mem_free(mount->environment);
}

int rfs_mount_create(struct loop *loop, struct os *os, const struct rfs_mount_options *options,
                     struct rfs_mount **ret, struct err *err)
{
    struct rfs_mount *mount = mem_zalloc(sizeof(*mount));
    mount->options = *options;
    mount->loop = loop;
    mount->os = os;
    int code = start_job(mount, err);
    if (code != 0) {
        end_all(mount);
        mem_free(mount);
        return code;
    }
    *ret = mount;
    return 0;
}

int rfs_mount_finish(struct rfs_mount *mount)
{
    if (mount->options.stats && mount->fs != NULL) {
        say_stats(mount);
    }
    end_all(mount);
    int result = mount->result, status = mount->status;
    /* For who has to tell that from our own death; the job has its standard error elsewhere. */
    bool tells = mount->options.cage.streams[2] != NULL || mount->options.cage.image != NULL;
    int number = rfs_cage_signal_of(status);
    if (result == 0 && tells && number != 0) {
        (void)fprintf(stderr, PROGRAM ": the job died of signal %d\n", number);
    }
    mem_free(mount);
    return result != 0 ? result : rfs_cage_end_like(status);
}

/* ---- can this machine mount it? -------------------------------------------------------------- */

struct rfs_probe {
    struct loop *loop;
    struct rfs_cage *cage;
    bool mounted;
    char why[300];
};

static void probe_mounted(void *arg, int fuse_fd, int proc_fd)
{
    struct rfs_probe *probe = arg;
    probe->mounted = true;
    rfs_cage_kill(probe->cage); /* nobody will ever answer it */
    struct rfs_kernel *kernel =
        rfs_kernel_create(probe->loop, fuse_fd, proc_fd, on_unmounted, NULL);
    rfs_kernel_stop(kernel);
    rfs_kernel_destroy(kernel);
    loop_stop(probe->loop, 0);
}

static void probe_ended(void *arg, int status)
{
    (void)arg;
    (void)status; /* it never starts */
}

static void probe_failed(void *arg, bool of_job, const char *why)
{
    struct rfs_probe *probe = arg;
    (void)of_job;
    if (!probe->mounted) {
        (void)snprintf(probe->why, sizeof probe->why, "%s", why);
        loop_stop(probe->loop, 1);
    }
}

int rfs_probe_create(struct loop *loop, struct rfs_probe **ret, struct err *err)
{
    static const struct rfs_cage_events EVENTS = {probe_mounted, on_started, probe_ended,
                                                  probe_failed};
    static char *const NOTHING[] = {NULL};
    const struct rfs_cage_options options = {.argv = NOTHING};
    struct rfs_probe *probe = mem_zalloc(sizeof(*probe));
    probe->loop = loop;
    int code = rfs_cage_create(loop, &options, &EVENTS, probe, &probe->cage, err);
    code = code != 0 ? code : rfs_cage_mount(probe->cage, NOBODY, NOBODY, PROBE_READ, err);
    if (code != 0) {
        rfs_cage_destroy(probe->cage);
        mem_free(probe);
        return code;
    }
    *ret = probe;
    return 0;
}

int rfs_probe_finish(struct rfs_probe *probe, struct err *err)
{
    int code = probe->mounted ? 0 : err_set(err, -EOPNOTSUPP, "%s", probe->why);
    rfs_cage_destroy(probe->cage);
    mem_free(probe);
    return code;
}
