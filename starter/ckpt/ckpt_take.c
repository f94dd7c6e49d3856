/* starter/ckpt/ckpt_take.c - makes the files of a checkpoint by running roost-ckpt beside the job.
 *
 * `roost-ckpt dump` runs as the job's account.  Image and archive are of one moment.  The archive
 * contains what the job sees as its files (its sandbox, /tmp, /var/tmp, /dev/shm).  A copy of these
 * files is updated while the job stands still, and tar makes the archive from the copy when the job
 * runs again.  Without room for a copy, tar runs while the job stands still.
 *
 * `roost-ckpt follow`, the follower, stays beside the job from its start and records which of its
 * memory changes.  The dump asks it for the changes since the image that the shadow has, naming
 * that image's id.  If that is not the follower's last image (it was not kept, or the follower is
 * new), or if there is no follower, the image is whole.
 *
 * What these programs print and write comes from the job's account: every value is read by its
 * type, and at worst the job spoils its own checkpoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/ckpt/ckpt_take.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_parse.h"
#include "starter/job/cage.h"
#include "starter/ckpt/ckpt_program.h"
#include "starter/job_run.h"
#include "starter/files/own_file.h"
#include "starter/remote.h"
#include "starter/ckpt/resume.h"
#include "starter/starter.h"
#include "starter/job/watch.h"
#include "wire/checkpoint_attrs.h"

#define REPORT_BYTES ((size_t)64 << 10)
#define FOLLOWS_MAX  3 /* followers in a run: one that ends again and again is left alone */

/* Seen from the run's directory: the names of sockets are short. */
#define CKPT_FOLLOW_SOCKET STARTER_CKPT_DIRECTORY "/follow"

static const char *const NAMES[] = {CKPT_NAME_IMAGE, CKPT_NAME_FILES};

/* What we have put into the sandbox for this run. */
static const char *const OF_THIS_RUN[] = {"sandbox/" STARTER_JOB_AD, "sandbox/" STARTER_MACHINE_AD,
                                          "sandbox/" REMOTE_FILES};

/* The report contains attributes, or the reason of a failure. */
char *ckpt_take_report(struct starter *starter)
{
    char *text = own_file_read(starter, starter->run.directory, STARTER_CKPT_DIRECTORY "/report",
                               REPORT_BYTES);
    return text != NULL ? text : mem_strdup("");
}

/* Finds the size of one of the checkpoint's files. */
static int look_at_file(struct starter *starter, size_t i, struct err *err)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    struct os_stat stat;
    int rc = os_below_stat(starter->env.os, starter->run.directory, ckpt->in_hand.files[i], &stat);
    if (rc != 0 || !stat.is_file) {
        return err_set(err, -EIO, "%s is missing", ckpt->in_hand.files[i]);
    }
    ckpt->in_hand.sizes[i] = (uint64_t)stat.size_bytes;
    return 0;
}

/* Reads the image's id, and the id of its base, which must be the image that the shadow has. */
static int take_ids(struct starter *starter, const struct ad *said, struct err *err)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    const char *base = ad_string_or(said, CKPT_BASE_ID, "");
    if (!ad_has(said, CKPT_IMAGE_ID) || !ad_has(said, CKPT_FEATURES)) { /* a full disk, perhaps */
        return err_set(err, -EIO, "roost-ckpt did not print all attributes of the image");
    }
    (void)snprintf(ckpt->in_hand.id, sizeof ckpt->in_hand.id, "%s",
                   ad_string_or(said, CKPT_IMAGE_ID, ""));
    ckpt->in_hand.is_delta = base[0] != '\0';
    if (ckpt->in_hand.is_delta && strcmp(base, ckpt->kept.id) != 0) {
        return err_set(err, -ENODATA,
                       "the image contains changes to an image that the shadow does not have");
    }
    return 0;
}

static void put_sizes(const struct starter *starter, const struct ad *said, struct ad *manifest)
{
    const struct starter_ckpt *ckpt = &starter->run.ckpt;
    int64_t stored[2] = {(int64_t)ckpt->in_hand.sizes[0], (int64_t)ckpt->in_hand.sizes[1]};
    ad_set_int(manifest, CKPT_IMAGE_STORED, stored[0]);
    ad_set_int(manifest, CKPT_FILES_STORED, stored[1]);
    ad_set_int(manifest, CKPT_IMAGE_BYTES, ad_int_or(said, CKPT_IMAGE_BYTES, stored[0]));
    ad_set_int(manifest, CKPT_FILES_BYTES, ad_int_or(said, CKPT_FILES_BYTES, stored[1]));
    ad_set_int(manifest, CKPT_SENT_BYTES, stored[0] + stored[1]);
    if (ckpt->in_hand.is_delta || ckpt->in_hand.is_changes) {
        ad_set_int(manifest, CKPT_BASE, ckpt->kept.sequence);
    }
}

int ckpt_take_manifest(struct starter *starter, const char *report, struct err *err)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    const struct ad *slot = job_run_slot(starter);
    struct ad *said = NULL, *manifest = ad_create();
    int rc = ad_parse_long(report, strlen(report), &said, err);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        rc = look_at_file(starter, i, err);
    }
    rc = rc != 0 ? rc : take_ids(starter, said, err);
    if (rc != 0) {
        ad_destroy(said);
        ad_destroy(manifest);
        return rc;
    }
    watch_report(starter, manifest);
    /* By type: it was written by a program of the job's account. */
    ad_set_int(manifest, CKPT_LAST_TIME,
               ad_int_or(said, CKPT_LAST_TIME, loop_wall_s(starter->env.loop)));
    ad_set_string(manifest, CKPT_PLATFORM, ad_string_or(said, CKPT_PLATFORM, ""));
    ad_set_string(manifest, CKPT_FEATURES, ad_string_or(said, CKPT_FEATURES, ""));
    ad_set_real(manifest, CKPT_STOOD_STILL, ad_real_or(said, CKPT_STOOD_STILL, 0));
    ad_set_int(manifest, CKPT_SEQUENCE, ckpt->in_hand.number);
    put_sizes(starter, said, manifest);
    ad_set_string(manifest, CKPT_ARCH, slot != NULL ? ad_string_or(slot, "Arch", "") : "");
    ad_set_string(manifest, CKPT_OPSYS, slot != NULL ? ad_string_or(slot, "OpSys", "") : "");
    ad_set_string(manifest, CKPT_SANDBOX, job_run_inside(starter));
    ad_set_int(manifest, CKPT_RUN_SECONDS, (int64_t)(ckpt->in_hand.run_ms / 1000));
    ad_destroy(said);
    ckpt->in_hand.manifest = manifest;
    return 0;
}

/* ---- the programs ---------------------------------------------------------------------------- */

static void add_transform(struct vec *words, const char *from, const char *to)
{
    struct strbuf word;
    strbuf_init(&word, 0);
    strbuf_printf(&word, "--transform=flags=rhS;s,^%s\\(/\\|$\\),%s\\1,", from, to + 1);
    vec_push(words, strbuf_take(&word));
    strbuf_fini(&word);
}

static void add_word(struct vec *words, const char *prefix, const char *text)
{
    struct strbuf word;
    strbuf_init(&word, 0);
    strbuf_printf(&word, "%s%s", prefix, text);
    vec_push(words, strbuf_take(&word));
    strbuf_fini(&word);
}

/* Excludes from the archive what was mounted at NAME/WAY, with all directories on the way there: we
 * made them, and another machine makes its own. */
static void exclude_way(struct vec *words, const char *name, const char *way)
{
    struct strbuf word;
    strbuf_init(&word, 0);
    strbuf_printf(&word, "--exclude=%s%.*s", name, (int)(1 + strcspn(way + 1, "/")), way);
    vec_push(words, strbuf_take(&word));
    strbuf_fini(&word);
}

/* Returns whether the archive is made from a copy of the job's files.  A job that ends with its
 * checkpoint stands still anyway, so one pass over its files is enough; but unchanged files need no
 * pass at all if there is a copy. */
static bool uses_copy(const struct starter *starter)
{
    const struct starter_ckpt *ckpt = &starter->run.ckpt;
    return ckpt->copies && (!ckpt->end.ends_run || ckpt->kept.has_sent);
}

/* Adds the command line of tar for the job's files, under the names by which the job sees them,
 * without what we put there. */
static void add_tar(struct starter *starter, const char *archive, struct vec *words)
{
    static const char *const FIRST[] = {"tar",      "--format=posix", "--numeric-owner",
                                        "--sparse", "--anchored",     "--no-wildcards"};
    const char *home = job_run_inside(starter), *from, *to, *point;
    for (size_t i = 0; i < sizeof FIRST / sizeof FIRST[0]; i++) {
        vec_push(words, mem_strdup(FIRST[i]));
    }
    for (size_t i = 0; i < ARRAY_COUNT(OF_THIS_RUN); i++) {
        add_word(words, "--exclude=", OF_THIS_RUN[i]);
    }
    add_transform(words, "sandbox", home);
    char *images = job_run_image_inside(starter, "");
    add_transform(words, STARTER_CKPT_DIRECTORY, images);
    mem_free(images);
    struct vec names = {0};
    if (starter->run.ckpt.in_hand.is_changes) { /* what is kept comes first: archive_linux.h */
        vec_push(words, mem_strdup("--exclude-from=" STARTER_CKPT_COPY ".unchanged"));
        vec_push(&names, mem_strdup(STARTER_CKPT_COPY ".kept"));
    }
    vec_push(&names, mem_strdup(STARTER_CKPT_DIRECTORY "/" STARTER_CKPT_INPUTS));
    if (starter->run.ckpt.in_hand.is_copied) {
        vec_push(&names, mem_strdup("--directory=" STARTER_CKPT_COPY)); /* of what follows */
    }
    vec_push(&names, mem_strdup("sandbox"));
    for (size_t i = 0; cage_scratch(starter, i, &from, &to); i++) {
        const char *name = from + strlen(starter->run.directory) + 1;
        size_t length = strlen(to);
        for (size_t k = 0; cage_mount_point(starter, k, &point); k++) {
            if (strncmp(point, to, length) == 0 && point[length] == '/') {
                exclude_way(words, name, point + length);
            }
        }
        add_transform(words, name, to);
        vec_push(&names, mem_strdup(name));
    }
    vec_push(words, mem_strdup("--create"));
    add_word(words, "--file=", archive);
    for (size_t i = 0; i < names.count; i++) {
        vec_push(words, names.items[i]);
    }
    vec_fini(&names, NULL);
}

static void add_mirrored(struct vec *words, const char *name, const char *as)
{
    vec_push(words, mem_strdup("--of"));
    vec_push(words, mem_strdup(name));
    vec_push(words, mem_strdup("--as"));
    vec_push(words, mem_strdup(as));
}

/* Adds the options that name the directories to be copied: tar packs the copy while the job
 * runs. */
static void add_mirror(const struct starter *starter, struct vec *words)
{
    const char *from, *to;
    vec_push(words, mem_strdup("--mirror"));
    vec_push(words, mem_strdup(STARTER_CKPT_COPY));
    add_mirrored(words, "sandbox", job_run_inside(starter));
    for (size_t i = 0; cage_scratch(starter, i, &from, &to); i++) {
        add_mirrored(words, from + strlen(starter->run.directory) + 1, to);
    }
    vec_push(words, mem_strdup("--known"));
    vec_push(words, mem_strdup(STARTER_CKPT_KNOWN));
    if (starter->run.ckpt.in_hand.is_changes) {
        vec_push(words, mem_strdup("--since"));
        vec_push(words, mem_strdup(STARTER_CKPT_SENT));
        for (size_t i = 0; i < ARRAY_COUNT(OF_THIS_RUN); i++) {
            vec_push(words, mem_strdup("--without"));
            vec_push(words, mem_strdup(OF_THIS_RUN[i]));
        }
    }
}

/* Adds one --kept for each process between the one that we started and the job. */
static void add_kept(const struct starter *starter, struct vec *words)
{
    vec_push(words, mem_strdup("--kept"));
    if (job_run_is_remote(starter) && resume_is_ready(starter)) { /* the mount's, then its own */
        vec_push(words, mem_strdup("--kept"));
    }
}

/* Adds the command line of roost-ckpt. */
static void add_dump(struct starter *starter, const char *number, char *const paths[2],
                     struct vec *words)
{
    const struct starter_ckpt *ckpt = &starter->run.ckpt;
    const struct config *config = starter->env.config;
    const char *const first[] = {config_path(config, "CKPT_PROGRAM"),
                                 "dump",
                                 number,
                                 paths[0],
                                 "--attributes",
                                 ckpt->end.ends_run ? "--kill" : "--leave-running",
                                 "--with",
                                 paths[1]};
    const char *const through[] = {"--through", CKPT_FOLLOW_SOCKET, "--base", ckpt->kept.id};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        vec_push(words, mem_strdup(first[i]));
    }
    add_kept(starter, words);
    if (job_run_is_remote(starter)) {
        vec_push(words, mem_strdup("--sync"));
    }
    if (strcmp(config_string(config, "CHECKPOINT_COMPRESSION"), "none") != 0) {
        vec_push(words, mem_strdup("--pack"));
    }
    for (size_t i = 0; ckpt->follower > 0 && i < (ckpt->kept.id[0] != '\0' ? 4 : 2); i++) {
        vec_push(words, mem_strdup(through[i]));
    }
    if (ckpt->in_hand.is_copied) {
        add_mirror(starter, words);
    }
    vec_push(words, mem_strdup("--"));
}

int ckpt_take_spawn(struct starter *starter, os_exit_f on_exit, struct err *err)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    char number[24], name[40], *paths[2], *report = job_run_image_path(starter, "report");
    struct vec words = {0};
    pid_t job = os_caged_pid(starter->env.os, starter->run.process.pid);
    (void)snprintf(number, sizeof number, "%d", (int)job);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "%s.%lld", NAMES[i], (long long)ckpt->in_hand.number);
        paths[i] = job_run_image_path(starter, name);
        (void)snprintf(ckpt->in_hand.files[i], sizeof ckpt->in_hand.files[i],
                       STARTER_CKPT_DIRECTORY "/%s", name);
    }
    ckpt->in_hand.is_copied = uses_copy(starter);
    ckpt->in_hand.is_changes = ckpt->in_hand.is_copied && ckpt->kept.has_sent;
    add_dump(starter, number, paths, &words);
    add_tar(starter, paths[1], &words);
    vec_push(&words, NULL);
    int rc = job <= 0 ? err_set(err, -ESRCH, "the job has ended")
                      : ckpt_program_run(starter, (const char *const *)words.items, report, report,
                                         on_exit, &ckpt->pid, err);
    vec_fini(&words, mem_free);
    mem_free(paths[0]);
    mem_free(paths[1]);
    mem_free(report);
    return rc;
}

void ckpt_take_note_sent(struct starter *starter, bool counts)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    struct os *os = starter->env.os;
    ckpt->kept.has_sent =
        counts && ckpt->in_hand.is_copied &&
        os_below_rename(os, starter->run.directory, STARTER_CKPT_KNOWN, starter->run.directory,
                        STARTER_CKPT_SENT, NULL) == 0; /* else it all goes again */
}

/* ---- the follower ---------------------------------------------------------------------------- */

static void follower_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    (void)pid;
    starter->run.ckpt.follower = 0;
    if (starter->run.phase == STARTER_RUN && !starter->run.ckpt.end.job_ended) {
        log_info(starter->env.log, "checkpoint.unfollowed",
                 "change tracking has ended; checkpoints have full images until it works again",
                 LOG_TEXT("job", starter->run.job_id), LOG_INT("status", how->status),
                 LOG_INT("signal", how->signal));
    }
}

void ckpt_take_follow(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    struct err err;
    char number[24];
    pid_t job = os_caged_pid(starter->env.os, starter->run.process.pid);
    const struct ad *slot = job_run_slot(starter);
    if (slot == NULL || !ad_bool_or(slot, CKPT_HAS_CHANGES, false) || ckpt->follower > 0 ||
        job <= 0 || ckpt->follows >= FOLLOWS_MAX ||
        !config_bool(starter->env.config, "CHECKPOINT_INCREMENTAL")) {
        return;
    }
    char *folder = job_run_image_path(starter, "");
    (void)snprintf(number, sizeof number, "%d", (int)job);
    const char *const first[] = {config_path(starter->env.config, "CKPT_PROGRAM"), "follow", number,
                                 folder};
    const char *const at[] = {"--at", CKPT_FOLLOW_SOCKET};
    struct vec words = {0};
    for (size_t i = 0; i < ARRAY_COUNT(first); i++) {
        vec_push(&words, mem_strdup(first[i]));
    }
    add_kept(starter, &words);
    for (size_t i = 0; i < ARRAY_COUNT(at); i++) {
        vec_push(&words, mem_strdup(at[i]));
    }
    vec_push(&words, NULL);
    ckpt->follows++;
    ckpt->kept.id[0] = '\0'; /* a new one knows of none */
    if (ckpt_program_run(starter, (const char *const *)words.items, NULL, NULL, follower_ended,
                         &ckpt->follower, &err) != 0) {
        ckpt->follower = 0;
        log_warn(starter->env.log, "checkpoint.unfollowed", err.text,
                 LOG_TEXT("job", starter->run.job_id));
    }
    vec_fini(&words, mem_free);
    mem_free(folder);
}

void ckpt_take_end(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    pid_t *const pids[] = {&ckpt->pid, &ckpt->follower};
    for (size_t i = 0; i < ARRAY_COUNT(pids); i++) {
        if (*pids[i] > 0) {
            os_forget(starter->env.os, *pids[i]);
            (void)os_kill_group(starter->env.os, *pids[i], SIGKILL); /* gone: fine */
            *pids[i] = 0;
        }
    }
}
