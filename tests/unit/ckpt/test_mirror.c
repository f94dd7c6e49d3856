/* tests/unit/ckpt/test_mirror.c - a copy of a job's files that is of one moment.
 *
 * The job is this process, or a child of it.  On ext4 or the like, as /tmp is, and on tmpfs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/files/mirror_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "tests/support/unit.h"

struct place {
    char folder[64], before[4096];
    struct mirror *mirror;
    pid_t job, keeper;
};

static int make_place_in(const char *folder, void **state)
{
    struct place *place = calloc(1, sizeof *place);
    place->job = getpid();
    (void)snprintf(place->folder, sizeof place->folder, "%s/mirror.XXXXXX", folder);
    *state = place;
    return mkdtemp(place->folder) != NULL && getcwd(place->before, sizeof place->before) != NULL &&
                   chdir(place->folder) == 0 && mkdir("box", 0700) == 0
               ? 0
               : -1;
}

static int make_place(void **state)
{
    return make_place_in("/tmp", state);
}

static int make_place_on_tmpfs(void **state)
{
    return make_place_in("/dev/shm", state);
}

static int open_up(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat;
    (void)where;
    return kind == FTW_D || kind == FTW_DNR ? chmod(path, 0700) : 0;
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat;
    (void)kind;
    (void)where;
    return remove(path);
}

static int remove_place(void **state)
{
    struct place *place = *state;
    mirror_destroy(place->mirror);
    int rc = chdir(place->before) != 0 || nftw(place->folder, open_up, 16, FTW_PHYS) != 0 ||
                     nftw(place->folder, remove_one, 16, FTW_PHYS | FTW_DEPTH) != 0
                 ? -1
                 : 0;
    free(place);
    return rc;
}

static void open_mirror(struct place *place)
{
    static const char *const NAMES[] = {"box"};
    mirror_destroy(place->mirror);
    assert_int_equal(mirror_open("copy", NAMES, 1, &place->mirror, NULL), 0);
}

/* How many files were copied. */
static uint64_t update(struct place *place, bool still)
{
    struct mirror_figures figures;
    struct err err = {.text = ""};
    int rc = mirror_update(place->mirror, place->job, place->keeper, still, &err);
    if (rc != 0) {
        fail_msg("%s", err.text);
    }
    mirror_figures(place->mirror, &figures);
    return figures.copied;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void holds(const char *name, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    (void)fclose(file);
    assert_string_equal(got, text);
}

/* Until a look believes what was written before it: times of files are coarse. */
static void let_clock_tick(void)
{
    const struct timespec pause = {.tv_nsec = 40000000};
    (void)nanosleep(&pause, NULL);
}

/* A file is copied, and its copy is known. */
static void copy_and_save(struct place *place)
{
    put("box/a", "one");
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, true), 1);
    assert_int_equal(mirror_save(place->mirror, NULL), 0);
}

static bool is_there(const char *name)
{
    struct stat stat;
    return lstat(name, &stat) == 0;
}

static void of_a_copy_that_was_removed_nothing_is_believed(void **state)
{
    struct place *place = *state;
    copy_and_save(place);
    assert_int_equal(remove("copy/box/a"), 0);
    assert_int_equal(remove("copy/box"), 0);
    assert_int_equal(remove("copy"), 0);
    open_mirror(place);
    assert_int_equal(update(place, true), 1);
    holds("copy/box/a", "one");
}

static void what_is_there_is_copied_and_once_only(void **state)
{
    struct place *place = *state;
    struct stat ours, its;
    char target[16] = "";
    put("box/a", "one");
    assert_int_equal(mkdir("box/d", 0755), 0);
    put("box/d/b", "two");
    assert_int_equal(chmod("box/d/b", 0640), 0);
    assert_int_equal(symlink("/nowhere", "box/l"), 0);
    assert_int_equal(mkfifo("box/f", 0600), 0);
    assert_int_equal(chmod("box/d", 0500), 0);
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, false), 2);
    assert_int_equal(update(place, true), 0);
    holds("copy/box/a", "one");
    holds("copy/box/d/b", "two");
    assert_int_equal(readlink("copy/box/l", target, sizeof target), 8);
    assert_int_equal(lstat("copy/box/f", &its), 0);
    assert_true(S_ISFIFO(its.st_mode));
    assert_int_equal(stat("box/d/b", &ours), 0);
    assert_int_equal(stat("copy/box/d/b", &its), 0);
    assert_int_equal(its.st_mode, ours.st_mode);
    assert_int_equal(its.st_mtim.tv_nsec, ours.st_mtim.tv_nsec);
    assert_int_equal(stat("copy/box/d", &its), 0);
    assert_int_equal(its.st_mode & 0777, 0500);
    assert_int_equal(mirror_save(place->mirror, NULL), 0);
    open_mirror(place); /* another program */
    assert_int_equal(update(place, true), 0);
}

static void what_changed_is_copied_whatever_its_times_say(void **state)
{
    struct place *place = *state;
    struct stat before;
    put("box/a", "one");
    put("box/b", "two");
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, false), 2);
    assert_int_equal(stat("box/a", &before), 0);
    put("box/a", "eno"); /* of the same size */
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, "box/a", times, 0), 0);
    assert_int_equal(update(place, true), 1);
    holds("copy/box/a", "eno");
}

static void what_was_written_in_the_tick_of_the_look_is_looked_at_again(void **state)
{
    struct place *place = *state;
    put("box/a", "one");
    open_mirror(place);
    assert_int_equal(update(place, false), 1);
    assert_int_equal(update(place, true), 1);
}

static void what_is_gone_or_another_kind_of_thing_is_not_kept(void **state)
{
    struct place *place = *state;
    put("box/a", "one");
    put("box/b", "two");
    assert_int_equal(mkdir("box/d", 0700), 0);
    put("box/d/c", "three");
    open_mirror(place);
    (void)update(place, false);
    assert_int_equal(unlink("box/a"), 0);
    assert_int_equal(unlink("box/b"), 0);
    assert_int_equal(mkdir("box/b", 0700), 0);
    put("box/b/e", "four");
    assert_int_equal(rename("box/d/c", "box/c"), 0);
    assert_int_equal(rmdir("box/d"), 0);
    put("box/d", "five");
    (void)update(place, true);
    assert_false(is_there("copy/box/a"));
    holds("copy/box/b/e", "four");
    holds("copy/box/c", "three");
    holds("copy/box/d", "five");
}

static void what_may_be_written_as_memory_is_copied_each_time(void **state)
{
    struct place *place = *state;
    put("box/a", "one");
    int fd = open("box/a", O_RDWR | O_CLOEXEC);
    char *memory = mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(memory != MAP_FAILED);
    (void)close(fd);
    memory[0] = 'O'; /* the first write sets the file's time, later ones do not */
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, false), 1);
    memory[1] = 'N';
    assert_int_equal(update(place, true), 1);
    holds("copy/box/a", "ONe");
    assert_int_equal(mirror_save(place->mirror, NULL), 0);
    memory[2] = 'E';
    assert_int_equal(munmap(memory, 3), 0);
    open_mirror(place); /* nothing of it is to be seen any more */
    assert_int_equal(update(place, true), 1);
    holds("copy/box/a", "ONE");
}

static void names_of_one_file_stay_such(void **state)
{
    struct place *place = *state;
    struct stat a, b;
    put("box/a", "one");
    assert_int_equal(link("box/a", "box/b"), 0);
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, false), 1);
    put("box/b", "other");
    assert_int_equal(update(place, true), 1);
    assert_int_equal(stat("copy/box/a", &a), 0);
    assert_int_equal(stat("copy/box/b", &b), 0);
    assert_int_equal(a.st_ino, b.st_ino);
    holds("copy/box/a", "other");
}

static void who_was_killed_meanwhile_leaves_nothing_that_is_believed(void **state)
{
    struct place *place = *state;
    copy_and_save(place);
    open_mirror(place);
    assert_int_equal(update(place, true), 0); /* and it does not come to save */
    open_mirror(place);
    assert_int_equal(update(place, true), 1);
    put("copy.index", "roost mirror 1\n1 2 x");
    open_mirror(place);
    assert_int_equal(update(place, true), 1);
}

static void holes_stay_holes(void **state)
{
    struct place *place = *state;
    struct stat stat;
    put("box/a", "one");
    assert_int_equal(truncate("box/a", (off_t)1 << 30), 0);
    open_mirror(place);
    (void)update(place, true);
    assert_int_equal(lstat("copy/box/a", &stat), 0);
    assert_int_equal(stat.st_size, (off_t)1 << 30);
    assert_in_range(stat.st_blocks, 1, 64);
}

/* As a database does: nothing but memory says so. */
static void write_as_memory(int fd, const char *text)
{
    char *memory = mmap(NULL, strlen(text), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(memory != MAP_FAILED);
    memcpy(memory, text, strlen(text));
    assert_int_equal(munmap(memory, strlen(text)), 0);
}

static void of_many_that_are_mapped_each_is_found(void **state)
{
    enum { COUNT = 20 };
    struct place *place = *state;
    char *memory[COUNT], name[16];
    for (int i = 0; i < COUNT; i++) { /* the last one is mapped below all others */
        (void)snprintf(name, sizeof name, "box/%02d", i);
        put(name, "one");
        int fd = open(name, O_RDWR | O_CLOEXEC);
        memory[i] = mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_true(memory[i] != MAP_FAILED);
        (void)close(fd);
        memory[i][0] = 'O';
    }
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, false), COUNT);
    assert_int_equal(update(place, true), COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(munmap(memory[i], 3), 0);
    }
}

static void what_a_process_of_the_keeper_has_mapped_counts(void **state)
{
    struct place *place = *state;
    int go[2];
    char byte;
    put("box/a", "one");
    assert_int_equal(pipe(go), 0);
    pid_t writer = fork();
    if (writer == 0) {
        (void)close(go[1]);
        int fd = open("box/a", O_RDWR | O_CLOEXEC);
        char *memory = mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        memory[0] = 'O';
        _exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
    }
    pid_t job = fork();
    if (job == 0) {
        (void)close(go[1]);
        _exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
    }
    (void)close(go[0]);
    place->job = job;
    place->keeper = getpid();
    for (char first = 'o'; first == 'o';) { /* it has it mapped by then */
        FILE *file = fopen("box/a", "re");
        assert_int_equal(fread(&first, 1, 1, file), 1);
        (void)fclose(file);
    }
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, false), 1);
    assert_int_equal(update(place, true), 1);
    (void)close(go[1]);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    assert_int_equal(waitpid(job, NULL, 0), job);
}

/* By a mapping that is made after the first look, and gone before the second. */
static void what_was_written_as_memory_meanwhile_is_copied(void **state)
{
    struct place *place = *state;
    put("box/a", "one");
    put("box/b", "two");
    int fd = open("box/a", O_RDWR | O_CLOEXEC);
    let_clock_tick();
    open_mirror(place);
    assert_int_equal(update(place, false), 2);
    write_as_memory(fd, "ONE");
    let_clock_tick();
    assert_int_equal(update(place, true), 1);
    holds("copy/box/a", "ONE");
    assert_int_equal(mirror_save(place->mirror, NULL), 0);
    open_mirror(place);
    write_as_memory(fd, "eno");
    assert_int_equal(update(place, true), 1);
    holds("copy/box/a", "eno");
    (void)close(fd);
}

int main(void)
{
#define TEST(name)                                                       \
    cmocka_unit_test_setup_teardown(name, make_place, remove_place),     \
    {                                                                    \
#name "_on_tmpfs", name, make_place_on_tmpfs, remove_place, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST(of_a_copy_that_was_removed_nothing_is_believed),
        TEST(what_is_there_is_copied_and_once_only),
        TEST(what_changed_is_copied_whatever_its_times_say),
        TEST(what_was_written_in_the_tick_of_the_look_is_looked_at_again),
        TEST(what_is_gone_or_another_kind_of_thing_is_not_kept),
        TEST(what_may_be_written_as_memory_is_copied_each_time),
        TEST(names_of_one_file_stay_such),
        TEST(who_was_killed_meanwhile_leaves_nothing_that_is_believed),
        TEST(holes_stay_holes),
        TEST(of_many_that_are_mapped_each_is_found),
        TEST(what_a_process_of_the_keeper_has_mapped_counts),
        TEST(what_was_written_as_memory_meanwhile_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
