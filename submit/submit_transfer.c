/* submit/submit_transfer.c - input, output, error, and the files that are transferred with a job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
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
#include "submit/submit_making.h"

#define NOTHING "/dev/null"

/* ---- standard streams ------------------------------------------------------------------------
 */

struct stream {
    const char *command, *alias, *attribute;
    const char *transfer, *transfer_attribute; /* transfer_output, TransferOut */
    const char *stream, *stream_attribute;
};

static const struct stream STREAMS[] = {
    {"input", "stdin", "In", "transfer_input", "TransferIn", "stream_input", "StreamIn"},
    {"output", "stdout", "Out", "transfer_output", "TransferOut", "stream_output", "StreamOut"},
    {"error", "stderr", "Err", "transfer_error", "TransferErr", "stream_error", "StreamErr"},
};

static int set_stream(struct submit_making *making, const struct stream *stream, struct err *err)
{
    char *file = NULL;
    bool inherited = ad_bool_or(making->ad, stream->transfer_attribute, true);
    bool sent = inherited;
    bool streamed = ad_bool_or(making->ad, stream->stream_attribute, false);
    int rc = making_bool_of(making, stream->transfer, stream->transfer_attribute, &sent, NULL, err);
    bool must_tell = sent != inherited;
    rc = rc != 0 ? rc
                 : making_bool_of(making, stream->stream, stream->stream_attribute, &streamed, NULL,
                                  err);
    rc = rc != 0 ? rc : making_value(making, stream->command, stream->alias, &file, err);
    if (rc == 0 && (file != NULL || !ad_has(making->ad, stream->attribute))) {
        const char *name = file != NULL ? file : NOTHING;
        sent = sent && strcmp(name, NOTHING) != 0;
        ad_set_string(making->ad, stream->attribute, name);
    }
    if (rc == 0 && sent) {
        ad_set_bool(making->ad, stream->stream_attribute, streamed);
        if (must_tell) {
            ad_set_bool(making->ad, stream->transfer_attribute, true);
        }
    } else if (rc == 0) {
        ad_set_bool(making->ad, stream->transfer_attribute, false);
    }
    mem_free(file);
    return rc;
}

int transfer_set_input(struct submit_making *making, struct err *err)
{
    return set_stream(making, &STREAMS[0], err);
}

int transfer_set_outputs(struct submit_making *making, struct err *err)
{
    int rc = 0;
    for (size_t i = 1; i < ARRAY_COUNT(STREAMS) && rc == 0; i++) {
        rc = set_stream(making, &STREAMS[i], err);
    }
    return rc;
}

/* ---- lists of files --------------------------------------------------------------------------
 */

struct files {
    struct vec in, out;
    bool out_given;     /* transfer_output_files = "" is a list, too */
    int64_t in_kib;     /* KiB of the input */
    const char *should; /* YES, NO, IF_NEEDED */
    const char *when;   /* ON_EXIT, ...; NULL: never */
    bool should_is_default;
};

static void add_input_size(struct submit_making *making, const char *name, struct files *files)
{
    char *path = making_is_url(name) ? mem_strdup(name)
                                     : making_path(ad_string_or(making->ad, "Iwd", "/"), name);
    files->in_kib += making_size_kib(making, path);
    mem_free(path);
}

/* Reads a list of files; "" in double quotes is the empty list. */
static int read_list(struct submit_making *making, const char *command, const char *alias,
                     struct vec *items, bool *is_set, struct err *err)
{
    char *value;
    int rc = making_value(making, command, alias, &value, err);
    *is_set = value != NULL;
    if (rc == 0 && value != NULL && strcmp(value, "\"\"") != 0) {
        making_split(value, ",", items);
    }
    mem_free(value);
    return rc;
}

/* Adds an image that is not in a registry as an input file; the job's ad keeps its last
 * component. */
static void add_image(struct submit_making *making, struct files *files)
{
    static const char *const KEPT[] = {"docker://", "oras://"};
    const char *image = ad_string_or(making->ad, "ContainerImage", NULL);
    if (!ad_bool_or(making->ad, "TransferContainer", true)) {
        ad_set_string(making->ad, "ContainerImageSource", "local");
        return;
    }
    if (image == NULL) {
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(KEPT); i++) {
        size_t length = strlen(KEPT[i]);
        if (strncmp(image, KEPT[i], length) == 0) {
            char *scheme = mem_strndup(KEPT[i], length - 3);
            ad_set_string(making->ad, "ContainerImageSource", scheme);
            mem_free(scheme);
            return;
        }
    }
    char *path = mem_strdup(image);
    vec_push(&files->in, mem_strdup(path));
    add_input_size(making, path, files);
    ad_set_string(making->ad, "ContainerImageFullPath", path);
    size_t length = strlen(path);
    if (length > 1 && path[length - 1] == '/') {
        path[length - 1] = '\0';
    }
    const char *slash = strrchr(path, '/'), *colon = strchr(path, ':');
    ad_set_string(making->ad, "ContainerImage", slash != NULL ? slash + 1 : path);
    char *scheme = colon != NULL ? mem_strndup(path, (size_t)(colon - path)) : mem_strdup("cedar");
    ad_set_string(making->ad, "ContainerImageSource", scheme);
    mem_free(scheme);
    mem_free(path);
}

static int read_files(struct submit_making *making, struct files *files, struct err *err)
{
    bool is_set;
    int rc =
        read_list(making, "transfer_input_files", "TransferInputFiles", &files->in, &is_set, err);
    for (size_t i = 0; i < files->in.count; i++) {
        add_input_size(making, files->in.items[i], files);
    }
    if (rc == 0 && making->is_container) {
        add_image(making, files);
    }
    if (ad_bool_or(making->ad, "TransferIn", true)) {
        add_input_size(making, ad_string_or(making->ad, "In", NOTHING), files);
    }
    return rc != 0 ? rc
                   : read_list(making, "transfer_output_files", "TransferOutputFiles", &files->out,
                               &files->out_given, err);
}

/* Returns the choice that is equal to value, in any case; NULL: none. */
static const char *choose_word(const char *value, const char *const *choices)
{
    for (size_t i = 0; choices[i] != NULL; i++) {
        if (text_equal_nocase(value, choices[i])) {
            return choices[i];
        }
    }
    return NULL;
}

static int read_should(struct submit_making *making, struct files *files, struct err *err)
{
    static const char *const CHOICES[] = {"YES", "NO", "IF_NEEDED", "TRUE", "FALSE", NULL};
    char *value;
    int rc = making_value(making, "should_transfer_files", "ShouldTransferFiles", &value, err);
    files->should_is_default = value == NULL;
    if (rc == 0 && value == NULL) {
        const char *site = making_site(making, "SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES", "");
        files->should = choose_word(ad_string_or(making->ad, "ShouldTransferFiles", site), CHOICES);
        files->should_is_default = !ad_has(making->ad, "ShouldTransferFiles");
        files->should = files->should != NULL ? files->should : "IF_NEEDED";
    } else if (rc == 0 && (files->should = choose_word(value, CHOICES)) == NULL) {
        rc = making_refuse(making, err,
                           "invalid value (%.100s) for ShouldTransferFiles. Please either specify "
                           "YES, NO, or IF_NEEDED and try again.",
                           value);
    }
    if (rc == 0 && strcmp(files->should, "TRUE") == 0) {
        files->should = "YES";
    } else if (rc == 0 && strcmp(files->should, "FALSE") == 0) {
        files->should = "NO";
    }
    mem_free(value);
    return rc;
}

static int read_when(struct submit_making *making, struct files *files, struct err *err)
{
    static const char *const CHOICES[] = {"ON_EXIT", "ON_EXIT_OR_EVICT", "ON_SUCCESS", "NEVER",
                                          NULL};
    char *value;
    int rc = making_value(making, "when_to_transfer_output", "WhenToTransferOutput", &value, err);
    const char *inherited = ad_string_or(making->ad, "WhenToTransferOutput", NULL);
    if (rc == 0 && value == NULL && inherited != NULL) {
        value = mem_strdup(inherited);
    }
    bool never = strcmp(files->should, "NO") == 0;
    files->when = value == NULL ? (never ? "NEVER" : "ON_EXIT") : choose_word(value, CHOICES);
    if (rc == 0 && files->when == NULL) {
        rc = making_refuse(making, err,
                           "invalid value (%.100s) for WhenToTransferOutput. Please either "
                           "specify ON_EXIT, ON_EXIT_OR_EVICT or ON_SUCCESS and try again.",
                           value);
    } else if (rc == 0 && never != (strcmp(files->when, "NEVER") == 0)) {
        rc = making_refuse(making, err,
                           "WhenToTransferOutput specified as %s yet ShouldTransferFiles defined "
                           "as %s. Please remove this contradiction from your submit file and try "
                           "again.",
                           files->when, files->should);
    }
    mem_free(value);
    return rc;
}

static int judge_files(struct submit_making *making, struct files *files, struct err *err)
{
    int rc = read_should(making, files, err);
    bool never = rc == 0 && strcmp(files->should, "NO") == 0;
    if (never && (files->in.count > 0 || files->out_given)) {
        return making_refuse(making, err,
                             "you specified files you want Condor to transfer via %s, but you "
                             "disabled should_transfer_files.",
                             files->in.count == 0 ? "\"transfer_output_files\""
                             : files->out_given
                                 ? "\"transfer_input_files\" and \"transfer_output_files\""
                                 : "\"transfer_input_files\"");
    }
    rc = rc != 0 ? rc : read_when(making, files, err);
    if (rc == 0 && strcmp(files->when, "ON_EXIT_OR_EVICT") == 0 &&
        strcmp(files->should, "IF_NEEDED") == 0) {
        if (files->should_is_default) {
            files->should = "YES";
        } else {
            rc = making_refuse(making, err,
                               "\"when_to_transfer_output = ON_EXIT_OR_EVICT\" and "
                               "\"should_transfer_files = IF_NEEDED\" are incompatible: the "
                               "former needs \"should_transfer_files = YES\"");
        }
    }
    bool wanted = false;
    if (rc == 0 && never) {
        rc =
            making_bool_of(making, "transfer_executable", "TransferExecutable", &wanted, NULL, err);
    }
    if (rc == 0 && wanted) {
        rc = making_refuse(making, err,
                           "You explicitly requested that the executable be transferred, but "
                           "should_transfer_files = NO");
    }
    return rc;
}

static void write_list(struct submit_making *making, const char *attribute, const struct vec *items)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    making_join(items, &text);
    ad_set_string(making->ad, attribute, strbuf_text(&text));
    strbuf_fini(&text);
}

static int set_usage(struct submit_making *making, const struct files *files, struct err *err)
{
    char *value;
    int64_t kib = ad_int_or(making->ad, "ExecutableSize", 0) + files->in_kib;
    int rc = making_value(making, "disk_usage", "DiskUsage", &value, err);
    if (rc == 0 && value != NULL && (!making_amount(value, 1024, &kib) || kib < 1)) {
        rc = making_refuse(making, err, "'%.100s' is not valid for disk_usage. It must be >= 1",
                           value);
    } else if (rc == 0 && value == NULL) {
        ad_set_int(making->ad, "TransferInputSizeMB", (kib + 1023) / 1024);
    }
    if (rc == 0) {
        ad_set_int(making->ad, "DiskUsage", kib);
    }
    mem_free(value);
    return rc;
}

static int check_remaps(struct submit_making *making, const char *value, struct err *err)
{
    struct vec items = {0};
    int rc = 0;
    making_split(value, ";", &items);
    for (size_t i = 0; i < items.count && rc == 0; i++) {
        if (strchr(items.items[i], '=') == NULL) {
            rc = making_refuse(making, err,
                               "transfer_output_remaps: '%.200s' is not of the form NAME = NEW",
                               (const char *)items.items[i]);
        }
    }
    vec_fini(&items, mem_free);
    return rc;
}

static int check_destination(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "output_destination", "OutputDestination", &value, err);
    if (rc == 0 && value != NULL && !making_is_url(value)) {
        rc = making_refuse(making, err, "output_destination: '%.200s' is not a URL", value);
    }
    mem_free(value);
    return rc;
}

static int set_remaps(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "transfer_output_remaps", "TransferOutputRemaps", &value, err);
    size_t length = value != NULL ? strlen(value) : 0;
    if (rc == 0 && value != NULL && (length < 2 || value[0] != '"' || value[length - 1] != '"')) {
        rc = making_refuse(making, err,
                           "transfer_output_remaps must be a quoted string, not: %.200s", value);
    } else if (rc == 0 && value != NULL) {
        value[length - 1] = '\0';
        rc = check_remaps(making, value + 1, err);
        if (rc == 0 && value[1] != '\0') {
            ad_set_string(making->ad, "TransferOutputRemaps", value + 1);
        }
    }
    mem_free(value);
    return rc;
}

int transfer_set_files(struct submit_making *making, struct err *err)
{
    struct files files = {0};
    int rc = read_files(making, &files, err);
    rc = rc != 0 ? rc : judge_files(making, &files, err);
    if (rc == 0) {
        bool sent = strcmp(files.should, "NO") != 0;
        ad_set_string(making->ad, "ShouldTransferFiles", files.should);
        if (sent) {
            ad_set_string(making->ad, "WhenToTransferOutput", files.when);
        }
        if (strcmp(files.should, "YES") != 0 && !ad_has(making->ad, "FileSystemDomain") &&
            making->place->filesystem_domain != NULL) {
            ad_set_string(making->ad, "FileSystemDomain", making->place->filesystem_domain);
        }
        if (sent && files.in.count > 0) {
            write_list(making, "TransferInput", &files.in);
        }
        if (sent && files.out_given) {
            write_list(making, "TransferOutput", &files.out);
        }
        rc = set_usage(making, &files, err);
    }
    rc = rc != 0 ? rc : set_remaps(making, err);
    rc = rc != 0 ? rc : check_destination(making, err);
    vec_fini(&files.in, mem_free);
    vec_fini(&files.out, mem_free);
    return rc;
}

/* ---- what can be seen before it runs ----------------------------------------------------------
 */

static const struct seen {
    const char *command, *alias, *attribute;
    const char *transfer; /* command that, if false, makes the path one of the machine's */
    enum submit_look look;
} SEEN[] = {
    {"input", "stdin", "In", "TransferIn", SUBMIT_LOOK_INPUT},
    {"output", "stdout", "Out", "TransferOut", SUBMIT_LOOK_OUTPUT},
    {"error", "stderr", "Err", "TransferErr", SUBMIT_LOOK_OUTPUT},
    {"log", "UserLog", "UserLog", NULL, SUBMIT_LOOK_LOG},
    {"dagman_log", NULL, "DAGManNodesLog", NULL, SUBMIT_LOOK_LOG},
};

/* Refuses what the command names, with the command's line. */
static int refuse_seen(struct submit_making *making, const struct seen *seen, const char *why,
                       struct err *err)
{
    char *value;
    int rc = making_value(making, seen->command, seen->alias, &value, err);
    mem_free(value);
    return rc != 0 ? rc : making_refuse(making, err, "%s: %.300s", seen->command, why);
}

static int look_at(struct submit_making *making, const struct seen *seen, struct err *err)
{
    const char *name = ad_string_or(making->ad, seen->attribute, NOTHING);
    struct err why = {{0}};
    if (name[0] == '\0' || strcmp(name, NOTHING) == 0 || strstr(name, "$$(") != NULL ||
        (seen->transfer != NULL && !ad_bool_or(making->ad, seen->transfer, true))) {
        return 0;
    }
    if (making_is_url(name)) {
        (void)err_set(&why, -EINVAL, "'%.200s' is a URL; expected a file", name);
        return refuse_seen(making, seen, why.text, err);
    }
    char *path = making_path(ad_string_or(making->ad, "Iwd", "/"), name);
    int rc = making->place->look(making->place->arg, seen->look, path, NULL, &why);
    mem_free(path);
    return rc == 0 ? 0 : refuse_seen(making, seen, why.text, err);
}

/* Refuses a job that could never run or never store its output, while its owner is still there to
 * see it. */
int transfer_look(struct submit_making *making, struct err *err)
{
    bool unchecked = false;
    int rc = making_bool_of(making, "skip_filechecks", NULL, &unchecked, NULL, err);
    bool looks = !unchecked && making->place->look != NULL && making->place->obeyed_only;
    for (size_t i = 0; i < ARRAY_COUNT(SEEN) && rc == 0 && looks; i++) {
        rc = look_at(making, &SEEN[i], err);
    }
    return rc;
}
