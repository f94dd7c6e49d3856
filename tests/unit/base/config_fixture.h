/* tests/unit/base/config_fixture.h - a daemon's knob tables for loading configurations, for the
 * tests of base/config/config.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_BASE_CONFIG_FIXTURE_H
#define TESTS_UNIT_BASE_CONFIG_FIXTURE_H

#include <errno.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "tests/support/config_memory.h"
#include "tests/support/unit.h"

static inline int not_bad(const char *text, struct err *err)
{
    return strstr(text, "bad!") ? err_set(err, -EINVAL, "'%s' is bad", text) : 0;
}

static const struct knob KNOBS[] = {
    {.name = "START", .type = KNOB_EXPR, .fallback = "TRUE", .help = "h"},
    {.name = "HIBERNATE", .type = KNOB_EXPR, .help = "h"},
    {.name = "PORT",
     .type = KNOB_INT,
     .restart = true,
     .fallback = "9618",
     .min = 1,
     .max = 65535,
     .help = "h"},
    {.name = "ANY_INT", .type = KNOB_INT, .fallback = "-1", .help = "h"},
    {.name = "FACTOR", .type = KNOB_REAL, .fallback = "0.5", .min = 0, .max = 1, .help = "h"},
    {.name = "ENABLED", .type = KNOB_BOOL, .fallback = "false", .help = "h"},
    {.name = "INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "5 * $(MINUTE)",
     .min = 1,
     .max = 86400,
     .help = "h"},
    {.name = "BEAT", .type = KNOB_DURATION_MS, .fallback = "250", .help = "h"},
    {.name = "MAX_SIZE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "10 MiB",
     .max = 1 << 30,
     .help = "h"},
    {.name = "ATTRS", .type = KNOB_LIST, .fallback = "Arch", .help = "h"},
    {.name = "MORE_ATTRS", .type = KNOB_LIST, .fallback = "", .help = "h", .check = not_bad},
    {.name = "UNSET_LIST", .type = KNOB_LIST, .help = "h"},
    {.name = "NOTE", .type = KNOB_STRING, .help = "h", .check = not_bad},
    {.name = "METHOD",
     .type = KNOB_STRING,
     .fallback = "process",
     .choices = "process|command|wol",
     .help = "h"},
    {.name = "DIRECTORY", .type = KNOB_PATH, .fallback = "$(LOG)/d", .help = "h"},
    {.name = "UNSET_PATH", .type = KNOB_PATH, .help = "h"},
};

static const struct knob NODE_OPTIONS[] = {
    {.name = "method",
     .type = KNOB_STRING,
     .fallback = "process",
     .choices = "process|command",
     .help = "h"},
    {.name = "dir", .type = KNOB_PATH, .fallback = "$(LOG)/$(TITLE)", .help = "h"},
    {.name = "watts",
     .type = KNOB_INT,
     .fallback = "100",
     .min = 1,
     .max = 5000,
     .unit = "watts",
     .help = "h"},
    {.name = "tags", .type = KNOB_LIST, .help = "h"},
    {.name = "wake_within", .type = KNOB_DURATION_S, .fallback = "10m", .help = "h"},
    {.name = "poll", .type = KNOB_DURATION_MS, .fallback = "1s", .help = "h"},
    {.name = "share", .type = KNOB_REAL, .fallback = "0.25", .help = "h"},
    {.name = "spare", .type = KNOB_BOOL, .fallback = "no", .help = "h"},
    {.name = "disk", .type = KNOB_SIZE_BYTES, .fallback = "1G", .help = "h"},
    {.name = "when", .type = KNOB_EXPR, .fallback = "", .help = "h"},
};

static const struct knob_section SECTIONS[] = {
    {"node", NODE_OPTIONS, ARRAY_COUNT(NODE_OPTIONS), "h"}};
static const struct knob_family FAMILIES[] = {
    {.prefix = "SLOT_TYPE_", .written = "SLOT_TYPE_<n>", .help = "h", .check = not_bad},
    {.prefix = "HOLD_IF_", .written = "HOLD_IF_<name>", .help = "h", .type = KNOB_EXPR}};
static const char *const RESTART[] = {"SLOT_TYPE_", NULL};
static const struct knob_table TABLE = {.owner = "STARTD",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS),
                                        .sections = SECTIONS,
                                        .section_count = 1,
                                        .families = FAMILIES,
                                        .family_count = ARRAY_COUNT(FAMILIES),
                                        .restart_families = RESTART};

static const struct knob OTHER_KNOBS[] = {
    {.name = "NEGOTIATOR_INTERVAL", .type = KNOB_DURATION_S, .fallback = "60", .help = "h"},
    {.name = "OTHER_LIST", .type = KNOB_LIST, .fallback = "$(USED_BY_OTHER:)", .help = "h"},
    {.name = "OTHER_ATTRS", .type = KNOB_LIST, .help = "h"},
    {.name = "PORT", .type = KNOB_INT, .fallback = "1", .help = "h"},
};
static const struct knob SITE_OPTIONS[] = {
    {.name = "jobs", .type = KNOB_INT, .fallback = "1", .help = "h"}};
static const struct knob_section OTHER_SECTIONS[] = {{"site", SITE_OPTIONS, 1, "h"}};
static const struct knob_family OTHER_FAMILIES[] = {
    {.prefix = "CONCURRENCY_", .written = "CONCURRENCY_<x>", .help = "h"},
    {.prefix = "*_LIMIT", .written = "<NAME>_LIMIT", .help = "h"}};
static const struct knob_table OTHER = {.owner = "NEGOTIATOR",
                                        .knobs = OTHER_KNOBS,
                                        .knob_count = ARRAY_COUNT(OTHER_KNOBS),
                                        .sections = OTHER_SECTIONS,
                                        .section_count = 1,
                                        .families = OTHER_FAMILIES,
                                        .family_count = ARRAY_COUNT(OTHER_FAMILIES)};

static inline int no_at_sign(void *context, const char *text, struct err *err)
{
    (void)context;
    return strchr(text, '@') ? err_set(err, -EINVAL, "'%s' is no expression", text) : 0;
}

/* Refuses a section that draws too much, or that has no options. */
static inline int few_watts(void *context, const struct config_section *section, struct err *err)
{
    (void)context;
    if (strcmp(section_title(section), "empty") == 0) {
        return err_set(err, -EINVAL, "node empty: nothing is set");
    }
    return section_int(section, "watts") > 4000
               ? err_set(err, -EINVAL, "node %s: watts must be 4000 at most",
                         section_title(section))
               : 0;
}

static const struct config_macro MACROS[] = {{"HOSTNAME", "wn07"}};

/* how: what else is asked for (only_title, gather_texts) */
static inline int load_as(struct config_memory *memory, const struct config_options *how,
                          struct config **ret, struct err *err)
{
    static const struct knob_table *const tables[] = {&TABLE, &knobs_common};
    static const struct knob_table *const others[] = {&OTHER, &knobs_common};
    const struct config_options options = {.subsystem = "STARTD",
                                           .path = "/etc/roost.conf",
                                           .tables = tables,
                                           .table_count = 2,
                                           .others = others,
                                           .other_count = 2,
                                           .macros = MACROS,
                                           .macro_count = 1,
                                           .check_expr = no_at_sign,
                                           .only_title = how->only_title,
                                           .gather_texts = how->gather_texts,
                                           .check_section = few_watts};
    const struct config_source source = config_memory_source(memory);
    return config_load(&source, &options, ret, err);
}

static inline int load(struct config_memory *memory, struct config **ret, struct err *err)
{
    const struct config_options how = {.gather_texts = true};
    return load_as(memory, &how, ret, err);
}

static inline struct config *load_good(struct config_memory *memory)
{
    struct config *config = NULL;
    struct err err = {""};
    int rc = load(memory, &config, &err);
    if (rc < 0) {
        fail_msg("refused: %s", err.text);
    }
    return config;
}

static inline struct config *load_one(const char *text)
{
    struct config_memory memory = {.files = {{"/etc/roost.conf", text}}};
    return load_good(&memory);
}

/* Loads a configuration that must be refused, and returns the error message. */
static inline const char *refusal(const char *text)
{
    static struct err err;
    struct config_memory memory = {.files = {{"/etc/roost.conf", text}}};
    struct config *config = (struct config *)&memory; /* must not be changed */
    err.text[0] = '\0';
    int rc = load(&memory, &config, &err);
    assert_true(rc < 0);
    assert_ptr_equal(config, &memory);
    return err.text;
}

static inline const char *joined(const char *const *items)
{
    static char text[512];
    text[0] = '\0';
    for (; *items; items++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof(text) - used, "[%s]", *items);
    }
    return text;
}

#endif
