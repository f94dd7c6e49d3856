/* submit/submit_universe.c - the universe, the program, the container image.
 *
 * Docker and container jobs are vanilla jobs with an image.  An image that is a file or a directory
 * is transferred with the input; an image in a registry keeps its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_making.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_job.h"

static const struct {
    const char *name;
    int64_t number;
} UNIVERSES[] = {
    {"standard", UNIVERSE_STANDARD},   {"vanilla", UNIVERSE_VANILLA},
    {"scheduler", UNIVERSE_SCHEDULER}, {"mpi", UNIVERSE_MPI},
    {"grid", UNIVERSE_GRID},           {"globus", UNIVERSE_GRID},
    {"java", UNIVERSE_JAVA},           {"parallel", UNIVERSE_PARALLEL},
    {"local", UNIVERSE_LOCAL},         {"vm", UNIVERSE_VM},
};

/* Returns the number of a universe; 0: unknown. */
static int64_t universe_number(const char *text)
{
    int64_t number = 0;
    if (text_parse_int64(text, &number, NULL) == 0) {
        for (size_t i = 0; i < ARRAY_COUNT(UNIVERSES); i++) {
            if (UNIVERSES[i].number == number) {
                return number;
            }
        }
        return 0;
    }
    for (size_t i = 0; i < ARRAY_COUNT(UNIVERSES); i++) {
        if (text_equal_nocase(UNIVERSES[i].name, text)) {
            return UNIVERSES[i].number;
        }
    }
    return 0;
}

static int judge_universe(struct submit_making *making, const char *name, struct err *err)
{
    making->is_docker = text_equal_nocase(name, "docker");
    making->is_container = text_equal_nocase(name, "container");
    making->universe = making->is_docker || making->is_container ? (int64_t)UNIVERSE_VANILLA
                                                                 : universe_number(name);
    if (making->universe == 0) {
        return making_refuse(making, err, "I don't know about the '%.100s' universe.", name);
    }
    if (making->universe == UNIVERSE_MPI || making->universe == UNIVERSE_GRID ||
        making->universe == UNIVERSE_JAVA || making->universe == UNIVERSE_VM) {
        return making_refuse(making, err, "'%.100s' is not a supported universe.", name);
    }
    if (making->place->obeyed_only &&
        (!making_is_for_machines(making) || making->is_docker || making->is_container)) {
        return making_refuse(making, err,
                             "universe = %.100s: only vanilla and standard are run here", name);
    }
    return 0;
}

/* Reads the images.  A job with an image becomes a container job. */
static int judge_images(struct submit_making *making, struct err *err)
{
    char *docker = NULL, *container = NULL;
    int rc = making_value(making, "docker_image", "DockerImage", &docker, err);
    rc = rc != 0 ? rc : making_value(making, "container_image", "ContainerImage", &container, err);
    if (rc == 0 && making->is_docker && container != NULL) {
        rc = making_refuse(making, err, "docker universe does not allow use of container_image.");
    } else if (rc == 0 && docker != NULL && container != NULL) {
        rc = making_refuse(making, err, "cannot declare both docker_image and container_image");
    } else if (rc == 0 && !making->is_docker && (docker != NULL || container != NULL)) {
        making->is_container = true;
        if (docker != NULL) {
            ad_set_bool(making->ad, "WantDockerImage", true);
        }
    }
    mem_free(docker);
    mem_free(container);
    return rc;
}

int universe_set(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "universe", "JobUniverse", &value, err);
    if (rc == 0) {
        rc = judge_universe(making,
                            value != NULL ? value
                                          : making_site(making, "DEFAULT_UNIVERSE", "vanilla"),
                            err);
    }
    mem_free(value);
    if (rc == 0 && (making_is_for_machines(making) || making->universe == UNIVERSE_LOCAL)) {
        rc = judge_images(making, err);
    }
    if (rc == 0) {
        ad_set_int(making->ad, "JobUniverse", making->universe);
    }
    if (rc == 0 && making->is_docker) {
        ad_set_bool(making->ad, "WantDocker", true);
    }
    if (rc == 0 && making->is_container) {
        ad_set_bool(making->ad, "WantContainer", true);
    }
    return rc;
}

/* ---- images ----------------------------------------------------------------------------------
 */

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), end = strlen(suffix);
    return length >= end && strcmp(text + length - end, suffix) == 0;
}

const char *universe_image_need(const struct ad *ad)
{
    const char *image = ad_string_or(ad, "ContainerImage", NULL);
    if (ad_has(ad, "DockerImage") || (image != NULL && begins_with(image, "docker:"))) {
        return "HasDockerURL";
    }
    return image == NULL ? NULL : ends_with(image, ".sif") ? "HasSIF" : "HasSandboxImage";
}

static int set_docker_image(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "docker_image", "DockerImage", &value, err);
    if (rc == 0 && value != NULL) {
        const char *image = making_unquote(value);
        if (image[0] == '\0') {
            rc = making_refuse(making, err, "'' is not a valid docker_image");
        } else {
            ad_set_string(making->ad, "DockerImage", image);
        }
    }
    mem_free(value);
    return rc;
}

static int set_container_image(struct submit_making *making, struct err *err)
{
    static const char *const UNKNOWN[] = {"instance://", "library://", "shub://"};
    char *value;
    int rc = making_value(making, "container_image", "ContainerImage", &value, err);
    if (rc == 0 && value != NULL) {
        const char *image = making_unquote(value);
        bool valid = image[0] != '\0';
        for (size_t i = 0; i < ARRAY_COUNT(UNKNOWN); i++) {
            valid = valid && !begins_with(image, UNKNOWN[i]);
        }
        if (!valid) {
            rc = making_refuse(making, err, "'%.200s' is not a valid container image", image);
        } else {
            ad_set_string(making->ad, "ContainerImage", image);
            ad_set_bool(making->ad,
                        begins_with(image, "docker:") ? "WantDockerImage"
                        : ends_with(image, ".sif")    ? "WantSIF"
                                                      : "WantSandboxImage",
                        true);
        }
    }
    mem_free(value);
    return rc;
}

static int set_images(struct submit_making *making, struct err *err)
{
    int rc = making->is_docker || making->is_container ? set_docker_image(making, err) : 0;
    if (rc == 0 && making->is_docker && !ad_has(making->ad, "DockerImage")) {
        making->line = 0;
        rc = making_refuse(making, err, "docker jobs require a docker_image");
    }
    if (rc == 0 && making->is_container) {
        rc = set_container_image(making, err);
        if (rc == 0 && !ad_has(making->ad, "DockerImage") &&
            !ad_has(making->ad, "ContainerImage")) {
            making->line = 0;
            rc = making_refuse(making, err,
                               "container jobs require a container_image or docker_image");
        }
    }
    return rc;
}

/* ---- executable ------------------------------------------------------------------------------
 */

/* Sets Cmd.  name: as written; NULL: the program in the container. */
static int set_program(struct submit_making *making, const char *name, const char *transfer,
                       struct err *err)
{
    unsigned line = making->line;
    bool in_image = making->is_docker || making->is_container;
    bool sent = name != NULL;
    if (transfer != NULL && (transfer[0] == 'f' || transfer[0] == 'F')) {
        sent = false;
    } else if (transfer == NULL && in_image && name != NULL && name[0] == '/') {
        sent = false;
    } else if (transfer != NULL && making->place->obeyed_only) {
        bool truth;
        if (!making_bool(transfer, &truth)) {
            return making_refuse(making, err,
                                 "transfer_executable=%.100s is invalid, must eval to a boolean.",
                                 transfer);
        }
    }
    if (!sent) {
        ad_set_bool(making->ad, "TransferExecutable", false);
    } else if (transfer != NULL && making->place->obeyed_only) {
        ad_set_bool(making->ad, "TransferExecutable", true);
    }
    char *path =
        sent ? making_path(making->place->cwd, name) : mem_strdup(name != NULL ? name : "");
    ad_set_string(making->ad, "Cmd", path);
    int rc = 0;
    struct err why = {{0}};
    making->line = line;
    if (sent && making->place->look != NULL && strstr(name, "$$") == NULL &&
        making->place->look(making->place->arg, SUBMIT_LOOK_EXECUTABLE, path, NULL, &why) != 0) {
        rc = making_refuse(making, err, "Can't access executable file %.200s", why.text);
    }
    int64_t wrapped = 0;
    if (rc == 0 && sent && making->universe == UNIVERSE_STANDARD && making->place->look != NULL &&
        making->place->look(making->place->arg, SUBMIT_LOOK_WRAPPED, path, &wrapped, NULL) == 0 &&
        wrapped != 0) {
        ad_set_bool(making->ad, "RemoteWrapped", true);
    }
    mem_free(path);
    return rc;
}

int universe_set_executable(struct submit_making *making, struct err *err)
{
    char *name = NULL, *transfer = NULL, *shell = NULL;
    int rc = set_images(making, err);
    rc = rc != 0 ? rc : making_value(making, "shell", NULL, &shell, err);
    rc = rc != 0
             ? rc
             : making_value(making, "transfer_executable", "TransferExecutable", &transfer, err);
    rc = rc != 0 ? rc : making_value(making, "executable", "Cmd", &name, err);
    bool in_image = making->is_docker || making->is_container;
    if (rc == 0 && shell != NULL) {
        rc = set_program(making, "/bin/sh", "false", err);
    } else if (rc == 0 && name == NULL && ad_has(making->ad, "Cmd")) {
        /* that of the first job */
    } else if (rc == 0 && name == NULL && !in_image) {
        making->line = 0;
        rc = making_refuse(making, err, "No 'executable' parameter was provided");
    } else if (rc == 0) {
        rc = set_program(making, name, transfer, err);
    }
    mem_free(name);
    mem_free(transfer);
    mem_free(shell);
    return rc;
}

/* ---- parallel --------------------------------------------------------------------------------
 */

int universe_set_parallel(struct submit_making *making, struct err *err)
{
    bool wanted = false;
    int rc = making_bool_of(making, "WantParallelScheduling", "want_parallel_scheduling", &wanted,
                            NULL, err);
    if (rc == 0 && wanted) {
        ad_set_bool(making->ad, "WantParallelScheduling", true);
    }
    if (rc != 0 || (making->universe != UNIVERSE_PARALLEL && !wanted)) {
        return rc;
    }
    char *value;
    rc = making_value(making, "machine_count", "MachineCount", &value, err);
    if (rc == 0 && value == NULL) {
        rc = making_value(making, "node_count", "NodeCount", &value, err);
    }
    int64_t count = 0;
    if (rc == 0 && value == NULL && !ad_has(making->ad, "MaxHosts")) {
        making->line = 0;
        rc = making_refuse(making, err, "No machine_count specified!");
    } else if (rc == 0 && value != NULL && !making_int(value, &count)) {
        rc = making_refuse(making, err, "machine_count=%.100s is invalid, must eval to an integer.",
                           value);
    } else if (rc == 0 && value != NULL) {
        ad_set_int(making->ad, "MinHosts", count);
        ad_set_int(making->ad, "MaxHosts", count);
    }
    if (rc == 0 && making->is_first) {
        ad_set_int(making->ad, "RequestCpus", 1);
    }
    if (rc == 0 && making->universe == UNIVERSE_PARALLEL) {
        ad_set_bool(making->ad, "WantIOProxy", true);
        ad_set_bool(making->ad, "JobRequiresSandbox", true);
    }
    mem_free(value);
    return rc;
}
