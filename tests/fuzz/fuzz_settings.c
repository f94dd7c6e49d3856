/* Fuzzing of settings made at run time: a name, a value, what the file held before.  What is
 * accepted comes back from the file byte by byte, and nothing else has changed.
 *
 * LINK: base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

#define INPUT_MAX ((size_t)1 << 14)

static const struct knob KNOBS[] = {
    {.name = "NOTE", .type = KNOB_STRING, .fallback = "a"},
    {.name = "OTHER", .type = KNOB_STRING, .fallback = "b"},
    {.name = "ENABLE_PERSISTENT_CONFIG", .type = KNOB_BOOL, .fallback = "true"},
    {.name = "PERSISTENT_CONFIG_DIR", .type = KNOB_PATH, .fallback = "/p"},
};
static const struct knob_table TABLE = {.owner = "FUZZ",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS)};

static int read_file(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err)
{
    (void)context;
    (void)max;
    if (strcmp(path, "/f") != 0) {
        return err_set(err, -ENOENT, "%s: no such file", path);
    }
    *text = mem_strdup("");
    *length = 0;
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
    (void)name;
    return NULL;
}

static struct config *load(const char *settings)
{
    static const struct knob_table *const tables[] = {&TABLE};
    const struct config_source source = {.read_file = read_file,
                                         .list_directory = list_directory,
                                         .get_env = get_env};
    const struct config_options options = {.subsystem = "FUZZ",
                                           .path = "/f",
                                           .tables = tables,
                                           .table_count = 1,
                                           .settings = settings};
    struct config *config = NULL;
    struct err err = {""};
    int rc = config_load(&source, &options, &config, &err);
    CHECK(rc == 0 || (config == NULL && err.text[0] != '\0'));
    return config;
}

static const char *written(const struct config *config, const char *name)
{
    struct config_origin origin;
    return config_why(config, name, &origin) ? origin.raw : NULL;
}

/* A value for NOTE: if it holds no macro, it is what the daemon then has. */
static void set_value(const char *value)
{
    struct strbuf text;
    struct err err = {""};
    strbuf_init(&text, 0);
    if (config_settings_edit("/p/fuzz.conf", "OTHER = x", "NOTE", value, &text, &err) < 0) {
        CHECK(err.text[0] != '\0');
    } else {
        struct config *config = load(strbuf_text(&text));
        CHECK(config != NULL || strchr(value, '$') != NULL);
        if (config != NULL) {
            CHECK(strcmp(config_string(config, "OTHER"), "x") == 0);
            CHECK(strchr(value, '$') != NULL || strcmp(written(config, "NOTE"), value) == 0);
        }
        config_destroy(config);
    }
    strbuf_fini(&text);
}

/* Any text as the file that was there, any as the name. */
static void set_name(const char *before, const char *name)
{
    struct strbuf once, twice;
    struct err err = {""};
    strbuf_init(&once, 0);
    strbuf_init(&twice, 0);
    if (config_settings_edit("/p/fuzz.conf", before, name, "v", &once, &err) == 0) {
        /* What we wrote we can read; the same once more is the same file. */
        CHECK(config_settings_edit("/p/fuzz.conf", strbuf_text(&once), name, "v", &twice, &err) ==
              0);
        CHECK(strcmp(strbuf_text(&once), strbuf_text(&twice)) == 0);
    } else {
        CHECK(err.text[0] != '\0');
    }
    strbuf_fini(&once);
    strbuf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Up to the first zero byte the value, then the name, then the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX) {
        return 0;
    }
    char *text = mem_zalloc(size + 3);
    if (size > 0) {
        memcpy(text, data, size);
    }
    const char *name = text + strlen(text) + 1;
    name = name > text + size ? "" : name;
    const char *before = name[0] != '\0' ? name + strlen(name) + 1 : "";
    before = name[0] != '\0' && before > text + size ? "" : before;
    set_value(text);
    set_name(before, name);
    mem_free(text);
    return 0;
}
