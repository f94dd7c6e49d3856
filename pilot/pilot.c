/* pilot/pilot.c - see pilot.h.
 *
 * The directory is `roost-pilot-<random>` below --execute, TMPDIR or /tmp, for us alone (root's can
 * be passed through by jobs, but not listed).  Links to /proc/<keeper>/exe serve as the daemons'
 * programs: nothing is copied, a file system mounted noexec does not matter, and the pilot's file
 * may be removed while it runs.
 *
 * The pilot ends when the startd exits.  Normally all starters have ended before.  Otherwise the
 * starters, which are descendants of the keeper, are asked to end, then killed with their jobs;
 * then the directory is removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pilot/pilot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "pilot/pilot_plan.h"
#include "pilot/ticket.h"

#define TOKEN_FILE_MAX ((size_t)1 << 20)
#define PATH_BYTES     4096  /* most bytes of a path, with the terminating zero */
#define TIDY_LOOK_MS   50    /* time between checks whether the starters are gone */
#define TIDY_KILL_MS   5000  /* until what was killed is gone */
#define TIDY_MAX_MS    40000 /* longer than KILLING_TIMEOUT's default: then they are killed */

struct pilot {
    struct loop *loop;
    struct os *os;
    struct loop_timer *tidy;
    char directory[PATH_BYTES], mark[PATH_BYTES + 32];
    bool made, has_ticket;
    pid_t child; /* the startd, or what exchanges the ticket before it; 0: none */
    int status;
    bool killed;    /* the starters that were left */
    unsigned stops; /* signals that told us to end */
    uint64_t give_up_ms;
};

/* ---- the end */

static void collect_name(void *arg, const char *name)
{
    vec_push(arg, mem_strdup(name));
}

static size_t list_jobs(struct os *os, const char *directory, struct vec *names)
{
    char execute[PATH_BYTES + 16];
    (void)snprintf(execute, sizeof execute, "%s/execute", directory);
    (void)os_list(os, execute, collect_name, names, NULL); /* not there: no jobs */
    return names->count;
}

/* Ends the processes of jobs whose starter is gone. */
static void kill_jobs(struct os *os, const char *directory)
{
    struct vec names = {0};
    char mark[PATH_BYTES + 400];
    (void)list_jobs(os, directory, &names);
    for (size_t i = 0; i < names.count; i++) {
        (void)snprintf(mark, sizeof mark, "ROOST_STARTER_DIR=%s/execute/%s", directory,
                       (const char *)names.items[i]);
        (void)os_marked_kill(os, mark, SIGKILL);
    }
    vec_fini(&names, mem_free);
}

static void remove_all(struct os *os, const char *directory)
{
    struct err err = {""};
    kill_jobs(os, directory);
    if (os_remove_tree(os, directory, &err) != 0) {
        (void)fprintf(stderr, "roost-pilot: %s\n", err.text);
    }
}

static void tidy_up(void *arg)
{
    struct pilot *pilot = arg;
    struct vec names = {0};
    size_t jobs = list_jobs(pilot->os, pilot->directory, &names);
    bool in_time = loop_now_ms(pilot->loop) < pilot->give_up_ms;
    vec_fini(&names, mem_free);
    if (os_descendants_kill(pilot->os, 0) == 0 || (pilot->killed && !in_time)) {
        loop_stop(pilot->loop, pilot->status);
        return;
    }
    /* A starter that has cleaned up has nothing more to do than to look for its startd. */
    if (!pilot->killed && (jobs == 0 || !in_time)) {
        (void)os_descendants_kill(pilot->os, SIGKILL);
        pilot->killed = true;
        pilot->give_up_ms = loop_now_ms(pilot->loop) + TIDY_KILL_MS;
    }
    loop_timer_set(pilot->tidy, TIDY_LOOK_MS);
}

static void startd_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct pilot *pilot = arg;
    (void)pid;
    pilot->child = 0;
    pilot->status = how->status == 0 ? 0 : 1;
    if (how->signal != 0) {
        (void)fprintf(stderr, "roost-pilot: the startd was ended by signal %d\n", how->signal);
    }
    /* The starters, not their jobs: a starter that sees its job die before its own SIGTERM reports
     * the job as completed, ended by a signal. */
    (void)os_children_kill(pilot->os, SIGTERM);
    pilot->give_up_ms = loop_now_ms(pilot->loop) + TIDY_MAX_MS;
    tidy_up(pilot);
}

static void told_to_stop(void *arg)
{
    struct pilot *pilot = arg;
    pilot->stops++;
    if (pilot->child > 0) {
        (void)os_kill(pilot->os, pilot->child, pilot->stops > 1 ? SIGQUIT : SIGTERM);
    } else {
        pilot->give_up_ms = 0;
    }
}

/* ---- the beginning */

static int read_text(struct os *os, const char *path, char **ret, struct err *err)
{
    size_t length;
    int rc = os_read_file(os, path, TOKEN_FILE_MAX, ret, &length, err);
    if (rc == 0 && strlen(*ret) != length) {
        mem_free(*ret);
        *ret = NULL;
        rc = err_set(err, -EINVAL, "%s: not a text file", path);
    }
    return rc;
}

static int write_text(struct pilot *pilot, const char *name, const char *text, mode_t mode,
                      struct err *err)
{
    char path[PATH_BYTES + 128];
    (void)snprintf(path, sizeof path, "%s/%s", pilot->directory, name);
    return os_write_file(pilot->os, path, text, strlen(text), mode, false, err);
}

/* Returns the file's name without its directory and ".pub". */
static void kid_of(const char *path, char ret[64])
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".pub") == 0) {
        length -= 4;
    }
    (void)snprintf(ret, 64, "%.*s", (int)length, name);
}

static int write_key(struct pilot *pilot, const char *kid, const char *pem, struct err *err)
{
    char name[128];
    (void)snprintf(name, sizeof name, "security/keys/%s.pub", kid);
    return write_text(pilot, name, pem, 0644, err);
}

static int write_token(struct pilot *pilot, const struct pilot_bundle *bundle, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s\n%s", bundle->token, bundle->holder);
    int rc = write_text(pilot, "security/token", strbuf_text(&text), 0600, err);
    secret_wipe(text.data, text.length);
    strbuf_fini(&text);
    return rc;
}

static int write_secrets(struct pilot *pilot, const struct pilot_options *options, struct err *err)
{
    struct pilot_bundle bundle = {0};
    char *text = NULL, *ca = NULL;
    int rc = read_text(pilot->os, options->token_file, &text, err);
    if (rc == 0) {
        rc = pilot_plan_bundle(text, &bundle, err);
        rc = rc != 0 ? err_prefix(err, rc, "%s", options->token_file) : 0;
    }
    if (rc == 0 && options->ca_file != NULL) {
        rc = read_text(pilot->os, options->ca_file, &ca, err);
    }
    if (rc == 0 && ca == NULL && bundle.ca == NULL && options->pin == NULL) {
        rc = err_set(err, -EINVAL, "%s contains no certificate of the pool's CA; use --ca or --pin",
                     options->token_file);
    }
    if (rc == 0 && bundle.keys.count + options->key_count == 0) {
        rc = err_set(err, -EINVAL, "%s contains no public key of the pool; use --key",
                     options->token_file);
    }
    rc = rc != 0 ? rc : write_token(pilot, &bundle, err);
    pilot->has_ticket = rc == 0 && ticket_is(bundle.token);
    if (ca != NULL || bundle.ca != NULL) {
        rc = rc != 0 ? rc
                     : write_text(pilot, "security/ca.pem", ca != NULL ? ca : bundle.ca, 0644, err);
    }
    for (size_t i = 0; i < bundle.keys.count && rc == 0; i++) {
        const struct pilot_key *key = bundle.keys.items[i];
        rc = write_key(pilot, key->kid, key->pem, err);
    }
    for (size_t i = 0; i < options->key_count && rc == 0; i++) {
        char kid[64], *pem = NULL;
        kid_of(options->key_files[i], kid);
        rc = read_text(pilot->os, options->key_files[i], &pem, err);
        rc = rc != 0 ? rc : write_key(pilot, kid, pem, err);
        mem_free(pem);
    }
    pilot_bundle_fini(&bundle);
    mem_free(text);
    mem_free(ca);
    return rc;
}

static int make_directory(struct pilot *pilot, const struct pilot_options *options, struct err *err)
{
    static const char *const NAMES[] = {"log",  "run", "spool",    "execute",
                                        "lock", "bin", "security", "security/keys"};
    const char *above = options->execute;
    above = above != NULL ? above : os_getenv(pilot->os, "TMPDIR");
    above = above != NULL && above[0] != '\0' ? above : "/tmp";
    char *absolute = NULL, path[PATH_BYTES + 32];
    uint64_t random;
    int rc = os_absolute(pilot->os, above, &absolute, err);
    if (rc != 0) {
        return rc;
    }
    loop_secret(pilot->loop, &random, sizeof random);
    int length = snprintf(pilot->directory, sizeof pilot->directory, "%s/roost-pilot-%016llx",
                          absolute, (unsigned long long)random);
    mem_free(absolute);
    if (length < 0 || (size_t)length >= sizeof pilot->directory) {
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", above);
    }
    /* Jobs of another account go through it to their sandboxes. */
    mode_t mode = os_uid(pilot->os) == 0 ? 0711 : 0700;
    pilot->made = true;
    rc = os_mkdirs(pilot->os, pilot->directory, mode, err);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && rc == 0; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", pilot->directory, NAMES[i]);
        rc = os_mkdirs(pilot->os, path, strcmp(NAMES[i], "execute") == 0 ? mode : 0700, err);
    }
    static const char *const LINKS[] = {"bin/roost-startd", "bin/roost-starter",
                                        "bin/roost-ticket"};
    for (size_t i = 0; i < ARRAY_COUNT(LINKS) && rc == 0; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", pilot->directory, LINKS[i]);
        rc = pilot_link_self(path, err);
    }
    return rc;
}

static int write_config(struct pilot *pilot, const struct pilot_options *options, struct err *err)
{
    struct os_machine machine;
    struct strbuf text;
    char name[300];
    int rc = os_machine(pilot->os, &machine, err);
    if (rc != 0) {
        return rc;
    }
    (void)snprintf(name, sizeof name, "glidein_%d_%.6s@%s", (int)os_pid(pilot->os),
                   strrchr(pilot->directory, '-') + 1, machine.hostname);
    const struct pilot_place place = {.directory = pilot->directory,
                                      .name = options->name != NULL ? options->name : name,
                                      .now_s = loop_wall_s(pilot->loop)};
    strbuf_init(&text, 0);
    rc = pilot_plan_config(options, &place, &text, err);
    rc = rc != 0 ? rc : write_text(pilot, "roost.conf", strbuf_text(&text), 0600, err);
    strbuf_fini(&text);
    return rc;
}

/* Starts a daemon of the pilot by the name of its link. */
static int spawn_daemon(struct pilot *pilot, const char *name, os_exit_f ended, struct err *err)
{
    char program[PATH_BYTES + 32], config[PATH_BYTES + 32], keeper[64];
    (void)snprintf(program, sizeof program, "%s/bin/%s", pilot->directory, name);
    (void)snprintf(config, sizeof config, "%s/roost.conf", pilot->directory);
    (void)snprintf(pilot->mark, sizeof pilot->mark, "%s=%s", PILOT_ENV_DIR, pilot->directory);
    (void)snprintf(keeper, sizeof keeper, "%s=%d", PILOT_ENV_PID, (int)os_pid(pilot->os));
    const char *argv[] = {program, "-config", config, "-log", "-", NULL};
    /* The host's configuration of OpenSSL may name modules, and a static program can load none. */
    const char *env_add[] = {pilot->mark, keeper, "OPENSSL_CONF=/dev/null", NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .env_add = env_add,
                                  .cwd = pilot->directory,
                                  .stderr_path = "-",
                                  .new_session = true};
    return os_spawn(pilot->os, &spec, ended, pilot, &pilot->child, err);
}

/* The ticket was exchanged, or not. */
static void ticket_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct pilot *pilot = arg;
    struct err err = {""};
    (void)pid;
    pilot->child = 0;
    if (how->status != 0 || how->signal != 0 || pilot->stops > 0) {
        loop_stop(pilot->loop, pilot->stops > 0 ? 0 : 1);
    } else if (spawn_daemon(pilot, "roost-startd", startd_ended, &err) != 0) {
        (void)fprintf(stderr, "roost-pilot: %s\n", err.text);
        loop_stop(pilot->loop, 1);
    }
}

int pilot_create(struct loop *loop, struct os *os, const struct pilot_options *options,
                 struct pilot **ret, struct err *err)
{
    struct pilot *pilot = mem_zalloc(sizeof *pilot);
    pilot->loop = loop;
    pilot->os = os;
    pilot->tidy = loop_timer_create(loop, tidy_up, pilot);
    os_become_subreaper(os); /* starters are detached: they become our children */
    loop_on_signal(loop, SIGTERM, told_to_stop, pilot);
    loop_on_signal(loop, SIGINT, told_to_stop, pilot);
    int rc = make_directory(pilot, options, err);
    rc = rc != 0 ? rc : write_secrets(pilot, options, err);
    rc = rc != 0 ? rc : write_config(pilot, options, err);
    bool ticket = pilot->has_ticket;
    rc = rc != 0 ? rc
                 : spawn_daemon(pilot, ticket ? "roost-ticket" : "roost-startd",
                                ticket ? ticket_ended : startd_ended, err);
    if (rc != 0) {
        pilot_destroy(pilot);
        return rc;
    }
    *ret = pilot;
    return 0;
}

void pilot_destroy(struct pilot *pilot)
{
    if (pilot == NULL) {
        return;
    }
    if (pilot->made) {
        remove_all(pilot->os, pilot->directory);
    }
    loop_timer_destroy(pilot->tidy);
    mem_free(pilot);
}

/* ---- the startd's side */

static int keeper_pid(struct os *os)
{
    const char *text = os_getenv(os, PILOT_ENV_PID);
    return text == NULL ? 0 : (int)strtol(text, NULL, 10);
}

void pilot_tie(struct os *os)
{
    pilot_end_with_parent();
    if (keeper_pid(os) != pilot_parent()) {
        (void)os_kill(os, os_pid(os), SIGTERM); /* it died before we asked */
    }
}

void pilot_untie(struct os *os)
{
    const char *directory = os_getenv(os, PILOT_ENV_DIR);
    char mark[PATH_BYTES + 32];
    if (directory == NULL || keeper_pid(os) == pilot_parent()) {
        return;
    }
    (void)snprintf(mark, sizeof mark, "%s=%s", PILOT_ENV_DIR, directory);
    (void)os_marked_kill(os, mark, SIGKILL);
    remove_all(os, directory);
}
