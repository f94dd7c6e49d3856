/* tests/unit/base/test_prepared.c - programs that are started as copies of a prepared process.
 *
 * This program is its own: as "copy FILE" it writes what it is to FILE and waits to be killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/daemon/prepared.h"
#include "base/strbuf.h"

#define DEADLINE_MS 60000
#define STEP_MS     5

/* What the prepared process fills for its copies. */
#define BLOCK_COUNT 16
#define BLOCK_KB    32

/* True: mem_alloc() does not take its memory from the heap that the kernel knows. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_IS_FOREIGN true
#else
#define HEAP_IS_FOREIGN false
#endif

struct fixture {
    struct loop *loop;
    struct os *os;
    struct loop_timer *deadline, *tick;
    bool woken;
    char top[64], self[PATH_MAX];
    int files;
    pid_t pids[64];
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

static void moment(struct fixture *f)
{
    loop_timer_set(f->tick, STEP_MS);
    f->woken = false;
    loop_run_until(f->loop, &f->woken);
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
    ssize_t length = readlink("/proc/self/exe", f->self, sizeof(f->self) - 1);
    assert_true(length > 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < f->files; i++) {
        (void)kill(f->pids[i], SIGKILL);
    }
    assert_int_equal(os_remove_tree(f->os, f->top, NULL), 0);
    os_destroy(f->os);
    loop_timer_destroy(f->deadline);
    loop_timer_destroy(f->tick);
    loop_destroy(f->loop);
    mem_free(f);
    return 0;
}

/* Starts one; what it wrote is in text. */
static pid_t start(struct fixture *f, const char *variable, char *text, size_t size)
{
    char path[200];
    struct os_stat stat;
    struct err err;
    char *data;
    size_t length;
    pid_t pid = 0;
    assert_true(f->files < 64);
    (void)snprintf(path, sizeof(path), "%s/%d", f->top, f->files);
    const char *argv[] = {f->self, "copy", path, NULL};
    const char *env_add[] = {variable, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .env_add = env_add,
                                  .cwd = f->top,
                                  .new_session = true,
                                  .prepared = true,
                                  .kin = OS_DETACHED};
    if (os_spawn(f->os, &spec, NULL, NULL, &pid, &err) != 0) {
        fail_msg("%s", err.text);
    }
    f->pids[f->files++] = pid;
    while (os_stat(f->os, path, &stat) != 0) {
        moment(f);
    }
    assert_int_equal(os_read_file(f->os, path, 100000, &data, &length, NULL), 0);
    (void)snprintf(text, size, "%s", data);
    mem_free(data);
    return pid;
}

static bool is_copy(const char *text)
{
    return strstr(text, "warmed ") != NULL;
}

/* The first that is a copy. */
static pid_t start_copy(struct fixture *f, const char *variable, char *text, size_t size)
{
    pid_t pid;
    os_prepare(f->os, f->self);
    do {
        moment(f);
        pid = start(f, variable, text, size);
        if (!is_copy(text)) {
            (void)kill(pid, SIGKILL);
            f->files--;
            char path[200];
            (void)snprintf(path, sizeof(path), "%s/%d", f->top, f->files);
            assert_int_equal(os_remove(f->os, path, NULL), 0);
        }
    } while (!is_copy(text));
    return pid;
}

static pid_t number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    assert_non_null(at);
    return (pid_t)strtol(at + strlen(word), NULL, 10);
}

static void a_copy_is_what_was_asked_for(void **state)
{
    struct fixture *f = *state;
    char text[4000], wanted[400];
    pid_t pid = start_copy(f, "MARK=one", text, sizeof(text));
    assert_int_equal(number_after(text, "pid "), pid);
    assert_int_equal(number_after(text, "session "), pid);
    (void)snprintf(wanted, sizeof(wanted), "directory %s\n", f->top);
    assert_non_null(strstr(text, wanted));
    assert_non_null(strstr(text, "MARK one\n"));
    assert_non_null(strstr(text, "room none\n"));
    assert_non_null(strstr(text, "descriptors 3\n"));
}

static void proc_shows_a_copy_with_its_arguments_and_variables(void **state)
{
    struct fixture *f = *state;
    char text[4000], path[64], *data;
    size_t length;
    pid_t first = start_copy(f, "MARK=first", text, sizeof(text));
    pid_t second = start(f, "MARK=second", text, sizeof(text));
    assert_true(is_copy(text));
    (void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)first);
    assert_int_equal(os_read_file(f->os, path, 100000, &data, &length, NULL), 0);
    assert_string_equal(data, f->self);
    assert_string_equal(data + strlen(data) + 1, "copy");
    mem_free(data);
    assert_int_equal(os_marked_kill(f->os, "MARK=second", 0), 1);
    assert_int_equal(os_marked_kill(f->os, "MARK=first", SIGKILL), 1);
    while (os_start_time(f->os, first) != 0) {
        moment(f);
    }
    assert_true(os_start_time(f->os, second) != 0);
    (void)start(f, "MARK=third", text, sizeof(text));
    assert_true(is_copy(text));
}

static void without_the_prepared_process_programs_are_started_as_ever(void **state)
{
    struct fixture *f = *state;
    char text[4000];
    pid_t copy = start_copy(f, "MARK=copy", text, sizeof(text));
    pid_t prepared = number_after(text, "prepared by ");
    assert_int_equal(kill(prepared, SIGKILL), 0);
    while (os_start_time(f->os, prepared) != 0) {
        moment(f);
    }
    pid_t pid = start(f, "MARK=plain", text, sizeof(text));
    assert_false(is_copy(text));
    assert_int_equal(number_after(text, "pid "), pid);
    assert_true(os_start_time(f->os, copy) != 0);
}

static void one_that_does_not_answer_is_killed_and_the_program_starts(void **state)
{
    struct fixture *f = *state;
    char text[4000];
    (void)start_copy(f, "MARK=copy", text, sizeof(text));
    pid_t prepared = number_after(text, "prepared by ");
    assert_int_equal(kill(prepared, SIGSTOP), 0);
    (void)start(f, "MARK=plain", text, sizeof(text));
    assert_false(is_copy(text));
    while (os_start_time(f->os, prepared) != 0) {
        moment(f);
    }
}

static void arguments_that_do_not_fit_are_started_as_ever(void **state)
{
    struct fixture *f = *state;
    char text[4000];
    char *variable = mem_zalloc(PREPARED_ENV_BYTES + 100);
    memset(variable, 'x', PREPARED_ENV_BYTES + 99);
    memcpy(variable, "MARK=", 5);
    (void)start_copy(f, "MARK=copy", text, sizeof(text));
    (void)start(f, variable, text, sizeof(text));
    assert_false(is_copy(text));
    (void)start(f, "MARK=next", text, sizeof(text));
    assert_true(is_copy(text));
    mem_free(variable);
}

static void the_prepared_process_ends_with_who_started_it_and_copies_stay(void **state)
{
    struct fixture *f = *state;
    char text[4000];
    pid_t copy = start_copy(f, "MARK=copy", text, sizeof(text));
    pid_t prepared = number_after(text, "prepared by ");
    os_destroy(f->os);
    assert_int_equal(os_create(f->loop, &f->os, NULL), 0);
    while (os_start_time(f->os, prepared) != 0) {
        moment(f);
    }
    assert_true(os_start_time(f->os, copy) != 0);
}

static void a_page_that_is_as_before_again_is_shared_again(void **state)
{
    struct fixture *f = *state;
    char text[4000];
    if (HEAP_IS_FOREIGN) {
        skip();
    }
    (void)start_copy(f, "MARK=one", text, sizeof(text));
    pid_t dirty = number_after(text, "dirty "), after = number_after(text, "rejoined ");
    print_message("%d kB after each page was written to, %d kB later\n", (int)dirty, (int)after);
    assert_true(dirty - after >= BLOCK_COUNT * BLOCK_KB * 3 / 4);
    assert_non_null(strstr(text, "blocks kept\n"));
}

/* ---- the program ----------------------------------------------------------------------------- */

struct warmed {
    char pid[32];
    char *blocks[BLOCK_COUNT];
};

static void *warm(void)
{
    struct warmed *warmed = mem_zalloc(sizeof(*warmed));
    (void)snprintf(warmed->pid, sizeof(warmed->pid), "%d", (int)getpid());
    for (int i = 0; i < BLOCK_COUNT; i++) {
        warmed->blocks[i] = mem_alloc(BLOCK_KB * 1024);
        memset(warmed->blocks[i], 'a' + i % 8, BLOCK_KB * 1024);
    }
    return warmed;
}

static void add_to_blocks(const struct warmed *warmed, int add)
{
    for (int i = 0; i < BLOCK_COUNT; i++) {
        for (int at = 0; at < BLOCK_KB * 1024; at++) {
            warmed->blocks[i][at] = (char)(warmed->blocks[i][at] + add);
        }
    }
}

static int own_kb(struct os *os)
{
    char *data;
    size_t length;
    assert_int_equal(os_read_file(os, "/proc/self/smaps_rollup", 10000, &data, &length, NULL), 0);
    int kb = (int)number_after(data, "Anonymous:");
    mem_free(data);
    return kb;
}

/* Writes to all blocks, and then to one that stays as it is. */
static void rejoin_blocks(struct os *os, const struct warmed *warmed, struct strbuf *ret)
{
    add_to_blocks(warmed, 1);
    add_to_blocks(warmed, -1);
    warmed->blocks[1][100] = 'x';
    strbuf_printf(ret, "dirty %d\n", own_kb(os));
    mem_rejoin();
    strbuf_printf(ret, "rejoined %d\n", own_kb(os));
    bool kept = true;
    for (int i = 0; i < BLOCK_COUNT; i++) {
        for (int at = 0; at < BLOCK_KB * 1024; at++) {
            kept =
                kept && warmed->blocks[i][at] == (i == 1 && at == 100 ? 'x' : (char)('a' + i % 8));
        }
    }
    strbuf_printf(ret, "blocks %s\n", kept ? "kept" : "lost");
}

static void count_name(void *arg, const char *name)
{
    (void)name;
    (*(int *)arg)++;
}

static int be_copy(const char *path, const struct warmed *warmed)
{
    struct os *os;
    struct strbuf text;
    char directory[PATH_MAX];
    int descriptors = -1; /* the one that lists them */
    if (os_create(NULL, &os, NULL) != 0 || getcwd(directory, sizeof(directory)) == NULL ||
        os_list(os, "/proc/self/fd", count_name, &descriptors, NULL) != 0) {
        return 1;
    }
    strbuf_init(&text, 0);
    strbuf_printf(&text, "pid %d\nsession %d\ndirectory %s\nMARK %.20s\nroom %s\ndescriptors %d\n",
                  (int)getpid(), (int)getsid(0), directory, getenv("MARK"),
                  getenv(PREPARED_ROOM) != NULL ? "there" : "none", descriptors);
    if (warmed != NULL) {
        strbuf_printf(&text, "warmed \nprepared by %s\n", warmed->pid);
        rejoin_blocks(os, warmed, &text);
    }
    if (os_write_file(os, path, strbuf_text(&text), text.length, 0644, false, NULL) != 0) {
        return 1;
    }
    for (;;) {
        (void)pause();
    }
}

int main(int argc, char **argv)
{
    const struct warmed *warmed = prepared_main(&argc, &argv, warm);
    if (argc == 3 && strcmp(argv[1], "copy") == 0) {
        return be_copy(argv[2], warmed);
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_copy_is_what_was_asked_for),
        TEST(proc_shows_a_copy_with_its_arguments_and_variables),
        TEST(without_the_prepared_process_programs_are_started_as_ever),
        TEST(one_that_does_not_answer_is_killed_and_the_program_starts),
        TEST(arguments_that_do_not_fit_are_started_as_ever),
        TEST(the_prepared_process_ends_with_who_started_it_and_copies_stay),
        TEST(a_page_that_is_as_before_again_is_shared_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
