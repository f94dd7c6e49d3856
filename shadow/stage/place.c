/* shadow/stage/place.c - see place.h.
 *
 * Each file is renamed to its place, or copied to a temporary name beside it and then renamed.  A
 * staged file that is no longer there has been placed before.  Directories are made and filled, and
 * get their permissions at the end.  So placing can be repeated after a crash at any moment, with
 * the same outcome.
 *
 * The owner named the destinations, and may have put links there.  Names below them were made by
 * the job, so no link there is followed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/stage/place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/path_join.h"
#include "shadow/report.h"
#include "shadow/run/run_drop.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/stage/stage_files.h"
#include "shadow/stage/stage_manifest.h"
#include "shadow/transfer_plan.h"
#include "transfer/transfer_names.h"
#include "wire/wire.h"

#define HOLD_OUTPUT 12 /* HTCondor's */

#define PLACE_TRIES_MAX 5
#define PLACE_FIRST_MS  500 /* doubled with each try: 15.5 s in all */

struct placing {
    struct ad *manifest;
    char *made;             /* the directory that find_spot() made last */
    struct strmap *changed; /* directories to be synced; the values have no meaning */
    struct vec modes;       /* struct mode_to_be, in the order in which they were made */
};

struct mode_to_be {
    char *base, *below;
    mode_t mode;
};

static void mode_destroy(void *value)
{
    struct mode_to_be *later = value;
    mem_free(later->base);
    mem_free(later->below);
    mem_free(later);
}

/* Returns the path without its last name; "/" or "" when nothing is left. */
static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? mem_strdup("")
                         : mem_strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

/* A destination as base/os/os_below.h needs it: root exists, path is below it. */
struct spot {
    char *root, *path;
};

/* Returns what stands between root and path in a message. */
static const char *separator_of(const struct spot *spot)
{
    return strcmp(spot->root, "/") == 0 ? "" : "/";
}

static void spot_fini(struct spot *spot)
{
    mem_free(spot->root);
    mem_free(spot->path);
}

static int find_spot(struct work *work, const struct transfer_place *place, struct spot *ret)
{
    struct os *os = work->run->shadow->os;
    int result = 0;
    if (place->below[0] == '\0') { /* the owner's own name */
        *ret = (struct spot){parent_of(place->base), mem_strdup(transfer_last_name(place->base))};
        result = place->is_kept ? os_mkdirs(os, ret->root, 0755, &work->err) : 0;
        if (result != 0) {
            spot_fini(ret);
        }
        return result;
    }
    struct placing *placing = work->arg;
    char *above = parent_of(place->below);
    char *made = path_join(place->base, above);
    if (placing->made != NULL && strcmp(placing->made, made) == 0) {
        mem_free(made); /* as for the file before */
    } else {
        result = os_mkdirs(os, place->base, 0755, &work->err);
        if (result == 0 && above[0] != '\0') {
            result = os_below_mkdirs(os, place->base, above, 0755, &work->err);
        }
        mem_free(placing->made);
        placing->made = made;
    }
    mem_free(above);
    if (result == 0) {
        *ret = (struct spot){mem_strdup(place->base), mem_strdup(place->below)};
    }
    return result;
}

static void note_changed(struct work *work, const struct spot *spot)
{
    struct placing *placing = work->arg;
    char *above = parent_of(spot->path);
    char *directory = path_join(spot->root, above);
    (void)strmap_set(placing->changed, directory, placing); /* again: the same */
    mem_free(directory);
    mem_free(above);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static int copy_bytes(struct work *work, const char *name, const struct spot *to, mode_t mode)
{
    struct os *os = work->run->shadow->os;
    struct os_file *in = NULL;
    struct os_file *out = NULL;
    int result = os_below_open(os, work->run->stage, name, OS_READ, 0, &in, &work->err);
    if (result == 0) {
        result = os_below_open(os, to->root, to->path, OS_WRITE_TRUNCATE, 0600, &out, &work->err);
    }
    char *buffer = mem_alloc(SHADOW_PIECE_BYTES);
    uint64_t offset = 0;
    while (result == 0) {
        ssize_t got = os_file_read(in, offset, buffer, SHADOW_PIECE_BYTES);
        if (got <= 0) {
            result = (int)got;
            break;
        }
        result = os_file_write(out, offset, buffer, (size_t)got);
        offset += (uint64_t)got;
    }
    if (result == 0) {
        result = os_file_sync(out);
    }
    if (result != 0 && in != NULL && out != NULL) {
        (void)err_set(&work->err, result, "cannot write '%s%s%s': %s", to->root, separator_of(to),
                      to->path, err_code_text(result));
    }
    mem_free(buffer);
    os_file_close(in);
    os_file_close(out);
    return result != 0 ? result : os_below_chmod(os, to->root, to->path, mode, &work->err);
}

/* Moves a file to another file system: copies it to a temporary name beside the destination, then
 * renames it. */
static int move_across(struct work *work, const char *name, const struct spot *to,
                       const struct os_stat *staged)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    struct strbuf text;
    char *above = parent_of(to->path);
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s%s.roost.%s.%" PRId64 ".%.200s", above, above[0] != '\0' ? "/" : "",
                  run->id, run->epoch, transfer_last_name(to->path));
    const struct spot temporary = {to->root, (char *)strbuf_text(&text)};
    int result;
    if (staged->is_link) {
        char target[TRANSFER_PATH_MAX + 1];
        result = os_below_read_link(os, run->stage, name, target, sizeof(target));
        result = result == 0 ? os_below_link(os, temporary.root, temporary.path, target, &work->err)
                             : err_set(&work->err, result, "cannot read '%s'", name);
    } else {
        result = copy_bytes(work, name, &temporary, staged->mode);
    }
    if (result == 0) {
        result = os_below_rename(os, to->root, temporary.path, to->root, to->path, &work->err);
    }
    if (result != 0) { /* the first error is the one to tell */
        (void)os_below_remove(os, to->root, temporary.path, NULL);
    } else {
        result = os_below_remove(os, run->stage, name, &work->err);
    }
    mem_free(above);
    strbuf_fini(&text);
    return result;
}

static int place_file(struct work *work, const char *name, const struct transfer_place *place)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    struct os_stat there, staged;
    struct spot to;
    if (os_below_stat(os, run->stage, name, &staged) == -ENOENT) {
        return 0; /* placed before we died */
    }
    int result = find_spot(work, place, &to);
    if (result != 0) {
        return result;
    }
    if (os_below_stat(os, to.root, to.path, &there) == 0 && !there.is_file && !there.is_link) {
        /* A rename would take a device's or a pipe's place. */
        result = err_set(&work->err, -EISDIR,
                         "output '%s' cannot replace '%s%s%s', which is not a regular file", name,
                         to.root, separator_of(&to), to.path);
    } else {
        result = os_below_rename(os, run->stage, name, to.root, to.path, &work->err);
        if (result == -EXDEV) {
            result = move_across(work, name, &to, &staged);
        }
    }
    if (result == 0) {
        note_changed(work, &to);
    }
    spot_fini(&to);
    return result;
}

static int place_directory(struct work *work, const struct transfer_place *place, mode_t mode)
{
    struct placing *placing = work->arg;
    struct os *os = work->run->shadow->os;
    struct os_stat stat;
    bool is_new = place->below[0] != '\0'
                      ? os_below_stat(os, place->base, place->below, &stat) == -ENOENT
                      : os_stat(os, place->base, &stat) == -ENOENT;
    int result = os_mkdirs(os, place->base, 0755, &work->err);
    if (result == 0 && place->below[0] != '\0') {
        result = os_below_mkdirs(os, place->base, place->below, 0755, &work->err);
    }
    if (result == 0 && is_new) {
        struct mode_to_be *later = mem_alloc(sizeof(*later));
        *later = (struct mode_to_be){mem_strdup(place->base), mem_strdup(place->below), mode};
        vec_push(&placing->modes, later);
    }
    return result;
}

static int place_entry(struct work *work, const char *name, const char *sum)
{
    struct transfer_place place = {0};
    int result = transfer_plan_output(work->run->lane_job, name, &place, &work->err);
    if (result == 0 && place.base != NULL) {
        result = strncmp(sum, "dir:", 4) == 0
                     ? place_directory(work, &place, (mode_t)strtoul(sum + 4, NULL, 8) & 0777)
                     : place_file(work, name, &place);
    }
    transfer_place_fini(&place);
    return result;
}

static int finish_directories(struct work *work)
{
    struct placing *placing = work->arg;
    struct os *os = work->run->shadow->os;
    int result = 0;
    size_t at = 0;
    const char *directory = NULL;
    void *value = NULL;
    while (result == 0 && strmap_next(placing->changed, &at, &directory, &value)) {
        result = os_below_sync(os, directory, "", &work->err);
    }
    for (size_t i = placing->modes.count; i > 0 && result == 0; i--) {
        const struct mode_to_be *later = placing->modes.items[i - 1];
        result = os_below_chmod(os, later->base, later->below, later->mode | 0700, &work->err);
    }
    return result;
}

static int place_body(struct work *work)
{
    struct run *run = work->run;
    if (run->output == RUN_OUTPUT_NONE) {
        return 0; /* a schedd that wants to be told, all the same */
    }
    struct os *os = run->shadow->os;
    struct placing placing = {.changed = strmap_create(STRMAP_CASE_SENSITIVE)};
    char *text = NULL;
    size_t length = 0, count = 0;
    struct ad *manifest = NULL;
    char *path = path_join(run->stage, STAGE_MANIFEST);
    int result = os_read_file(os, path, STAGE_MANIFEST_MAX, &text, &length, &work->err);
    mem_free(path);
    if (result == 0) {
        result = ad_decode(text, length, NULL, &manifest, &work->err);
        mem_free(text);
    }
    if (result == 0) {
        work->arg = &placing;
        result = stage_manifest_each(work, manifest, &count, place_entry);
        result = result == 0 ? finish_directories(work) : result;
        ad_destroy(manifest);
        work->arg = NULL;
    }
    strmap_destroy(placing.changed, NULL);
    mem_free(placing.made);
    vec_fini(&placing.modes, mode_destroy);
    return result;
}

/* ---- what the schedd is told ------------------------------------------------------------------
 */

static void placed_answered(struct run *run, void *arg, int status, const char *text,
                            const struct ad *answer)
{
    (void)answer;
    bool keep_stage = arg != NULL; /* held with its output staged */
    if (run->dropped) {
        return;
    }
    if (status != 0) {
        log_info(run->shadow->log, "run.not_wanted", text, LOG_TEXT("job", run->id));
    }
    run->is_spent = status == 0 && !keep_stage;
    /* The result is committed, whatever became of the files: the starter may go. */
    run_answer_done(run, 0, "");
    run_drop(run, !keep_stage || status == -ESTALE);
}

/* A disk that is full stays so until somebody makes room; what a file server or a disk could not do
 * once may succeed a moment later. */
static bool may_pass(int result)
{
    return (err_is_shortage(result) && result != -ENOSPC && result != -EDQUOT) ||
           result == -ESTALE || result == -ETIMEDOUT;
}

static void place_again(void *arg)
{
    struct run *run = arg;
    if (!run->dropped) {
        place_staged(run);
    }
}

static void place_done(struct work *work, int result)
{
    struct run *run = work->run;
    if (run->dropped) {
        return;
    }
    if (may_pass(result) && run->placing.tries < PLACE_TRIES_MAX) {
        log_warn(run->shadow->log, "place.again", work->err.text, LOG_TEXT("job", run->id),
                 LOG_INT("try", run->placing.tries + 1));
        if (run->placing.timer == NULL) {
            run->placing.timer = loop_timer_create(run->shadow->loop, place_again, run);
        }
        loop_timer_set(run->placing.timer, (uint64_t)PLACE_FIRST_MS << run->placing.tries);
        run->placing.tries++;
        return;
    }
    run_move(run, RUN_FINISHING);
    if (result == 0) {
        report_send(run->shadow, run, VERB_JOB_PLACED, ad_create(), placed_answered, NULL);
        return;
    }
    char reason[ERR_TEXT_MAX + 80];
    (void)snprintf(reason, sizeof(reason),
                   "Transfer output files failure at the access point. Details: %s",
                   work->err.text); /* fits */
    report_hold(run, HOLD_OUTPUT, -result, reason, placed_answered, run);
}

void place_staged(struct run *run)
{
    run_work_start(run, NULL, place_body, place_done, NULL);
}
