/* tests/unit/ckpt/test_archive.c - an archive of a job's files, of one before and what changed.
 *
 * With tar itself, as the starter runs it: what comes of both has to unpack to the same files as an
 * archive of all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/files/archive_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "ckpt/files/kept_linux.h"
#include "ckpt/files/mirror_linux.h"
#include "tests/support/unit.h"

/* No tar list can say the first two; the others are what one could stumble over. */
static const char *const NAMES[] = {"box/a\nb",      "box/a ", "box/a",        "box/*",
                                    "box/\\052",     "box/[a", "box/\xc3\xa4", "box/\xff\xfe",
                                    "box/#comment",  "box/-x", "box/d/e/f",    "box/ lead",
                                    "box/same.kept", "box/~",  "box/d/box/a"};
#define LONG_PATH "box/" DIR_50 "/" DIR_50 "/" DIR_50 "/" DIR_50 "/" DIR_50 "/" DIR_50
#define DIR_50    "0123456789012345678901234567890123456789-12345678"

struct place {
    char folder[64], before[4096];
    struct mirror *mirror;
};

static int run(const char *const *argv)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)setenv("LC_ALL", "C", 1);
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define RUN(...)                                          \
    do {                                                  \
        const char *const words_[] = {__VA_ARGS__, NULL}; \
        assert_int_equal(run(words_), 0);                 \
    } while (0)

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void let_clock_tick(void)
{
    const struct timespec pause = {.tv_nsec = 40000000};
    (void)nanosleep(&pause, NULL);
}

/* On a disk, where the file system notes what changed; with all kinds of files. */
static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    (void)snprintf(place->folder, sizeof place->folder, "/var/tmp/archive.XXXXXX");
    *state = place;
    if (mkdtemp(place->folder) == NULL || getcwd(place->before, sizeof place->before) == NULL ||
        chdir(place->folder) != 0) {
        return -1;
    }
    RUN("mkdir", "-p", "box/d/e", "box/d/box", "box/empty", LONG_PATH, "shm");
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        put(NAMES[i], NAMES[i]);
    }
    put(LONG_PATH "/deep", "deep");
    put("shm/s", "shared");
    put("box/.ad", "no archive has that");
    put("box/.adx", "this they have");
    RUN("mkdir", "box/.d");
    put("box/.d/ticket", "nor that");
    put("box/none", "");
    put("box/linked", "linked");
    RUN("truncate", "-s", "3M", "box/sparse");
    RUN("sh", "-c", "echo data | dd of=box/sparse bs=1 seek=2000000 conv=notrunc 2>/dev/null");
    RUN("truncate", "-s", "2M", "box/sparse2");
    RUN("sh", "-c", "echo data | dd of=box/sparse2 bs=1 seek=1000000 conv=notrunc 2>/dev/null");
    RUN("ln", "box/linked", "box/d/other");
    RUN("ln", "-s", "/nowhere", "box/l");
    RUN("mkfifo", "box/fifo");
    RUN("sh", "-c", "head -c 300000 /dev/urandom >box/large");
    let_clock_tick();
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    mirror_destroy(place->mirror);
    RUN("rm", "-rf", place->folder);
    int rc = chdir(place->before);
    free(place);
    return rc;
}

/* A pass, as while the job stands still, and what is known then kept under that name. */
static void look(struct place *place, const char *index)
{
    static const char *const MIRRORED[] = {"box", "shm"};
    struct err err = {.text = ""};
    mirror_destroy(place->mirror);
    place->mirror = NULL;
    assert_int_equal(mirror_open("copy", MIRRORED, 2, &place->mirror, NULL), 0);
    if (mirror_update(place->mirror, getpid(), 0, true, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(mirror_save(place->mirror, NULL), 0);
    (void)unlink(index);
    assert_int_equal(link("copy.index", index), 0);
}

#define TAR                                                                                 \
    "tar", "--format=posix", "--numeric-owner", "--sparse", "--anchored", "--no-wildcards", \
        "--exclude=box/.ad", "--exclude=box/.d",                                            \
        "--transform=flags=rhS;s,^box\\(/\\|$\\),v/tmp/job\\1,",                            \
        "--transform=flags=rhS;s,^shm\\(/\\|$\\),dev/shm\\1,"

static void pack_all(const char *to)
{
    RUN(TAR, "--directory=copy", "--create", "--file", to, "box", "shm");
}

/* How many files are kept. */
static uint64_t pack_changes(struct place *place, const char *since, const char *to)
{
    static const struct kept_name AS[] = {{"box", "/v/tmp/job"}, {"shm", "/dev/shm"}};
    static const char *const WITHOUT[] = {"box/.ad", "box/.d"};
    static const struct kept_names NAMES_OF = {AS, 2, WITHOUT, 2};
    struct kept_figures figures;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", place->folder, to);
    assert_int_equal(kept_write(place->mirror, "copy", since, &NAMES_OF, &figures, NULL), 0);
    RUN(TAR, "--exclude-from=copy.unchanged", "--create", "--file", path, "copy.kept",
        "--directory=copy", "box", "shm");
    return figures.files;
}

static int join(const char *before, const char *changes, const char *out, struct err *err)
{
    const struct archive_file files[] = {{open(before, O_RDONLY | O_CLOEXEC), before},
                                         {open(changes, O_RDONLY | O_CLOEXEC), changes},
                                         {open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
                                          out}};
    uint64_t bytes = 0;
    struct stat stat;
    int rc = archive_merge(&files[0], &files[1], &files[2], INT64_MAX, &bytes, err);
    assert_int_equal(fstat(files[2].fd, &stat), 0);
    assert_true(rc != 0 || bytes == (uint64_t)stat.st_size);
    for (size_t i = 0; i < 3; i++) {
        (void)close(files[i].fd);
    }
    return rc;
}

static void unpacks_alike(const char *a, const char *b)
{
    const char *const archives[] = {a, b}, *const to[] = {"one", "two"};
    for (size_t i = 0; i < 2; i++) {
        RUN("rm", "-rf", to[i]);
        RUN("mkdir", to[i]);
        RUN("tar", "--extract", "--sparse", "--same-permissions", "--delay-directory-restore",
            "--file", archives[i], "--directory", to[i]);
    }
    RUN("diff", "-r", "--no-dereference", "-x", "fifo", "one", "two");
    /* And by kind, mode, size, time, names that it has. */
    RUN("sh", "-c",
        "for i in one two; do (cd $i && find v/tmp/job dev/shm -printf '%p %y %m %T@ %n %l\\n' && "
        "find . -type f -printf '%p %s\\n') | sort >$i.list; done; diff one.list two.list");
}

static void what_comes_of_both_is_what_all_of_it_would_be(void **state)
{
    struct place *place = *state;
    struct err err = {.text = ""};
    look(place, "first");
    pack_all("all.1");
    put("box/new", "new");
    put("box/*", "it has changed");
    put("box/d/e/f", "longer than it was, by far");
    RUN("rm", "box/d/box/a");
    RUN("mv", "box/[a", "box/moved");
    RUN("chmod", "0640", "box/large");
    RUN("sh", "-c", "echo more >>box/sparse2");
    RUN("touch", "-d", "2001-01-01", "box/~");
    let_clock_tick();
    look(place, "second");
    pack_all("all.2");
    uint64_t kept = pack_changes(place, "first", "changes");
    /* Fifteen, the long one, shm/s, .adx, two sparse ones and a large one; without two that no list
     * can say, and seven that have changed or are gone. */
    assert_int_equal(kept, 15 + 1 + 1 + 2 + 1 + 1 - 2 - 7);
    if (join("all.1", "changes", "joined", &err) != 0) {
        fail_msg("%s", err.text);
    }
    unpacks_alike("all.2", "joined");
    /* And once more, on what was made. */
    put("box/a", "at last");
    let_clock_tick();
    look(place, "third");
    pack_all("all.3");
    (void)pack_changes(place, "second", "changes");
    assert_int_equal(join("joined", "changes", "again", &err), 0);
    unpacks_alike("all.3", "again");
}

static void what_is_kept_but_not_there_is_said(void **state)
{
    struct place *place = *state;
    struct err err = {.text = ""};
    look(place, "first");
    RUN(TAR, "--directory=copy", "--exclude=box/large", "--create", "--file", "all.1", "box",
        "shm");
    (void)pack_changes(place, "first", "changes");
    assert_int_equal(join("all.1", "changes", "joined", &err), -ENODATA);
    assert_string_equal(
        err.text,
        "all.1: the archive has no file v/tmp/job/large, which the list of kept files names");
}

static void without_an_index_all_has_changed(void **state)
{
    struct place *place = *state;
    look(place, "first");
    put("damaged", "roost mirror 7\n");
    assert_int_equal(pack_changes(place, "absent", "changes"), 0);
    assert_int_equal(pack_changes(place, "damaged", "changes"), 0);
    pack_all("all.1");
    assert_int_equal(join("all.1", "changes", "joined", NULL), 0);
    unpacks_alike("all.1", "joined");
}

static void what_is_no_archive_of_changes_is_refused(void **state)
{
    struct place *place = *state;
    struct err err = {.text = ""};
    look(place, "first");
    pack_all("all.1");
    (void)pack_changes(place, "first", "changes");
    assert_int_equal(join("all.1", "all.1", "joined", &err), -EBADMSG);
    assert_non_null(strstr(err.text, "damaged archive: the list of kept files is missing"));
    put("text", "no archive, but long enough");
    assert_int_equal(join("all.1", "text", "joined", &err), -EBADMSG);
    assert_int_equal(join("text", "changes", "joined", &err), -EBADMSG);
    RUN("sh", "-c", "head -c 100000 all.1 >cut");
    assert_int_equal(join("cut", "changes", "joined", &err), -EBADMSG);
    /* A file that is said to be kept, and comes. */
    RUN(TAR, "--create", "--file", "both", "copy.kept", "--directory=copy", "box", "shm");
    assert_int_equal(join("all.1", "both", "joined", &err), -EBADMSG);
    assert_non_null(
        strstr(err.text, "damaged archive: a file is both a member and in the list of kept files"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_comes_of_both_is_what_all_of_it_would_be, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(what_is_kept_but_not_there_is_said, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(without_an_index_all_has_changed, make_place, remove_place),
        cmocka_unit_test_setup_teardown(what_is_no_archive_of_changes_is_refused, make_place,
                                        remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
