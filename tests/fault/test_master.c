/* The master and daemons that die: this program is the daemons, too.
 *
 * LINK: master
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/daemon_rig.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/check.h"
#include "base/daemon/daemon_checking.h"
#include "base/daemon/daemon_complaint.h"
#include "master/master.h"

struct rig {
    char dir[FAST_DIR_SIZE], self[512], config_text[1024];
    const char *backoff; /* MASTER_BACKOFF_CONSTANT and ..._CEILING */
    struct loop *loop;
    struct os *os;
    struct daemon_rig daemon;
};

/* ---- what this program is when it is started as roost-NAME ---- */

/* Writes WORD:NAME to the log. */
static void note(const char *dir, const char *word, const char *name)
{
    char path[512], line[64];
    (void)snprintf(path, sizeof path, "%s/log", dir);
    int length = snprintf(line, sizeof line, "%s:%s ", word, name);
    FILE *file = fopen(path, "a");
    if (file != NULL) {
        (void)fwrite(line, 1, (size_t)length, file);
        (void)fclose(file);
    }
}

static bool is_there(const char *dir, const char *name, const char *what)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s.%s", dir, name, what);
    return access(path, F_OK) == 0;
}

static int be_daemon(const char *path)
{
    char dir[128], lock_path[160];
    const char *name = strrchr(path, '/') + strlen("/roost-");
    struct os *os;
    struct os_lock *lock;
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
    (void)snprintf(lock_path, sizeof lock_path, "%s/%s.lock", dir, name);
    if (os_create(NULL, &os, NULL) != 0 || os_lock(os, lock_path, &lock, NULL, NULL) != 0) {
        note(dir, "twice", name);
        return 3;
    }
    /* Looked at first: who reads of this start may take the mark away at once. */
    bool fails = is_there(dir, name, "fails");
    note(dir, "start", name);
    if (fails) {
        return 1;
    }
    do {
        (void)sigwait(&set, &got);
        if (got == SIGHUP) {
            note(dir, "reload", name);
        }
    } while ((got != SIGTERM && got != SIGINT) || is_there(dir, name, "hangs"));
    if (got == SIGINT) {
        note(dir, "all", name);
    }
    note(dir, "stop", name);
    return 0;
}

/* ---- the rig ---- */

static const char *config_of(struct rig *rig, const char *list)
{
    (void)snprintf(rig->config_text, sizeof rig->config_text,
                   "LOCAL_DIR = \"%s\"\nSBIN = \"%s\"\nLOCK = \"%s\"\nDAEMON_LIST = \"%s\"\n"
                   "%s\n",
                   rig->dir, rig->dir, rig->dir, list, rig->backoff);
    return rig->config_text;
}

static void start(struct rig *rig, const char *list)
{
    daemon_rig_load(&rig->daemon, &master_daemon, config_of(rig, list));
    (void)daemon_rig_start(&rig->daemon, rig->loop, rig->os, NULL);
}

/* The master dies without a word; its daemons go on. */
static void die(struct rig *rig)
{
    daemon_rig_stop(&rig->daemon);
}

static const char *events(struct rig *rig)
{
    static _Thread_local char text[2048];
    char path[128], *data = NULL;
    size_t length;
    (void)snprintf(path, sizeof path, "%s/log", rig->dir);
    text[0] = '\0';
    if (os_read_file(rig->os, path, sizeof text - 1, &data, &length, NULL) == 0) {
        (void)snprintf(text, sizeof text, "%s", data);
        mem_free(data);
    }
    return text;
}

static size_t count(struct rig *rig, const char *event)
{
    size_t found = 0;
    for (const char *at = events(rig); (at = strstr(at, event)) != NULL; at++) {
        found++;
    }
    return found;
}

static void await_times(struct rig *rig, const char *what, size_t times)
{
    LOOP_RIG_UNTIL(rig->loop, count(rig, what) >= times, "'%s' in: %s", what, events(rig));
}

static void await(struct rig *rig, const char *what)
{
    await_times(rig, what, 1);
}

static pid_t pid_of(struct rig *rig, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s.lock", rig->dir, name);
    return os_lock_holder(rig->os, path);
}

static void mark(struct rig *rig, const char *name, bool there)
{
    char path[LOOP_RIG_PATH_SIZE];
    if (there) {
        loop_rig_write(rig->os, rig->dir, name, "", 0644);
    } else {
        loop_rig_path(rig->dir, name, path);
        assert_int_equal(os_remove(rig->os, path, NULL), 0);
    }
}

/* Tells the master to end; returns how its loop ended. */
static int stop(struct rig *rig)
{
    master_daemon.stop(rig->daemon.state);
    return loop_run(rig->loop);
}

static int setup(void **state)
{
    static const char *const NAMES[] = {"collector", "schedd", "startd"};
    struct rig *rig = mem_zalloc(sizeof *rig);
    rig->backoff = "MASTER_BACKOFF_CONSTANT = 20ms\nMASTER_BACKOFF_CEILING = 80ms";
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    assert_true(readlink("/proc/self/exe", rig->self, sizeof rig->self - 1) > 0);
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/roost-%s", rig->dir, NAMES[i]);
        assert_int_equal(symlink(rig->self, path), 0);
    }
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    static const char *const NAMES[] = {"collector", "schedd", "startd"};
    struct rig *rig = *state;
    die(rig);
    for (size_t i = 0; i < 3; i++) {
        pid_t pid = pid_of(rig, NAMES[i]);
        if (pid > 0) {
            (void)os_kill(rig->os, pid, SIGKILL);
        }
    }
    daemon_rig_fini(&rig->daemon);
    loop_rig_close(rig->loop, rig->os, rig->dir);
    mem_free(rig);
    return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static void the_listed_daemons_are_started_and_no_others(void **state)
{
    struct rig *rig = *state;
    start(rig, "MASTER, COLLECTOR, SCHEDD");
    await(rig, "start:collector");
    await(rig, "start:schedd");
    assert_int_equal(count(rig, "start:"), 2);
}

static void a_daemon_that_is_killed_is_started_again(void **state)
{
    struct rig *rig = *state;
    start(rig, "COLLECTOR SCHEDD");
    await(rig, "start:collector");
    await(rig, "start:schedd");
    for (int i = 0; i < 3; i++) {
        pid_t pid = pid_of(rig, "schedd");
        assert_true(pid > 0);
        assert_int_equal(os_kill(rig->os, pid, SIGKILL), 0);
        await_times(rig, "start:schedd", (size_t)i + 2);
        assert_int_not_equal(pid_of(rig, "schedd"), pid);
    }
    assert_int_equal(count(rig, "start:collector"), 1);
    assert_int_equal(count(rig, "twice"), 0);
}

static void a_daemon_that_cannot_start_is_tried_later_and_later(void **state)
{
    struct rig *rig = *state;
    mark(rig, "schedd.fails", true);
    start(rig, "SCHEDD");
    uint64_t begin_ms = loop_now_ms(rig->loop);
    await_times(rig, "start:schedd", 4);
    assert_true(loop_now_ms(rig->loop) - begin_ms >= 20 + 40 + 80);
    mark(rig, "schedd.fails", false);
    size_t before = count(rig, "start:");
    await_times(rig, "start:schedd", 5);
    assert_in_range(count(rig, "start:"), before, before + 1);
}

/* Whether the master has seen the daemon's end, and written down what it ended with. */
static bool has_ended(struct rig *rig, const char *name)
{
    char why[DAEMON_COMPLAINT_MAX];
    return daemon_complaint_read(rig->os, rig->dir, name, why);
}

static void a_reload_tries_at_once_what_could_not_start(void **state)
{
    struct rig *rig = *state;
    rig->backoff = "MASTER_BACKOFF_CONSTANT = 10m\nMASTER_BACKOFF_CEILING = 10m";
    mark(rig, "schedd.fails", true);
    start(rig, "SCHEDD");
    await(rig, "start:schedd");
    LOOP_RIG_UNTIL(rig->loop, has_ended(rig, "schedd"), "");
    mark(rig, "schedd.fails", false);
    daemon_rig_reload(&rig->daemon, config_of(rig, "SCHEDD"));
    await_times(rig, "start:schedd", 2);
}

static void a_new_master_adopts_what_runs(void **state)
{
    struct rig *rig = *state;
    start(rig, "COLLECTOR SCHEDD");
    await(rig, "start:collector");
    await(rig, "start:schedd");
    pid_t collector = pid_of(rig, "collector"), schedd = pid_of(rig, "schedd");
    die(rig);
    start(rig, "COLLECTOR SCHEDD STARTD");
    await(rig, "start:startd");
    assert_int_equal(pid_of(rig, "collector"), collector);
    assert_int_equal(pid_of(rig, "schedd"), schedd);
    assert_int_equal(count(rig, "start:") + count(rig, "twice"), 3);
    assert_int_equal(os_kill(rig->os, schedd, SIGKILL), 0); /* and keeps watch over it */
    await_times(rig, "start:schedd", 2);
    assert_int_equal(stop(rig), 0);
    assert_int_equal(count(rig, "stop:"), 3);
}

static void all_are_told_to_end_the_collector_last(void **state)
{
    struct rig *rig = *state;
    start(rig, "COLLECTOR SCHEDD STARTD");
    await(rig, "start:collector");
    await(rig, "start:schedd");
    await(rig, "start:startd");
    assert_int_equal(stop(rig), 0);
    const char *text = events(rig);
    const char *last = strstr(text, "stop:collector");
    assert_non_null(last);
    assert_true(strstr(text, "stop:schedd") < last);
    assert_true(strstr(text, "stop:startd") < last);
    assert_int_equal(pid_of(rig, "collector"), 0);
    assert_int_equal(count(rig, "start:"), 3); /* none came back */
    assert_int_equal(count(rig, "all:"), 0);
}

static void the_end_of_all_work_is_passed_on_as_such(void **state)
{
    struct rig *rig = *state;
    start(rig, "COLLECTOR STARTD");
    await(rig, "start:collector");
    await(rig, "start:startd");
    master_daemon.stop_all(rig->daemon.state);
    assert_int_equal(loop_run(rig->loop), 0);
    assert_int_equal(count(rig, "all:startd"), 1);
    assert_int_equal(count(rig, "stop:"), 2);
}

static void a_master_without_running_daemons_ends_at_once(void **state)
{
    struct rig *rig = *state;
    mark(rig, "schedd.fails", true);
    start(rig, "SCHEDD");
    await(rig, "start:schedd");
    assert_int_equal(stop(rig), 0);
}

static void a_reload_starts_what_is_new_and_stops_what_is_gone(void **state)
{
    struct rig *rig = *state;
    start(rig, "COLLECTOR SCHEDD");
    await(rig, "start:collector");
    await(rig, "start:schedd");
    daemon_rig_reload(&rig->daemon, config_of(rig, "COLLECTOR STARTD"));
    await(rig, "start:startd");
    await(rig, "stop:schedd");
    assert_int_equal(count(rig, "all:schedd"), 1); /* it is not to come back */
    await(rig, "reload:collector");
    assert_int_equal(count(rig, "start:schedd"), 1);
}

static void a_list_without_daemons_or_with_one_twice_is_refused(void **state)
{
    struct rig *rig = *state;
    static const struct {
        const char *list, *says;
    } CASES[] = {{"", "DAEMON_LIST is empty"},
                 {"MASTER", "DAEMON_LIST is empty"},
                 {"COLLECTOR, STARTD, collector", "DAEMON_LIST names collector twice"}};
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct err err = {{0}};
        daemon_rig_load(&rig->daemon, &master_daemon, config_of(rig, CASES[i].list));
        const struct daemon_checking checking = {.os = rig->os, .config = rig->daemon.config};
        assert_int_equal(master_daemon.check(&checking, &err), -EINVAL);
        assert_non_null(strstr(err.text, CASES[i].says));
        daemon_rig_stop(&rig->daemon);
    }
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const char *base = strrchr(argv[0], '/');
    if (argc == 1 && base != NULL && strncmp(base, "/roost-", 7) == 0) {
        return be_daemon(argv[0]);
    }
    const struct CMUnitTest tests[] = {RIG(the_listed_daemons_are_started_and_no_others),
                                       RIG(a_daemon_that_is_killed_is_started_again),
                                       RIG(a_daemon_that_cannot_start_is_tried_later_and_later),
                                       RIG(a_reload_tries_at_once_what_could_not_start),
                                       RIG(a_new_master_adopts_what_runs),
                                       RIG(all_are_told_to_end_the_collector_last),
                                       RIG(the_end_of_all_work_is_passed_on_as_such),
                                       RIG(a_master_without_running_daemons_ends_at_once),
                                       RIG(a_reload_starts_what_is_new_and_stops_what_is_gone),
                                       RIG(a_list_without_daemons_or_with_one_twice_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
