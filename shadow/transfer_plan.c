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
#include "shadow/remote_plan.h"
#include "transfer/transfer_dest.h"
#include "transfer/transfer_names.h"
#include "wire/checkpoint_attrs.h"

#define NOTHING "/dev/null"

bool transfer_plan_is_wanted(const struct ad *job)
{
    return !remote_plan_is_wanted(job) &&
           !text_equal_nocase(ad_string_or(job, "ShouldTransferFiles", "YES"), "NO");
}

void transfer_plan_settle(struct ad *job, const char *machine_domain)
{
    const char *own = ad_string_or(job, "FileSystemDomain", "");
    if (!text_equal_nocase(ad_string_or(job, "ShouldTransferFiles", "YES"), "IF_NEEDED")) {
        return;
    }
    /* What it wrote elsewhere would not go back to the moment of its checkpoint. */
    bool shared = !ad_bool_or(job, CKPT_WANTED, false) && machine_domain != NULL &&
                  own[0] != '\0' && text_equal_nocase(own, machine_domain);
    ad_set_string(job, "ShouldTransferFiles", shared ? "NO" : "YES");
}

int64_t transfer_plan_limit(const struct ad *job, const char *attribute, int64_t site_mb)
{
    struct ad_value value;
    int64_t mb = site_mb;
    (void)ad_eval_attr(job, NULL, attribute, NULL, &value); /* absent: undefined */
    if (value.type == AD_TYPE_INT) {
        mb = value.integer;
    } else if (value.type == AD_TYPE_REAL && value.real < 1e12) {
        mb = (int64_t)value.real;
    }
    ad_value_fini(&value);
    return mb < 0 || mb > INT64_MAX >> 20 ? -1 : mb << 20;
}

static char *join_path(const char *directory, const char *name)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s%s%s", directory, directory[0] != '\0' && name[0] != '\0' ? "/" : "",
                  name);
    return strbuf_take(&text);
}

static char *absolute_path(const struct ad *job, const char *path)
{
    return path[0] == '/' ? mem_strdup(path) : join_path(ad_string_or(job, "Iwd", "/"), path);
}

static bool is_nothing(const char *path)
{
    return path[0] == '\0' || strcmp(path, NOTHING) == 0;
}

static bool keeps_paths(const struct ad *job)
{
    return ad_bool_or(job, "PreserveRelativePaths", false);
}

static bool ends_with_slash(const char *path)
{
    size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/';
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

/* Adds an input.  Takes over path and name. */
static int add_input(char *path, char *name, bool contents, bool executable, struct vec *inputs,
                     struct err *err)
{
    bool is_url = transfer_is_url(path);
    int result = 0;
    if (name == NULL || (name[0] == '\0' && !contents) ||
        (name[0] != '\0' && !transfer_path_is_safe(name))) {
        result = err_set(err, -EINVAL, "input '%s' is not a valid file name in a sandbox", path);
    }
    for (size_t i = 0; i < inputs->count && result == 0 && name[0] != '\0'; i++) {
        const struct transfer_input *other = inputs->items[i];
        if (strcmp(other->name, name) != 0 || contents || other->is_contents) {
            continue;
        }
        if (strcmp(other->path, path) != 0) {
            result = err_set(err, -EINVAL,
                             "inputs '%s' and '%s' would have the same name in the sandbox",
                             other->path, path);
            break;
        }
        mem_free(path);
        mem_free(name);
        return 0;
    }
    if (result == 0 && inputs->count >= TRANSFER_FILES_MAX) {
        result = err_set(err, -E2BIG, "more than %d inputs", TRANSFER_FILES_MAX);
    }
    if (result != 0) {
        mem_free(path);
        mem_free(name);
        return result;
    }
    struct transfer_input *input = mem_zalloc(sizeof(*input));
    input->path = path;
    input->name = name;
    input->is_contents = contents;
    input->is_executable = executable;
    input->is_url = is_url;
    vec_push(inputs, input);
    return 0;
}

/* Returns the file name in a URL: "http://host/data/x.csv?v=2#top" gives "x.csv". */
static char *url_name(const char *url)
{
    const char *path = strstr(url, "://") + 3;
    size_t length = strcspn(path, "?#");
    while (length > 0 && path[length - 1] == '/') {
        length--;
    }
    size_t begin = length;
    while (begin > 0 && path[begin - 1] != '/') {
        begin--;
    }
    return mem_strndup(path + begin, length - begin);
}

static int add_listed(const struct ad *job, const char *item, struct vec *inputs, struct err *err)
{
    if (transfer_is_url(item)) {
        return add_input(mem_strdup(item), url_name(item), false, false, inputs, err);
    }
    bool contents = ends_with_slash(item);
    bool whole = keeps_paths(job) && item[0] != '/';
    char *name;
    if (whole) {
        name = transfer_path_clean(item);
        name = name == NULL && contents && strstr(item, "..") == NULL ? mem_strdup("") : name;
    } else {
        name = mem_strdup(contents ? "" : transfer_last_name(item));
    }
    return add_input(absolute_path(job, item), name, contents, false, inputs, err);
}

static bool sends_executable(const struct ad *job)
{
    return ad_bool_or(job, "TransferExecutable", true);
}

/* Returns whether the file of In, Out or Err is transferred.  Otherwise its path is one of the
 * machine's. */
static bool sends_stream(const struct ad *job, const char *attribute, const char *transfer)
{
    return !is_nothing(ad_string_or(job, attribute, "")) && ad_bool_or(job, transfer, true);
}

int transfer_plan_inputs(const struct ad *job, struct vec *inputs, struct err *err)
{
    if (!transfer_plan_is_wanted(job)) {
        return 0;
    }
    int result = 0;
    const char *program = ad_string_or(job, "Cmd", "");
    if (sends_executable(job) && program[0] == '\0') {
        return err_set(err, -EINVAL, "the job names no program");
    }
    if (sends_executable(job)) {
        char *path = transfer_is_url(program) ? mem_strdup(program) : absolute_path(job, program);
        result = add_input(path, mem_strdup(TRANSFER_EXECUTABLE), false, true, inputs, err);
    }
    if (result == 0 && sends_stream(job, "In", "TransferIn")) {
        const char *in = ad_string_or(job, "In", "");
        result = add_input(absolute_path(job, in), mem_strdup(transfer_last_name(in)), false, false,
                           inputs, err);
    }
    const char *at = ad_string_or(job, "TransferInput", "");
    char *item = NULL;
    while (result == 0 && (item = transfer_list_next(&at, ',')) != NULL) {
        if (item[0] != '\0') {
            result = add_listed(job, item, inputs, err);
        }
        mem_free(item);
    }
    return result;
}

/* ---- the ad in the sandbox ---------------------------------------------------------------------
 */

struct ad *transfer_plan_sandbox_ad(const struct ad *job)
{
    struct ad *ad = ad_copy(job);
    if (remote_plan_is_wanted(job)) {
        remote_plan_ad(ad);
    }
    if (!transfer_plan_is_wanted(job)) {
        return ad;
    }
    if (sends_executable(job)) {
        ad_set_string(ad, "Cmd", TRANSFER_EXECUTABLE);
    }
    if (sends_stream(job, "In", "TransferIn")) {
        ad_set_string(ad, "In", transfer_last_name(ad_string_or(job, "In", "")));
    }
    const char *out = ad_string_or(job, "Out", "");
    const char *error = ad_string_or(job, "Err", "");
    bool sends_out = sends_stream(job, "Out", "TransferOut");
    bool sends_error = sends_stream(job, "Err", "TransferErr");
    char *full_out = absolute_path(job, out);
    char *full_error = absolute_path(job, error);
    bool one_file = sends_out && sends_error && strcmp(full_out, full_error) == 0;
    mem_free(full_out);
    mem_free(full_error);
    if (ad_string_or(job, "OutputDestination", "")[0] != '\0') {
        ad_set_string(ad, "OutputDestinationOut",
                      transfer_last_name(ad_string_or(job, "SUBMIT_Out", out)));
        ad_set_string(ad, "OutputDestinationErr",
                      transfer_last_name(ad_string_or(job, "SUBMIT_Err", error)));
    }
    if (sends_out || is_nothing(out)) {
        ad_set_string(ad, "Out", sends_out ? TRANSFER_STDOUT : NOTHING);
    }
    if (sends_error || is_nothing(error)) {
        ad_set_string(ad, "Err",
                      one_file      ? TRANSFER_STDOUT
                      : sends_error ? TRANSFER_STDERR
                                    : NOTHING);
    }
    return ad;
}

/* ---- output ------------------------------------------------------------------------------------
 */

void transfer_place_fini(struct transfer_place *place)
{
    mem_free(place->base);
    mem_free(place->below);
    *place = (struct transfer_place){0};
}

static int standard_stream(const struct ad *job, const char *attribute, struct transfer_place *ret,
                           struct err *err)
{
    const char *path = ad_string_or(job, attribute, "");
    if (transfer_is_url(path)) {
        return err_set(err, -ENOTSUP, "%s '%s' is a URL; a file name is expected", attribute, path);
    }
    ret->base = is_nothing(path) ? NULL : absolute_path(job, path);
    ret->below = mem_strdup("");
    return 0;
}

/* Finds the place of an output: remapped by its name for the owner, or else by its name in the
 * sandbox. */
static int place_output(const struct ad *job, const char *name, const char *dest, size_t below,
                        struct transfer_place *ret, struct err *err)
{
    const char *rest = dest + below + (dest[below] == '/' ? 1 : 0);
    char *new_name = transfer_dest_remap(job, dest, &rest);
    new_name = new_name != NULL ? new_name : transfer_dest_remap(job, name, &rest);
    if (new_name != NULL && new_name[0] == '\0') {
        int result = err_set(err, -ENOTSUP,
                             "output '%s': transfer_output_remaps gives an empty new name", name);
        mem_free(new_name);
        return result;
    }
    char *known;
    ret->is_kept = new_name == NULL && keeps_paths(job);
    if (new_name != NULL && transfer_is_url(new_name)) { /* the starter sends it there */
        mem_free(new_name);
        ret->below = mem_strdup("");
        return 0;
    }
    if (new_name == NULL) {
        known = mem_strndup(dest, below);
    } else if (ends_with_slash(new_name) && rest[0] == '\0') { /* into that directory */
        known = join_path(new_name, transfer_last_name(dest));
        mem_free(new_name);
    } else {
        known = new_name;
    }
    ret->base =
        known[0] != '\0' ? absolute_path(job, known) : mem_strdup(ad_string_or(job, "Iwd", "/"));
    ret->below = mem_strdup(rest);
    mem_free(known);
    if (strcmp(ret->base, NOTHING) == 0) {
        mem_free(ret->base);
        ret->base = NULL;
    }
    return 0;
}

int transfer_plan_output(const struct ad *job, const char *name, struct transfer_place *ret,
                         struct err *err)
{
    struct transfer_place place = {0};
    if (!transfer_path_is_safe(name) || !transfer_plan_is_wanted(job)) {
        return err_set(err, -EPERM, "'%.100s' is not a valid name of an output file", name);
    }
    int result;
    char *dest = NULL;
    size_t below = 0;
    if (strcmp(name, TRANSFER_STDOUT) == 0) {
        result = standard_stream(job, "Out", &place, err);
    } else if (strcmp(name, TRANSFER_STDERR) == 0) {
        result = standard_stream(job, "Err", &place, err);
    } else if (strncmp(name, "_condor_", 8) == 0 || !transfer_dest_find(job, name, &dest, &below)) {
        result = err_set(err, -EPERM,
                         "'%.100s' is refused: its name begins with _condor_, or it is not an "
                         "output of the job (transfer_output_files)",
                         name);
    } else {
        result = place_output(job, name, dest, below, &place, err);
    }
    mem_free(dest);
    if (result == 0) {
        *ret = place;
    }
    return result;
}

int transfer_plan_check_output(const struct ad *job, const char *name, struct err *err)
{
    struct transfer_place place = {0};
    int result = transfer_plan_output(job, name, &place, err);
    transfer_place_fini(&place);
    return result;
}
