/* cli/help_plan.c - see help_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/help_plan.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/knob.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "submit/submit_command.h"

#define COLUMNS     80
#define MAN_COLUMNS 72 /* width of a page without its indent */

/* ---- help */

/* Appends the words of text to a line that has `used` columns already; further lines get the
 * indent.  Text in brackets is kept together where it fits into one line. */
static void put_wrapped(const char *text, size_t used, size_t indent, size_t columns,
                        struct strbuf *out)
{
    size_t column = used;
    while (*text != '\0') {
        size_t length = 0;
        int depth = 0;
        while (text[length] != '\0' && (text[length] != ' ' || depth > 0)) {
            depth += text[length] == '[' ? 1 : text[length] == ']' ? -1 : 0;
            length++;
        }
        if (length > columns - indent) {
            length = strcspn(text, " ");
        }
        if (column > indent && column + 1 + length > columns) {
            strbuf_putc(out, '\n');
            for (column = 0; column < indent; column++) {
                strbuf_putc(out, ' ');
            }
        } else if (column > 0) {
            strbuf_putc(out, ' ');
            column++;
        }
        strbuf_append(out, text, length);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    strbuf_putc(out, '\n');
}

/* Returns the column where an entry's text begins, after its name and at least two blanks; further
 * lines of the entry begin there, too. */
static size_t indent_of(const char *line, size_t length)
{
    size_t lead = strspn(line, " ");
    if (lead >= 8) {
        return lead;
    }
    for (size_t i = lead; i + 2 < length; i++) {
        if (line[i] == ' ' && line[i + 1] == ' ') {
            return i + strspn(line + i, " ");
        }
    }
    return lead;
}

/* Appends lines, and breaks those that are too long. */
static void put_entries(const char *text, size_t columns, struct strbuf *out)
{
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, "\n"), indent = indent_of(text, length);
        size_t used = 0; /* columns of the indent that this line has already */
        while (used + length > columns) {
            size_t end = columns - used, first = used > 0 ? 0 : indent;
            while (end > first && text[end] != ' ') {
                end--;
            }
            if (end <= first) {
                break; /* one long word */
            }
            size_t next = end + strspn(text + end, " ");
            while (end > 0 && text[end - 1] == ' ') {
                end--;
            }
            strbuf_append(out, text, end);
            strbuf_putc(out, '\n');
            for (used = 0; used < indent; used++) {
                strbuf_putc(out, ' ');
            }
            text += next;
            length -= next;
        }
        strbuf_append(out, text, length);
        strbuf_putc(out, '\n');
        text += length + (text[length] == '\n' ? 1 : 0);
    }
}

void help_command(const struct cli_command *command, const char *more, struct strbuf *out)
{
    size_t begin = out->length;
    strbuf_printf(out, "usage: roost %s", command->name);
    put_wrapped(command->usage, out->length - begin, 11, COLUMNS, out);
    strbuf_printf(out, "\n%s\n", command->summary);
    put_entries(command->help, COLUMNS, out);
    put_entries(more, COLUMNS, out);
}

void help_summary(const struct cli_command *const *commands, struct strbuf *out)
{
    strbuf_puts(out, "usage: roost COMMAND [ARGUMENTS]\n\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        strbuf_printf(out, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
    }
    strbuf_puts(out,
                "\nROOST_CONFIG names the configuration file; see also `roost COMMAND --help`.\n");
}

/* ---- manual pages */

/* Appends text for roff: escaped so that no line is a request and no character an escape. */
static void put_roff(const char *text, struct strbuf *out)
{
    bool at_begin = true;
    for (; *text != '\0'; text++) {
        if (at_begin && (*text == '.' || *text == '\'')) {
            strbuf_puts(out, "\\&");
        }
        at_begin = *text == '\n';
        switch (*text) {
        case '\\':
            strbuf_puts(out, "\\e");
            break;
        case '-':
            strbuf_puts(out, "\\-");
            break;
        case '\'':
            strbuf_puts(out, "\\(aq");
            break;
        case '`':
            strbuf_puts(out, "\\(ga");
            break;
        case '^':
            strbuf_puts(out, "\\(ha");
            break;
        case '~':
            strbuf_puts(out, "\\(ti");
            break;
        default:
            strbuf_putc(out, *text);
        }
    }
}

static void put_title(const char *name, int section, const char *what, struct strbuf *out)
{
    strbuf_printf(out, ".\\\" Made by `roost help --man`; do not edit.\n.TH \"");
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '-') {
            strbuf_puts(out, "\\-");
        } else {
            strbuf_putc(out, *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at);
        }
    }
    strbuf_printf(out, "\" \"%d\" \"\" \"Roost %s\" \"Roost Manual\"\n.SH NAME\n", section,
                  ROOST_VERSION);
    put_roff(name, out);
    strbuf_puts(out, " \\- ");
    put_roff(what, out);
    strbuf_putc(out, '\n');
}

static void put_block(const char *text, struct strbuf *out)
{
    strbuf_puts(out, ".nf\n");
    put_roff(text, out);
    strbuf_puts(out, ".fi\n");
}

static void put_ends(struct strbuf *out)
{
    strbuf_puts(out,
                ".SH EXIT STATUS\n"
                "0 done, 1 the request failed, 2 wrong usage.\n"
                ".SH ENVIRONMENT\n"
                ".TP\n.B ROOST_CONFIG\nthe configuration file (default: /etc/roost/roost.conf)\n"
                ".TP\n.BI ROOST_ NAME\nthe value of the knob NAME; overrides all files\n"
                ".TP\n.B NO_COLOR\nif set, no colours are used on a terminal\n");
}

static void put_command(const struct cli_command *command, const char *more, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "roost-%s", command->name);
    put_title(strbuf_text(&text), 1, command->summary, out);
    strbuf_clear(&text);
    strbuf_puts(out, ".SH SYNOPSIS\n");
    strbuf_printf(&text, "roost %s", command->name);
    put_wrapped(command->usage, text.length, 4, MAN_COLUMNS, &text);
    put_block(strbuf_text(&text), out);
    strbuf_clear(&text);
    if (command->help != NULL || more != NULL) {
        strbuf_puts(out, ".SH DESCRIPTION\n");
        put_entries(command->help, MAN_COLUMNS, &text);
        put_entries(more, MAN_COLUMNS, &text);
        put_block(strbuf_text(&text), out);
    }
    put_ends(out);
    strbuf_puts(out, ".SH SEE ALSO\n.BR roost (1),\n.BR roost_config (5)\n");
    strbuf_fini(&text);
}

static void put_overview(const struct cli_command *const *commands, struct strbuf *out)
{
    put_title("roost", 1, "a computing pool whose machines sleep until there is work", out);
    strbuf_puts(out,
                ".SH SYNOPSIS\n.B roost\n.I COMMAND\n.RI [ ARGUMENTS ]\n"
                ".SH DESCRIPTION\n"
                "Jobs are matched with machines that are switched off as well as with running\n"
                "ones; a match wakes a machine.  Each command has a manual page of its own\n"
                "and prints the same text with\n.BR \\-\\-help .\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        strbuf_puts(out, ".TP\n.BR roost\\-");
        put_roff(commands[i]->name, out);
        strbuf_puts(out, " (1)\n");
        put_roff(commands[i]->summary, out);
        strbuf_putc(out, '\n');
    }
    put_ends(out);
    strbuf_puts(out, ".SH SEE ALSO\n.BR roost_config (5),\n.BR roost_submit (5)\n");
}

static const char *unit_of(const struct knob *knob)
{
    return knob->unit != NULL               ? knob->unit
           : knob->type == KNOB_DURATION_S  ? "s"
           : knob->type == KNOB_DURATION_MS ? "ms"
           : knob->type == KNOB_SIZE_BYTES  ? "bytes"
                                            : "";
}

static void put_limits(const struct knob *knob, struct strbuf *out)
{
    const char *unit = unit_of(knob), *blank = unit[0] != '\0' ? " " : "";
    bool limited = knob->min != 0 || knob->max != 0;
    bool low = limited && knob->min != INT64_MIN, high = limited && knob->max != INT64_MAX;
    if (knob->choices != NULL) {
        strbuf_printf(out, "; one of %s", knob->choices);
    } else if (low && high) {
        strbuf_printf(out, "; %" PRId64 " to %" PRId64 "%s%s", knob->min, knob->max, blank, unit);
    } else if (low) {
        strbuf_printf(out, "; at least %" PRId64 "%s%s", knob->min, blank, unit);
    } else if (high) {
        strbuf_printf(out, "; at most %" PRId64 "%s%s", knob->max, blank, unit);
    }
}

static void put_knob(const struct knob *knob, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(out, ".TP\n.B \"");
    put_roff(knob->name, out);
    strbuf_puts(out, "\"\n");
    strbuf_printf(&text, "%s\n", knob->help != NULL ? knob->help : "");
    strbuf_printf(&text, "(%s", knob_type_name(knob->type));
    put_limits(knob, &text);
    if (knob->fallback != NULL && knob->fallback[0] != '\0') {
        strbuf_printf(&text, "; default: %s", knob->fallback);
    }
    strbuf_printf(&text, "%s)\n", knob->restart ? "; read when the daemon starts" : "");
    put_roff(strbuf_text(&text), out);
    strbuf_fini(&text);
}

static void put_table(const struct knob_table *table, struct strbuf *out)
{
    strbuf_puts(out, ".SH ");
    put_roff(table->owner[0] != '\0' ? table->owner : "COMMON TO ALL", out);
    strbuf_putc(out, '\n');
    for (size_t i = 0; i < table->knob_count; i++) {
        put_knob(&table->knobs[i], out);
    }
    for (size_t i = 0; i < table->family_count; i++) {
        strbuf_puts(out, ".TP\n.B \"");
        put_roff(table->families[i].written, out);
        strbuf_puts(out, "\"\n");
        put_roff(table->families[i].help, out);
        strbuf_putc(out, '\n');
    }
    for (size_t s = 0; s < table->section_count; s++) {
        const struct knob_section *section = &table->sections[s];
        strbuf_puts(out, ".SS \"");
        put_roff(section->kind, out);
        strbuf_puts(out, " \\(dqtitle\\(dq { ... }\"\n");
        put_roff(section->help, out);
        strbuf_putc(out, '\n');
        for (size_t k = 0; k < section->option_count; k++) {
            put_knob(&section->options[k], out);
        }
    }
}

static void put_config(const struct knob_table *const *knobs, struct strbuf *out)
{
    put_title("roost_config", 5, "the configuration of Roost", out);
    strbuf_puts(
        out,
        ".ad l\n.nh\n.SH DESCRIPTION\n"
        "Later layers override earlier ones: the defaults below; the file that "
        "ROOST_CONFIG\nnames; local files\n"
        "(LOCAL_CONFIG_DIR, LOCAL_CONFIG_FILE, LOCAL_CONFIG); what\n.B roost config set\n"
        "has set; the environment, ROOST_\\fIKNOB\\fR.  $(NAME) is replaced by the value of NAME,\n"
        "+= adds to a list, and numbers may be arithmetic expressions.\n.B roost config check\n"
        "reports what a daemon would refuse, and\n.B roost config dump \\-\\-why\n"
        "shows where each value was set.\n");
    for (size_t i = 0; knobs[i] != NULL; i++) {
        put_table(knobs[i], out);
    }
    strbuf_puts(out, ".SH SEE ALSO\n.BR roost (1),\n.BR roost\\-config (1)\n");
}

static void put_submit(struct strbuf *out)
{
    static const char *const STATES[] = {[COMMAND_OBEYED] = "",
                                         [COMMAND_IGNORED] = "ignored, with a warning",
                                         [COMMAND_REFUSED] = "refused: not supported yet"};
    put_title("roost_submit", 5, "submit files", out);
    strbuf_puts(
        out, ".SH DESCRIPTION\n"
             "A submit file is HTCondor\\(aqs: lines NAME = VALUE, if and else, include,\n"
             "$(NAME) and its functions, and queue statements.\n"
             ".B roost submit \\-\\-dry\\-run\n"
             "prints the jobs that a file makes.  These are the commands, with the attribute of\n"
             "the job that each one sets:\n");
    const struct submit_command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        const char *state = STATES[command->state];
        strbuf_puts(out, ".TP\n.B \"");
        put_roff(command->name, out);
        strbuf_puts(out, "\"\n");
        put_roff(command->attribute != NULL ? command->attribute : "several attributes", out);
        strbuf_puts(out, state[0] != '\0' ? "; " : "");
        put_roff(state, out);
        strbuf_putc(out, '\n');
    }
    strbuf_puts(out, ".TP\n.BI + NAME\nthe attribute NAME, as MY.NAME\n"
                     ".SH SEE ALSO\n.BR roost (1),\n.BR roost\\-submit (1)\n");
}

void help_pages(const struct cli_command *const *commands, struct vec *names)
{
    static const char *const OTHERS[] = {"roost.1", "roost_config.5", "roost_submit.5"};
    for (size_t i = 0; i < ARRAY_COUNT(OTHERS); i++) {
        vec_push(names, mem_strdup(OTHERS[i]));
    }
    for (size_t i = 0; commands[i] != NULL; i++) {
        struct strbuf name;
        strbuf_init(&name, 0);
        strbuf_printf(&name, "roost-%s.1", commands[i]->name);
        vec_push(names, strbuf_take(&name));
    }
}

static bool is_page(const char *name, const char *page, const char *section)
{
    size_t length = strlen(page);
    return strncmp(name, page, length) == 0 &&
           (name[length] == '\0' || strcmp(name + length, section) == 0);
}

bool help_page(const struct cli_command *const *commands, const struct knob_table *const *knobs,
               const char *(*more)(const char *command), const char *name, struct strbuf *out)
{
    if (is_page(name, "roost", ".1")) {
        put_overview(commands, out);
        return true;
    }
    if (is_page(name, "roost_config", ".5")) {
        put_config(knobs, out);
        return true;
    }
    if (is_page(name, "roost_submit", ".5")) {
        put_submit(out);
        return true;
    }
    name += strncmp(name, "roost-", 6) == 0 ? 6 : 0;
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (is_page(name, commands[i]->name, ".1")) {
            put_command(commands[i], more(commands[i]->name), out);
            return true;
        }
    }
    return false;
}
