/* starter/ckpt/resume.c - starts a job from a checkpoint instead of from its beginning.
 *
 * Instead of the job's inputs its latest checkpoint is received: image and archive, into a
 * directory beside the sandbox.  Their checksums must be those of the manifest.  `roost-ckpt info
 * --verify`, run as the job's account, tells whether the image is complete and whether this
 * processor has what it needs.  Otherwise the checkpoint before it is tried; after the last one the
 * job starts from its beginning.  The archive is unpacked in the job's cage by a program of its
 * account: whatever it contains reaches no further than the job does.
 *
 * Then the image is run instead of the job's program.  If it reports that it cannot resume (by its
 * exit status, and a sentence on a standard error that only it has), the run ends: the schedd is
 * told and tries again, perhaps elsewhere; the shadow counts that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/ckpt/resume.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job/cage.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/ckpt/ckpt_inputs.h"
#include "starter/ckpt/ckpt_program.h"
#include "starter/job/job_end.h"
#include "starter/job/job_place.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "starter/job/watch.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define GETS_MAX       4
#define CANDIDATES_MAX 8
#define REPORT_BYTES   ((size_t)64 << 10)
#define FAILED         1   /* exit status of roost-ckpt: what it was given is no good */
#define UNSUITED       3   /* exit status of roost-ckpt info --verify: whole, but not for here */
#define WAITS_MAX      6   /* for a disk: 1 s, 2 s, 4 s ... */
#define EXIT_LOST      125 /* of an image that cannot resume */
#define LOST_WORDS     "cannot resume"

static const char *const NAMES[] = {CKPT_NAME_IMAGE, CKPT_NAME_FILES};
static const char *const PLACES[] = {"resumed", "resumed.files"};
static const char *const LOG = "resume.log";

static const struct ad *manifest_of(const struct starter *starter)
{
    const struct starter_resume *resume = &starter->run.resume;
    return resume->manifests.items[resume->at];
}

static char *path_below(const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, STARTER_CKPT_DIRECTORY "/%s", name);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

static void close_file(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    os_file_close(resume->file);
    digest_destroy(resume->digest);
    resume->file = NULL;
    resume->digest = NULL;
    resume->offset = resume->asked = 0;
    resume->gets = 0;
}

static void remove_files(struct starter *starter)
{
    for (size_t i = 0; i < 2; i++) {
        char *path = path_below(PLACES[i]);
        (void)os_below_remove(starter->env.os, starter->run.directory, path,
                              NULL); /* not there: fine */
        mem_free(path);
    }
}

void resume_forget(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    if (resume->pid > 0) {
        os_forget(starter->env.os, resume->pid);
        (void)os_kill_group(starter->env.os, resume->pid, SIGKILL); /* gone: fine */
        resume->pid = 0;
    }
    close_file(starter);
    vec_fini(&resume->manifests, ad_destroy_item);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* the next run finds the same */
}

/* Tells the shadow that the checkpoint in hand was refused.  False: the shadow cannot be reached
 * now. */
static bool refuse_checkpoint(struct starter *starter, bool damaged, const char *why,
                              wire_reply_f told)
{
    int64_t sequence = ad_int_or(manifest_of(starter), CKPT_SEQUENCE, 0);
    log_warn(starter->env.log, "resume.refused", why, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("sequence", sequence), LOG_BOOL("damaged", damaged));
    if (starter->shadow == NULL || !wire_is_ready(starter->shadow)) {
        return false;
    }
    struct ad *args = ad_create();
    ad_set_int(args, CKPT_SEQUENCE, sequence);
    ad_set_string(args, "Reason", why);
    ad_set_bool(args, "Damaged", damaged);
    const struct wire_body body = {.args = args};
    bool sent = wire_call(starter->shadow, VERB_CKPT_REFUSED, &body, 0, told, starter) > 0;
    ad_destroy(args);
    return sent;
}

static void refusal_told(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    (void)reply; /* whatever it is: the next run finds the same */
    if (starter->run.resume.why[0] != '\0') {
        job_run_give_up(starter, starter->run.resume.why);
    }
}

/* The same, and ends the run when the shadow has answered: the end of the run closes the
 * connection, and what is on its way would be lost. */
static void refuse_and_end(struct starter *starter, const char *why)
{
    struct starter_resume *resume = &starter->run.resume;
    (void)snprintf(resume->why, sizeof resume->why, "%s", why[0] != '\0' ? why : "no reason given");
    starter->run.busy = true;
    if (!refuse_checkpoint(starter, false, why, refusal_told)) {
        job_run_give_up(starter, resume->why);
    }
}

/* Tries the next candidate; after the last one the job starts from its beginning. */
static void try_next(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    close_file(starter);
    remove_files(starter);
    resume->file_at = 0;
    resume->at++;
    resume->step = resume->at < resume->manifests.count ? RESUME_GETTING : RESUME_NONE;
    starter->run.busy = false;
    job_run_wake(starter, WAKE_GO);
}

static void refuse_damaged(struct starter *starter, const char *why)
{
    (void)refuse_checkpoint(starter, true, why, ignore_answer); /* the next run finds the same */
    try_next(starter);
}

/* The checkpoint is intact but cannot be used on this machine.  Another machine may be able to, and
 * what it saved must not be lost because of one machine.  The shadow counts such reports and gives
 * the checkpoint up at last; a job that has waited long enough takes any checkpoint that works. */
static void refuse_here(struct starter *starter, const char *why)
{
    if (ad_bool_or(starter->run.job, CKPT_ANYWHERE, false)) {
        (void)refuse_checkpoint(starter, false, why, ignore_answer); /* the same */
        try_next(starter);
    } else {
        refuse_and_end(starter, why);
    }
}

/* The submit host's disk with the checkpoints is not available now.  The job must not start from
 * its beginning, and to try again at once, here or elsewhere, is useless.  After some waits the run
 * ends and another one tries later. */
static void wait_for_disk(struct starter *starter, const char *why)
{
    struct starter_resume *resume = &starter->run.resume;
    close_file(starter);
    if (resume->waits >= WAITS_MAX) {
        job_run_give_up(starter, why);
        return;
    }
    log_warn(starter->env.log, "resume.waits", why, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("s", 1 << resume->waits));
    resume->step = RESUME_LOOKING;
    starter->run.busy = true;
    loop_timer_set(starter->timers[TIMER_CKPT], (uint64_t)1000 << resume->waits++);
}

void resume_tick(struct starter *starter)
{
    if (starter->run.resume.step == RESUME_LOOKING) {
        starter->run.busy = false;
        job_run_wake(starter, WAKE_GO);
    }
}

/* ---- which there are ------------------------------------------------------------------------- */

static void manifests_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    struct starter_resume *resume = &starter->run.resume;
    if (resume->step != RESUME_LOOKING || starter->run.phase != STARTER_INPUT ||
        reply->status == -ECONNRESET) {
        return; /* again on the next connection */
    }
    vec_clear(&resume->manifests, ad_destroy_item);
    for (size_t i = 0; i < reply->ad_count && resume->manifests.count < CANDIDATES_MAX; i++) {
        vec_push(&resume->manifests, wire_reply_take_ad(reply, i));
    }
    starter->run.busy = false;
    if (reply->status == -ETIMEDOUT) {
        job_run_wake(starter, WAKE_GO);
        return;
    }
    if (reply->status == -EAGAIN) {
        wait_for_disk(starter, reply->text);
        return;
    }
    if (reply->status != 0) { /* they are somewhere: the job does not begin anew */
        job_run_give_up(starter, reply->text);
        return;
    }
    resume->waits = 0;
    resume->at = PLANTED(checkpoint_of_before) && resume->manifests.count > 1 ? 1 : 0;
    resume->file_at = 0;
    resume->step = resume->manifests.count > 0 ? RESUME_GETTING : RESUME_NONE;
    if (resume->step == RESUME_NONE) {
        log_warn(starter->env.log, "resume.none", "the shadow has no checkpoint",
                 LOG_TEXT("job", starter->run.job_id));
    }
    job_run_wake(starter, WAKE_GO);
}

static void ask_manifests(struct starter *starter)
{
    const struct wire_body body = {.args = NULL};
    starter->run.resume.step = RESUME_LOOKING;
    starter->run.busy =
        wire_call(starter->shadow, VERB_CKPT_LOOK, &body, 0, manifests_answered, starter) > 0;
}

/* ---- getting one ----------------------------------------------------------------------------- */

/* The size of a file as it is stored, perhaps compressed. */
static int64_t stored_bytes(const struct ad *manifest, size_t file)
{
    return file == 0 ? ad_int_or(manifest, CKPT_IMAGE_STORED, -1)
                     : ad_int_or(manifest, CKPT_FILES_STORED, -1);
}

static int64_t wanted_bytes(const struct starter *starter)
{
    return stored_bytes(manifest_of(starter), starter->run.resume.file_at);
}

static bool begin_file(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    struct err err;
    char *path = path_below(PLACES[resume->file_at]);
    close_file(starter);
    resume->digest = digest_create();
    int rc = os_below_open(starter->env.os, starter->run.directory, path, OS_WRITE_TRUNCATE, 0600,
                           &resume->file, &err);
    mem_free(path);
    if (rc != 0) {
        job_run_give_up(starter, err.text); /* this machine's fault */
    }
    return rc == 0;
}

static void unpack_files(struct starter *starter);
static void piece_answered(void *arg, struct wire_reply *reply);

static void get_more(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    uint64_t wanted = (uint64_t)wanted_bytes(starter);
    while (resume->gets < GETS_MAX && resume->asked < wanted) {
        struct ad *args = ad_create();
        ad_set_int(args, CKPT_SEQUENCE, ad_int_or(manifest_of(starter), CKPT_SEQUENCE, 0));
        ad_set_string(args, "Name", NAMES[resume->file_at]);
        ad_set_int(args, "Offset", (int64_t)resume->asked);
        const struct wire_body body = {.args = args};
        bool sent =
            wire_call(starter->shadow, VERB_CKPT_GET, &body, 0, piece_answered, starter) > 0;
        ad_destroy(args);
        if (!sent) {
            break; /* the connection is going */
        }
        resume->gets++;
        resume->asked += STARTER_PIECE_BYTES;
    }
    starter->run.busy = true; /* until a cut */
}

/* A file has been received: compares its checksum with the manifest and gives it to the account. */
static void end_file(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    char hex[DIGEST_HEX_SIZE];
    digest_hex(resume->digest, hex);
    if (strcmp(hex, ad_string_or(manifest_of(starter),
                                 resume->file_at == 0 ? CKPT_IMAGE_SUM : CKPT_FILES_SUM, "")) !=
        0) {
        refuse_damaged(starter,
                       "a file of the checkpoint does not have the checksum of the manifest");
        return;
    }
    int rc = os_file_chmod(resume->file, resume->file_at == 0 ? 0700 : 0600);
    if (rc == 0 && starter->run.account.change_user) {
        rc = os_file_chown(resume->file, starter->run.account.uid, starter->run.account.gid);
    }
    close_file(starter);
    if (rc != 0) {
        job_run_give_up(starter, "cannot give the checkpoint's files to the job's account");
        return;
    }
    if (resume->file_at == 0) {
        resume->file_at = 1;
        starter->run.busy = false;
        job_run_wake(starter, WAKE_GO);
    } else {
        unpack_files(starter);
    }
}

static void piece_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    struct starter_resume *resume = &starter->run.resume;
    if (resume->step != RESUME_GETTING || starter->run.phase != STARTER_INPUT ||
        reply->status == -ECONNRESET || resume->file == NULL) {
        return;
    }
    uint64_t wanted = (uint64_t)wanted_bytes(starter), left = wanted - resume->offset;
    size_t piece = left < STARTER_PIECE_BYTES ? (size_t)left : STARTER_PIECE_BYTES;
    resume->gets--;
    if (reply->status == -ETIMEDOUT) {
        job_run_dial_again(starter);
        return;
    }
    if (reply->status == -EAGAIN) { /* where they are kept went away: nothing is damaged */
        wait_for_disk(starter, reply->text);
        return;
    }
    if (reply->status == -EIO) { /* that disk's fault: this one cannot be had, another may */
        if (resume->at + 1 >= resume->manifests.count) {
            job_run_give_up(starter, reply->text); /* nothing is damaged: it does not begin anew */
            return;
        }
        (void)refuse_checkpoint(starter, false, reply->text, ignore_answer);
        try_next(starter);
        return;
    }
    if (reply->status != 0 && reply->status != -ENOENT) { /* of this moment: nothing is damaged */
        job_run_give_up(starter, reply->text);
        return;
    }
    if (reply->status != 0 || reply->blob_length != piece) {
        refuse_damaged(starter, reply->status != 0
                                    ? reply->text
                                    : "a part of the checkpoint has the wrong length");
        return;
    }
    int rc = os_file_write(resume->file, resume->offset, reply->blob, piece);
    if (rc != 0) {
        job_run_give_up(starter, err_code_text(rc)); /* this machine's disk */
        return;
    }
    digest_update(resume->digest, reply->blob, piece);
    resume->offset += piece;
    starter->run.bytes.received += (int64_t)piece;
    if (resume->offset == wanted) {
        end_file(starter);
    } else {
        get_more(starter);
    }
}

static bool fits_disk(const struct starter *starter)
{
    const struct ad *manifest = manifest_of(starter);
    int64_t bytes = ad_int_or(manifest, CKPT_IMAGE_BYTES, 0) / 1024 +
                    ad_int_or(manifest, CKPT_FILES_BYTES, 0) / 512 +
                    stored_bytes(manifest, 0) / 1024 + stored_bytes(manifest, 1) / 1024;
    int64_t free_kib = os_disk_free_kib(starter->env.os, starter->run.directory);
    return free_kib < 0 || bytes < free_kib;
}

static void get_checkpoint(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    const struct ad *manifest = manifest_of(starter);
    if (strcmp(ad_string_or(manifest, CKPT_SANDBOX, ""), job_run_inside(starter)) != 0) {
        refuse_here(starter, "the checkpoint's sandbox had another path; set the same "
                             "CHECKPOINT_SANDBOX on all machines");
        return;
    }
    if (stored_bytes(manifest, 0) <= 0 || stored_bytes(manifest, 1) <= 0) {
        refuse_damaged(starter, "the checkpoint's manifest contains no sizes");
        return;
    }
    if (!fits_disk(starter)) {
        job_run_give_up(starter, "EXECUTE has no room for the job's checkpoint");
        return;
    }
    if (resume->file_at == 0 && resume->file == NULL) {
        log_info(starter->env.log, "resume.gets", "resuming from the job's checkpoint",
                 LOG_TEXT("job", starter->run.job_id),
                 LOG_INT("sequence", ad_int_or(manifest, CKPT_SEQUENCE, 0)),
                 LOG_INT("image_bytes", ad_int_or(manifest, CKPT_IMAGE_BYTES, 0)));
    }
    if (begin_file(starter)) { /* after a cut: from its beginning */
        get_more(starter);
    }
}

/* ---- can it be resumed here? ----------------------------------------------------------------- */

/* Reads the first line of the program's log into ret; "" if there is none. */
static void read_log(const struct starter *starter, char *ret, size_t size)
{
    char *path = path_below(LOG), *text = NULL;
    struct os_file *file = NULL;
    ssize_t length = 0;
    if (os_below_open(starter->env.os, starter->run.directory, path, OS_READ, 0, &file, NULL) ==
        0) {
        text = mem_alloc(REPORT_BYTES);
        length = os_file_read(file, 0, text, size - 1);
        os_file_close(file);
    }
    length = length > 0 ? length : 0;
    if (length > 0) {
        memcpy(ret, text, (size_t)length);
    }
    ret[length] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    mem_free(text);
    mem_free(path);
}

/* Returns true if roost-ckpt was killed or failed in an unknown way: that says nothing about the
 * checkpoint.  The run is given up then. */
static bool was_no_verdict(struct starter *starter, const struct os_exit *how)
{
    char why[100];
    if (how->signal == 0 &&
        (how->status == 0 || how->status == FAILED || how->status == UNSUITED)) {
        return false;
    }
    (void)snprintf(why, sizeof why, "roost-ckpt, examining the job's checkpoint, ended with %s %d",
                   how->signal != 0 ? "signal" : "status",
                   how->signal != 0 ? how->signal : how->status);
    job_run_give_up(starter, why); /* this machine's fault */
    return true;
}

static void image_checked(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    struct starter_resume *resume = &starter->run.resume;
    char why[300];
    (void)pid;
    resume->pid = 0;
    if (resume->step != RESUME_CHECKING || starter->run.phase != STARTER_INPUT) {
        return;
    }
    if (!PLANTED(killed_check_is_damage) && was_no_verdict(starter, how)) {
        return;
    }
    if (how->status != 0) {
        read_log(starter, why, sizeof why);
        resume->step = RESUME_GETTING;
        if (how->status == UNSUITED) {
            refuse_here(starter, why);
        } else {
            refuse_damaged(starter, why);
        }
        return;
    }
    resume->step = RESUME_READY;
    starter->run.busy = false;
    job_run_wake(starter, WAKE_GO);
}

/* Runs roost-ckpt with these arguments on files that already belong to the account. */
static void run_ckpt(struct starter *starter, const char *const *argv, os_exit_f on_exit)
{
    struct starter_resume *resume = &starter->run.resume;
    struct err err;
    char *log = job_run_image_path(starter, LOG);
    int rc = ckpt_program_run(starter, argv, NULL, log, on_exit, &resume->pid, &err);
    mem_free(log);
    if (rc != 0) {
        resume->pid = 0;
        job_run_give_up(starter, err.text); /* this machine's fault */
    }
}

static void check_image(struct starter *starter)
{
    char *image = job_run_image_path(starter, PLACES[0]);
    const char *const argv[] = {config_path(starter->env.config, "CKPT_PROGRAM"), "info", image,
                                "--verify", NULL};
    starter->run.resume.step = RESUME_CHECKING;
    run_ckpt(starter, argv, image_checked);
    mem_free(image);
}

static void files_unpacked(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    struct starter_resume *resume = &starter->run.resume;
    char why[300];
    (void)pid;
    resume->pid = 0;
    if (resume->step != RESUME_UNPACKING || starter->run.phase != STARTER_INPUT) {
        return;
    }
    if (was_no_verdict(starter, how)) {
        return;
    }
    if (how->status != 0) { /* its sums were right: no reason to remove it */
        read_log(starter, why, sizeof why);
        resume->step = RESUME_GETTING;
        refuse_here(starter, why);
        return;
    }
    check_image(starter);
}

/* Decompresses image and archive; files that are not compressed do not change. */
static void unpack_files(struct starter *starter)
{
    char *image = job_run_image_path(starter, PLACES[0]),
         *files = job_run_image_path(starter, PLACES[1]);
    const char *const argv[] = {config_path(starter->env.config, "CKPT_PROGRAM"), "unpack", image,
                                files, NULL};
    starter->run.resume.step = RESUME_UNPACKING;
    run_ckpt(starter, argv, files_unpacked);
    mem_free(image);
    mem_free(files);
}

bool resume_is_needed(const struct starter *starter)
{
    const struct starter_resume *resume = &starter->run.resume;
    return starter->run.ckpt.wanted && resume->step != RESUME_READY &&
           resume->step != RESUME_NONE &&
           (resume->step != RESUME_UNKNOWN || ad_int_or(starter->run.job, CKPT_SEQUENCE, 0) > 0);
}

bool resume_is_ready(const struct starter *starter)
{
    return starter->run.resume.step == RESUME_READY;
}

int64_t resume_sequence(const struct starter *starter)
{
    return resume_is_ready(starter) ? ad_int_or(manifest_of(starter), CKPT_SEQUENCE, 0) : 0;
}

void resume_next(struct starter *starter)
{
    struct starter_resume *resume = &starter->run.resume;
    struct err err;
    if (resume->step == RESUME_UNPACKING || resume->step == RESUME_CHECKING) {
        return; /* image_checked() goes on, whatever the connection does */
    }
    if (resume->step == RESUME_UNKNOWN && job_run_image_directory(starter, &err) != 0) {
        job_run_give_up(starter, err.text);
    } else if (resume->step == RESUME_UNKNOWN || resume->step == RESUME_LOOKING) {
        ask_manifests(starter);
    } else {
        get_checkpoint(starter);
    }
}

/* ---- unpacking ------------------------------------------------------------------------------- */

static void archive_unpacked(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    struct starter_resume *resume = &starter->run.resume;
    char why[300], reason[400];
    (void)pid;
    starter->run.process.pid = 0;
    if (starter->run.phase != STARTER_RUN) {
        return;
    }
    if (starter->run.stop.how != RUNS_ON) {
        starter->run.process.pid = -1;
        job_run_give_up(starter, "");
        return;
    }
    watch_rest(starter);
    if (job_end_is_machines(starter, how)) {
        return;
    }
    if (starter->run.end.hold != NULL) {
        job_end_held(starter);
        return;
    }
    if (how->signal != 0 || how->status != 0) {
        read_log(starter, why, sizeof why);
        (void)snprintf(reason, sizeof reason, "cannot unpack the files of the checkpoint: %s", why);
        starter->run.process.pid = -1;
        refuse_and_end(starter, reason);
        return;
    }
    resume->is_unpacked = true;
    ckpt_inputs_load(starter);
    char *path = path_below(PLACES[1]);
    (void)os_below_remove(starter->env.os, starter->run.directory, path,
                          NULL); /* goes with the rest */
    mem_free(path);
    job_run_wake(starter, WAKE_GO); /* job_start() */
}

bool resume_unpacks(struct starter *starter)
{
    static const char *const ENVIRONMENT[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C",
                                              NULL};
    struct starter_resume *resume = &starter->run.resume;
    struct err err;
    if (!resume_is_ready(starter) || resume->is_unpacked) {
        return false;
    }
    char *archive = job_run_image_inside(starter, PLACES[1]),
         *log = job_run_image_inside(starter, LOG);
    /* Files may come behind their directories, or before them: archive_linux.h. */
    const char *const argv[] = {"/usr/bin/env",
                                "tar",
                                "--extract",
                                "--directory=/",
                                "--sparse",
                                "--same-permissions",
                                "--delay-directory-restore",
                                "--numeric-owner",
                                "--no-same-owner",
                                "--overwrite",
                                "--file",
                                archive,
                                NULL};
    struct os_spawn spec = job_place_spec(starter);
    spec.argv = argv;
    spec.env = ENVIRONMENT;
    spec.cwd = "/";
    spec.stdout_path = spec.stderr_path = log;
    spec.truncate_output = true;
    spec.kin = OS_SUBREAPER_JOB;
    int rc = cage_spawn(starter, &spec, archive_unpacked, &starter->run.process.pid, &err);
    if (rc != 0) {
        starter->run.process.pid = -1;
        job_run_give_up_for(starter, rc, err.text);
    } else {
        watch_begin(starter);
    }
    mem_free(archive);
    mem_free(log);
    return true;
}

/* ---- running it ------------------------------------------------------------------------------ */

void resume_words(struct starter *starter, struct vec *argv, char **ret_log)
{
    vec_clear(argv, mem_free);
    vec_push(argv, job_run_image_inside(starter, PLACES[0]));
    vec_push(argv, mem_strdup("--stdio"));
    *ret_log = job_run_image_inside(starter, LOG);
}

bool resume_failed(struct starter *starter)
{
    char why[300];
    if (!resume_is_ready(starter) || starter->run.process.exit.signal != 0 ||
        starter->run.process.exit.status != EXIT_LOST) {
        return false;
    }
    read_log(starter, why, sizeof why);
    if (strstr(why, LOST_WORDS) == NULL) {
        return false; /* it is the job's own status */
    }
    refuse_and_end(starter, why);
    return true;
}
