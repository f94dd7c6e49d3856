/* tests/unit/base/test_daemon.c - a daemon's life: start, lock, signals, reload, its master.
 *
 * The daemons of these tests are this very program under another name: links "roost-toy" and
 * "roost-master" lead to it.  The toy writes its steps to the file that its knob TOY_TRACE names.
 *
 * TIMEOUT: 60
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"

#define DEADLINE_MS \
    60000 /* longer than anything here may take: a test that gets there has failed */

/* ---- the daemons ----------------------------------------------------------------------------- */

static const struct knob TOY_KNOBS[] = {
    {.name = "TOY_TRACE", .type = KNOB_PATH, .help = "Where the steps go."},
    {.name = "TOY_WORD",
     .type = KNOB_STRING,
     .fallback = "none",
     .help = "What is written at a reload."},
    {.name = "TOY_LIMIT",
     .type = KNOB_INT,
     .restart = true,
     .fallback = "1",
     .max = 10,
     .help = "A number."},
    {.name = "TOY_START", .type = KNOB_EXPR, .help = "An expression."},
};
static const struct knob_table toy_knobs = {.owner = "TOY",
                                            .knobs = TOY_KNOBS,
                                            .knob_count = ARRAY_COUNT(TOY_KNOBS)};
static const struct knob_table *const TABLES[] = {&toy_knobs, &knobs_common};

struct toy {
    struct daemon_env env;
    struct loop_timer *set;
    char trace[256];
};

static void toy_step(const struct toy *toy, const char *word)
{
    int fd = open(toy->trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    (void)!write(fd, word, strlen(word));
    (void)!write(fd, " ", 1);
    close(fd);
}

/* "-set NAME VALUE": as soon as it runs; writes down what came of it. */
static void toy_set(void *arg)
{
    struct toy *toy = arg;
    struct strbuf changed, restart;
    char step[600];
    struct err err = {""};
    const char *value = toy->env.argc > 2 ? toy->env.argv[2] : NULL;
    strbuf_init(&changed, 0);
    strbuf_init(&restart, 0);
    int rc = daemon_set(&toy->env, toy->env.argv[1], value, &changed, &restart, &err);
    (void)snprintf(step, sizeof(step), "[%d %s%s|%s]", rc, err.text, strbuf_text(&changed),
                   strbuf_text(&restart));
    toy_step(toy, step);
    strbuf_fini(&changed);
    strbuf_fini(&restart);
}

static int toy_start(const struct daemon_env *env, void **state, struct err *err)
{
    if (env->argc > 0 && strcmp(env->argv[0], "fail") == 0) {
        return err_set(err, -EINVAL, "the toy is broken");
    }
    struct toy *toy = mem_zalloc(sizeof(*toy));
    toy->env = *env;
    (void)snprintf(toy->trace, sizeof(toy->trace), "%s", config_path(env->config, "TOY_TRACE"));
    toy_step(toy, env->name);
    bool sets = env->argc > 1 && strcmp(env->argv[0], "-set") == 0;
    for (int i = 0; i < env->argc && !sets; i++) {
        toy_step(toy, env->argv[i]);
    }
    toy->set = loop_timer_create(env->loop, toy_set, toy);
    if (sets) {
        loop_timer_set(toy->set, 0);
    }
    *state = toy;
    return 0;
}

static void toy_reload(void *state, const struct config *config)
{
    struct toy *toy = state;
    toy_step(toy, config_string(toy->env.config, "TOY_WORD")); /* the old one is still there */
    toy->env.config = config;
    toy_step(toy, config_string(config, "TOY_WORD"));
}

static void toy_stop(void *state)
{
    struct toy *toy = state;
    toy_step(toy, "stop"); /* and goes on: "stubborn" */
    if (strcmp(config_string(toy->env.config, "TOY_WORD"), "stubborn") != 0) {
        loop_stop(toy->env.loop, 0);
    }
}

static void toy_stop_all(void *state)
{
    const struct toy *toy = state;
    toy_step(toy, "stop_all");
    loop_stop(toy->env.loop, 0);
}

static void toy_destroy(void *state)
{
    struct toy *toy = state;
    toy_step(toy, "destroy");
    loop_timer_destroy(toy->set);
    mem_free(toy);
}

static int toy_check_expr(void *context, const char *text, struct err *err)
{
    (void)context;
    return strcmp(text, "bad") == 0 ? err_set(err, -EINVAL, "not an expression") : 0;
}

static const struct knob_table *const TOY_KNOWN[] = {&toy_knobs, &knobs_common, NULL};

static const struct daemon TOY = {.name = "toy",
                                  .tables = TABLES,
                                  .table_count = ARRAY_COUNT(TABLES),
                                  .start = toy_start,
                                  .reload = toy_reload,
                                  .stop = toy_stop,
                                  .stop_all = toy_stop_all,
                                  .destroy = toy_destroy,
                                  .check_expr = toy_check_expr,
                                  .known = TOY_KNOWN};

static int master_start(const struct daemon_env *env, void **state, struct err *err)
{
    (void)err;
    *state = mem_dup(env, sizeof(*env));
    return 0;
}

static const struct daemon MASTER = {.name = "master",
                                     .tables = TABLES,
                                     .table_count = ARRAY_COUNT(TABLES),
                                     .start = master_start,
                                     .destroy = mem_free};

/* ---- the tests ------------------------------------------------------------------------------- */

struct fixture {
    struct loop *loop;
    struct os *os;
    struct loop_timer *deadline, *tick;
    char top[64];
    char path[16][256];
    unsigned next;
    unsigned exits;
    struct os_exit how;
    bool woken;
};

static const char *at(struct fixture *f, const char *name)
{
    char *path = f->path[f->next++ % 16];
    (void)snprintf(path, sizeof(f->path[0]), "%s/%s", f->top, name);
    return path;
}

static void put(struct fixture *f, const char *name, const char *text)
{
    assert_int_equal(os_write_file(f->os, at(f, name), text, strlen(text), 0644, false, NULL), 0);
}

/* What is in a file, "" when there is none; good until the next call. */
static const char *text_of(struct fixture *f, const char *name)
{
    static char text[20000];
    char *data = NULL;
    size_t length = 0;
    text[0] = '\0';
    if (os_read_file(f->os, at(f, name), sizeof(text) - 1, &data, &length, NULL) == 0) {
        memcpy(text, data, length + 1);
        mem_free(data);
    }
    return text;
}

static void configure(struct fixture *f, const char *more)
{
    char text[2000];
    (void)snprintf(
        text, sizeof(text),
        "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nSBIN = \"%s\"\nTOY_TRACE = \"%s/trace\"\n%s", f->top,
        f->top, f->top, f->top, more);
    put(f, "roost.conf", text);
}

static void too_late(void *arg)
{
    struct fixture *f = arg;
    fail_msg("waited too long; log:\n%s", text_of(f, "log/ToyLog"));
}

static void wake(void *arg)
{
    struct fixture *f = arg;
    f->woken = true;
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    assert_int_equal(os_create(f->loop, &f->os, NULL), 0);
    f->deadline = loop_timer_create(f->loop, too_late, f);
    loop_timer_set(f->deadline, DEADLINE_MS);
    f->tick = loop_timer_create(f->loop, wake, f);
    (void)snprintf(f->top, sizeof(f->top), "/tmp/roost-test-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    char self[512] = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    assert_int_equal(symlink(self, at(f, "roost-toy")), 0);
    assert_int_equal(symlink(self, at(f, "roost-master")), 0);
    assert_int_equal(setenv("ROOST_CONFIG", at(f, "roost.conf"), 1), 0);
    assert_int_equal(unsetenv("ROOST_MASTER_PID"), 0);
    configure(f, "");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_remove_tree(f->os, f->top, NULL), 0);
    loop_timer_destroy(f->deadline);
    loop_timer_destroy(f->tick);
    os_destroy(f->os);
    loop_destroy(f->loop);
    mem_free(f);
    return 0;
}

static void moment(struct fixture *f)
{
    loop_timer_set(f->tick, 3);
    f->woken = false;
    loop_run_until(f->loop, &f->woken);
}

#define UNTIL(f, condition) \
    while (!(condition)) {  \
        moment(f);          \
    }

static void note_exit(void *arg, pid_t pid, const struct os_exit *how)
{
    struct fixture *f = arg;
    (void)pid;
    f->exits++;
    f->how = *how;
    f->woken = true;
}

static pid_t spawn_with(struct fixture *f, const char *program, const char *const *words,
                        const char *const *env)
{
    const char *argv[12] = {at(f, program)};
    pid_t pid;
    for (size_t i = 0; words != NULL && words[i] != NULL && i < 10; i++) {
        argv[i + 1] = words[i];
    }
    struct os_spawn spec = {.argv = argv,
                            .env_add = env,
                            .stderr_path = at(f, "stderr"),
                            .cwd = "/"};
    assert_int_equal(os_spawn(f->os, &spec, note_exit, f, &pid, NULL), 0);
    return pid;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static pid_t start_toy(struct fixture *f, const char *const *words)
{
    pid_t pid = spawn_with(f, "roost-toy", words, NULL);
    UNTIL(f, strstr(text_of(f, "lock/toy.lock"), "ready") != NULL || f->exits > 0);
    if (f->exits > 0) {
        fail_msg("it ended: %s", text_of(f, "stderr"));
    }
    return pid;
}

static void await_exit(struct fixture *f, unsigned count, int status)
{
    UNTIL(f, f->exits >= count);
    assert_int_equal(f->how.signal, 0);
    assert_int_equal(f->how.status, status);
}

static void a_daemon_starts_says_ready_and_stops_when_told(void **state)
{
    struct fixture *f = *state;
    pid_t pid = start_toy(f, WORDS("own", "arguments"));
    char expected[100];
    (void)snprintf(expected, sizeof(expected), "%d\n%llu\nready\n", (int)pid,
                   (unsigned long long)os_start_time(f->os, pid));
    assert_string_equal(text_of(f, "lock/toy.lock"), expected);
    assert_int_equal(os_lock_holder(f->os, at(f, "lock/toy.lock")), pid);
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    await_exit(f, 1, 0);
    assert_string_equal(text_of(f, "trace"), "toy own arguments stop destroy ");
    assert_non_null(strstr(text_of(f, "log/ToyLog"), " toy info daemon.start "));
    assert_int_equal(os_lock_holder(f->os, at(f, "lock/toy.lock")), 0);
    assert_string_equal(text_of(f, "stderr"), "");
}

static void sigint_stops_also_what_would_outlive_the_daemon(void **state)
{
    struct fixture *f = *state;
    pid_t pid = start_toy(f, NULL);
    assert_int_equal(os_kill(f->os, pid, SIGINT), 0);
    await_exit(f, 1, 0);
    assert_string_equal(text_of(f, "trace"), "toy stop_all destroy ");
}

static void sigpwr_stops_the_same_where_a_daemon_knows_no_better(void **state)
{
    struct fixture *f = *state;
    pid_t pid = start_toy(f, NULL);
    assert_int_equal(os_kill(f->os, pid, SIGPWR), 0);
    await_exit(f, 1, 0);
    assert_string_equal(text_of(f, "trace"), "toy stop_all destroy ");
}

static void a_second_instance_is_refused_with_status_3(void **state)
{
    struct fixture *f = *state;
    pid_t pid = start_toy(f, NULL);
    char expected[200];
    (void)spawn_with(f, "roost-toy", NULL, NULL);
    await_exit(f, 1, 3);
    (void)snprintf(expected, sizeof(expected),
                   "roost-toy: the toy is already running: process %d holds the lock %s\n",
                   (int)pid, at(f, "lock/toy.lock"));
    assert_string_equal(text_of(f, "stderr"), expected);
    (void)spawn_with(f, "roost-toy", WORDS("-instance", "two"), NULL);
    UNTIL(f, strstr(text_of(f, "lock/toy.two.lock"), "ready") != NULL);
    assert_string_equal(text_of(f, "trace"), "toy toy.two ");
    assert_int_equal(os_kill(f->os, os_lock_holder(f->os, at(f, "lock/toy.two.lock")), SIGINT), 0);
    await_exit(f, 2, 0);
    assert_non_null(strstr(text_of(f, "log/ToyLog.two"), " toy.two info daemon.start "));
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    await_exit(f, 3, 0);
}

static void what_is_wrong_at_the_start_is_said_with_status_1(void **state)
{
    struct fixture *f = *state;
    (void)spawn_with(f, "roost-toy", WORDS("fail"), NULL);
    await_exit(f, 1, 1);
    assert_string_equal(text_of(f, "stderr"), "roost-toy: the toy is broken\n");
    assert_non_null(strstr(text_of(f, "log/ToyLog"), "the toy is broken"));
    configure(f, "TOY_LIMIT = 11\n");
    (void)spawn_with(f, "roost-toy", NULL, NULL);
    await_exit(f, 2, 1);
    assert_non_null(strstr(text_of(f, "stderr"), "roost.conf:5"));
    configure(f, "TOY_START = \"bad\"\n");
    (void)spawn_with(f, "roost-toy", NULL, NULL);
    await_exit(f, 3, 1);
    assert_non_null(strstr(text_of(f, "stderr"), "not an expression"));
    (void)spawn_with(f, "roost-toy", WORDS("-config", "/nonexistent.conf"), NULL);
    await_exit(f, 4, 1);
    assert_non_null(strstr(text_of(f, "stderr"), "/nonexistent.conf"));
    (void)spawn_with(f, "roost-toy", WORDS("-config"), NULL);
    await_exit(f, 5, 1);
    (void)spawn_with(f, "roost-toy", WORDS("-instance", "../evil"), NULL);
    await_exit(f, 6, 1);
    assert_string_equal(text_of(f, "trace"), "");
}

static void a_second_signal_or_quit_ends_a_stubborn_daemon(void **state)
{
    struct fixture *f = *state;
    configure(f, "TOY_WORD = stubborn\n");
    pid_t pid = start_toy(f, NULL);
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    UNTIL(f, strcmp(text_of(f, "trace"), "toy stop ") == 0);
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    await_exit(f, 1, 0);
    assert_string_equal(text_of(f, "trace"), "toy stop destroy ");
    pid = spawn_with(f, "roost-toy", NULL, NULL);
    UNTIL(f, strstr(text_of(f, "lock/toy.lock"), "ready") != NULL);
    assert_int_equal(os_kill(f->os, pid, SIGQUIT), 0);
    await_exit(f, 2, 0);
    assert_string_equal(text_of(f, "trace"), "toy stop destroy toy destroy ");
}

static void a_good_configuration_is_taken_over_and_a_bad_one_is_not(void **state)
{
    struct fixture *f = *state;
    configure(f, "TOY_WORD = one\n");
    pid_t pid = start_toy(f, NULL);
    configure(f, "TOY_WORD = two\nTOY_LIMIT = 11\n");
    assert_int_equal(os_kill(f->os, pid, SIGHUP), 0);
    UNTIL(f, strstr(text_of(f, "log/ToyLog"), "error config.bad") != NULL);
    assert_non_null(strstr(text_of(f, "log/ToyLog"), "TOY_LIMIT"));
    assert_string_equal(text_of(f, "trace"), "toy ");
    configure(f, "TOY_WORD = three\n");
    assert_int_equal(os_kill(f->os, pid, SIGHUP), 0);
    UNTIL(f, strstr(text_of(f, "log/ToyLog"), "info config.reloaded") != NULL);
    assert_string_equal(text_of(f, "trace"), "toy one three ");
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    await_exit(f, 1, 0);
}

static void a_reload_says_what_changed_and_what_is_unknown(void **state)
{
    struct fixture *f = *state;
    configure(f, "TOY_WORD = one\nTOY_WORT = x\n");
    pid_t pid = start_toy(f, NULL);
    assert_non_null(strstr(text_of(f, "log/ToyLog"), "unknown knob 'TOY_WORT' (did you mean "));
    configure(f, "TOY_WORD = two\nTOY_LIMIT = 2\nTOY_LIMITT = 3\n");
    assert_int_equal(os_kill(f->os, pid, SIGHUP), 0);
    UNTIL(f, strstr(text_of(f, "log/ToyLog"), "TOY_LIMITT") != NULL);
    assert_non_null(strstr(text_of(f, "log/ToyLog"),
                           "changed=\"TOY_WORD, TOY_LIMIT\" after_restart=TOY_LIMIT\n"));
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    await_exit(f, 1, 0);
}

/* One life of a toy that sets something: what it wrote down. */
static const char *toy_that_sets(struct fixture *f, const char *name, const char *value)
{
    f->exits = 0;
    (void)unlink(at(f, "trace"));
    (void)unlink(at(f, "lock/toy.lock"));
    pid_t pid = start_toy(f, WORDS("-set", name, value));
    UNTIL(f, strchr(text_of(f, "trace"), ']') != NULL);
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    await_exit(f, 1, 0);
    return text_of(f, "trace");
}

static void a_setting_holds_at_once_and_in_the_next_life(void **state)
{
    struct fixture *f = *state;
    configure(f, "TOY_WORD = one\nENABLE_PERSISTENT_CONFIG = true\n");
    assert_string_equal(toy_that_sets(f, "TOY_WORD", "two"),
                        "toy one two [0 TOY_WORD|] stop destroy ");
    assert_string_equal(toy_that_sets(f, "TOY_LIMIT", "3"),
                        "toy two two [0 TOY_LIMIT|TOY_LIMIT] stop destroy ");
    /* A write that a kill cut short leaves a file of another name. */
    put(f, "config/toy.conf.tmp", "TOY_WORD = half");
    assert_string_equal(toy_that_sets(f, "TOY_WORD", NULL),
                        "toy two one [0 TOY_WORD|] stop destroy ");
    assert_non_null(strstr(text_of(f, "config/toy.conf"), "\nTOY_LIMIT = \"3\"\n"));
    assert_null(strstr(text_of(f, "config/toy.conf"), "TOY_WORD"));
}

static void a_refused_setting_changes_nothing(void **state)
{
    struct fixture *f = *state;
    configure(f, "TOY_WORD = one\n");
    assert_string_equal(toy_that_sets(f, "TOY_WORD", "two"),
                        "toy [-1 the configuration here does not allow settings at run time "
                        "(ENABLE_PERSISTENT_CONFIG is false)|] stop destroy ");
    configure(f, "TOY_WORD = one\nENABLE_PERSISTENT_CONFIG = true\n");
    (void)toy_that_sets(f, "TOY_WORD", "two");
    assert_non_null(strstr(toy_that_sets(f, "TOY_LIMIT", "11"), "out of range"));
    assert_non_null(strstr(toy_that_sets(f, "TOY_START", "bad"), "not an expression"));
    assert_non_null(strstr(toy_that_sets(f, "TOY_WORD", "$(TOY_TRACE) $(A)"), "unknown knob"));
    assert_non_null(strstr(toy_that_sets(f, "TOY_WORTH", "1"), "did you mean TOY_WORD?"));
    assert_string_equal(strchr(text_of(f, "config/toy.conf"), '\n'), "\nTOY_WORD = \"two\"\n");
    /* Where it cannot be written, nothing is taken over. */
    configure(f, "TOY_WORD = one\nENABLE_PERSISTENT_CONFIG = true\n"
                 "PERSISTENT_CONFIG_DIR = /proc/nothing\n");
    assert_null(strstr(toy_that_sets(f, "TOY_WORD", "two"), "two"));
    assert_non_null(strstr(text_of(f, "trace"), "/proc/nothing"));
}

static void log_pidfile_and_ready_descriptor_are_as_asked(void **state)
{
    struct fixture *f = *state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char number[16];
        (void)snprintf(number, sizeof(number), "%d", ready[1]);
        (void)setenv("ROOST_READY_FD", number, 1);
        (void)!chdir(f->top);
        (void)execl(at(f, "roost-toy"), "roost-toy", "--config", "roost.conf", "-log",
                    at(f, "my.log"), "-pidfile", at(f, "my.pid"), (char *)NULL);
        _exit(127);
    }
    close(ready[1]);
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* closed, too */
    close(ready[0]);
    assert_int_equal(strtol(text_of(f, "my.pid"), NULL, 10), pid);
    assert_non_null(strstr(text_of(f, "lock/toy.lock"), "ready"));
    assert_int_equal(kill(pid, SIGTERM), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_non_null(strstr(text_of(f, "my.log"), "daemon.ended"));
    assert_string_equal(text_of(f, "log/ToyLog"), "");
    assert_int_equal(access(at(f, "my.pid"), F_OK), -1);
}

/* ---- the master ------------------------------------------------------------------------------ */

static pid_t master_of(struct fixture *f)
{
    pid_t pid = os_lock_holder(f->os, at(f, "lock/master.lock"));
    return strstr(text_of(f, "lock/master.lock"), "ready") != NULL ? pid : 0;
}

/* Starts a master, and a toy that was "started by it". */
static void start_both(struct fixture *f, pid_t *master, pid_t *toy, const char *const *words)
{
    *master = spawn_with(f, "roost-master", NULL, NULL);
    UNTIL(f, master_of(f) == *master);
    *toy = spawn_with(f, "roost-toy", words, WORDS("ROOST_MASTER_PID=1"));
    UNTIL(f, strstr(text_of(f, "lock/toy.lock"), "ready") != NULL);
}

static void a_master_that_was_killed_is_started_again_and_again(void **state)
{
    struct fixture *f = *state;
    pid_t master, toy;
    start_both(f, &master, &toy, NULL);
    for (int i = 0; i < 2; i++) {
        pid_t before = master;
        assert_int_equal(os_kill(f->os, master, SIGKILL), 0);
        UNTIL(f, (master = master_of(f)) > 0 && master != before);
        assert_int_not_equal(master, toy);
    }
    assert_int_equal(os_kill(f->os, toy, SIGTERM), 0);
    UNTIL(f, f->exits == 2); /* the first master and the toy: the others are not our children */
    assert_int_equal(os_kill(f->os, master, SIGTERM), 0);
    UNTIL(f, master_of(f) == 0);
    assert_int_equal(f->how.status, 0);
}

/* Waits until the toy has seen its master end, and a second more than it waits then. */
static void await_nothing(struct fixture *f, const char *event)
{
    uint64_t until_ms = 0;
    UNTIL(f, strstr(text_of(f, "log/ToyLog"), event) != NULL);
    until_ms = loop_now_ms(f->loop) + 1500;
    UNTIL(f, loop_now_ms(f->loop) >= until_ms);
}

static void a_master_of_another_user_or_an_unwanted_one_is_not_started(void **state)
{
    struct fixture *f = *state;
    pid_t master, toy;
    configure(f, "RESURRECT_MASTER = false\n");
    start_both(f, &master, &toy, NULL);
    assert_int_equal(os_kill(f->os, master, SIGKILL), 0);
    UNTIL(f, f->exits == 1);
    await_nothing(f, "daemon.start");
    assert_int_equal(master_of(f), 0);
    assert_int_equal(os_kill(f->os, toy, SIGTERM), 0);
    UNTIL(f, f->exits == 2);
    configure(f, "");
    if (geteuid() != 0) {
        return; /* only root can make a lock file that is another's */
    }
    assert_int_equal(os_remove(f->os, at(f, "log/ToyLog"), NULL), 0);
    start_both(f, &master, &toy, NULL);
    assert_int_equal(chown(at(f, "lock/master.lock"), 65534, 65534), 0);
    assert_int_equal(os_kill(f->os, master, SIGKILL), 0);
    await_nothing(f, "master.gone");
    assert_int_equal(master_of(f), 0);
    assert_int_equal(os_kill(f->os, toy, SIGTERM), 0);
    UNTIL(f, f->exits == 4);
}

static void many_daemons_start_one_master(void **state)
{
    struct fixture *f = *state;
    pid_t master, toy, others[5], before;
    start_both(f, &master, &toy, NULL);
    for (int i = 0; i < 5; i++) {
        char name[] = {(char)('a' + i), '\0'}, lock[64];
        others[i] =
            spawn_with(f, "roost-toy", WORDS("-instance", name), WORDS("ROOST_MASTER_PID=1"));
        (void)snprintf(lock, sizeof(lock), "lock/toy.%s.lock", name);
        UNTIL(f, strstr(text_of(f, lock), "ready") != NULL);
    }
    before = master;
    assert_int_equal(os_kill(f->os, master, SIGKILL), 0);
    UNTIL(f, (master = master_of(f)) > 0 && master != before);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(os_kill(f->os, others[i], SIGTERM), 0);
    }
    assert_int_equal(os_kill(f->os, toy, SIGTERM), 0);
    UNTIL(f, f->exits == 7);
    assert_int_equal(master_of(f), master);
    assert_int_equal(os_kill(f->os, master, SIGTERM), 0);
    UNTIL(f, master_of(f) == 0);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : argv[0];
    if (strcmp(name, "roost-toy") == 0) {
        return daemon_main(&TOY, argc, argv);
    }
    if (strcmp(name, "roost-master") == 0) {
        return daemon_main(&MASTER, argc, argv);
    }
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_daemon_starts_says_ready_and_stops_when_told),
        TEST(sigint_stops_also_what_would_outlive_the_daemon),
        TEST(sigpwr_stops_the_same_where_a_daemon_knows_no_better),
        TEST(a_second_instance_is_refused_with_status_3),
        TEST(what_is_wrong_at_the_start_is_said_with_status_1),
        TEST(a_second_signal_or_quit_ends_a_stubborn_daemon),
        TEST(a_good_configuration_is_taken_over_and_a_bad_one_is_not),
        TEST(a_reload_says_what_changed_and_what_is_unknown),
        TEST(a_setting_holds_at_once_and_in_the_next_life),
        TEST(a_refused_setting_changes_nothing),
        TEST(log_pidfile_and_ready_descriptor_are_as_asked),
        TEST(a_master_that_was_killed_is_started_again_and_again),
        TEST(a_master_of_another_user_or_an_unwanted_one_is_not_started),
        TEST(many_daemons_start_one_master),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
