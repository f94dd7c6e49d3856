/* tests/unit/ckpt/test_command_merge.c - what is made whole is no more than was allowed.
 *
 * The commands themselves, in a process of their own each time, and bombs: a few kilobytes of which
 * zstd makes a gigabyte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "ckpt/command/command_linux.h"
#include "tests/support/fast_dir.h"

#define MEGABYTE ((size_t)1 << 20)
#define DISK_MAX (64 * MEGABYTE) /* a bomb that goes off ends the process, and fails the test */

struct place {
    char folder[FAST_DIR_SIZE], said[FAST_DIR_SIZE + 16], text[2048];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_true(fast_dir_make(place->folder));
    assert_int_equal(chdir(place->folder), 0);
    (void)snprintf(place->said, sizeof place->said, "%s/said", place->folder);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    static const char *const NAMES[] = {"said", "box",  "whole",  "list",   "image",
                                        "bomb", "long", "before", "changes"};
    struct place *place = *state;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        (void)unlink(NAMES[i]);
    }
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(place->folder), 0); /* nothing else was left */
    free(place);
    return 0;
}

/* Its exit status; what it said is in place->text.  Words are parted by spaces. */
static int run(struct place *place, const char *words)
{
    char text[256], *argv[16] = {NULL}, *at = text;
    int status = -1, argc = 0;
    (void)snprintf(text, sizeof text, "roost-ckpt %s", words);
    while (at != NULL && argc < 15) {
        char *end = strchr(at, ' ');
        argv[argc++] = at;
        at = end != NULL ? end + 1 : NULL;
        if (end != NULL) {
            *end = '\0';
        }
    }
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit most = {DISK_MAX, DISK_MAX};
        int fd = open(place->said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        bool ready = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0 &&
                     setrlimit(RLIMIT_FSIZE, &most) == 0;
        exit(!ready                         ? 99
             : strcmp(argv[1], "join") == 0 ? ckpt_join_command(argc, argv)
                                            : ckpt_merge_command(argc, argv));
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    FILE *file = fopen(place->said, "re");
    assert_non_null(file);
    place->text[fread(place->text, 1, sizeof place->text - 1, file)] = '\0';
    (void)fclose(file);
    return WEXITSTATUS(status);
}

/* One frame of so many bytes that are all alike, which says that it is `said`. */
static void put_bomb(const char *name, size_t bytes, size_t said)
{
    FILE *file = fopen(name, "we");
    char *plain = malloc(MEGABYTE), *packed = malloc(MEGABYTE);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setPledgedSrcSize(context, bytes);
    size_t left = bytes;
    assert_non_null(file);
    for (bool over = false; !over;) {
        size_t count = left < MEGABYTE ? left : MEGABYTE;
        memset(plain, 'A', count);
        left -= count;
        ZSTD_inBuffer in = {plain, count, 0};
        while (in.pos < in.size || (left == 0 && !over)) {
            ZSTD_outBuffer out = {packed, MEGABYTE, 0};
            size_t more =
                ZSTD_compressStream2(context, &out, &in, left == 0 ? ZSTD_e_end : ZSTD_e_continue);
            assert_false(ZSTD_isError(more));
            assert_int_equal(fwrite(packed, 1, out.pos, file), out.pos);
            over = left == 0 && more == 0;
        }
    }
    if (said != bytes) { /* in the header: behind mark and descriptor, of four bytes */
        uint32_t word = (uint32_t)said;
        assert_int_equal(fseek(file, 6, SEEK_SET), 0);
        assert_int_equal(fwrite(&word, 1, sizeof word, file), sizeof word);
    }
    assert_int_equal(fclose(file), 0);
    (void)ZSTD_freeCCtx(context);
    free(plain);
    free(packed);
}

static void sh(const char *text)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl("/bin/sh", "sh", "-ec", text, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Of archives: one of before with a file of 100 kB, of which all is kept, and a small one comes. */
static void put_archives(void)
{
    sh("head -c 100000 /dev/zero >box; tar --format=posix -cf before box; rm box\n"
       "printf 'box\\0' >list; tar --format=posix -cf changes --transform='s,list,x.kept,' list");
}

static void what_comes_of_archives_is_no_more_than_was_allowed(void **state)
{
    struct place *place = *state;
    struct stat whole;
    char words[128];
    put_archives();
    assert_int_equal(run(place, "join before changes whole"), 0);
    assert_int_equal(stat("whole", &whole), 0);
    (void)snprintf(words, sizeof words, "join --max %lld before changes whole",
                   (long long)whole.st_size);
    assert_int_equal(run(place, words), 0);
    assert_int_equal(unlink("whole"), 0);
    (void)snprintf(words, sizeof words, "join --pack --max %lld before changes whole",
                   (long long)whole.st_size - 1);
    assert_int_equal(run(place, words), 1);
    assert_non_null(
        strstr(place->text, "roost-ckpt: whole.plain: the result would be larger than "));
    assert_int_equal(access("whole", F_OK), -1);
}

static void a_bomb_is_refused_before_it_goes_off(void **state)
{
    struct place *place = *state;
    static const char *const WORDS[] = {"join --max 1000000 before bomb whole",
                                        "join --pack --max 1000000 bomb changes whole",
                                        "merge --max 1000000 before bomb whole",
                                        "merge --max 1000000 --pack bomb before whole"};
    put_archives();
    put_bomb("bomb", 1024 * MEGABYTE, 1024 * MEGABYTE);
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        assert_int_equal(run(place, WORDS[i]), 1);
        assert_string_equal(place->text, "roost-ckpt: bomb: unpacked, the file has 1073741824 "
                                         "bytes, more than the limit of 1000000\n");
    }
}

/* The room for it was looked at by what it said. */
static void one_that_says_that_it_is_small_is_believed_no_further(void **state)
{
    struct place *place = *state;
    put_archives();
    put_bomb("bomb", 1024 * MEGABYTE, 8 * MEGABYTE);
    assert_int_equal(run(place, "join before bomb whole"), 1);
    assert_string_equal(place->text,
                        "roost-ckpt: bomb: unpacked, the file is larger than 8388608 bytes\n");
}

/* Each of them is allowed, both are not. */
static void all_that_is_unpacked_counts_together(void **state)
{
    struct place *place = *state;
    put_bomb("bomb", 3 * MEGABYTE, 3 * MEGABYTE);
    assert_int_equal(run(place, "merge --max 5000000 bomb bomb whole"), 1);
    assert_string_equal(
        place->text,
        "roost-ckpt: bomb: unpacked, the file has 3145728 bytes, more than the limit of 1854272\n");
}

/* They are all in memory, and take none of the disk. */
static void a_list_of_too_many_names_is_refused(void **state)
{
    struct place *place = *state;
    put_archives();
    sh("yes a | head -n 1000001 | tr '\\n' '\\0' >list\n"
       "tar --format=posix -cf changes --transform='s,list,x.kept,' list");
    assert_int_equal(run(place, "join before changes whole"), 1);
    assert_string_equal(
        place->text,
        "roost-ckpt: changes: the list of kept files has 1000001 names; the limit is 1000000\n");
    sh("head -c 67108865 /dev/zero >list\n"
       "tar --format=posix -cf changes --transform='s,list,x.kept,' list");
    assert_int_equal(run(place, "join before changes whole"), 1);
    assert_string_equal(
        place->text,
        "roost-ckpt: changes: the list of kept files has 67108865 bytes; the limit is 67108864\n");
}

static void wrong_words_are_refused(void **state)
{
    struct place *place = *state;
    static const char *const WORDS[] = {
        "join --max -1 a b c", "join --max 1k a b c",
        "join --max  a b c",   "join --max 99999999999999999999 a b c",
        "join --some a b c",   "join a b",
        "merge --max",         "merge a"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        assert_int_equal(run(place, WORDS[i]), 2);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_comes_of_archives_is_no_more_than_was_allowed),
        CASE(a_bomb_is_refused_before_it_goes_off),
        CASE(one_that_says_that_it_is_small_is_believed_no_further),
        CASE(all_that_is_unpacked_counts_together),
        CASE(a_list_of_too_many_names_is_refused),
        CASE(wrong_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
