/* tests/unit/shadow/test_shadow_ckpt_room.c - what a stranger's checkpoint may take of our disk.
 *
 * With the real roost-ckpt, from beside this program,.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/shadow_bed.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/os/os_figures.h"
#include "tests/support/fast_dir.h"

#define MEGABYTE ((size_t)1 << 20)

struct file { /* of a checkpoint */
    const char *name, *stored_attr, *plain_attr, *sum_attr;
    int64_t plain; /* as its manifest says */
    char *bytes;
    size_t count;
};

static struct file image_of(const char *text)
{
    return (struct file){"image",         "CkptImageStored",     "CkptImageSize",
                         "ImageChecksum", (int64_t)strlen(text), mem_strdup(text),
                         strlen(text)};
}

static void forget(struct file files[2])
{
    mem_free(files[0].bytes);
    mem_free(files[1].bytes);
}

/* Beside the directory of this one. */
static void program_path(char ret[512])
{
    char self[400];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    (void)snprintf(ret, 512, "%s/../../bin/roost-ckpt", self);
}

static void restart_with(struct world *world, const char *more)
{
    char text[1024], program[512];
    program_path(program);
    (void)snprintf(text, sizeof text,
                   "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nSPOOL = \"%s\"\nUID_DOMAIN = \"pool\"\n"
                   "CKPT_PROGRAM = \"%s\"\n%s\n",
                   world->dir, world->dir, world->dir, program, more);
    put(world, "roost.conf", text);
    restart(world);
}

/* A piece of a file that says to be so large. */
static void put_piece(struct world *world, const struct starter *starter, int64_t sequence,
                      const struct file *file, size_t from, size_t count, int64_t size,
                      struct answer *answer)
{
    struct ad *args = ad_create();
    bool changed = strcmp(file->name, "changes") == 0 || strcmp(file->name, "delta") == 0;
    ad_set_int(args, "CkptSequence", sequence);
    ad_set_string(args, "Name", file->name);
    ad_set_int(args, "Offset", (int64_t)from);
    ad_set_int(args, "Size", size);
    if (changed) {
        ad_set_int(args, "CkptBase", sequence - 1);
    }
    const struct wire_body body = {.args = args, .blob = file->bytes + from, .blob_length = count};
    assert_true(answer_ask(answer, starter->wire, NULL, VERB_CKPT_PUT, &body) > 0);
    wait_for(world, &answer->over);
    ad_destroy(args);
}

static int send_file(struct world *world, const struct starter *starter, int64_t sequence,
                     const struct file *file)
{
    struct answer answer;
    int status = 0;
    for (size_t at = 0; status == 0 && at < file->count;) {
        size_t count = file->count - at < MEGABYTE ? file->count - at : MEGABYTE;
        put_piece(world, starter, sequence, file, at, count, (int64_t)file->count, &answer);
        status = answer.status;
        answer_fini(&answer);
        at += count;
    }
    return status;
}

/* Sends both, and says that they are there; why not, into `why`. */
static int take(struct world *world, const struct starter *starter, int64_t sequence,
                const struct file files[2], char why[ERR_TEXT_MAX])
{
    struct answer answer;
    struct strbuf args;
    bool changed = false;
    strbuf_init(&args, 0);
    strbuf_printf(&args, "[CkptSequence = %lld", (long long)sequence);
    for (size_t i = 0; i < 2; i++) {
        char sum[DIGEST_HEX_SIZE];
        assert_int_equal(send_file(world, starter, sequence, &files[i]), 0);
        hash(files[i].bytes, files[i].count, sum);
        strbuf_printf(&args, "; %s = %zu; %s = %lld; %s = \"%s\"", files[i].stored_attr,
                      files[i].count, files[i].plain_attr, (long long)files[i].plain,
                      files[i].sum_attr, sum);
        changed = changed || strcmp(files[i].name, "changes") == 0;
    }
    if (changed) {
        strbuf_printf(&args, "; CkptBase = %lld", (long long)sequence - 1);
    }
    strbuf_putc(&args, ']');
    begin(starter->wire, VERB_CKPT_DONE, strbuf_text(&args), NULL, NULL, &answer);
    wait_for(world, &answer.over);
    int status = answer.status;
    (void)snprintf(why, ERR_TEXT_MAX, "%s", answer.text);
    answer_fini(&answer);
    strbuf_fini(&args);
    return status;
}

static void is_latest(struct world *world, const struct starter *starter, int64_t sequence)
{
    struct answer answer;
    begin(starter->wire, VERB_CKPT_LOOK, "[]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_true(answer.ads.count > 0);
    assert_int_equal(ad_int_or(answer.ads.items[0], "CkptSequence", 0), sequence);
    answer_fini(&answer);
}

static void begin_run(struct world *world, struct starter *starter)
{
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, starter);
}

/* Made in a directory of the world's by that script: what it leaves there as `made`. */
static struct file made_by(struct world *world, const char *script, const char *name,
                           const char *sum_attr)
{
    struct file file = {name, "CkptFilesStored", "CkptFilesSize", sum_attr, 0, NULL, 0};
    char path[160];
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)(chdir(world->dir) == 0 && execl("/bin/sh", "sh", "-ec", script, (char *)NULL) == 0);
        _exit(127);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)snprintf(path, sizeof path, "%s/made", world->dir);
    assert_int_equal(os_read_file(world->os, path, 64 * MEGABYTE, &file.bytes, &file.count, NULL),
                     0);
    file.plain = (int64_t)file.count;
    return file;
}

static void pack(struct world *world, struct file *file)
{
    char script[700], program[512];
    program_path(program);
    (void)snprintf(script, sizeof script, "%s pack made", program);
    struct file packed = made_by(world, script, file->name, file->sum_attr);
    mem_free(file->bytes);
    file->bytes = packed.bytes;
    file->count = packed.count;
}

static struct file archive(struct world *world)
{
    return made_by(world, "mkdir -p box; seq 5000 >box/a; tar --format=posix -cf made box", "files",
                   "FilesChecksum");
}

/* Of box/a nothing has changed; something comes that is so many megabytes, all alike. */
static struct file changes(struct world *world, int megabytes)
{
    char script[300];
    (void)snprintf(script, sizeof script,
                   "printf 'box/a\\0' >list; rm -f new\n"
                   "[ %d = 0 ] || head -c %dM /dev/zero | tr '\\0' A >new; touch new\n"
                   "tar --format=posix --transform='s,^list$,x.kept,' -cf made list new; rm new",
                   megabytes, megabytes);
    struct file file = made_by(world, script, "changes", "ChangesChecksum");
    pack(world, &file);
    return file;
}

static void what_is_more_than_it_says_is_not_unpacked(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char why[ERR_TEXT_MAX];
    restart_with(world, "");
    begin_run(world, &starter);
    struct file first[] = {image_of("one"), archive(world)};
    struct file honest[] = {image_of("two"), changes(world, 40)};
    assert_int_equal(take(world, &starter, 1, first, why), 0);
    honest[1].plain = 10000; /* it is a bomb, that is */
    assert_true(honest[1].count < 64 * 1024);
    assert_int_equal(take(world, &starter, 2, honest, why), -ENODATA);
    assert_non_null(strstr(why, "changes: unpacked, the file has 4195"));
    assert_non_null(strstr(why, " bytes, more than "));
    assert_non_null(strstr(why, "send the whole checkpoint again"));
    is_latest(world, &starter, 1);
    honest[1].plain = 40 << 20; /* as it is */
    assert_int_equal(take(world, &starter, 2, honest, why), 0);
    is_latest(world, &starter, 2);
    forget(first);
    forget(honest);
    wire_close(starter.wire);
}

static void what_says_to_be_more_than_there_is_room_for_is_not_unpacked(void **state)
{
    static const int64_t SIZES[] = {INT64_MAX, INT64_C(1) << 60, INT64_C(1) << 50};
    struct world *world = *state;
    struct starter starter;
    char why[ERR_TEXT_MAX];
    restart_with(world, "");
    begin_run(world, &starter);
    struct file first[] = {image_of("one"), archive(world)};
    struct file second[] = {image_of("two"), changes(world, 0)};
    assert_int_equal(take(world, &starter, 1, first, why), 0);
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        second[1].plain = SIZES[i];
        assert_int_equal(take(world, &starter, 2, second, why), -ENODATA); /* not -ENOSPC */
        assert_non_null(strstr(why, "SPOOL_RESERVE"));
        is_latest(world, &starter, 1);
    }
    second[1].plain = -5;
    assert_int_equal(take(world, &starter, 2, second, why), 0);
    forget(first);
    forget(second);
    wire_close(starter.wire);
}

/* Before it was packed, and a file of nothing but As is small then; now it is not. */
static void what_is_made_whole_is_in_the_quota_too(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char why[ERR_TEXT_MAX];
    restart_with(world, "CHECKPOINT_QUOTA_PER_OWNER = \"2 MiB\"");
    begin_run(world, &starter);
    struct file first[] = {image_of("one"),
                           made_by(world,
                                   "mkdir -p box; head -c 5M /dev/zero | tr '\\0' A >box/a\n"
                                   "tar --format=posix -cf made box",
                                   "files", "FilesChecksum")};
    pack(world, &first[1]);
    struct file second[] = {
        image_of("two"), made_by(world,
                                 "printf 'box/a\\0' >list\n"
                                 "tar --format=posix --transform='s,^list$,x.kept,' -cf made list",
                                 "changes", "ChangesChecksum")};
    assert_int_equal(take(world, &starter, 1, first, why), 0);
    assert_int_equal(take(world, &starter, 2, second, why), -EDQUOT);
    assert_non_null(strstr(why, "CHECKPOINT_QUOTA_PER_OWNER"));
    is_latest(world, &starter, 1);
    pack(world, &second[1]);
    assert_int_equal(take(world, &starter, 2, second, why), 0);
    forget(first);
    forget(second);
    wire_close(starter.wire);
}

static void who_says_less_than_he_sends_gets_little_more(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    int status = 0;
    size_t sent = 0;
    restart_with(world, "CHECKPOINT_QUOTA_PER_OWNER = \"2 MiB\"");
    begin_run(world, &starter);
    struct file image = {.name = "image", .bytes = mem_zalloc(20 * MEGABYTE)};
    memset(image.bytes, 'A', 20 * MEGABYTE);
    while (status == 0 && sent < 20 * MEGABYTE) {
        put_piece(world, &starter, 1, &image, sent, MEGABYTE, (int64_t)(sent + MEGABYTE), &answer);
        status = answer.status;
        sent += MEGABYTE;
        answer_fini(&answer);
    }
    assert_int_equal(status, -EDQUOT);
    assert_true(sent <= 17 * MEGABYTE);
    mem_free(image.bytes);
    wire_close(starter.wire);
}

/* Of two file systems the one that has less: what it lacks counts there, and only there. */
static void the_disk_that_is_looked_at_is_the_one_they_are_kept_on(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    struct stat here, there;
    char other[FAST_DIR_SIZE], more[256];
    assert_true(fast_dir_make(other));
    assert_true(stat(world->dir, &here) == 0 && stat(other, &there) == 0);
    int64_t ours = os_disk_free_kib(world->os, world->dir);
    int64_t others = os_disk_free_kib(world->os, other);
    if (here.st_dev == there.st_dev || llabs(ours - others) < (int64_t)MEGABYTE) {
        (void)rmdir(other);
        skip(); /* there is one file system, or two of the same size */
    }
    const char *const directories[] = {other, world->dir};
    for (size_t i = 0; i < 2; i++) { /* there, and here by way of a directory that is named */
        (void)snprintf(more, sizeof more,
                       "SPOOL_RESERVE = \"%lld KiB\"\nCHECKPOINT_DESTINATION = \"%s\"",
                       (long long)(ours + others) / 2, directories[i]);
        restart_with(world, more);
        begin_run(world, &starter);
        struct file image = image_of("one");
        put_piece(world, &starter, 1, &image, 0, 3, 3, &answer);
        bool has_room = i == 0 ? others > ours : ours > others;
        assert_int_equal(answer.status, has_room ? 0 : -ENOSPC);
        assert_true(has_room || strstr(answer.text, world->dir) != NULL);
        answer_fini(&answer);
        assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[Checkpoints = \"1.0\"]", NULL,
                              NULL),
                         0);
        mem_free(image.bytes);
        wire_close(starter.wire);
    }
    (void)os_remove_tree(world->os, other, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_more_than_it_says_is_not_unpacked),
        CASE(what_says_to_be_more_than_there_is_room_for_is_not_unpacked),
        CASE(what_is_made_whole_is_in_the_quota_too),
        CASE(who_says_less_than_he_sends_gets_little_more),
        CASE(the_disk_that_is_looked_at_is_the_one_they_are_kept_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
