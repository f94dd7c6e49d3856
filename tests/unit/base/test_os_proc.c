/* tests/unit/base/test_os_proc.c - processes, the machine and its users in the real body of
 * base/os/os.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_figures.h"
#include "base/os/os_run.h"

#define DEADLINE_MS \
    60000 /* longer than anything here may take: a test that gets there has failed */
#define SH(text) ((const char *const[]){"/bin/sh", "-c", (text), NULL})

struct fixture {
    struct loop *loop;
    struct os *os;
    struct loop_timer *deadline, *tick;
    char top[64];
    char path[8][256];
    unsigned next;
    unsigned exits;
    pid_t exit_pid;
    struct os_exit how;
    bool woken;
    struct err err;
};

static void too_late(void *arg)
{
    (void)arg;
    fail_msg("waited too long");
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
    f->deadline = loop_timer_create(f->loop, too_late, NULL);
    loop_timer_set(f->deadline, DEADLINE_MS);
    f->tick = loop_timer_create(f->loop, wake, f);
    (void)snprintf(f->top, sizeof(f->top), "/tmp/roost-test-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_remove_tree(f->os, f->top, NULL), 0);
    os_destroy(f->os);
    loop_timer_destroy(f->deadline);
    loop_timer_destroy(f->tick);
    loop_destroy(f->loop);
    mem_free(f);
    return 0;
}

static const char *at(struct fixture *f, const char *name)
{
    char *path = f->path[f->next++ % 8];
    (void)snprintf(path, sizeof(f->path[0]), "%s/%s", f->top, name);
    return path;
}

/* Runs the loop for a moment: for what nothing here announces. */
static void moment(struct fixture *f)
{
    loop_timer_set(f->tick, 5);
    f->woken = false;
    loop_run_until(f->loop, &f->woken);
}

static void note_exit(void *arg, pid_t pid, const struct os_exit *how)
{
    struct fixture *f = arg;
    f->exits++;
    f->exit_pid = pid;
    f->how = *how;
    f->woken = true;
}

static pid_t spawn(struct fixture *f, const struct os_spawn *spec)
{
    pid_t pid = 0;
    if (os_spawn(f->os, spec, note_exit, f, &pid, &f->err) != 0) {
        fail_msg("%s", f->err.text);
    }
    assert_true(pid > 1);
    return pid;
}

static void await_exits(struct fixture *f, unsigned count)
{
    while (f->exits < count) {
        moment(f);
    }
}

/* Runs a shell line to its end; what it wrote to stdout is in out. */
static void run(struct fixture *f, struct os_spawn *spec, const char *line, char *out, size_t size)
{
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};
    char *data;
    size_t length;
    unsigned before = f->exits;
    spec->argv = argv;
    spec->stdout_path = spec->stdout_path != NULL ? spec->stdout_path : at(f, "out");
    spec->stderr_path = "-";
    (void)spawn(f, spec);
    await_exits(f, before + 1);
    assert_int_equal(os_read_file(f->os, spec->stdout_path, 10000, &data, &length, NULL), 0);
    (void)snprintf(out, size, "%s", data);
    mem_free(data);
}

/* ---- starting and ending --------------------------------------------------------------------- */

static void an_exit_status_is_reported_once_and_later(void **state)
{
    struct fixture *f = *state;
    pid_t pid = spawn(f, &(struct os_spawn){.argv = SH("exit 7")});
    assert_int_equal(f->exits, 0);
    await_exits(f, 1);
    assert_int_equal(f->exit_pid, pid);
    assert_int_equal(f->how.status, 7);
    assert_int_equal(f->how.signal, 0);
    assert_false(f->how.unknown);
    assert_true(f->how.max_rss_kib > 0);
    moment(f);
    assert_int_equal(f->exits, 1);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); /* reaped */
}

static void a_signal_that_ends_a_child_is_reported(void **state)
{
    struct fixture *f = *state;
    pid_t pid = spawn(f, &(struct os_spawn){.argv = SH("exec sleep 1000")});
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0);
    await_exits(f, 1);
    assert_int_equal(f->how.status, -1);
    assert_int_equal(f->how.signal, SIGTERM);
    assert_int_equal(os_kill(f->os, pid, SIGTERM), -ESRCH);
    assert_int_equal(os_kill(f->os, -1, SIGTERM), -ESRCH);
    assert_int_equal(os_kill_group(f->os, 1, SIGTERM), -ESRCH);
}

static void the_time_that_a_child_used_is_reported(void **state)
{
    struct fixture *f = *state;
    (void)spawn(f, &(struct os_spawn){.argv =
                                          SH("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")});
    await_exits(f, 1);
    assert_true(f->how.user_cpu_s + f->how.system_cpu_s > 0.001);
}

static void what_cannot_be_started_is_reported_at_once_and_named(void **state)
{
    struct fixture *f = *state;
    pid_t pid = 77;
    const char *const missing[] = {"/nonexistent/program", NULL}, *const directory[] = {f->top,
                                                                                        NULL};
    struct os_spawn spec = {.argv = missing};
    assert_int_equal(os_spawn(f->os, &spec, note_exit, f, &pid, &f->err), -ENOENT);
    assert_string_equal(f->err.text, "/nonexistent/program: No such file or directory");
    spec.argv = directory;
    assert_int_equal(os_spawn(f->os, &spec, note_exit, f, &pid, &f->err), -EACCES);
    spec = (struct os_spawn){.argv = SH("true"), .cwd = "/nonexistent/dir"};
    assert_int_equal(os_spawn(f->os, &spec, note_exit, f, &pid, &f->err), -ENOENT);
    assert_non_null(strstr(f->err.text, "/nonexistent/dir"));
    spec = (struct os_spawn){.argv = SH("true"), .stdin_path = "/nonexistent/in"};
    assert_int_equal(os_spawn(f->os, &spec, note_exit, f, &pid, &f->err), -ENOENT);
    assert_non_null(strstr(f->err.text, "/nonexistent/in"));
    spec = (struct os_spawn){.argv = SH("true"), .stdout_path = "/nonexistent/out"};
    assert_int_equal(os_spawn(f->os, &spec, note_exit, f, &pid, &f->err), -ENOENT);
    assert_non_null(strstr(f->err.text, "/nonexistent/out"));
    spec = (struct os_spawn){.argv = missing, .kin = OS_DETACHED};
    assert_int_equal(os_spawn(f->os, &spec, NULL, NULL, &pid, &f->err), -ENOENT);
    moment(f);
    assert_int_equal(f->exits, 0);
    assert_int_equal(pid, 77);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie is left */
}

static void a_program_may_be_another_file_than_its_first_word(void **state)
{
    struct fixture *f = *state;
    const char *const words[] = {"/no/such/name", "-c",         "exec >\"$1\"; echo \"$0\"",
                                 "my name",       at(f, "out"), NULL};
    struct os_spawn spec = {.argv = words, .file = "/bin/sh", .stderr_path = "-"};
    char *data;
    size_t length;
    pid_t pid = 0;
    (void)spawn(f, &spec);
    await_exits(f, 1);
    assert_int_equal(f->how.status, 0);
    assert_int_equal(os_read_file(f->os, words[4], 100, &data, &length, NULL), 0);
    assert_string_equal(data, "my name\n");
    mem_free(data);
    spec.file = "/no/such/file";
    assert_int_equal(os_spawn(f->os, &spec, note_exit, f, &pid, &f->err), -ENOENT);
    assert_non_null(strstr(f->err.text, "/no/such/file: "));
}

static void a_fifo_that_nobody_has_opened_keeps_us_waiting_neither_way(void **state)
{
    struct fixture *f = *state;
    char out[1000];
    const char *fifo = at(f, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    struct os_spawn in = {.stdin_path = fifo};
    run(f, &in, "cat; echo end", out, sizeof(out));
    assert_string_equal(out, "end\n");
    const struct os_spawn to = {.argv = SH("true"), .stdout_path = fifo};
    pid_t pid = 0;
    assert_int_equal(os_spawn(f->os, &to, note_exit, f, &pid, &f->err), -ENXIO);
    assert_non_null(strstr(f->err.text, fifo));
    int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    /* What was opened so waits, as ever, when it is used. */
    (void)spawn(f, &(struct os_spawn){.argv = SH("grep flags: /proc/self/fdinfo/1"),
                                      .stdout_path = fifo});
    await_exits(f, f->exits + 1);
    char text[64] = "";
    assert_true(read(reader, text, sizeof(text) - 1) > 0);
    close(reader);
    assert_memory_equal(text, "flags:", 6);
    assert_int_equal(strtoul(text + 6, NULL, 8) & O_NONBLOCK, 0);
}

static void input_output_and_directory_are_as_asked(void **state)
{
    struct fixture *f = *state;
    char out[1000];
    struct os_spawn spec = {.cwd = f->top, .input_text = "from us\n"};
    run(f, &spec, "pwd; cat", out, sizeof(out));
    char expected[200];
    (void)snprintf(expected, sizeof(expected), "%s\nfrom us\n", f->top);
    assert_string_equal(out, expected);
    /* Appends, unless told to truncate; a relative path is of the child's directory. */
    struct os_spawn again = {.stdout_path = at(f, "out"), .stdin_path = at(f, "out")};
    run(f, &again, "echo more; readlink /proc/self/fd/0", out, sizeof(out));
    assert_non_null(strstr(out, "from us\nmore\n"));
    struct os_spawn fresh = {.stdout_path = at(f, "out"), .truncate_output = true};
    run(f, &fresh, "echo new; cat; readlink /proc/self/fd/0", out, sizeof(out));
    assert_string_equal(out, "new\n/dev/null\n");
    (void)spawn(f, &(struct os_spawn){.argv = SH("echo out; echo err >&2"),
                                      .cwd = f->top,
                                      .stdout_path = "both",
                                      .stderr_path = "both",
                                      .truncate_output = true});
    await_exits(f, f->exits + 1);
    char *data;
    size_t length;
    assert_int_equal(os_read_file(f->os, at(f, "both"), 100, &data, &length, NULL), 0);
    assert_string_equal(data, "out\nerr\n");
    mem_free(data);
}

static void too_much_input_text_is_refused(void **state)
{
    struct fixture *f = *state;
    char *text = mem_alloc(70000);
    memset(text, 'x', 69999);
    text[69999] = '\0';
    pid_t pid;
    struct os_spawn spec = {.argv = SH("cat"), .input_text = text};
    assert_int_equal(os_spawn(f->os, &spec, NULL, NULL, &pid, &f->err), -E2BIG);
    mem_free(text);
}

static void the_environment_is_ours_or_given_with_additions(void **state)
{
    struct fixture *f = *state;
    char out[10000];
    assert_int_equal(setenv("ROOST_TEST_A", "ours", 1), 0);
    assert_int_equal(setenv("ROOST_TEST_AB", "other", 1), 0);
    struct os_spawn spec = {.env_add =
                                (const char *const[]){"ROOST_TEST_A=new", "ROOST_TEST_C=c", NULL}};
    run(f, &spec,
        "echo $ROOST_TEST_A $ROOST_TEST_AB $ROOST_TEST_C; env | grep -c ROOST_TEST_A=", out,
        sizeof(out));
    assert_string_equal(out, "new other c\n1\n");
    struct os_spawn given = {.env = (const char *const[]){"X=1", "Y=2", NULL},
                             .env_add = (const char *const[]){"Y=3", NULL},
                             .truncate_output = true};
    run(f, &given, "echo $X $Y ${ROOST_TEST_A-none}", out, sizeof(out));
    assert_string_equal(out, "1 3 none\n");
    assert_int_equal(unsetenv("ROOST_TEST_A"), 0);
    assert_int_equal(unsetenv("ROOST_TEST_AB"), 0);
}

static void nothing_of_ours_leaks_into_a_child(void **state)
{
    struct fixture *f = *state;
    char out[1000];
    int leak = open("/dev/null", O_RDONLY); /* not CLOEXEC */
    assert_int_equal(fcntl(leak, F_DUPFD, 500), 500);
    sigset_t blocked, before;
    assert_int_equal(sigemptyset(&blocked), 0);
    assert_int_equal(sigaddset(&blocked, SIGUSR1), 0);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
    struct os_spawn spec = {.stdin_path = "/dev/null"};
    run(f, &spec, "exec ls /proc/self/fd", out, sizeof(out));
    assert_string_equal(out, "0\n1\n2\n3\n"); /* 3 is ls's own */
    struct os_spawn masks = {.truncate_output = true};
    run(f, &masks, "exec grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status", out, sizeof(out));
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    assert_non_null(strstr(out, "SigBlk:\t0000000000000000\n"));
    assert_non_null(strstr(out, "SigIgn:\t0000000000000000\n")); /* SIGPIPE is back */
    close(leak);
    close(500);
}

static void the_limit_of_open_files_is_the_one_we_were_started_with(void **state)
{
    struct fixture *f = *state;
    char out[100], expected[100];
    struct rlimit before, fewer;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    fewer = before;
    fewer.rlim_cur = 77;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &fewer), 0);
    struct os_spawn spec = {.nice = 0};
    run(f, &spec, "ulimit -n", out, sizeof(out));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    (void)snprintf(expected, sizeof(expected), "%llu\n", (unsigned long long)before.rlim_cur);
    if (before.rlim_cur != RLIM_INFINITY) {
        assert_string_equal(out, expected);
    }
}

static void session_priority_and_privileges_are_as_asked(void **state)
{
    struct fixture *f = *state;
    char out[1000], expected[200];
    struct os_spawn spec = {.new_session = true, .nice = 3, .no_new_privs = true};
    run(f, &spec, "cut -d' ' -f1,5,6 /proc/$$/stat; nice; grep NoNewPrivs /proc/self/status", out,
        sizeof(out));
    int now = getpriority(PRIO_PROCESS, 0);
    (void)snprintf(expected, sizeof(expected), "%d %d %d\n%d\nNoNewPrivs:\t1\n", (int)f->exit_pid,
                   (int)f->exit_pid, (int)f->exit_pid, now + 3 < 19 ? now + 3 : 19);
    assert_string_equal(out, expected);
}

static void another_user_is_become_before_files_are_opened(void **state)
{
    struct fixture *f = *state;
    char out[1000];
    if (geteuid() != 0) {
        skip(); /* only root can become somebody else */
    }
    pid_t pid;
    struct os_spawn spec = {.argv = SH("true"),
                            .change_user = true,
                            .uid = 65534,
                            .gid = 65533,
                            .stdout_path = at(f, "roots_directory")};
    assert_int_equal(os_spawn(f->os, &spec, NULL, NULL, &pid, &f->err), -EACCES);
    assert_int_equal(chmod(f->top, 0777), 0);
    struct os_spawn works = {.change_user = true, .uid = 65534, .gid = 65533};
    run(f, &works, "id -u; id -g; id -G", out, sizeof(out));
    assert_string_equal(out, "65534\n65533\n65533\n");
}

static void another_user_gets_nothing_of_our_environment(void **state)
{
    struct fixture *f = *state;
    char out[1000];
    if (geteuid() != 0) {
        skip(); /* only root can become somebody else */
    }
    assert_int_equal(setenv("ROOTS_PASSWORD", "secret", 1), 0);
    assert_int_equal(chmod(f->top, 0777), 0);
    struct os_spawn other = {.change_user = true,
                             .uid = 65534,
                             .gid = 65533,
                             .truncate_output = true};
    run(f, &other, "env | grep -c -e ROOTS_PASSWORD -e HOME; echo \"$PATH\"", out, sizeof(out));
    assert_string_equal(out, "0\n/usr/local/bin:/usr/bin:/bin\n");
    const char *const more[] = {"MORE=1", NULL};
    other.env_add = more;
    run(f, &other, "echo \"$ROOTS_PASSWORD$MORE\"", out, sizeof(out));
    assert_string_equal(out, "1\n");
    struct os_spawn own = {.truncate_output = true};
    run(f, &own, "echo \"$ROOTS_PASSWORD\"", out, sizeof(out));
    assert_string_equal(out, "secret\n");
    assert_int_equal(unsetenv("ROOTS_PASSWORD"), 0);
}

static void becoming_another_user_is_refused_to_an_ordinary_one(void **state)
{
    struct fixture *f = *state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pid_t pid;
        struct os_spawn spec = {.argv = SH("true"), .change_user = true, .uid = 0, .gid = 0};
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(1);
        }
        _exit(os_spawn(f->os, &spec, NULL, NULL, &pid, &f->err) == -EPERM &&
                      strstr(f->err.text, "uid 0") != NULL
                  ? 0
                  : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_forgotten_child_is_reaped_and_not_told(void **state)
{
    struct fixture *f = *state;
    pid_t pid = spawn(f, &(struct os_spawn){.argv = SH("exit 1")});
    os_forget(f->os, pid);
    do {
        moment(f);
    } while (kill(pid, 0) == 0);
    assert_int_equal(f->exits, 0);
}

static void many_children_are_all_reported(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 100; i++) {
        (void)spawn(f, &(struct os_spawn){.argv = (const char *const[]){"/bin/true", NULL}});
    }
    await_exits(f, 100);
    assert_int_equal(f->how.status, 0);
}

/* ---- processes that are not our children ----------------------------------------------------- */

static void a_detached_program_is_not_our_child_and_can_be_watched(void **state)
{
    struct fixture *f = *state;
    pid_t pid = spawn(f, &(struct os_spawn){.argv = SH("echo $PPID > ppid; exec sleep 1000"),
                                            .cwd = f->top,
                                            .kin = OS_DETACHED,
                                            .new_session = true});
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    uint64_t began = os_start_time(f->os, pid);
    assert_true(began > 0);
    assert_int_equal(os_watch(f->os, pid, began, note_exit, f, NULL), 0);
    moment(f);
    assert_int_equal(f->exits, 0);
    assert_int_equal(os_kill_group(f->os, pid, SIGKILL), 0);
    await_exits(f, 1);
    assert_int_equal(f->exit_pid, pid);
    assert_true(f->how.unknown);
    assert_int_equal(f->how.status, -1);
    assert_int_equal(os_start_time(f->os, pid), 0);
}

static void watching_what_is_gone_or_another_tells_soon_but_not_at_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_watch(f->os, 0x3ffffff, 1, note_exit, f, NULL), 0);
    assert_int_equal(f->exits, 0);
    await_exits(f, 1);
    assert_true(f->how.unknown);
    uint64_t mine = os_start_time(f->os, getpid());
    assert_int_equal(os_watch(f->os, getpid(), mine + 1, note_exit, f, NULL), 0);
    assert_int_equal(f->exits, 1);
    await_exits(f, 2);
    assert_int_equal(f->exit_pid, getpid());
    assert_int_equal(os_watch(f->os, getpid(), mine, note_exit, f, NULL), 0);
    moment(f);
    assert_int_equal(f->exits, 2);
    os_forget(f->os, getpid());
}

static void the_start_time_tells_processes_apart(void **state)
{
    struct fixture *f = *state;
    assert_true(os_start_time(f->os, getpid()) > 0);
    assert_int_equal(os_start_time(f->os, getpid()), os_start_time(f->os, getpid()));
    assert_int_equal(os_start_time(f->os, 0), 0);
    assert_int_equal(os_start_time(f->os, -1), 0);
    assert_int_equal(os_start_time(f->os, 0x3ffffff), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_NAME, "a) Z 1 (b"); /* a name that looks like the end of the name */
        for (;;) {
            pause();
        }
    }
    moment(f);
    uint64_t began = os_start_time(f->os, child);
    assert_true(began >= os_start_time(f->os, getpid()));
    assert_int_equal(kill(child, SIGKILL), 0);
    while (os_start_time(f->os, child) != 0) { /* dead, not yet reaped */
        moment(f);
    }
    assert_int_equal(kill(child, 0), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void descendants_are_killed_also_those_that_ran_away(void **state)
{
    struct fixture *f = *state;
    pid_t pid = fork(); /* being a subreaper is for life: not in the test program itself */
    assert_true(pid >= 0);
    if (pid == 0) {
        char *data = NULL;
        size_t length = 0;
        const char *line =
            "setsid sh -c 'sh -c \"echo x >> started; exec sleep 1000\" & "
            "echo x >> started; exec sleep 1000' & "
            "sh -c 'trap \"\" TERM; echo x >> started; while :; do sleep 1000; done' & ";
        struct os_spawn spec = {.argv = (const char *const[]){"/bin/sh", "-c", line, NULL},
                                .cwd = f->top,
                                .kin = OS_SUBREAPER_JOB};
        pid_t job;
        if (os_spawn(f->os, &spec, note_exit, f, &job, NULL) != 0) {
            _exit(1);
        }
        await_exits(f, 1); /* the shell is gone; its children are ours */
        if (f->exit_pid != job || f->how.status != 0) {
            _exit(2);
        }
        do {
            mem_free(data);
            data = NULL;
            moment(f);
        } while (os_read_file(f->os, at(f, "started"), 100, &data, &length, NULL) != 0 ||
                 length < 6);
        size_t killed = os_descendants_kill(f->os, SIGKILL);
        if (killed < 3 || killed > 4) {
            _exit(3);
        }
        while (os_descendants_kill(f->os, SIGKILL) > 0) {
            moment(f);
        }
        while (waitpid(-1, NULL, WNOHANG) != -1) { /* all are reaped, by the loop */
            moment(f);
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(WIFEXITED(status), 1);
}

/* ---- the machine and its users --------------------------------------------------------------- */

static void the_machine_is_described(void **state)
{
    struct fixture *f = *state;
    struct os_machine machine;
    assert_int_equal(unsetenv("ROOST_BOOT_ID") + unsetenv("ROOST_BOOT_TIME"), 0);
    assert_int_equal(os_machine(f->os, &machine, NULL), 0);
    assert_true(machine.hostname[0] != '\0' && machine.kernel[0] != '\0');
    assert_int_equal(strlen(machine.boot_id), 36);
    assert_string_equal(machine.opsys, "LINUX");
    assert_true(machine.cpus >= 1 && machine.memory_mib > 16);
    assert_in_range(machine.boot_time_s, 1, time(NULL) + 1);
    assert_true(os_load_average(f->os) >= 0);
}

static void a_power_method_may_give_a_boot_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct os_machine machine;
    assert_int_equal(setenv("ROOST_BOOT_ID", "0192f0c1-node-boot", 1), 0);
    assert_int_equal(setenv("ROOST_BOOT_TIME", "1700000000", 1), 0);
    assert_int_equal(os_machine(f->os, &machine, NULL), 0);
    assert_string_equal(machine.boot_id, "0192f0c1-node-boot");
    assert_int_equal(machine.boot_time_s, 1700000000);
    assert_int_equal(setenv("ROOST_BOOT_TIME", "soon", 1), 0);
    assert_int_equal(os_machine(f->os, &machine, &f->err), -EINVAL);
    assert_int_equal(setenv("ROOST_BOOT_ID", "0123456789012345678901234567890123456", 1), 0);
    assert_int_equal(os_machine(f->os, &machine, &f->err), -EINVAL);
    assert_non_null(strstr(f->err.text, "ROOST_BOOT_ID"));
    assert_int_equal(unsetenv("ROOST_BOOT_ID") + unsetenv("ROOST_BOOT_TIME"), 0);
}

static void idleness_of_the_keyboard_is_of_the_last_terminal_used(void **state)
{
    struct fixture *f = *state;
    int pty = posix_openpt(O_RDWR | O_NOCTTY);
    static const char *const CONSOLE[] = {"console"};
    struct os_terminals which = {.console = CONSOLE, .console_count = 1};
    struct os_idleness idle = {.keyboard_s = -1, .console_s = -1};
    os_idleness(f->os, &which, &idle);
    assert_true(idle.keyboard_s >= 0 && idle.console_s >= idle.keyboard_s);
    if (pty < 0 || grantpt(pty) != 0 || unlockpt(pty) != 0) {
        skip();
    }
    int terminal = open(ptsname(pty), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    assert_int_equal(futimens(terminal, now), 0); /* as the kernel does at a key */
    os_idleness(f->os, &which, &idle);
    assert_in_range(idle.keyboard_s, 0, 60);
    const char *line = ptsname(pty) + strlen("/dev/");
    which.console = &line; /* a console is whatever is said to be one */
    os_idleness(f->os, &which, &idle);
    assert_in_range(idle.console_s, 0, 60);
    which.console_count = 0;
    which.sessions_only = true; /* nobody is logged in on it */
    os_idleness(f->os, &which, &idle);
    assert_true(idle.keyboard_s >= 0);
    close(terminal);
    close(pty);
}

static void *spin(void *arg)
{
    (void)arg;
    for (;;) {
    }
    return NULL;
}

static void what_runs_of_a_family_is_counted_over_its_members_and_their_threads(void **state)
{
    struct fixture *f = *state;
    int alive[2];
    assert_int_equal(pipe(alive), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) { /* a grandchild of two threads that spin, and one that tells */
            pthread_t thread;
            (void)!pthread_create(&thread, NULL, spin, NULL);
            (void)!pthread_create(&thread, NULL, spin, NULL);
            (void)!write(alive[1], "x", 1);
            pause();
        }
        if (fork() == 0) { /* one that spins by itself */
            (void)!write(alive[1], "x", 1);
            (void)spin(NULL);
        }
        pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(alive[0], &byte, 1), 1);
    assert_int_equal(read(alive[0], &byte, 1), 1);
    const pid_t roots[3] = {pid, 1 << 29, getpid()};
    int64_t running[3] = {-1, -1, -1};
    for (int i = 0; i < 3000 && running[0] != 3;
         i++) { /* until those who told have gone to sleep */
        os_families_running(f->os, roots, 3, running);
        usleep(10000);
    }
    assert_int_equal(running[0], 3);
    assert_int_equal(running[1], 0); /* there is no such process */
    assert_int_equal(running[2], 4); /* with ourselves, who look */
    (void)os_descendants_kill(f->os, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(alive[0]);
    close(alive[1]);
}

static void *fork_and_wait(void *arg)
{
    const int *alive = arg;
    if (fork() == 0) { /* this thread's child, not the first thread's */
        (void)!write(alive[1], "x", 1);
        pause();
    }
    pause();
    return NULL;
}

/* A family is found by the kernel's lists of children: each thread has one of its own, and those
 * who ran away are in the list of the subreaper. */
static void a_family_has_the_children_of_threads_and_those_that_ran_away(void **state)
{
    struct fixture *f = *state;
    pid_t pid = fork(); /* being a subreaper is for life: not in the test program itself */
    assert_true(pid >= 0);
    if (pid == 0) {
        int alive[2];
        char byte;
        struct os_figures figures = {0};
        os_become_subreaper(f->os);
        if (pipe(alive) != 0) {
            _exit(1);
        }
        pid_t parent = fork();
        if (parent == 0) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, fork_and_wait, alive) != 0 ||
                read(alive[0], &byte, 1) != 1) {
                _exit(1);
            }
            if (fork() == 0) {
                (void)setsid();
                if (fork() == 0) { /* its parent ends at once */
                    pause();
                }
                _exit(0);
            }
            pause();
        }
        const pid_t roots[1] = {getpid()};
        int64_t running[1] = {-1};
        for (int i = 0; i < 1000 && (figures.processes != 3 || running[0] != 1); i++) {
            moment(f);
            os_descendants_figures(f->os, false, &figures);
            os_families_running(f->os, roots, 1, running); /* at last only we, who look */
        }
        (void)os_descendants_kill(f->os, SIGKILL);
        _exit(figures.processes == 3 && running[0] == 1 ? 0 : 3);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WIFEXITED(status), 1);
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_program_is_run_to_its_end_or_killed_with_all_that_it_began(void **state)
{
    struct fixture *f = *state;
    const char *const good[] = {"/bin/sh", "-c", "exit 3", NULL};
    const char *const endless[] = {"/bin/sh", "-c", "sleep 1000 & sleep 1000", NULL};
    const char *const none[] = {"/nowhere/at/all", NULL};
    struct os_spawn spec = {.argv = good, .new_session = true};
    struct os_exit how = {0};
    struct err err;
    assert_int_equal(os_run(f->os, &spec, 30000, &how, &err), 0);
    assert_int_equal(how.status, 3);
    assert_int_equal(how.signal, 0);
    spec.argv = none;
    assert_int_equal(os_run(f->os, &spec, 30000, &how, &err), -ENOENT);
    spec.argv = endless;
    assert_int_equal(os_run(f->os, &spec, 50, &how, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "/bin/sh"));
    assert_int_equal(how.status, 3); /* untouched */
}

static void users_are_found_by_name_and_number(void **state)
{
    struct fixture *f = *state;
    uid_t uid = 99;
    gid_t gid = 99;
    char name[32];
    assert_int_equal(os_user_find(f->os, "root", &uid, &gid, NULL), 0);
    assert_int_equal(uid, 0);
    assert_int_equal(gid, 0);
    assert_int_equal(os_user_find(f->os, "no-such-user-here", &uid, &gid, &f->err), -ENOENT);
    assert_non_null(strstr(f->err.text, "no-such-user-here"));
    assert_int_equal(os_user_name(f->os, 0, name, sizeof(name), NULL), 0);
    assert_string_equal(name, "root");
    assert_int_equal(os_user_name(f->os, 0, name, 4, NULL), -ENAMETOOLONG);
    assert_int_equal(os_user_name(f->os, 3999999999u, name, sizeof(name), &f->err), -ENOENT);
    assert_int_equal(os_uid(f->os), geteuid());
    assert_int_equal(os_pid(f->os), getpid());
    assert_int_equal(os_group(f->os), getpgrp());
    assert_null(os_sqlite_vfs(f->os));
    assert_null(os_getenv(f->os, "ROOST_NO_SUCH_VARIABLE"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_exit_status_is_reported_once_and_later),
        TEST(a_signal_that_ends_a_child_is_reported),
        TEST(the_time_that_a_child_used_is_reported),
        TEST(what_cannot_be_started_is_reported_at_once_and_named),
        TEST(a_program_may_be_another_file_than_its_first_word),
        TEST(a_fifo_that_nobody_has_opened_keeps_us_waiting_neither_way),
        TEST(input_output_and_directory_are_as_asked),
        TEST(too_much_input_text_is_refused),
        TEST(the_environment_is_ours_or_given_with_additions),
        TEST(nothing_of_ours_leaks_into_a_child),
        TEST(the_limit_of_open_files_is_the_one_we_were_started_with),
        TEST(session_priority_and_privileges_are_as_asked),
        TEST(another_user_is_become_before_files_are_opened),
        TEST(another_user_gets_nothing_of_our_environment),
        TEST(becoming_another_user_is_refused_to_an_ordinary_one),
        TEST(a_forgotten_child_is_reaped_and_not_told),
        TEST(many_children_are_all_reported),
        TEST(a_detached_program_is_not_our_child_and_can_be_watched),
        TEST(watching_what_is_gone_or_another_tells_soon_but_not_at_once),
        TEST(the_start_time_tells_processes_apart),
        TEST(descendants_are_killed_also_those_that_ran_away),
        TEST(the_machine_is_described),
        TEST(a_power_method_may_give_a_boot_of_its_own),
        TEST(idleness_of_the_keyboard_is_of_the_last_terminal_used),
        TEST(a_program_is_run_to_its_end_or_killed_with_all_that_it_began),
        TEST(what_runs_of_a_family_is_counted_over_its_members_and_their_threads),
        TEST(a_family_has_the_children_of_threads_and_those_that_ran_away),
        TEST(users_are_found_by_name_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
