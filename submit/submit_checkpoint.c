/* submit/submit_checkpoint.c - checkpoint, periodic_checkpoint, checkpoint_destination,
 * remote_root, remote_readonly, remote_write: what the standard universe adds to vanilla.
 *
 * A job of the standard universe is checkpointed, and its system calls about files are carried out
 * on its submit machine.  A vanilla job is checkpointed if it asks for that.  A job that could
 * never be checkpointed is refused here, because a job that its owner believes to be safe must not
 * lose its work.
 *
 * An image runs only on machines like the one where its program started.  CkptArch, CkptOpSys and
 * CkptFeatures describe that machine, and are absent until the job has an image.  The schedd sets
 * CkptAnywhere when no such machine has come for too long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_making.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_job.h"

#define FILE_URL     "file://"
#define WRITE_MAX    64 /* directories of remote_write */
#define READONLY_MAX 64 /* parts of what a job sees that it may not change */

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Returns why the job cannot be checkpointed or resumed; NULL: it can. */
static const char *find_obstacle(const struct submit_making *making)
{
    const struct ad *ad = making->ad;
    int64_t count = 0;
    if (making->is_docker || making->is_container) {
        return "the processes of a container cannot be checkpointed";
    }
    if (!making_is_for_machines(making) || ad_bool_or(ad, "WantParallelScheduling", false)) {
        return "only jobs of the vanilla and standard universes can be checkpointed";
    }
    if (ad_bool_or(ad, "InteractiveJob", false)) {
        return "an interactive job cannot be checkpointed: it ends with its owner's shell";
    }
    if (ad_has(ad, "RequestGPUs") &&
        !(ad_expr_literal_int(ad_lookup(ad, "RequestGPUs"), &count) && count == 0)) {
        return "the contents of a GPU cannot be saved (request_gpus)";
    }
    if (strcmp(ad_string_or(ad, "WhenToTransferOutput", ""), "ON_EXIT_OR_EVICT") == 0) {
        return "the job's files are kept with each checkpoint; when_to_transfer_output = "
               "ON_EXIT_OR_EVICT would keep files of another time, too";
    }
    if (strcmp(ad_string_or(ad, "ShouldTransferFiles", ""), "NO") == 0) {
        return "the job's files must move with the job, which should_transfer_files = NO forbids";
    }
    if (ad_has(ad, "CheckpointExitCode") || ad_has(ad, "TransferCheckpoint")) {
        return "a program that writes its own checkpoints (checkpoint_exit_code) cannot be "
               "checkpointed by Roost, too";
    }
    return NULL;
}

/* Checks that the path is an existing absolute directory. */
static int check_directory(const struct submit_making *making, const char *command,
                           const char *path, struct err *err)
{
    struct err why = {{0}};
    if (path[0] != '/') {
        return making_refuse(making, err, "%s = %.200s: not an absolute directory", command, path);
    }
    if (making->place->look != NULL &&
        making->place->look(making->place->arg, SUBMIT_LOOK_DIRECTORY, path, NULL, &why) != 0) {
        return making_refuse(making, err, "%s: %.300s", command, why.text);
    }
    return 0;
}

/* Checks checkpoint_destination: a directory such as file:///scratch/alice or /scratch/alice. */
static int check_destination(struct submit_making *making, bool wanted, struct err *err)
{
    const char *to = ad_string_or(making->ad, "CheckpointDestination", "");
    if (to[0] == '\0') {
        return 0;
    }
    if (!wanted) {
        if (making->is_first) {
            making_warn(making, "checkpoint_destination has no effect without checkpoint = true");
        }
        return 0;
    }
    return check_directory(making, "checkpoint_destination",
                           strncmp(to, FILE_URL, sizeof FILE_URL - 1) == 0
                               ? to + sizeof FILE_URL - 1
                               : to,
                           err);
}

static int set_wanted(struct submit_making *making, struct err *err)
{
    bool standard = making->universe == UNIVERSE_STANDARD;
    bool wanted = ad_bool_or(making->ad, "WantCheckpoint", standard), is_set = false;
    int rc = making_bool_of(making, "checkpoint", "WantCheckpoint", &wanted, &is_set, err);
    const char *why = rc == 0 && wanted ? find_obstacle(making) : NULL;
    if (why != NULL) {
        rc = making_refuse(making, err, "%s: %s",
                           is_set ? "checkpoint = true" : "universe = standard", why);
    }
    if (rc == 0 && (is_set || standard)) {
        ad_set_bool(making->ad, "WantCheckpoint", wanted);
    }
    if (rc == 0 && standard) {
        ad_set_bool(making->ad, "WantRemoteSyscalls", true);
    }
    if (rc == 0 && !wanted && making->is_first && ad_has(making->ad, "PeriodicCheckpoint")) {
        making_warn(making, "periodic_checkpoint has no effect without checkpoint = true");
    }
    return rc != 0 ? rc : check_destination(making, wanted, err);
}

const char *checkpoint_need(const struct ad *ad)
{
    return ad_bool_or(ad, "WantCheckpoint", false)
               ? "TARGET.HasCheckpointing && (MY.CkptArch =?= undefined || MY.CkptAnywhere =?= "
                 "true || "
                 "(MY.CkptArch == TARGET.Arch && MY.CkptOpSys == TARGET.OpSys && "
                 "stringListSubsetMatch(MY.CkptFeatures,TARGET.CkptFeatures)))"
               : NULL;
}

/* ---- remote system calls --------------------------------------------------------------------- */

static int set_root(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "remote_root", "RemoteRoot", &value, err);
    if (rc == 0 && value != NULL) {
        const char *root = making_unquote(value);
        rc = check_directory(making, "remote_root", root, err);
        if (rc == 0) {
            ad_set_string(making->ad, "RemoteRoot", root);
        }
    }
    mem_free(value);
    return rc;
}

/* Sets remote_readonly: directories as the job sees them, below its root. */
static int set_readonly(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "remote_readonly", "RemoteReadonly", &value, err);
    if (rc != 0 || value == NULL) {
        return rc;
    }
    struct vec parts = {0};
    struct strbuf text, path;
    strbuf_init(&text, 0);
    strbuf_init(&path, 0);
    making_split(making_unquote(value), ", \t", &parts);
    const char *root = ad_string_or(making->ad, "RemoteRoot", "/");
    if (parts.count > READONLY_MAX) {
        rc = making_refuse(making, err, "remote_readonly names more than %d directories",
                           READONLY_MAX);
    }
    for (size_t i = 0; i < parts.count && rc == 0; i++) {
        const char *part = parts.items[i];
        strbuf_clear(&path);
        strbuf_printf(&path, "%s%s", strcmp(root, "/") == 0 || part[0] != '/' ? "" : root, part);
        rc = check_directory(making, "remote_readonly", strbuf_text(&path), err);
    }
    if (rc == 0) {
        making_join(&parts, &text);
        ad_set_string(making->ad, "RemoteReadonly", strbuf_text(&text));
    }
    strbuf_fini(&path);
    strbuf_fini(&text);
    vec_fini(&parts, mem_free);
    mem_free(value);
    return rc;
}

/* Returns the path on this machine of what the job sees as `name`, relative to its initial
 * directory. */
static char *real_path(const struct submit_making *making, const char *name)
{
    const char *root = ad_string_or(making->ad, "RemoteRoot", "");
    if (name[0] != '/') {
        return making_path(ad_string_or(making->ad, "Iwd", "/"), name);
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s%s", strcmp(root, "/") == 0 ? "" : root, name);
    return strbuf_take(&text);
}

static int look_at_given(struct submit_making *making, const char *name, struct err *err)
{
    struct err why = {{0}};
    const char *root = ad_string_or(making->ad, "RemoteRoot", "");
    char *path = real_path(making, name);
    size_t length = strlen(root);
    int rc = 0;
    while (length > 0 && root[length - 1] == '/') {
        length--;
    }
    if (length > 0 &&
        (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))) {
        rc = making_refuse(making, err, "remote_write: %.200s is not below remote_root", name);
    } else if (making->place->look != NULL &&
               making->place->look(making->place->arg, SUBMIT_LOOK_GIVEN, path, NULL, &why) != 0) {
        rc = making_refuse(making, err, "remote_write: %.300s", why.text);
    }
    mem_free(path);
    return rc;
}

/* Sets remote_write: directories as the job sees them, or below its initial directory. */
static int set_write(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "remote_write", "RemoteWrite", &value, err);
    if (rc != 0 || value == NULL) {
        return rc;
    }
    struct vec places = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    making_split(making_unquote(value), ", \t", &places);
    if (places.count > WRITE_MAX) {
        rc = making_refuse(making, err, "remote_write names more than %d directories", WRITE_MAX);
    }
    for (size_t i = 0; i < places.count && rc == 0; i++) {
        rc = look_at_given(making, places.items[i], err);
    }
    if (rc == 0) {
        making_join(&places, &text);
        ad_set_string(making->ad, "RemoteWrite", strbuf_text(&text));
    }
    strbuf_fini(&text);
    vec_fini(&places, mem_free);
    mem_free(value);
    return rc;
}

/* Warns, once, of a job whose initial directory is the home: it may not write there, and most
 * programs write into the directory where they start. */
static void warn_of_home(const struct submit_making *making)
{
    const char *iwd = ad_string_or(making->ad, "Iwd", "/");
    int64_t is_home = 0;
    if (making->is_first && making->universe == UNIVERSE_STANDARD && making->place->look != NULL &&
        making->place->look(making->place->arg, SUBMIT_LOOK_HOME, iwd, &is_home, NULL) == 0 &&
        is_home != 0) {
        making_warn(making, "initialdir is the home directory or above it: the job can write only "
                            "to its output files and to the directories in remote_write");
    }
}

/* Checks the commands about remote system calls, which are for jobs of the standard universe
 * only. */
static int check_remote(struct submit_making *making, struct err *err)
{
    static const char *const OF_STANDARD[][2] = {{"remote_root", "RemoteRoot"},
                                                 {"remote_readonly", "RemoteReadonly"},
                                                 {"remote_write", "RemoteWrite"},
                                                 {"allow_network", "AllowNetwork"}};
    for (size_t i = 0; i < ARRAY_COUNT(OF_STANDARD); i++) {
        if (making->universe != UNIVERSE_STANDARD && ad_has(making->ad, OF_STANDARD[i][1])) {
            char *value;
            int rc = making_value(making, OF_STANDARD[i][0], OF_STANDARD[i][1], &value, err);
            mem_free(value); /* asked for its line */
            return rc != 0 ? rc
                           : making_refuse(making, err, "%s is for jobs with universe = standard",
                                           OF_STANDARD[i][0]);
        }
    }
    return 0;
}

int checkpoint_set(struct submit_making *making, struct err *err)
{
    int rc = set_wanted(making, err);
    rc = rc != 0 ? rc : set_root(making, err);
    rc = rc != 0 ? rc : set_readonly(making, err);
    rc = rc != 0 ? rc : set_write(making, err);
    if (rc == 0) {
        warn_of_home(making);
    }
    return rc != 0 ? rc : check_remote(making, err);
}
