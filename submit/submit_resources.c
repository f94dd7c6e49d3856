/* submit/submit_resources.c - request_cpus and the other requests, and the sizes that are measured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"
#include "submit/submit_command.h"
#include "submit/submit_making.h"

#define KIB  ((int64_t)1 << 10)
#define MIB  ((int64_t)1 << 20)
#define DISK "MAX({ 1024, (TransferInputSizeMB + 1) * 1.25 }) * 1024"

/* Sets a request.  unit: bytes of one unit of it; 0: not an amount of bytes.  The value "undefined"
 * means no request. */
static int set_request(struct submit_making *making, const char *command, const char *attribute,
                       int64_t unit, const char *otherwise, struct err *err)
{
    char *value;
    int64_t amount;
    int rc = making_value(making, command, attribute, &value, err);
    if (rc != 0) {
        return rc;
    }
    const char *text = value != NULL                   ? value
                       : ad_has(making->ad, attribute) ? NULL /* the first job's */
                                                       : otherwise;
    if (text == NULL || text_equal_nocase(text, "undefined")) {
        /* not asked for */
    } else if (unit > 0 && making_amount(text, unit, &amount)) {
        if (amount < 0 && making->place->obeyed_only) {
            rc = making_refuse(making, err, "%s = %.100s: cannot be negative", command, text);
        }
        ad_set_int(making->ad, attribute, amount);
    } else {
        rc = making_expr(making, attribute, text, err);
    }
    mem_free(value);
    return rc;
}

/* Sets require_gpus, and limits for the properties of GPUs. */
static int set_gpus(struct submit_making *making, struct err *err)
{
    static const char *const LIMITS[][2] = {{"require_gpus", "RequireGPUs"},
                                            {"gpus_minimum_capability", "GPUsMinCapability"},
                                            {"gpus_maximum_capability", "GPUsMaxCapability"}};
    int rc = set_request(making, "request_gpus", "RequestGPUs", 0,
                         making_site(making, "JOB_DEFAULT_REQUESTGPUS", NULL), err);
    if (rc != 0 || !ad_has(making->ad, "RequestGPUs")) {
        return rc;
    }
    for (size_t i = 0; i < sizeof LIMITS / sizeof LIMITS[0] && rc == 0; i++) {
        rc = making_expr_of(making, LIMITS[i][0], LIMITS[i][1], err);
    }
    rc = rc != 0 ? rc : set_request(making, "gpus_minimum_memory", "GPUsMinMemory", MIB, NULL, err);
    char *value = NULL;
    rc = rc != 0 ? rc : making_value(making, "gpus_minimum_runtime", "GPUsMinRuntime", &value, err);
    unsigned major = 0, minor = 0;
    int length = 0;
    if (rc == 0 && value != NULL &&
        ((sscanf(value, "%4u.%2u%n", &major, &minor, &length) == 2 && value[length] == '\0') ||
         (minor = 0, sscanf(value, "%6u%n", &major, &length) == 1 && value[length] == '\0'))) {
        ad_set_int(making->ad, "GPUsMinRuntime",
                   major > 1000 ? (int64_t)major : (int64_t)major * 1000 + (int64_t)minor * 10);
    } else if (rc == 0 && value != NULL) {
        rc = making_expr(making, "GPUsMinRuntime", value, err);
    }
    mem_free(value);
    return rc;
}

/* Sets a request for a resource that the site has named, such as request_widgets. */
static int set_custom(struct submit_making *making, const char *name, struct err *err)
{
    static const char *const OURS[] = {"cpus", "memory", "disk", "gpus"};
    const char *tag = name + strlen("request_");
    struct strbuf attribute;
    for (size_t i = 0; i < sizeof OURS / sizeof OURS[0]; i++) {
        if (text_equal_nocase(tag, OURS[i])) {
            return 0;
        }
    }
    if (text_equal_nocase(tag, "cpu") || text_equal_nocase(tag, "gpu")) {
        if (making->is_first) {
            making_warn(making, "%s is not a valid submit keyword, did you mean %ss?", name, name);
        }
        return 0;
    }
    if (text_equal_nocase(tag, "gpu_memory") || text_equal_nocase(tag, "gpus_memory")) {
        if (making->is_first) {
            making_warn(making, "%s is not a submit command, did you mean gpus_minimum_memory?",
                        name);
        }
        return 0;
    }
    if (strlen(tag) < 2 || tag[0] == '_') {
        return 0;
    }
    char *value;
    const char *meant = making->is_first ? command_nearest(name) : NULL;
    if (meant != NULL && text_glob("request_*", meant, true)) {
        making_warn(making, "%s requests a resource called '%s'; did you mean %s?", name, tag,
                    meant);
    }
    strbuf_init(&attribute, 0);
    strbuf_printf(&attribute, "Request%s", tag);
    int rc = making_value(making, name, NULL, &value, err);
    if (rc == 0 && value != NULL && !ad_name_is_valid(strbuf_text(&attribute))) {
        rc = making_refuse(making, err, "'%.100s' is not a valid resource name", tag);
    } else if (rc == 0 && value != NULL) {
        rc = making_expr(making, strbuf_text(&attribute), value, err);
    }
    strbuf_fini(&attribute);
    mem_free(value);
    return rc;
}

int resources_set(struct submit_making *making, struct err *err)
{
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    int rc = set_request(making, "request_cpus", "RequestCpus", 0,
                         making_site(making, "JOB_DEFAULT_REQUESTCPUS", "1"), err);
    rc = rc != 0 ? rc : set_gpus(making, err);
    rc = rc != 0 ? rc
                 : set_request(making, "request_disk", "RequestDisk", KIB,
                               making_site(making, "JOB_DEFAULT_REQUESTDISK", DISK), err);
    rc = rc != 0 ? rc
                 : set_request(making, "request_memory", "RequestMemory", MIB,
                               making_site(making, "JOB_DEFAULT_REQUESTMEMORY", "128"), err);
    while (rc == 0 && submit_file_walk(making->file, &at, &name, &plus, &line)) {
        if (!plus && text_glob("request_*", name, true)) {
            rc = set_custom(making, name, err);
        }
    }
    return rc;
}

/* Adds the limits to RequireGPUs, except for properties that the user's own expression mentions. */
int resources_set_properties(struct submit_making *making, struct err *err)
{
    static const struct {
        const char *limit, *property, *op;
    } LIMITS[] = {{"GPUsMinCapability", "Capability", ">="},
                  {"GPUsMaxCapability", "Capability", "<="},
                  {"GPUsMinMemory", "GlobalMemoryMb", ">="},
                  {"GPUsMinRuntime", "MaxSupportedVersion", ">="}};
    if (!ad_has(making->ad, "RequestGPUs")) {
        return 0;
    }
    const struct ad_expr *own = ad_lookup(making->ad, "RequireGPUs");
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    struct strbuf text, more;
    strbuf_init(&text, 0);
    strbuf_init(&more, 0);
    if (own != NULL) {
        ad_refs(own, NULL, names, NULL);
        ad_expr_print(own, AD_OLD, &text);
    }
    for (size_t i = 0; i < sizeof LIMITS / sizeof LIMITS[0]; i++) {
        if (ad_has(making->ad, LIMITS[i].limit) && strmap_get(names, LIMITS[i].property) == NULL) {
            strbuf_printf(&more, "%s%s %s %s", more.length > 0 ? " && " : "", LIMITS[i].property,
                          LIMITS[i].op, LIMITS[i].limit);
        }
    }
    int rc = 0;
    if (more.length > 0) {
        struct strbuf all;
        strbuf_init(&all, 0);
        strbuf_printf(&all,
                      own == NULL                                 ? "%s%s"
                      : making_is_loose(strbuf_text(&text), "&&") ? "(%s) && %s"
                                                                  : "%s && %s",
                      strbuf_text(&text), strbuf_text(&more));
        rc = making_expr(making, "RequireGPUs", strbuf_text(&all), err);
        strbuf_fini(&all);
    }
    strbuf_fini(&text);
    strbuf_fini(&more);
    strmap_destroy(names, NULL);
    return rc;
}

/* ExecutableSize is measured once, for the first job. */
int resources_set_sizes(struct submit_making *making, struct err *err)
{
    char *value;
    int64_t size = 0;
    if (making->is_first) {
        const char *cmd = ad_string_or(making->ad, "Cmd", "");
        char *path = making_path(ad_string_or(making->ad, "Iwd", "/"), cmd);
        ad_set_int(making->ad, "ExecutableSize",
                   cmd[0] != '\0' ? making_size_kib(making, path) : 0);
        mem_free(path);
    }
    int rc = making_value(making, "image_size", "ImageSize", &value, err);
    if (rc == 0 && value != NULL) {
        if (!making_amount(value, KIB, &size)) {
            rc = making_refuse(making, err, "'%.100s' is not valid for Image Size", value);
        } else if (size < 1) {
            rc = making_refuse(making, err, "Image Size must be positive");
        }
        ad_set_int(making->ad, "ImageSize", size);
    } else if (rc == 0 && !ad_has(making->ad, "ImageSize")) {
        ad_set_int(making->ad, "ImageSize", ad_int_or(making->ad, "ExecutableSize", 0));
    }
    mem_free(value);
    return rc;
}
