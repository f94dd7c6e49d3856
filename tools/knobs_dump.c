/* tools/knobs_dump.c - prints the knobs of all tables: docs/CONFIG.md, or a list for lint.knobs.
 *
 *     knobs_dump          the page docs/CONFIG.md
 *     knobs_dump --list   lines "OWNER <tab> KIND-of-section <tab> NAME <tab> TYPE"; the kind is
 * "-" outside of sections, "=" for the prefix of a family of names
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/knob.h"

static const char INTRODUCTION[] =
    "# The configuration\n"
    "\n"
    "This page is made from the tables in the code by `make config-page`; `lint.knobs` "
    "checks that the page is up to date.\n"
    "`roost config dump --why` shows which value a knob of yours has, and where the value "
    "comes from.\n"
    "\n"
    "A value is looked for in these places; a later place wins over an earlier one:\n"
    "\n"
    "1. the default values on this page;\n"
    "2. the shared file (`ROOST_CONFIG`);\n"
    "3. local files (`LOCAL_CONFIG_DIR`, `LOCAL_CONFIG_FILE`, `LOCAL_CONFIG`), like "
    "HTCondor's `condor_config.local`;\n"
    "4. values that `roost config set` has set (`ENABLE_PERSISTENT_CONFIG`);\n"
    "5. the environment, `ROOST_<KNOB>`.\n"
    "\n"
    "In files, `STARTD.<KNOB>` sets the knob for the startd alone, and there wins over "
    "`<KNOB>`.\n"
    "\n"
    "`$(NAME)` stands for the value of NAME, `$(NAME:default)` for a value that may be "
    "missing, `$ENV(NAME)` for a variable\n"
    "of the environment. `START = \"$(START) && KeyboardIdle > 60\"` adds to the value that "
    "START had before, and\n"
    "`STARTD_ATTRS += More` adds to a list. A number may be a calculation: `15 * $(MINUTE)`. "
    "A value with blanks goes in\n"
    "quotes, or takes the rest of its line after a colon, as in `START : $(CPU_Idle) && "
    "KeyboardIdle > 60` (after `=`, too).\n"
    "`include(\"file\")` reads another file at that place. A file that ends inside a section "
    "or inside quotes is refused, and\n"
    "so is a file with a value that the knob does not allow; the error names file, line and "
    "reason. `roost config check`\n"
    "reports such errors before a daemon does.\n"
    "\n"
    "`roost config reload` or SIGHUP makes the daemons read all files again. If the "
    "configuration has an error, nothing\n"
    "changes and the log gets one line `config.bad`; otherwise it gets `config.reloaded` "
    "with the changes. A knob marked\n"
    "*restart* is read only when the daemon starts.\n";

static const char RESTART[] = " *(restart)*";

/* A cell of a table of Markdown: | would end it, * _ < would mean something. */
static void put_cell(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '|' || *at == '<') {
            (void)putchar('\\');
        }
        (void)putchar(*at);
    }
}

/* The unit of a knob's limits. */
static const char *limit_unit(enum knob_type type)
{
    switch (type) {
    case KNOB_DURATION_S:
        return " s";
    case KNOB_DURATION_MS:
        return " ms";
    case KNOB_SIZE_BYTES:
        return " bytes";
    default:
        return "";
    }
}

static void put_range(const struct knob *knob)
{
    bool low = knob->min != INT64_MIN;
    bool high = knob->max != INT64_MAX;
    if (knob->choices != NULL) {
        (void)printf("one of `");
        for (const char *at = knob->choices; *at != '\0'; at++) {
            if (*at == '|') {
                (void)printf("` `");
            } else {
                (void)putchar(*at);
            }
        }
        (void)putchar('`');
    } else if ((knob->min != 0 || knob->max != 0) && (low || high)) {
        if (low && high) {
            (void)printf("%" PRId64 " to %" PRId64, knob->min, knob->max);
        } else if (low) {
            (void)printf("at least %" PRId64, knob->min);
        } else {
            (void)printf("at most %" PRId64, knob->max);
        }
        (void)printf("%s", limit_unit(knob->type));
    }
}

static void put_knobs(const struct knob *knobs, size_t count)
{
    (void)printf("\n| name | type | default | range | what it does |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        const struct knob *knob = &knobs[i];
        (void)printf("| `%s` | %s", knob->name, knob_type_name(knob->type));
        if (knob->unit != NULL) {
            (void)printf(", %s", knob->unit);
        }
        (void)printf(" | ");
        if (knob->fallback == NULL) {
            (void)printf("unset");
        } else if (knob->fallback[0] == '\0') {
            (void)printf("empty");
        } else {
            /* In a code span only the bar is special, and only in a table. */
            (void)putchar('`');
            for (const char *at = knob->fallback; *at != '\0'; at++) {
                (void)printf(*at == '|' ? "\\|" : "%c", *at);
            }
            (void)putchar('`');
        }
        (void)printf(" | ");
        put_range(knob);
        (void)printf(" | ");
        put_cell(knob->help != NULL ? knob->help : "");
        (void)printf("%s |\n", knob->restart ? RESTART : "");
    }
}

static bool is_read_at_start(const struct knob_table *table, const char *prefix)
{
    const char *const *at = table->restart_families;
    while (at != NULL && *at != NULL && strcmp(*at, prefix) != 0) {
        at++;
    }
    return at != NULL && *at != NULL;
}

static void put_families(const struct knob_table *table)
{
    (void)printf("\nNames that you make:\n\n| name | what it does |\n|---|---|\n");
    for (size_t i = 0; i < table->family_count; i++) {
        (void)printf("| `%s` | ", table->families[i].written);
        put_cell(table->families[i].help);
        (void)printf("%s |\n", is_read_at_start(table, table->families[i].prefix) ? RESTART : "");
    }
}

static void put_page(void)
{
    (void)fputs(INTRODUCTION, stdout);
    for (size_t i = 0; knob_tables[i] != NULL; i++) {
        const struct knob_table *table = knob_tables[i];
        (void)printf("\n## %s\n", table->owner[0] != '\0' ? table->owner : "Common to all");
        if (table->knob_count > 0) {
            put_knobs(table->knobs, table->knob_count);
        }
        if (table->family_count > 0) {
            put_families(table);
        }
        for (size_t s = 0; s < table->section_count; s++) {
            const struct knob_section *section = &table->sections[s];
            (void)printf("\n### Section `%s \"title\" { ... }`\n\n%s\n", section->kind,
                         section->help);
            put_knobs(section->options, section->option_count);
        }
    }
}

static void put_list(void)
{
    for (size_t i = 0; knob_tables[i] != NULL; i++) {
        const struct knob_table *table = knob_tables[i];
        for (size_t k = 0; k < table->knob_count; k++) {
            (void)printf("%s\t-\t%s\t%s\n", table->owner, table->knobs[k].name,
                         knob_type_name(table->knobs[k].type));
        }
        for (size_t f = 0; f < table->family_count; f++) {
            (void)printf("%s\t=\t%s\tfamily\n", table->owner, table->families[f].prefix);
        }
        for (size_t s = 0; s < table->section_count; s++) {
            const struct knob_section *section = &table->sections[s];
            for (size_t k = 0; k < section->option_count; k++) {
                (void)printf("%s\t%s\t%s\t%s\n", table->owner, section->kind,
                             section->options[k].name, knob_type_name(section->options[k].type));
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        put_list();
    } else if (argc == 1) {
        put_page();
    } else {
        (void)fprintf(stderr, "usage: knobs_dump [--list]\n");
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
