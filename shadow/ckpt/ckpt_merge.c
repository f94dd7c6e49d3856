/* shadow/ckpt/ckpt_merge.c - makes a whole checkpoint of one that arrived as changes.
 *
 * `roost-ckpt merge` merges the image before with the changes, `roost-ckpt join` does the same with
 * archives.  Both run as a process of their own, because they read files that cannot be trusted.
 * They check all checksums, and whether the two files belong together.  What is kept is always
 * whole; the image before stays unchanged until the new one is durable and the schedd knows it.  A
 * few kilobytes of changes may unpack to more than the disk has, so --max bounds them
 * (ckpt_room_plan.h).
 *
 * A merge that a killed shadow has left behind writes to another file name than the next merge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file_digest.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "classad/ad.h"
#include "classad/ad_parse.h"
#include "shadow/path_join.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/checkpoint_attrs.h"

#define WAIT_MS    ((unsigned)10 * 60 * 1000)
#define SAID       "said" /* file with the output of roost-ckpt */
#define SAID_BYTES ((size_t)64 << 10)

static bool is_packed(struct os *os, const char *directory, const char *name)
{
    static const unsigned char ZSTD[] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char bytes[sizeof ZSTD];
    struct os_file *file = NULL;
    bool packed = os_below_open(os, directory, name, OS_READ, 0, &file, NULL) == 0 &&
                  os_file_read(file, 0, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
                  memcmp(bytes, ZSTD, sizeof bytes) == 0;
    os_file_close(file);
    return packed;
}

static char *read_said(struct os *os, const char *part)
{
    char *path = path_join(part, SAID), *text = NULL;
    size_t length = 0;
    if (os_read_file(os, path, SAID_BYTES, &text, &length, NULL) != 0) {
        text = mem_strdup("");
    }
    mem_free(path);
    return text;
}

/* How images, or archives of files, are merged: the command, the file names, and the attributes of
 * the manifest. */
struct making {
    const char *command, *base, *changed, *whole;
    const char *plain_attr, *stored_attr, *sum_attr;
};

static const struct making IMAGE = {"merge",         CKPT_NAME_IMAGE,  CKPT_NAME_DELTA,
                                    CKPT_NAME_IMAGE, CKPT_IMAGE_BYTES, CKPT_IMAGE_STORED,
                                    CKPT_IMAGE_SUM};
static const struct making FILES = {"join",          CKPT_NAME_FILES,  CKPT_NAME_CHANGES,
                                    CKPT_NAME_FILES, CKPT_FILES_BYTES, CKPT_FILES_STORED,
                                    CKPT_FILES_SUM};

static int run_program(struct work *work, const struct making *making, const char *part,
                       const char *base, int64_t max, const char *out)
{
    static const char *const ENVIRONMENT[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C",
                                              NULL};
    struct shadow *shadow = work->run->shadow;
    char *paths[] = {path_join(base, making->base), path_join(part, making->changed),
                     path_join(part, out), path_join(part, SAID)};
    char most[24];
    const char *argv[9] = {shadow->ckpt.program, making->command, "--max", most};
    size_t count = 4;
    struct os_exit how = {.status = 0};
    (void)snprintf(most, sizeof most, "%" PRId64, max);
    if (is_packed(shadow->os, part, making->changed)) {
        argv[count++] = "--pack";
    }
    for (size_t i = 0; i < 3; i++) {
        argv[count++] = paths[i];
    }
    const struct os_spawn spec = {.argv = argv,
                                  .env = ENVIRONMENT,
                                  .stdout_path = paths[3],
                                  .stderr_path = paths[3],
                                  .truncate_output = true,
                                  .new_session = true,
                                  .no_new_privs = true};
    int rc = os_run(shadow->os, &spec, WAIT_MS, &how, &work->err);
    if (rc == 0 && (how.signal != 0 || how.status != 0)) {
        char *said = read_said(shadow->os, part);
        said[strcspn(said, "\n")] = '\0';
        if (said[0] != '\0') {
            rc = err_set(&work->err, -EIO, "%s", said);
        } else if (how.signal != 0) {
            rc = err_set(&work->err, -EIO,
                         "signal %d ended roost-ckpt while it merged the checkpoint", how.signal);
        } else {
            rc = err_set(&work->err, -EIO,
                         "roost-ckpt did not merge the checkpoint: exit status %d, no message",
                         how.status);
        }
        mem_free(said);
    }
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        mem_free(paths[i]);
    }
    return rc;
}

/* Writes to the manifest the sizes that roost-ckpt reports, and the size and checksum of the file
 * that it made. */
static int note_result(struct work *work, const struct making *making, const char *part,
                       struct ad *manifest)
{
    struct os *os = work->run->shadow->os;
    char *text = read_said(os, part), hex[DIGEST_HEX_SIZE] = "";
    struct ad *said = NULL;
    struct os_stat stat = {.size_bytes = 0};
    int rc = ad_parse_long(text, strlen(text), &said, &work->err);
    rc = rc != 0 ? rc : file_digest_below(os, part, making->whole, hex, &work->err);
    if (rc == 0) {
        rc = os_below_stat(os, part, making->whole, &stat);
        rc = rc == 0
                 ? 0
                 : err_set(&work->err, rc, "cannot look at the merged file '%s'", making->whole);
    }
    if (rc == 0) {
        ad_set_int(manifest, making->plain_attr,
                   ad_int_or(said, making->plain_attr, stat.size_bytes));
        ad_set_int(manifest, making->stored_attr, stat.size_bytes);
        ad_set_string(manifest, making->sum_attr, hex);
    }
    ad_destroy(said);
    mem_free(text);
    return rc;
}

static int make_whole(struct work *work, const struct making *making, const char *part,
                      const char *base, int64_t max, struct ad *manifest)
{
    struct os *os = work->run->shadow->os;
    char out[64];
    (void)snprintf(out, sizeof out, "merged.%d", (int)os_pid(os));
    int rc = run_program(work, making, part, base, max, out);
    rc = rc != 0 ? rc : os_below_rename(os, part, out, part, making->whole, &work->err);
    rc = rc != 0 ? rc : note_result(work, making, part, manifest);
    if (rc != 0) {
        char why[ERR_TEXT_MAX];
        (void)snprintf(why, sizeof why, "%s", work->err.text);
        return err_set(&work->err, -ENODATA, "%.400s: send the whole checkpoint again", why);
    }
    return 0;
}

int checkpoint_merge(struct work *work, const char *part, const char *base, int64_t max,
                     struct ad *manifest)
{
    return make_whole(work, &IMAGE, part, base, max, manifest);
}

int checkpoint_join(struct work *work, const char *part, const char *base, int64_t max,
                    struct ad *manifest)
{
    return make_whole(work, &FILES, part, base, max, manifest);
}

struct tidying {
    struct os *os;
    const char *part;
};

static void tidy_file(void *arg, const char *name)
{
    static const char *const KEPT[] = {CKPT_NAME_IMAGE, CKPT_NAME_FILES, CKPT_NAME_MANIFEST};
    const struct tidying *tidying = arg;
    for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++) {
        if (strcmp(name, KEPT[i]) == 0) {
            return;
        }
    }
    (void)os_below_remove(tidying->os, tidying->part, name, NULL); /* goes with the rest */
}

void checkpoint_merge_tidy(struct work *work, const char *part)
{
    struct tidying tidying = {work->run->shadow->os, part};
    (void)os_below_list(tidying.os, part, "", tidy_file, &tidying, NULL); /* the same */
}
