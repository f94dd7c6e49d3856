/* cli/completion_plan.c - see completion_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/completion_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/commands.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

/* Commands whose arguments are jobs, and those with machines; the names are queried from the pool
 * when the key is pressed. */
static const char *const OF_JOBS[] = {"q",       "rm",       "hold",       "release", "vacate",
                                      "suspend", "continue", "checkpoint", "edit",    "wait",
                                      "why",     "tail",     "ssh",        "top",     NULL};
static const char *const OF_MACHINES[] = {"status", "power", "drain", NULL};

static void add_word(struct vec *words, const char *text, size_t length)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        if (strlen(word) == length && strncmp(word, text, length) == 0) {
            return;
        }
    }
    vec_push(words, mem_strndup(text, length));
}

static void add_options(const char *text, struct vec *words)
{
    char before = ' ';
    while (text != NULL && *text != '\0') {
        size_t dashes = strspn(text, "-");
        size_t letters = dashes > 0 && dashes < 3 ? strspn(text + dashes, LETTERS "-") : 0;
        size_t length = dashes + letters;
        if (letters > 0 && strchr(" [(|,;\n", before) != NULL) {
            add_word(words, text, length);
        }
        length = length > 0 ? length : 1;
        before = text[length - 1];
        text += length;
    }
}

static bool is_one_of(const char *const *list, const char *name)
{
    while (*list != NULL && strcmp(*list, name) != 0) {
        list++;
    }
    return *list != NULL;
}

void completion_words(const struct cli_command *command, struct vec *words)
{
    const char *usage = command->usage;
    size_t length = strspn(usage, LETTERS "|");
    if (length > 0 && (usage[length] == ' ' || usage[length] == '\0')) { /* its verbs */
        for (const char *at = usage; at < usage + length;) {
            size_t word = strcspn(at, "| ");
            word = word < (size_t)(usage + length - at) ? word : (size_t)(usage + length - at);
            add_word(words, at, word);
            at += word + 1;
        }
    }
    add_options(usage, words);
    add_options(command->help, words);
    add_word(words, "--help", 6);
}

static void put_words(const struct cli_command *command, struct strbuf *out)
{
    struct vec words = {0};
    completion_words(command, &words);
    for (size_t i = 0; i < words.count; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? " " : "", (const char *)words.items[i]);
    }
    vec_fini(&words, mem_free);
}

static void put_names(const struct cli_command *const *commands, const char *const *names,
                      struct strbuf *out)
{
    const char *between = "";
    for (; *commands != NULL; commands++) {
        if (names == NULL || is_one_of(names, (*commands)->name)) {
            strbuf_printf(out, "%s%s", between, (*commands)->name);
            between = names == NULL ? " " : "|";
        }
    }
}

void completion_bash(const struct cli_command *const *commands, struct strbuf *out)
{
    strbuf_puts(out, "# Completion of roost's command line; made by `roost completion`.\n"
                     "_roost()\n"
                     "{\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} roost=${COMP_WORDS[0]} words=\n"
                     "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                     "        words='");
    put_names(commands, NULL, out);
    strbuf_puts(out, " version'\n"
                     "    else\n"
                     "        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        strbuf_printf(out, "        %s) words='", commands[i]->name);
        put_words(commands[i], out);
        if (strcmp(commands[i]->name, "help") == 0) {
            strbuf_putc(out, ' ');
            put_names(commands, NULL, out);
        }
        strbuf_puts(out, "' ;;\n");
    }
    strbuf_puts(out, "        esac\n"
                     "        case ${COMP_WORDS[1]}:$cur in\n"
                     "        *:-*) ;;\n");
    strbuf_puts(out, "        ");
    const char *between = "";
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (is_one_of(OF_JOBS, commands[i]->name)) {
            strbuf_printf(out, "%s%s:[0-9]*", between, commands[i]->name);
            between = " | ";
        }
    }
    strbuf_puts(out, ") words=$(\"$roost\" q -limit 1000 -format '%d.' ClusterId"
                     " -format '%d ' ProcId 2>/dev/null) ;;\n        ");
    between = "";
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (is_one_of(OF_MACHINES, commands[i]->name)) {
            strbuf_printf(out, "%s%s:?*", between, commands[i]->name);
            between = " | ";
        }
    }
    strbuf_puts(out, ") words+=\" $(\"$roost\" status -limit 1000 -af Machine 2>/dev/null)\" ;;\n"
                     "        esac\n"
                     "    fi\n"
                     "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                     "}\n"
                     "complete -o default -F _roost roost\n");
}

void completion_zsh(const struct cli_command *const *commands, struct strbuf *out)
{
    strbuf_puts(out, "#compdef roost\n"
                     "autoload -U +X bashcompinit && bashcompinit\n");
    completion_bash(commands, out);
}
