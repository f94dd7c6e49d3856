/* Fuzzing of the configuration: any bytes as the shared file, loaded with every layer.
 *
 * LINK: base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config_file.h"
#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

#define INPUT_MAX ((size_t)1 << 16)

static const struct knob KNOBS[] = {
    {.name = "START", .type = KNOB_EXPR, .fallback = "TRUE"},
    {.name = "PORT", .type = KNOB_INT, .fallback = "1", .min = 1, .max = 65535},
    {.name = "FACTOR", .type = KNOB_REAL, .fallback = "0.5"},
    {.name = "ENABLED", .type = KNOB_BOOL, .fallback = "false"},
    {.name = "INTERVAL", .type = KNOB_DURATION_S, .fallback = "5m"},
    {.name = "BEAT", .type = KNOB_DURATION_MS, .fallback = "250"},
    {.name = "SIZE", .type = KNOB_SIZE_BYTES, .fallback = "1M"},
    {.name = "ATTRS", .type = KNOB_LIST, .fallback = "Arch"},
    {.name = "METHOD", .type = KNOB_STRING, .fallback = "a", .choices = "a|b"},
    {.name = "DIRECTORY", .type = KNOB_PATH, .fallback = "/d"},
};
static const struct knob_section SECTIONS[] = {{"node", KNOBS, ARRAY_COUNT(KNOBS), NULL}};
static const struct knob_table TABLE = {.owner = "FUZZ",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS),
                                        .sections = SECTIONS,
                                        .section_count = 1};

struct input {
    const uint8_t *data;
    size_t size;
    unsigned reads;
};

/* The bytes are every file that is asked for, but only three times: an include of itself would only
 * repeat. */
static int read_file(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err)
{
    struct input *input = context;
    if (input->reads++ >= 3 || input->size > max) {
        return err_set(err, -ENOENT, "%s: no such file", path);
    }
    *text = mem_alloc(input->size + 1);
    if (input->size > 0) {
        memcpy(*text, input->data, input->size);
    }
    (*text)[input->size] = '\0';
    *length = input->size;
    return 0;
}

static int list_directory(void *context, const char *path, struct vec *names, struct err *err)
{
    (void)context;
    (void)names;
    return err_set(err, -ENOENT, "%s: no such directory", path);
}

static const char *get_env(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "ROOST_ATTRS") == 0 ? "$(ATTRS), env" : NULL;
}

static bool is_needed(void *arg, const char *kind, const char **title)
{
    *title = NULL;
    (void)arg;
    return strcmp(kind, "node") != 0;
}

static void refers(void *arg, const char *name, size_t length)
{
    (void)arg;
    CHECK(config_name_ok(name, length));
}

static int take(void *arg, const struct config_statement *statement, struct err *err)
{
    (void)arg;
    (void)statement;
    (void)err;
    return 0;
}

/* A file is right or wrong, with the same words, whoever needs which of its sections. */
static void skip_sections(const char *text, size_t size)
{
    const struct config_scan_needs needs = {.kind = is_needed, .refers = refers};
    const struct config_file_reader all = {.take = take};
    const struct config_file_reader few = {.take = take, .needs = &needs};
    struct err err = {""}, err_few = {""};
    int rc = config_file_read("/f", text, size, &all, &err);
    CHECK(config_file_read("/f", text, size, &few, &err_few) == rc);
    CHECK(strcmp(err.text, err_few.text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX) {
        return 0;
    }
    struct input input = {data, size, 0};
    skip_sections((const char *)data, size);
    const struct config_source source = {.read_file = read_file,
                                         .list_directory = list_directory,
                                         .get_env = get_env,
                                         .context = &input};
    static const struct knob_table *const tables[] = {&TABLE, &knobs_common};
    const struct config_options options = {.subsystem = "FUZZ",
                                           .path = "/f",
                                           .tables = tables,
                                           .table_count = 2};
    struct config *config = NULL;
    struct err err = {""};
    int rc = config_load(&source, &options, &config, &err);
    if (rc < 0) {
        CHECK(config == NULL && err.text[0] != '\0');
        CHECK(rc != -EBADMSG); /* libconfuse and the scan agree */
        return 0;
    }
    /* What was accepted keeps the promises of the table. */
    CHECK(config_int(config, "PORT") >= 1 && config_int(config, "PORT") <= 65535);
    CHECK(config_duration_ms(config, "INTERVAL") % 1000 == 0);
    CHECK(config_bytes(config, "SIZE") >= 0);
    const char *path = config_path(config, "DIRECTORY");
    CHECK(!path || path[0] == '/');
    size_t count = 0;
    const char *const *items = config_list(config, "ATTRS", &count);
    CHECK(count >= 1 && items[count] == NULL && strcmp(items[count - 1], "env") == 0);
    for (size_t i = 0; i < config_section_count(config, "node"); i++) {
        const struct config_section *node = config_section_at(config, "node", i);
        CHECK(config_section_find(config, "node", section_title(node)) == node);
        CHECK(section_int(node, "PORT") >= 1);
    }
    config_destroy(config);
    return 0;
}
