/* pcontrol/settings.c - see settings.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/settings.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/config/config_os.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/shell_words.h"
#include "pcontrol/controller.h"
#include "pcontrol/knobs.h"

/* finds the program in PATH, and sets variables that stand before it */
#define ENV "/usr/bin/env"
/* pcontrol is of use without a pool, too: then there is no configuration */
#define NO_FILE "/dev/null"

static int read_words(const struct config *config, const char *name, struct vec *ret,
                      struct err *err)
{
    const char *text = config_string(config, name);
    int rc = text != NULL ? shell_words_parse(text, strlen(text), ret, err) : 0;
    return rc != 0 ? err_prefix(err, rc, "%s", name) : 0;
}

static int read_settings(const struct config *config, struct controller_settings *ret,
                         struct err *err)
{
    ret->lease_ms = (uint64_t)config_duration_ms(config, "PCONTROL_LEASE");
    ret->margin_ms = (uint64_t)config_duration_ms(config, "PCONTROL_LEASE_MARGIN");
    ret->connect_ms = (uint64_t)config_duration_ms(config, "PCONTROL_CONNECT_TIMEOUT");
    ret->hung_ms = (uint64_t)config_duration_ms(config, "PCONTROL_HUNG");
    ret->retry_hung = strcmp(config_string(config, "PCONTROL_HUNG_JOBS"), "retry") == 0;
    ret->want_host_ms = (uint64_t)config_duration_ms(config, "PCONTROL_WANTHOST");
    ret->redial_min_ms = (uint64_t)config_duration_ms(config, "PCONTROL_RETRY_MIN");
    ret->redial_max_ms = (uint64_t)config_duration_ms(config, "PCONTROL_RETRY_MAX");
    ret->dials_max = (uint32_t)config_int(config, "PCONTROL_CONNECTS");
    ret->losses_max = (uint32_t)config_int(config, "PCONTROL_LOSSES_MAX");
    ret->buffer_max = (size_t)config_bytes(config, "PCONTROL_BUFFER");
    ret->buffers_max = (size_t)config_bytes(config, "PCONTROL_BUFFERS");
    vec_push(&ret->transport, mem_strdup(ENV));
    int rc = read_words(config, "PCONTROL_COMMAND", &ret->transport, err);
    return rc != 0 ? rc : read_words(config, "PCONTROL_SHELL", &ret->client, err);
}

int settings_load(struct os *os, struct controller_settings *ret, struct err *err)
{
    static const struct knob_table *const TABLES[] = {&pcontrol_knobs, &knobs_common};
    struct os_machine machine;
    char program_dir[4096];
    os_program_dir(os, program_dir, sizeof(program_dir));
    struct config_macro macros[] = {{.name = "FULL_HOSTNAME", .value = "localhost"},
                                    {.name = "PROGRAM_DIR", .value = program_dir}};
    if (os_machine(os, &machine, NULL) == 0) {
        macros[0].value = machine.hostname;
    }
    struct config_source source = config_source_os(os);
    struct config_options options = {.tables = TABLES,
                                     .table_count = ARRAY_COUNT(TABLES),
                                     .others = knob_tables,
                                     .macros = macros,
                                     .macro_count = ARRAY_COUNT(macros)};
    while (knob_tables[options.other_count] != NULL) {
        options.other_count++;
    }
    struct config *config = NULL;
    *ret = (struct controller_settings){0};
    int rc = config_load(&source, &options, &config, err);
    if (rc == -ENOENT && os_getenv(os, "ROOST_CONFIG") == NULL) {
        options.path = NO_FILE;
        *err = (struct err){0};
        rc = config_load(&source, &options, &config, err);
    }
    rc = rc != 0 ? rc : read_settings(config, ret, err);
    config_destroy(config);
    if (rc != 0) {
        settings_fini(ret);
    }
    return rc;
}

void settings_fini(struct controller_settings *settings)
{
    vec_fini(&settings->transport, mem_free);
    vec_fini(&settings->client, mem_free);
}
