/* shadow/transfer_plan.c - see transfer_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/transfer_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"

#define NOTHING "/dev/null"

bool transfer_plan_is_wanted(const struct ad *job)
{
    return !text_equal_nocase(ad_string_or(job, "ShouldTransferFiles", "YES"), "NO");
}

static bool is_url(const char *path)
{
    const char *colon = strstr(path, "://");
    return colon != NULL && colon != path && memchr(path, '/', (size_t)(colon - path)) == NULL;
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static char *absolute(const struct ad *job, const char *path)
{
    if (path[0] == '/') {
        return mem_strdup(path);
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s/%s", ad_string_or(job, "Iwd", "/"), path);
    return strbuf_take(&text);
}

static bool is_plain(const char *name)
{
    return name[0] != '\0' && strlen(name) <= TRANSFER_NAME_MAX && strchr(name, '/') == NULL &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* ---- lists: items between separators, blanks around them removed -------------------------------
 */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char *trimmed(const char *from, const char *to)
{
    while (from < to && is_blank(*from)) {
        from++;
    }
    while (to > from && is_blank(to[-1])) {
        to--;
    }
    return mem_strndup(from, (size_t)(to - from));
}

/* The next item of *at, or NULL at the end. */
static char *next_item(const char **at, char separator)
{
    if (*at == NULL) {
        return NULL;
    }
    const char *end = strchr(*at, separator);
    const char *stop = end != NULL ? end : *at + strlen(*at);
    char *item = trimmed(*at, stop);
    *at = end != NULL ? end + 1 : NULL;
    return item;
}

/* ---- input ----------------------------------------------------------------------------------- */

void transfer_input_destroy(void *value)
{
    struct transfer_input *input = value;
    if (input != NULL) {
        mem_free(input->path);
        mem_free(input->name);
        mem_free(input);
    }
}

static int add_input(const struct ad *job, const char *path, const char *name, bool executable,
                     struct vec *inputs, struct err *err)
{
    if (is_url(path)) {
        return err_set(err, -ENOTSUP, "input '%s': URLs are not transferred yet", path);
    }
    if (path[0] == '\0' || !is_plain(name)) {
        return err_set(err, -ENOTSUP, "input '%s' names a directory's contents or no file", path);
    }
    char *full = absolute(job, path);
    for (size_t i = 0; i < inputs->count; i++) {
        const struct transfer_input *other = inputs->items[i];
        if (strcmp(other->name, name) != 0) {
            continue;
        }
        bool same = strcmp(other->path, full) == 0;
        int result = same ? 0
                          : err_set(err, -EINVAL,
                                    "inputs '%s' and '%s' would have one name in the "
                                    "sandbox",
                                    other->path, full);
        mem_free(full);
        return result;
    }
    if (inputs->count >= TRANSFER_FILES_MAX) {
        mem_free(full);
        return err_set(err, -E2BIG, "more than %d input files", TRANSFER_FILES_MAX);
    }
    struct transfer_input *input = mem_zalloc(sizeof(*input));
    input->path = full;
    input->name = mem_strdup(name);
    input->is_executable = executable;
    vec_push(inputs, input);
    return 0;
}

static bool sends_executable(const struct ad *job)
{
    return ad_bool_or(job, "TransferExecutable", true);
}

int transfer_plan_inputs(const struct ad *job, struct vec *inputs, struct err *err)
{
    if (!transfer_plan_is_wanted(job)) {
        return 0;
    }
    int result = 0;
    if (sends_executable(job)) {
        result =
            add_input(job, ad_string_or(job, "Cmd", ""), TRANSFER_EXECUTABLE, true, inputs, err);
    }
    const char *in = ad_string_or(job, "In", "");
    if (result == 0 && in[0] != '\0' && strcmp(in, NOTHING) != 0) {
        result = add_input(job, in, last_component(in), false, inputs, err);
    }
    const char *at = ad_string_or(job, "TransferInput", "");
    char *item = NULL;
    while (result == 0 && (item = next_item(&at, ',')) != NULL) {
        if (item[0] != '\0') {
            result = add_input(job, item, last_component(item), false, inputs, err);
        }
        mem_free(item);
    }
    return result;
}

/* ---- the ad in the sandbox ---------------------------------------------------------------------
 */

static bool is_nothing(const char *path)
{
    return path[0] == '\0' || strcmp(path, NOTHING) == 0;
}

struct ad *transfer_plan_sandbox_ad(const struct ad *job)
{
    struct ad *ad = ad_copy(job);
    if (!transfer_plan_is_wanted(job)) {
        return ad;
    }
    if (sends_executable(job)) {
        ad_set_string(ad, "Cmd", TRANSFER_EXECUTABLE);
    }
    const char *in = ad_string_or(job, "In", "");
    if (!is_nothing(in)) {
        ad_set_string(ad, "In", last_component(in));
    }
    const char *out = ad_string_or(job, "Out", "");
    const char *error = ad_string_or(job, "Err", "");
    char *full_out = absolute(job, out);
    char *full_error = absolute(job, error);
    bool one_file = strcmp(full_out, full_error) == 0;
    mem_free(full_out);
    mem_free(full_error);
    ad_set_string(ad, "Out", is_nothing(out) ? NOTHING : TRANSFER_STDOUT);
    if (is_nothing(error)) {
        ad_set_string(ad, "Err", NOTHING);
    } else {
        ad_set_string(ad, "Err", one_file ? TRANSFER_STDOUT : TRANSFER_STDERR);
    }
    return ad;
}

/* ---- output ------------------------------------------------------------------------------------
 */

static bool is_listed(const struct ad *job, const char *name)
{
    const char *at = ad_string_or(job, "TransferOutput", "");
    char *item = NULL;
    bool found = false;
    while (!found && (item = next_item(&at, ',')) != NULL) {
        found = item[0] != '\0' && strcmp(last_component(item), name) == 0;
        mem_free(item);
    }
    return found;
}

/* The new name by TransferOutputRemaps ("a = b; c = d"), or NULL; owned by the caller. */
static char *remapped(const struct ad *job, const char *name)
{
    const char *at = ad_string_or(job, "TransferOutputRemaps", "");
    char *item = NULL;
    char *found = NULL;
    while (found == NULL && (item = next_item(&at, ';')) != NULL) {
        const char *equals = strchr(item, '=');
        if (equals != NULL) {
            char *old = trimmed(item, equals);
            if (strcmp(old, name) == 0 || strcmp(last_component(old), name) == 0) {
                found = trimmed(equals + 1, equals + strlen(equals));
            }
            mem_free(old);
        }
        mem_free(item);
    }
    return found;
}

static int standard_stream(const struct ad *job, const char *attribute, char **ret, struct err *err)
{
    const char *path = ad_string_or(job, attribute, "");
    if (is_url(path)) {
        return err_set(err, -ENOTSUP, "%s '%s': URLs are not transferred yet", attribute, path);
    }
    *ret = is_nothing(path) ? NULL : absolute(job, path);
    return 0;
}

int transfer_plan_output(const struct ad *job, const char *name, char **ret, struct err *err)
{
    if (!is_plain(name) || !transfer_plan_is_wanted(job)) {
        return err_set(err, -EPERM, "'%.100s' is no name of an output file", name);
    }
    if (strcmp(name, TRANSFER_STDOUT) == 0) {
        return standard_stream(job, "Out", ret, err);
    }
    if (strcmp(name, TRANSFER_STDERR) == 0) {
        return standard_stream(job, "Err", ret, err);
    }
    if (strncmp(name, "_condor_", 8) == 0 ||
        (ad_has(job, "TransferOutput") && !is_listed(job, name))) {
        return err_set(err, -EPERM, "the job may not produce a file '%.100s'", name);
    }
    char *new_name = remapped(job, name);
    if (new_name != NULL && (is_url(new_name) || new_name[0] == '\0')) {
        int result = err_set(err, -ENOTSUP, "output '%s' cannot go to '%s'", name, new_name);
        mem_free(new_name);
        return result;
    }
    *ret = absolute(job, new_name != NULL ? new_name : name);
    mem_free(new_name);
    if (strcmp(*ret, NOTHING) == 0) {
        mem_free(*ret);
        *ret = NULL;
    }
    return 0;
}
