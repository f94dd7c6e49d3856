/* tests/unit/base/test_os_cage.c - programs in namespaces of their own, and in cgroups.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_cage.h"
#include "base/os/os_cgroup.h"
#include "base/os/os_figures.h"
#include "base/os/os_linux.h"
#include "base/os/os_run.h"

#define DEADLINE_MS 60000
#define MIB         ((int64_t)1 << 20)

struct fixture {
    struct loop *loop;
    struct os *os;
    struct loop_timer *deadline;
    char top[64], inner[96], sibling[96], out[112];
    struct os_mount mounts[4];
    struct os_cage cage;
    bool ended;
    struct os_exit how;
    struct err err;
};

static void too_late(void *arg)
{
    (void)arg;
    fail_msg("waited too long");
}

/* top/inner is the program's own, top/sibling somebody else's. */
static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    assert_int_equal(os_create(f->loop, &f->os, NULL), 0);
    f->deadline = loop_timer_create(f->loop, too_late, NULL);
    loop_timer_set(f->deadline, DEADLINE_MS);
    (void)snprintf(f->top, sizeof(f->top), "/tmp/roost-test-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    (void)snprintf(f->inner, sizeof(f->inner), "%s/inner", f->top);
    (void)snprintf(f->sibling, sizeof(f->sibling), "%s/sibling", f->top);
    (void)snprintf(f->out, sizeof(f->out), "%s/out", f->inner);
    assert_int_equal(mkdir(f->inner, 0755), 0);
    assert_int_equal(mkdir(f->sibling, 0755), 0);
    f->mounts[0] = (struct os_mount){.kind = OS_MOUNT_HIDE, .to = f->top};
    f->mounts[1] = (struct os_mount){.kind = OS_MOUNT_BIND, .from = f->inner, .to = f->inner};
    f->mounts[2] = (struct os_mount){.kind = OS_MOUNT_MEMORY, .to = "/dev/shm"};
    f->mounts[3] = (struct os_mount){.kind = OS_MOUNT_PROC, .to = "/proc"};
    f->cage = (struct os_cage){.namespaces = true,
                               .user_namespace = getuid() != 0,
                               .mounts = f->mounts,
                               .mount_count = 4,
                               .oom_score = 800,
                               .limit_core = true,
                               .stack_bytes = 1 << 20};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    os_destroy(f->os);
    assert_int_equal(os_create(NULL, &f->os, NULL), 0);
    assert_int_equal(os_remove_tree(f->os, f->top, NULL), 0);
    os_destroy(f->os);
    loop_timer_destroy(f->deadline);
    loop_destroy(f->loop);
    mem_free(f);
    return 0;
}

static void on_exit_of(void *arg, pid_t pid, const struct os_exit *how)
{
    struct fixture *f = arg;
    (void)pid;
    f->how = *how;
    f->ended = true;
}

static int start(struct fixture *f, const char *script, pid_t *pid)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .cwd = f->inner,
                                  .stdout_path = f->out,
                                  .stderr_path = f->out,
                                  .truncate_output = true,
                                  .new_session = true,
                                  .no_new_privs = true,
                                  .kin = OS_SUBREAPER_JOB,
                                  .cage = &f->cage};
    f->ended = false;
    return os_spawn(f->os, &spec, on_exit_of, f, pid, &f->err);
}

/* Runs it to its end; what it wrote, to be freed. */
static char *run(struct fixture *f, const char *script)
{
    pid_t pid;
    char *text;
    size_t length;
    if (start(f, script, &pid) != 0) {
        fail_msg("%s", f->err.text);
    }
    loop_run_until(f->loop, &f->ended);
    assert_int_equal(os_read_file(f->os, f->out, 65536, &text, &length, NULL), 0);
    return text;
}

static bool may_have_namespaces(struct fixture *f)
{
    pid_t pid;
    if (start(f, ":", &pid) == 0) {
        loop_run_until(f->loop, &f->ended);
        return true;
    }
    print_message("[          ] no namespaces: %s\n", f->err.text);
    return false;
}

static void a_caged_program_sees_itself_alone(void **state)
{
    struct fixture *f = *state;
    if (!may_have_namespaces(f)) {
        skip();
    }
    char *text = run(f, "set -- /proc/[0-9]*; echo $#; ls ..; echo x >/dev/shm/mine; ls /dev/shm; "
                        "cat /proc/self/oom_score_adj; ulimit -c; ulimit -s; id -u");
    char expected[64];
    (void)snprintf(expected, sizeof expected, "2\ninner\nmine\n%s\n0\n1024\n%u\n",
                   getuid() == 0 ? "800" : "0", (unsigned)getuid()); /* keeper, sh */
    assert_string_equal(text, expected);
    assert_int_equal(access("/dev/shm/mine", F_OK), -1);
    mem_free(text);
}

/* Its own is empty, and so is that of whoever it becomes: nothing that it starts gives it more. */
static void a_caged_program_can_get_no_privilege(void **state)
{
    struct fixture *f = *state;
    if (!may_have_namespaces(f)) {
        skip();
    }
    char *text = run(f, "grep CapBnd: /proc/self/status");
    assert_string_equal(text, "CapBnd:\t0000000000000000\n");
    mem_free(text);
}

static void what_is_mounted_readonly_can_be_neither_changed_nor_replaced(void **state)
{
    struct fixture *f = *state;
    char file[128], script[1600];
    if (!may_have_namespaces(f)) {
        skip();
    }
    (void)snprintf(file, sizeof file, "%s/file", f->sibling);
    assert_int_equal(os_write_file(f->os, file, "ours\n", 5, 0666, false, NULL), 0);
    f->mounts[0] = (struct os_mount){.kind = OS_MOUNT_READONLY, .from = file, .to = file};
    (void)snprintf(script, sizeof script,
                   "(echo theirs >>%s) 2>/dev/null && echo changed; "
                   "chmod 0 %s 2>/dev/null && echo closed; "
                   "mv %s %s.old 2>/dev/null && echo renamed; "
                   "(echo theirs >%s.new && mv -f %s.new %s) 2>/dev/null && echo replaced; "
                   "rm -f %s 2>/dev/null && echo removed; cat %s",
                   file, file, file, file, file, file, file, file, file);
    char *text = run(f, script);
    assert_string_equal(text, "ours\n");
    mem_free(text);
}

static void the_way_to_what_is_shown_is_in_memory(void **state)
{
    struct fixture *f = *state;
    char way[128], deep[160], script[1000];
    if (!may_have_namespaces(f)) {
        skip();
    }
    (void)snprintf(way, sizeof way, "%s/way", f->inner);
    (void)snprintf(deep, sizeof deep, "%s/a/b", way);
    f->mounts[0] = (struct os_mount){.kind = OS_MOUNT_WAY, .to = way};
    f->mounts[1] = (struct os_mount){.kind = OS_MOUNT_BIND, .from = f->sibling, .to = deep};
    (void)snprintf(script, sizeof script, "grep -c ' %s tmpfs' /proc/mounts; cd %s && echo x >file",
                   way, deep);
    char *text = run(f, script);
    assert_string_equal(text, "1\n");
    mem_free(text);
    (void)snprintf(script, sizeof script, "%s/file", f->sibling);
    assert_int_equal(access(script, F_OK), 0); /* what is below is where it was */
    assert_int_equal(rmdir(way), 0);           /* and the way itself left nothing there */
}

static void what_a_caged_program_shares_by_key_is_its_own(void **state)
{
    struct fixture *f = *state;
    char ours[64] = "";
    if (!may_have_namespaces(f)) {
        skip();
    }
    assert_true(readlink("/proc/self/ns/ipc", ours, sizeof ours - 1) > 0);
    char *text = run(f, "readlink /proc/self/ns/ipc");
    text[strcspn(text, "\n")] = '\0';
    assert_int_equal(strncmp(text, "ipc:", 4), 0);
    assert_string_not_equal(text, ours);
    mem_free(text);
}

static void status_signal_and_times_of_a_caged_program_are_its_own(void **state)
{
    struct fixture *f = *state;
    if (!may_have_namespaces(f)) {
        skip();
    }
    mem_free(run(f, "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit 7"));
    assert_int_equal(f->how.status, 7);
    assert_int_equal(f->how.signal, 0);
    assert_true(f->how.user_cpu_s > 0.01);
    mem_free(run(f, "kill -9 $$"));
    assert_int_equal(f->how.signal, SIGKILL);
    assert_false(f->how.keeper_killed);
}

static void a_killed_keeper_is_told_from_a_killed_program(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    if (!may_have_namespaces(f)) {
        skip();
    }
    assert_int_equal(start(f, "exec sleep 1000", &pid), 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    loop_run_until(f->loop, &f->ended);
    assert_true(f->how.keeper_killed);
}

/* Gives the cage a lease; false: this machine has no pidfds. */
static bool take_lease(struct fixture *f, char path[120], uint64_t more_ms)
{
    (void)snprintf(path, 120, "%s/lease", f->top);
    f->cage.lease_path = path;
    f->cage.lease_end_ms = loop_now_ms(f->loop) + more_ms;
    return os_cage_can_lease(f->os);
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %*c %d", &parent), 1);
    assert_int_equal(fclose(file), 0);
    return parent;
}

static void the_end_of_its_lease_kills_a_cage_whose_processes_are_stopped(void **state)
{
    struct fixture *f = *state;
    char path[120];
    pid_t pid;
    if (!take_lease(f, path, 0)) {
        skip();
    }
    assert_int_equal(start(f, "exec sleep 1000", &pid), 0);
    pid_t program = os_caged_pid(f->os, pid);
    pid_t keeper = parent_of(program);
    assert_int_equal(parent_of(keeper), pid);
    assert_int_equal(kill(keeper, SIGSTOP), 0);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    loop_run_until(f->loop, &f->ended);
    assert_true(f->how.keeper_killed);
    assert_int_equal(kill(keeper, 0), -1); /* told when everything in there is dead */
    assert_int_equal(kill(program, 0), -1);
}

static void a_renewed_lease_does_not_end(void **state)
{
    struct fixture *f = *state;
    char path[120];
    pid_t pid;
    if (!take_lease(f, path, 0)) {
        skip();
    }
    os_cage_renew(f->os, path, 0); /* nobody reads there yet */
    assert_int_equal(start(f, "sleep 1; exit 7", &pid), 0);
    os_cage_renew(f->os, path, loop_now_ms(f->loop) + 1000000);
    assert_int_equal(os_descendants_kill(f->os, SIGSTOP) > 0, true); /* but not who reads */
    os_cage_renew(f->os, path, loop_now_ms(f->loop) + 2000000);
    assert_int_equal(os_descendants_kill(f->os, SIGCONT) > 0, true);
    loop_run_until(f->loop, &f->ended);
    assert_int_equal(f->how.status, 7);
    assert_false(f->how.keeper_killed);
}

static void a_cage_with_a_lease_ends_with_each_of_its_processes(void **state)
{
    struct fixture *f = *state;
    char path[120];
    pid_t pid;
    if (!take_lease(f, path, 1000000)) {
        skip();
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(start(f, "exec sleep 1000", &pid), 0);
        pid_t program = os_caged_pid(f->os, pid);
        pid_t keeper = parent_of(program);
        assert_int_equal(i == 0   ? kill(pid, SIGKILL)
                         : i == 1 ? kill(keeper, SIGKILL)
                         : i == 2 ? os_kill(f->os, pid, SIGKILL)
                                  : os_kill(f->os, pid, SIGTERM),
                         0);
        loop_run_until(f->loop, &f->ended);
        assert_int_equal(f->how.keeper_killed, i < 3);
        assert_int_equal(f->how.signal == SIGTERM, i == 3);
        assert_int_equal(kill(keeper, 0), -1);
        assert_int_equal(kill(program, 0), -1);
    }
}

static void a_caged_program_gets_the_signals_that_it_is_sent(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    if (!may_have_namespaces(f)) {
        skip();
    }
    assert_int_equal(start(f, "exec sleep 1000", &pid), 0);
    assert_true(os_caged_pid(f->os, pid) > pid);
    assert_int_equal(os_kill(f->os, pid, SIGTERM), 0); /* no handler: process 1 would ignore it */
    loop_run_until(f->loop, &f->ended);
    assert_int_equal(f->how.signal, SIGTERM);
}

static void what_a_caged_program_leaves_running_ends_with_it(void **state)
{
    struct fixture *f = *state;
    if (!may_have_namespaces(f)) {
        skip();
    }
    /* As a daemon does it: not a child, not of the session, no environment to know it by.  Its name
     * is that of this process: the suite may run twice on a machine. */
    char script[300];
    (void)snprintf(script, sizeof script,
                   "(setsid env -i /bin/sh -c 'sleep 61.%d' </dev/null >/dev/null 2>&1 &) & "
                   "until pgrep -f 'sleep 61[.]%d$' >/dev/null; do sleep 0.01; done",
                   (int)getpid(), (int)getpid());
    mem_free(run(f, script));
    assert_int_equal(f->how.status, 0);
    f->cage = (struct os_cage){0};
    (void)snprintf(script, sizeof script, "pgrep -f '^sleep 61[.]%d$'", (int)getpid());
    mem_free(run(f, script));
    assert_int_equal(f->how.status, 1);
}

static void a_program_that_is_not_there_is_said_not_to_be(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    if (!may_have_namespaces(f)) {
        skip();
    }
    const char *const argv[] = {"/nowhere/program", NULL};
    const struct os_spawn spec = {.argv = argv, .cage = &f->cage};
    assert_int_equal(os_spawn(f->os, &spec, NULL, NULL, &pid, &f->err), -ENOENT);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left of the attempt */
}

static void a_mount_that_fails_fails_closed(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    if (!may_have_namespaces(f)) {
        skip();
    }
    f->mounts[1].from = "/nowhere/at/all";
    assert_int_equal(start(f, "echo ran >../sibling/ran", &pid), -ENOTSUP);
    assert_non_null(strstr(f->err.text, f->inner));
    char path[128];
    (void)snprintf(path, sizeof path, "%s/ran", f->sibling);
    assert_int_equal(access(path, F_OK), -1);
}

/* In a root directory that is no mount point, as root: none of the mounts could be kept from
 * others. */
static void where_there_are_no_namespaces_it_is_said_for_good(void **state)
{
    struct fixture *f = *state;
    if (getuid() != 0 || !may_have_namespaces(f)) {
        skip();
    }
    char proc[112];
    (void)snprintf(proc, sizeof proc, "%s/proc", f->top);
    assert_int_equal(mkdir(proc, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t pid;
        f->mounts[0].to = "/sibling";
        f->cage.mount_count = 1;
        const char *const argv[] = {"/sibling/program", NULL};
        const struct os_spawn spec = {.argv = argv, .cage = &f->cage};
        int rc = chroot(f->top) == 0 && chdir("/") == 0
                     ? os_spawn(f->os, &spec, NULL, NULL, &pid, &f->err)
                     : 0;
        _exit(rc == -ENOSYS && strstr(f->err.text, "cannot create namespaces") != NULL ? 42 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

static void a_filter_holds_from_the_first_instruction_on(void **state)
{
    struct fixture *f = *state;
    static const struct os_filter_code ALLOW[] = {{0x06, 0, 0, 0x7fff0000}}; /* return ALLOW */
    static const struct os_filter_code REFUSE[] = {{0x06, 0, 0, 0x00050000 | EIO}};
    const struct os_filter allow = {ALLOW, 1}, refuse = {REFUSE, 1}, broken = {REFUSE, 0};
    pid_t pid;
    f->cage.namespaces = f->cage.user_namespace = false;
    f->cage.mount_count = 0;
    f->cage.filter = &allow;
    char *text = run(f, "grep -x 'Seccomp:[^0-9]*2' /proc/self/status");
    assert_memory_equal(text, "Seccomp:", 8);
    mem_free(text);
    f->cage.filter = &refuse;
    assert_int_equal(start(f, ":", &pid), -EIO); /* not even the exec */
    f->cage.filter = &broken;
    assert_int_equal(start(f, ":", &pid), -EPROTONOSUPPORT);
    assert_non_null(strstr(f->err.text, "system call filter"));
}

/* ---- cgroups */

static bool make_group(struct fixture *f, const struct os_cgroup_limits *limits)
{
    char name[64];
    (void)snprintf(name, sizeof name, "test-%d", (int)getpid());
    if (os_cgroup_create(f->os, "roost-test", name, limits, &f->cage.cgroup, &f->err) != 0) {
        print_message("[          ] no cgroup: %s\n", f->err.text);
        return false;
    }
    f->cage.namespaces = false;
    f->cage.mount_count = 0;
    return true;
}

static void remove_group(struct fixture *f)
{
    char *places = mem_strdup(os_cgroup_places(f->cage.cgroup));
    if (os_cgroup_remove(f->cage.cgroup, 2000, &f->err) != 0) {
        fail_msg("%s", f->err.text);
    }
    os_cgroup_close(f->cage.cgroup);
    f->cage.cgroup = NULL;
    places[strcspn(places, "\n")] = '\0';
    assert_int_equal(access(places, F_OK), -1);
    mem_free(places);
}

static void a_program_is_in_its_cgroup_before_it_is_a_program(void **state)
{
    struct fixture *f = *state;
    const struct os_cgroup_limits limits = {.processes = 20};
    if (!make_group(f, &limits)) {
        skip();
    }
    char *text = run(f, "grep -c /roost-test/test- /proc/self/cgroup");
    assert_true(strtol(text, NULL, 10) >= 1);
    mem_free(text);
    struct os_cgroup_usage usage;
    os_cgroup_figures(f->cage.cgroup, &usage);
    assert_int_equal(usage.processes, 0);
    remove_group(f);
}

/* The CPU of its own that the program has left, after it asked for all of them. */
static void a_cpuset_holds_a_program_that_asks_for_all_cpus(void **state)
{
    struct fixture *f = *state;
    const struct os_cgroup_limits limits = {.cpu_list = "0"}, without = {0};
    if (!make_group(f, &limits)) {
        skip();
    }
    if (strstr(os_cgroup_controls(f->cage.cgroup), "cpuset") == NULL) {
        print_message("[          ] no cpuset hierarchy: %s\n", os_cgroup_controls(f->cage.cgroup));
        remove_group(f);
        skip();
    }
    char *text = run(f, "taskset -p ff $$ >/dev/null; sed -n s/^Cpus_allowed_list:.//p "
                        "/proc/self/status");
    assert_string_equal(text, "0\n");
    mem_free(text);
    remove_group(f);
    assert_true(make_group(f, &without)); /* costs no directory that nobody wants */
    assert_null(strstr(os_cgroup_controls(f->cage.cgroup), "cpuset"));
    assert_null(strstr(os_cgroup_places(f->cage.cgroup), "/cpuset/"));
    remove_group(f);
    const struct os_cgroup_limits absent = {.cpu_list = "1023"};
    assert_true(make_group(f, &absent)); /* a wish, no more */
    assert_null(strstr(os_cgroup_controls(f->cage.cgroup), "cpuset"));
    text = run(f, "echo runs");
    assert_string_equal(text, "runs\n");
    mem_free(text);
    remove_group(f);
}

static void a_cgroup_that_forks_without_end_is_bounded_and_removed(void **state)
{
    struct fixture *f = *state;
    struct os_cgroup_usage usage = {0};
    const struct os_cgroup_limits limits = {.processes = 40};
    if (!make_group(f, &limits)) {
        skip();
    }
    mem_free(run(f, "while (sleep 1000 &); do :; done")); /* until it cannot fork any more */
    os_cgroup_figures(f->cage.cgroup, &usage);
    assert_in_range(usage.processes, 30, 40);
    struct os_cgroup *again = os_cgroup_open(f->os, os_cgroup_places(f->cage.cgroup));
    assert_int_equal(os_cgroup_remove(again, 5000, NULL), 0); /* as somebody else would */
    os_cgroup_close(again);
    os_cgroup_close(f->cage.cgroup);
}

/* A group with memory whose peak can be set back: v1 has them. */
static bool make_renewable_group(struct fixture *f)
{
    const struct os_cgroup_limits limits = {.memory_bytes = 60 * MIB, .processes = 40};
    if (!make_group(f, &limits)) {
        return false;
    }
    int rc = os_cgroup_renew(f->cage.cgroup, 2000, &f->err);
    if (rc != 0) {
        print_message("[          ] no group is used again: %s\n", f->err.text);
        assert_int_equal(rc, -ESTALE);
        remove_group(f);
    }
    return rc == 0;
}

static void a_renewed_cgroup_is_as_new(void **state)
{
    struct fixture *f = *state;
    struct os_cgroup_usage usage;
    if (!make_renewable_group(f)) {
        skip();
    }
    mem_free(run(f,
                 "(setsid sleep 1000 >/dev/null 2>&1 &); head -c 20m /dev/zero | tail >/dev/null; "
                 "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"));
    os_cgroup_figures(f->cage.cgroup, &usage);
    assert_int_equal(usage.processes, 1);
    assert_true(usage.user_cpu_s + usage.system_cpu_s > 0.001);
    assert_true(!usage.has_memory || usage.memory_peak_bytes > 15 * MIB);
    (void)os_cgroup_freeze(f->cage.cgroup, true); /* it is killed while it stands still */
    if (os_cgroup_renew(f->cage.cgroup, 5000, &f->err) != 0) {
        fail_msg("%s", f->err.text);
    }
    os_cgroup_figures(f->cage.cgroup, &usage);
    assert_int_equal(usage.processes, 0);
    assert_int_equal(usage.oom_kills, 0);
    assert_in_range(usage.memory_bytes, 0, MIB);
    assert_in_range(usage.memory_peak_bytes, 0, MIB);
    assert_true(usage.user_cpu_s + usage.system_cpu_s < 0.001);
    char *text = run(f, "echo runs");
    assert_string_equal(text, "runs\n");
    mem_free(text);
    os_cgroup_figures(f->cage.cgroup, &usage);
    assert_true(usage.user_cpu_s + usage.system_cpu_s > 0);
    remove_group(f);
}

static void a_cgroup_with_something_left_is_not_used_again(void **state)
{
    struct fixture *f = *state;
    char path[4096], command[200];
    if (!make_renewable_group(f)) {
        skip();
    }
    (void)snprintf(path, sizeof path, "%s", os_cgroup_places(f->cage.cgroup));
    (void)snprintf(path + strcspn(path, "\n"), 8, "/below");
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(os_cgroup_renew(f->cage.cgroup, 2000, &f->err), -ESTALE);
    assert_non_null(strstr(f->err.text, "has groups below it"));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(os_cgroup_renew(f->cage.cgroup, 2000, &f->err), 0);

    (void)snprintf(path, sizeof path, "/dev/shm/roost-test-%d", (int)getpid());
    (void)snprintf(command, sizeof command, "head -c 8m /dev/zero >%.100s", path);
    mem_free(run(f, command)); /* charged to it as long as the file is there */
    int rc = os_cgroup_renew(f->cage.cgroup, 2000, &f->err);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rc, -ESTALE);
    assert_non_null(strstr(f->err.text, "memory are still charged"));
    remove_group(f);
}

static void a_cgroup_that_needs_more_memory_is_killed_and_counted(void **state)
{
    struct fixture *f = *state;
    struct os_cgroup_usage usage;
    const struct os_cgroup_limits limits = {.memory_bytes = 20 * MIB, .no_swap = true};
    if (!make_group(f, &limits)) {
        skip();
    }
    os_cgroup_figures(f->cage.cgroup, &usage);
    if (!usage.has_memory) {
        remove_group(f);
        skip();
    }
    mem_free(run(f, "exec head -c 60m /dev/zero | exec tail"));
    os_cgroup_figures(f->cage.cgroup, &usage);
    assert_true(usage.oom_kills > 0);
    assert_true(usage.limit_hits > 0);
    assert_true(usage.memory_peak_bytes == 0 || usage.memory_peak_bytes > 10 * MIB);
    remove_group(f);
}

static void a_frozen_cgroup_does_nothing_and_can_be_killed(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    struct os_cgroup_usage before, after;
    const struct os_cgroup_limits limits = {0};
    if (!make_group(f, &limits)) {
        skip();
    }
    assert_int_equal(start(f, "while :; do :; done", &pid), 0);
    if (os_cgroup_freeze(f->cage.cgroup, true) != 0) {
        os_cgroup_kill(f->cage.cgroup);
        skip();
    }
    do { /* the kernel takes a moment */
        os_cgroup_figures(f->cage.cgroup, &before);
        usleep(50000);
        os_cgroup_figures(f->cage.cgroup, &after);
    } while (after.user_cpu_s > before.user_cpu_s);
    remove_group(f);
    loop_run_until(f->loop, &f->ended);
    assert_int_equal(f->how.signal, SIGKILL);
}

/* ---- figures */

/* How many descendants are `sleep` and do nothing. */
static int sleepers(void)
{
    pid_t pids[8];
    size_t count = os_descendants_pids(pids, sizeof pids / sizeof pids[0]);
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        char path[64], name[32] = "", run_state = ' ';
        (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pids[i]);
        FILE *file = fopen(path, "re");
        assert_non_null(file); /* they do not end */
        assert_int_equal(fscanf(file, "%*d (%31[^)]) %c", name, &run_state), 2);
        assert_int_equal(fclose(file), 0);
        found += strcmp(name, "sleep") == 0 && run_state == 'S';
    }
    return found;
}

/* Without a cage, as they are for.  Looks are compared when all have become what they will be: the
 * kernel's quick figure of a process that was just forked is far too small. */
static void descendants_are_counted_and_shared_pages_once_when_exact(void **state)
{
    struct fixture *f = *state;
    struct os_figures figures = {0}, exact;
    pid_t pid;
    f->cage = (struct os_cage){0};
    assert_int_equal(start(f, "sleep 1000 & sleep 1000 & exec sleep 1000", &pid), 0);
    uint64_t end_ms = loop_now_ms(f->loop) + DEADLINE_MS;
    while (sleepers() < 3) {
        assert_true(loop_now_ms(f->loop) < end_ms);
    }
    os_descendants_figures(f->os, true, &exact);
    os_descendants_figures(f->os, false, &figures);
    assert_int_equal(exact.processes, 3);
    assert_int_equal(figures.processes, 3);
    assert_in_range(exact.rss_kib, 1, figures.rss_kib - 1);
    assert_true(figures.image_kib > figures.rss_kib);
    (void)os_descendants_kill(f->os, SIGKILL);
    loop_run_until(f->loop, &f->ended);
}

static void a_tree_is_measured_without_following_links(void **state)
{
    struct fixture *f = *state;
    struct os_tree_figures tree;
    f->cage = (struct os_cage){0};
    mem_free(run(f, "mkdir a && head -c 100000 /dev/zero >a/b && ln -s /usr c && ln a/b d"));
    os_tree_figures(f->os, f->inner, 1000, &tree);
    assert_true(tree.complete);
    assert_int_equal(tree.files, 5); /* a, a/b, c, d, out */
    assert_in_range(tree.disk_kib, 98, 200);
    os_tree_figures(f->os, f->inner, 2, &tree);
    assert_false(tree.complete);
    os_tree_figures(f->os, "/nowhere", 2, &tree);
    assert_int_equal(tree.files, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_caged_program_sees_itself_alone),
        TEST(a_caged_program_can_get_no_privilege),
        TEST(what_is_mounted_readonly_can_be_neither_changed_nor_replaced),
        TEST(the_way_to_what_is_shown_is_in_memory),
        TEST(what_a_caged_program_shares_by_key_is_its_own),
        TEST(status_signal_and_times_of_a_caged_program_are_its_own),
        TEST(a_killed_keeper_is_told_from_a_killed_program),
        TEST(the_end_of_its_lease_kills_a_cage_whose_processes_are_stopped),
        TEST(a_renewed_lease_does_not_end),
        TEST(a_cage_with_a_lease_ends_with_each_of_its_processes),
        TEST(a_caged_program_gets_the_signals_that_it_is_sent),
        TEST(what_a_caged_program_leaves_running_ends_with_it),
        TEST(a_program_that_is_not_there_is_said_not_to_be),
        TEST(a_mount_that_fails_fails_closed),
        TEST(a_filter_holds_from_the_first_instruction_on),
        TEST(where_there_are_no_namespaces_it_is_said_for_good),
        TEST(a_program_is_in_its_cgroup_before_it_is_a_program),
        TEST(a_cpuset_holds_a_program_that_asks_for_all_cpus),
        TEST(a_cgroup_that_forks_without_end_is_bounded_and_removed),
        TEST(a_renewed_cgroup_is_as_new),
        TEST(a_cgroup_with_something_left_is_not_used_again),
        TEST(a_cgroup_that_needs_more_memory_is_killed_and_counted),
        TEST(a_frozen_cgroup_does_nothing_and_can_be_killed),
        TEST(descendants_are_counted_and_shared_pages_once_when_exact),
        TEST(a_tree_is_measured_without_following_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
