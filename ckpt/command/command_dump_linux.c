/* ckpt/command/command_dump_linux.c - roost-ckpt dump: one image.
 *
 * With --through it is made by the follower of the job, if there is one (follow_socket_linux.h): of
 * what changed since the image --base, if that is the last one that the follower made.
 *
 * With --pack what was made is packed when the job runs on already, and the attributes say how
 * large it was.  An image that is whole but cannot be packed stays as it is: it is what counts.
 *
 * With --mirror FOLDER --of NAME... there is a copy of these directories (mirror_linux.h), brought
 * up to date before and while the job stands still, and COMMAND is run when it runs on.  --known
 * FILE: what is known of the copy then is kept under that name, too; --since FILE, of a dump
 * before: what has not changed since is in lists (kept_linux.h) when COMMAND is run, --as being
 * what each directory is called in archives, and --without PATH
 * what COMMAND leaves out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "ckpt/command/command_linux.h"
#include "ckpt/dump/dump_linux.h"
#include "ckpt/follow/follow_socket_linux.h"
#include "ckpt/files/kept_linux.h"
#include "ckpt/files/mirror_linux.h"
#include "ckpt/image/pack_linux.h"

#define FAILED    1
#define USAGE     2
#define NOT_FOUND 127

#define MIRRORED_MAX 64
#define PASSES_MAX   3 /* while the job runs; until the last has found less than: */
#define PASS_BYTES   ((uint64_t)16 << 20)

struct dump_words {
    pid_t pid, job;
    unsigned kept;
    const char *image, *through, *with;
    char **command; /* while it stands still, or, with a mirror, afterwards; NULL: none */
    const char *mirror, *mirrored[MIRRORED_MAX], *known, *since;
    struct kept_name as[MIRRORED_MAX];
    const char *without[MIRRORED_MAX];
    size_t as_count, without_count;
    size_t mirrored_count;
    struct mirror *files; /* open */
    uint64_t base_id;
    bool attributes, pack, sync;
    struct dump_options options;
};

static int print_failure(const struct err *err)
{
    (void)fprintf(stderr, "roost-ckpt: %s\n", err->text);
    return FAILED;
}

/* Runs the caller's command, which saves what must be of the same moment as the image. */
static int run_command(char **argv, struct err *err)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execvp(argv[0], argv);
        (void)fprintf(stderr, "roost-ckpt: %s: %s\n", argv[0], err_code_text(-errno));
        _exit(NOT_FOUND);
    }
    if (pid < 0) {
        return err_set(err, -errno, "%s: %s", argv[0], err_code_text(-errno));
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return err_set(err, -errno, "%s: %s", argv[0], err_code_text(-errno));
        }
    }
    return status == 0 ? 0
                       : err_set(err, -ECANCELED, "%s %s %d", argv[0],
                                 WIFSIGNALED(status) ? "died of signal" : "exited with",
                                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Writes all that the job has written or mapped to its file systems, as far as these can be asked
 * to.  A file system served by a program of ours waits for its own data at the second call. */
static int sync_files(pid_t pid, struct err *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || syncfs(fd) != 0 || fsync(fd) != 0 ? -errno : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc != 0 ? err_set(err, rc, "cannot write the job's files to disk: %s", err_code_text(rc))
                   : 0;
}

static int while_still(void *arg, struct err *err)
{
    const struct dump_words *words = arg;
    int rc = words->sync ? sync_files(words->job, err) : 0;
    if (rc == 0 && words->files != NULL) {
        return mirror_update(words->files, words->job, ckpt_keeper(words->job), true, err);
    }
    return rc == 0 && words->command != NULL ? run_command(words->command, err) : rc;
}

/* ---- words */

static bool id_of(const char *text, uint64_t *ret)
{
    char *end = NULL;
    *ret = strtoull(text, &end, 16);
    return end != text && *end == '\0';
}

static bool read_words(int argc, char **argv, struct dump_words *ret)
{
    bool right = argc >= 4;
    for (int i = 4; right && i < argc && ret->command == NULL; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(word, "--kill") == 0) {
            ret->options.kill = true;
        } else if (strcmp(word, "--kept") == 0) {
            ret->kept++;
        } else if (strcmp(word, "--sync") == 0) {
            ret->sync = true;
        } else if (strcmp(word, "--attributes") == 0) {
            ret->attributes = true;
        } else if (strcmp(word, "--pack") == 0) {
            ret->pack = true;
        } else if (strcmp(word, "--leave-running") == 0) {
            ret->options.kill = false;
        } else if (value == NULL) {
            right = false;
        } else if (strcmp(word, "--") == 0) {
            ret->command = argv + i + 1;
        } else if (strcmp(word, "--through") == 0) {
            ret->through = argv[++i];
        } else if (strcmp(word, "--with") == 0) {
            ret->with = argv[++i];
        } else if (strcmp(word, "--mirror") == 0) {
            ret->mirror = argv[++i];
        } else if (strcmp(word, "--of") == 0) {
            right = ret->mirrored_count < MIRRORED_MAX;
            ret->mirrored[right ? ret->mirrored_count++ : 0] = argv[++i];
        } else if (strcmp(word, "--as") == 0) {
            right = value[0] == '/' && ret->mirrored_count > ret->as_count;
            ret->as_count = right ? ret->mirrored_count : 0;
            ret->as[right ? ret->as_count - 1 : 0] =
                (struct kept_name){ret->mirrored[ret->mirrored_count - 1], argv[++i]};
        } else if (strcmp(word, "--without") == 0) {
            right = ret->without_count < MIRRORED_MAX;
            ret->without[right ? ret->without_count++ : 0] = argv[++i];
        } else if (strcmp(word, "--known") == 0) {
            ret->known = argv[++i];
        } else if (strcmp(word, "--since") == 0) {
            ret->since = argv[++i];
        } else {
            right = strcmp(word, "--base") == 0 && id_of(argv[++i], &ret->base_id);
        }
    }
    return right;
}

/* ---- the image */

/* Lets the follower make the image.  -ECONNREFUSED: there is no follower. */
static int dump_by_follower(const struct dump_words *words, struct dump_result *ret,
                            struct err *err)
{
    struct follow_order order = {.kill = words->options.kill, .base_id = words->base_id};
    const char *slash = strrchr(words->image, '/');
    const char *name = slash != NULL ? slash + 1 : words->image;
    if (words->through == NULL || strlen(name) >= sizeof order.name) {
        return -ECONNREFUSED;
    }
    memcpy(order.name, name, strlen(name) + 1);
    return follow_ask(words->through, &order, &words->options, ret, err);
}

static int dump_once(const struct dump_words *words, struct dump_result *ret, struct err *err)
{
    int rc = dump_by_follower(words, ret, err);
    if (rc != -ECONNREFUSED) {
        return rc;
    }
    return ckpt_dump(words->job, words->image, &words->options, ret, err);
}

/* Copies what can be copied while the job runs. */
static int begin_mirror(struct dump_words *words, struct err *err)
{
    struct mirror_figures figures = {.copied_bytes = PASS_BYTES};
    int rc = words->mirror == NULL ? 0
                                   : mirror_open(words->mirror, words->mirrored,
                                                 words->mirrored_count, &words->files, err);
    for (int i = 0;
         rc == 0 && words->files != NULL && i < PASSES_MAX && figures.copied_bytes >= PASS_BYTES;
         i++) {
        rc = mirror_update(words->files, words->job, ckpt_keeper(words->job), false, err);
        mirror_figures(words->files, &figures);
    }
    return rc;
}

/* Notes what is known of the files, for the next mirror and for a list of what has changed. */
static int note_changes(const struct dump_words *words, struct err *err)
{
    char index[PATH_MAX];
    const struct kept_names names = {words->as, words->as_count, words->without,
                                     words->without_count};
    struct kept_figures kept = {.files = 0};
    int rc = 0;
    if (words->known != NULL) {
        (void)snprintf(index, sizeof index, "%s.index", words->mirror);
        (void)unlink(words->known); /* of a try before */
        /* Where there are no links all of it is sent again. */
        rc = link(index, words->known) != 0 && errno != EPERM && errno != EOPNOTSUPP ? -errno : 0;
        rc = rc != 0 ? err_set(err, rc, "%s: %s", words->known, err_code_text(rc)) : 0;
    }
    if (rc == 0 && words->since != NULL) {
        rc = kept_write(words->files, words->mirror, words->since, &names, &kept, err);
    }
    if (rc == 0 && words->since != NULL && words->attributes) {
        (void)printf("CkptFilesKept = %" PRIu64 "\nCkptBytesKept = %" PRIu64 "\n", kept.files,
                     kept.bytes);
    }
    return rc;
}

/* Finishes the mirror; the job runs again already. */
static int end_mirror(struct dump_words *words, int rc, struct err *err)
{
    struct mirror_figures figures;
    if (words->files == NULL) {
        return rc;
    }
    mirror_figures(words->files, &figures);
    rc = rc != 0 ? rc : mirror_save(words->files, err);
    rc = rc != 0 ? rc : note_changes(words, err);
    mirror_destroy(words->files);
    words->files = NULL;
    if (rc == 0 && words->attributes) {
        (void)printf("CkptFiles = %" PRIu64 "\nCkptFilesCopied = %" PRIu64
                     "\nCkptBytesCopied = %" PRIu64 "\n",
                     figures.files, figures.copied, figures.copied_bytes);
        (void)fflush(stdout);
    }
    return rc != 0 || words->command == NULL ? rc : run_command(words->command, err);
}

/* Adds the archive's size to the attributes, and compresses both files in place.  A failure is an
 * attribute, too: the image is complete. */
static void pack_both(const struct dump_words *words)
{
    struct err err = {.text = ""};
    struct stat stat;
    if (words->with != NULL && lstat(words->with, &stat) == 0) {
        (void)printf("CkptFilesSize = %lld\n", (long long)stat.st_size);
    }
    int rc = words->pack ? pack_file(words->image, words->image, NULL, &err) : 0;
    rc = rc == 0 && words->pack && words->with != NULL
             ? pack_file(words->with, words->with, NULL, &err)
             : rc;
    if (rc != 0) {
        for (char *at = err.text; *at != '\0'; at++) {
            *at = *at == '"' || *at == '\\' ? '\'' : *at;
        }
        (void)printf("CkptNotPacked = \"%s\"\n", err.text);
    }
}

int ckpt_dump_command(int argc, char **argv)
{
    struct dump_words words = {.options = {.kill = false}};
    struct dump_result result = {.image_bytes = 0};
    struct err err = {.text = ""};
    char *end = NULL;
    if (!read_words(argc, argv, &words)) {
        return USAGE;
    }
    long pid = strtol(argv[2], &end, 10);
    if (*end != '\0' || pid <= 0 || pid > INT32_MAX) {
        (void)fprintf(stderr, "roost-ckpt: '%s' is not a process number\n", argv[2]);
        return USAGE;
    }
    words.pid = (pid_t)pid;
    words.image = argv[3];
    words.job = ckpt_job_of(words.pid, words.kept);
    if (words.job <= 0) {
        (void)fprintf(stderr,
                      "roost-ckpt: process %ld runs no job; name a process of `roost-ckpt run` or "
                      "of a resumed image\n",
                      pid);
        return FAILED;
    }
    words.options.while_still = while_still;
    words.options.still_arg = &words;
    int rc = begin_mirror(&words, &err);
    rc = rc != 0 ? rc : dump_once(&words, &result, &err);
    if (end_mirror(&words, rc, &err) != 0) {
        return print_failure(&err);
    }
    if (!words.attributes) {
        (void)printf("%s: %" PRIu64 " bytes, %" PRIu64 " of memory; stopped for %.1f ms\n",
                     words.image, result.image_bytes, result.memory_bytes,
                     (double)result.frozen_ns / 1e6);
    } else {
        (void)printf("CkptStoodStill = %.4f\n", (double)result.frozen_ns / 1e9);
        if (ckpt_show_attributes(words.image, &err) != 0) {
            return print_failure(&err);
        }
    }
    if (words.attributes || words.pack) {
        pack_both(&words);
    }
    return 0;
}
