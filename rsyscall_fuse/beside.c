/* rsyscall_fuse/beside.c - see beside.h.
 *
 * The session begins first, then the door (the socket for the job's processes), then the job; they
 * end in reverse order.  If the session is lost for good, the job is ended, as in mount.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/beside.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_cage.h"
#include "base/vec.h"
#include "rsyscall_fuse/begin_linux.h"
#include "rsyscall_fuse/door.h"
#include "rsyscall_fuse/mount.h"

#define PROGRAM     "roost-rsys-mount"
#define SELF        "/proc/self/exe"
#define SIGNALS_MAX 6
#define LOOK_MS     5 /* at the end, interval of looks whether all is written */
/* most bytes of the path of a Unix socket, with the terminating zero */
#define SOCKET_SIZE 100
/* most bytes of an environment variable NAME=VALUE, with the terminating zero */
#define ENV_SIZE 4200

struct rfs_beside {
    struct rfs_beside_options options;
    struct loop *loop;
    struct os *os;
    struct rfs_link *link;
    struct rfs_door *door;
    pid_t job;
    char ticket[RSYS_TICKET_MAX + 1];
    char server[RFS_ADDRESS_SIZE];
    char folder[SOCKET_SIZE], address[SOCKET_SIZE + 24];
    struct beside_signal {
        struct rfs_beside *beside;
        int number;
    } signals[SIGNALS_MAX];
    struct loop_timer *end_timer;
    bool lost;  /* the session is lost for good; result says how */
    int status; /* exit status of the job, as wait(2) returns it */
    int result; /* our own result; 0: none, the job's status counts */
};

static void give_up(struct rfs_beside *beside, int result, const char *text)
{
    (void)fprintf(stderr, PROGRAM ": %s\n", text);
    beside->result = result;
    beside->lost = true;
    if (beside->job > 0) {
        (void)os_kill(beside->os, beside->job, SIGKILL); /* on_ended() ends the loop */
    } else {
        loop_stop(beside->loop, result);
    }
}

/* Ends the loop when all that the job's processes sent last is written. */
static void look_whether_quiet(void *arg)
{
    struct rfs_beside *beside = arg;
    if (rfs_door_is_quiet(beside->door)) {
        loop_stop(beside->loop, beside->result);
    } else {
        loop_timer_set(beside->end_timer, LOOK_MS);
    }
}

static void on_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct rfs_beside *beside = arg;
    (void)pid;
    beside->job = 0;
    (void)os_descendants_kill(beside->os, SIGKILL);
    if (beside->lost) {
        loop_stop(beside->loop, beside->result);
        return;
    }
    beside->status = how->signal != 0 ? how->signal : how->status << 8;
    look_whether_quiet(beside);
}

/* Fills in the words that run the job: its own, after those of a program of ours if streams must be
 * opened or the program must be fetched first. */
static void fill_words(struct rfs_beside *beside, struct vec *ret)
{
    const struct rfs_beside_options *options = &beside->options;
    bool fetch = options->fetch && options->image == NULL;
    bool begin = fetch;
    for (int i = 0; i < 3; i++) {
        begin = begin || options->streams[i] != NULL;
    }
    if (begin) {
        vec_push(ret, (void *)(uintptr_t)SELF);
        vec_push(ret, (void *)(uintptr_t)RFS_BEGIN_WORD);
        vec_push(ret, (void *)(uintptr_t)(fetch ? RFS_BEGIN_THERE : RFS_BEGIN_HERE));
    }
    for (int i = 0; begin && i < 3; i++) {
        const char *path = options->streams[i];
        vec_push(ret, (void *)(uintptr_t)(path != NULL ? path : "-"));
    }
    if (options->image != NULL) {
        vec_push(ret, (void *)(uintptr_t)options->image);
    }
    for (char *const *word = options->argv; options->image == NULL && *word != NULL; word++) {
        vec_push(ret, *word);
    }
    vec_push(ret, NULL);
}

static int start_job(struct rfs_beside *beside, struct err *err)
{
    const struct rfs_beside_options *options = &beside->options;
    char preload[ENV_SIZE], socket[ENV_SIZE], local[ENV_SIZE], directory[ENV_SIZE];
    const char *env[] = {preload, socket, local, directory, NULL};
    const struct os_cage cage = {.filter = options->filter};
    struct vec words = {0}, entries = {0};
    char *text = NULL;
    int code = 0;
    if (options->environment_file != NULL) {
        code = rfs_environment_read(beside->os, options->environment_file, &text, &entries, err);
    }
    (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", options->library);
    (void)snprintf(socket, sizeof socket, "ROOST_REMOTE_SOCKET=%s/" RFS_DOOR_NAME, beside->folder);
    (void)snprintf(local, sizeof local, "ROOST_REMOTE_LOCAL=%s:%s", options->scratch,
                   options->local != NULL ? options->local : "/tmp");
    (void)snprintf(directory, sizeof directory, "ROOST_REMOTE_CWD=%s",
                   options->directory != NULL ? options->directory : "/");
    fill_words(beside, &words);
    const struct os_spawn spec = {.argv = (const char *const *)words.items,
                                  .env = (const char *const *)entries.items,
                                  .env_add = env,
                                  .cwd = "/", /* is wherever an image of the job is resumed */
                                  .stdin_path = "-",
                                  .stdout_path = "-",
                                  .stderr_path = "-",
                                  .no_new_privs = true,
                                  .cage = options->filter != NULL ? &cage : NULL,
                                  .kin = OS_SUBREAPER_JOB};
    code = code != 0 ? code : os_spawn(beside->os, &spec, on_ended, beside, &beside->job, err);
    vec_fini(&words, NULL);
    vec_fini(&entries, NULL);
    mem_free(text);
    return code;
}

static void on_ready(void *arg, const struct rsys_reply *hello)
{
    struct rfs_beside *beside = arg;
    struct err err;
    int code = rfs_door_create(beside->loop, beside->link, hello, beside->address,
                               RFS_DOOR_LINGER_MS, &beside->door, &err);
    code = code != 0 ? code : start_job(beside, &err);
    if (code != 0) {
        give_up(beside, RFS_MOUNT_FAIL, err.text);
    }
}

static void on_lost(void *arg, int code, const char *why)
{
    struct rfs_beside *beside = arg;
    (void)code;
    give_up(beside, beside->door != NULL ? RFS_MOUNT_LOST : RFS_MOUNT_FAIL, why);
}

static void on_signal(void *arg)
{
    const struct beside_signal *signal = arg;
    struct rfs_beside *beside = signal->beside;
    if (beside->job > 0) {
        (void)os_kill(beside->os, beside->job, signal->number);
    } else {
        give_up(beside, 128 + signal->number, "ended by a signal before the job was started");
    }
}

/* Makes the directory of the door's socket, which only our account can enter. */
static int make_folder(struct rfs_beside *beside, struct err *err)
{
    const struct rfs_beside_options *options = &beside->options;
    const char *folder = options->door != NULL ? options->door : options->scratch;
    int length = snprintf(beside->folder, sizeof beside->folder, "%s%s", folder,
                          options->door != NULL ? "" : "/.roost-rsys");
    if (length < 0 || (size_t)length + sizeof "/" RFS_DOOR_NAME > sizeof beside->folder) {
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long for a socket", folder);
    }
    (void)snprintf(beside->address, sizeof beside->address, "unix:%s/" RFS_DOOR_NAME,
                   beside->folder);
    return os_mkdirs(beside->os, beside->folder, 0700, err);
}

static void end_all(struct rfs_beside *beside)
{
    rfs_door_close(beside->door);
    rfs_link_destroy(beside->link);
    rfs_door_destroy(beside->door);
    loop_timer_destroy(beside->end_timer);
    if (beside->folder[0] != '\0') {
        (void)os_remove_tree(beside->os, beside->folder, NULL);
    }
}

static const char *on_dial(void *arg)
{
    struct rfs_beside *beside = arg;
    return rfs_address_read(beside->os, beside->options.server_file, beside->server);
}

int rfs_beside_create(struct loop *loop, struct os *os, const struct rfs_beside_options *options,
                      struct rfs_beside **ret, struct err *err)
{
    static const struct rfs_link_events LINK = {on_ready, on_lost, NULL, NULL, on_dial};
    static const int SIGNALS[SIGNALS_MAX] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct rfs_beside *beside = mem_zalloc(sizeof *beside);
    beside->options = *options;
    beside->loop = loop;
    beside->os = os;
    int code = rfs_ticket_read(os, options->ticket_file, beside->ticket, err);
    code = code != 0 ? code : make_folder(beside, err);
    if (code == 0) {
        beside->options.link.ticket = beside->ticket;
        beside->end_timer = loop_timer_create(loop, look_whether_quiet, beside);
        os_become_subreaper(os);
        for (size_t i = 0; i < SIGNALS_MAX; i++) {
            beside->signals[i] = (struct beside_signal){beside, SIGNALS[i]};
            loop_on_signal(loop, SIGNALS[i], on_signal, &beside->signals[i]);
        }
        code = rfs_link_create(loop, &beside->options.link, &LINK, beside, &beside->link, err);
    }
    if (code != 0) {
        end_all(beside);
        mem_free(beside);
        return code;
    }
    *ret = beside;
    return 0;
}

static void say_stats(const struct rfs_beside *beside)
{
    struct rfs_door_stats door;
    struct rfs_link_stats link;
    rfs_door_get_stats(beside->door, &door);
    rfs_link_get_stats(beside->link, &link);
    (void)fprintf(stderr,
                  PROGRAM ": processes %" PRIu64 " requests %" PRIu64 " refused %" PRIu64
                          " calls %" PRIu64 " connections %" PRIu64 " resent %" PRIu64 "\n",
                  door.clients, door.requests, door.refused, link.calls, link.connections,
                  link.resent);
}

int rfs_beside_finish(struct rfs_beside *beside)
{
    int result = beside->result, status = beside->status;
    if (beside->options.stats && beside->door != NULL) {
        say_stats(beside);
    }
    end_all(beside);
    mem_free(beside);
    return result != 0 ? result : rfs_cage_end_like(status);
}
