/* cli/options_plan.c - see options_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/options_plan.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/completion_plan.h"
#include "cli/listing_plan.h"

#define DISTANCE_MAX 3 /* most changed letters of a similar word */

/* Options of HTCondor that Roost does not have, each with an explanation or an alternative. */
static const struct refusal {
    const char *command, *option;
    size_t letters;
    const char *why;
} REFUSALS[] = {
    {"q", "dag", 2, "Roost has no DAGMan; -nobatch shows each job"},
    {"q", "grid", 2, "Roost has no grid universe"},
    {"q", "globus", 3, "Roost has no grid universe"},
    {"q", "jobset", 4, "Roost has no job sets; -batch-name of roost submit names a batch"},
    {"q", "userlog", 3, "roost wait LOG -status follows a job event log"},
    {"q", "unmatchable", 3, "roost why JOB tells which jobs nothing matches"},
    {"q", "reverse-analyze", 3, "roost why -slot NAME judges jobs from the slot's side"},
    {"q", "machine", 3, "roost why JOB judges all slots; -slot NAME one of them"},
    {"q", "mconstraint", 2, "roost why -slot NAME judges one slot"},
    {"q", "slotads", 2, "roost classad match judges ads of files"},
    {"q", "userprios", 5, "roost why always looks at users' priorities"},
    {"q", "nouserprios", 3,
     "roost why JOB shows whether priorities or requirements keep the job from running"},
    {"q", "profile", 4, "this option is for developers of condor_q"},
    {"status", "java", 2, "Roost has no java universe"},
    {"status", "vm", 2, "Roost has no vm universe; -constraint 'HasVM' selects by attribute"},
    {"status", "cod", 3, "Roost has no computing on demand"},
    {"status", "grid", 2, "Roost has no grid universe"},
    {"status", "license", 2, "Roost has no such ads; -generic TYPE shows those of any type"},
    {"status", "defrag", 3, "Roost has no defrag daemon; roost drain empties machines"},
    {"status", "storage", 2, "Roost has no such ads; -generic TYPE shows those of any type"},
    {"status", "ckptsrvr", 2, "Roost has no checkpoint servers"},
    {"status", "annex", 3, "Roost has no annex; -constraint selects by any attribute"},
    {"status", "broken", 2, "-problems shows ads with something wrong in them"},
    {"status", "lvm", 2, "-constraint selects by any attribute"},
    {"status", "direct", 3,
     "machines accept no connections; roost status MACHINE asks the collector about a machine"},
    {"status", "snapshot", 3, "-l shows all attributes that the collector has of an ad"},
    {"status", "statistics", 5, "-l shows all attributes that the collector has of an ad"},
    {"status", "merge", 3, "-ads FILE shows the ads of a file"},
    {"status", "diagnose", 4, "roost why -slot NAME tells what a slot waits for"},
    {"history", "userlog", 3, "roost wait LOG -status reads a job event log"},
    {"history", "startd", 4, "machines keep no history; the schedd's history has every run"},
    {"history", "epochs", 2, "runs are in the job event log: roost wait LOG -status -echo"},
    {"history", "directory", 3,
     "only the schedd keeps a history; -file FILE reads job ads from a file"},
    {"userprio", "getreslist", 4, "roost status -claimed shows who has which slot"},
    {"userprio", "legacy", 3, "-l prints an ad for each account"},
    {"userprio", "hierarchical", 4, "-grouporder shows users below their groups"},
};

/* Options of HTCondor that are accepted without effect. */
static const struct {
    const char *command, *option;
    size_t letters;
} IGNORED[] = {
    {"q", "stream-results", 3}, {"q", "expert", 3},      {"q", "cumulative-time", 3},
    {"status", "expert", 3},    {"history", "local", 3}, {"userprio", "most", 2},
    {"userprio", "modular", 3}, {"userprio", "flat", 2},
};

bool options_ignored(const char *command, const char *arg)
{
    for (size_t i = 0; i < ARRAY_COUNT(IGNORED); i++) {
        if (strcmp(IGNORED[i].command, command) == 0 &&
            listing_is(arg, IGNORED[i].option, IGNORED[i].letters)) {
            return true;
        }
    }
    return listing_is(arg, "debug", 5) || strncmp(arg, "-debug:", 7) == 0;
}

static const char *refusal_of(const char *command, const char *arg)
{
    for (size_t i = 0; i < ARRAY_COUNT(REFUSALS); i++) {
        if (strcmp(REFUSALS[i].command, command) == 0 &&
            listing_is(arg, REFUSALS[i].option, REFUSALS[i].letters)) {
            return REFUSALS[i].why;
        }
    }
    return NULL;
}

static size_t distance_allowed(size_t length)
{
    return length <= 3 ? 1 : length <= 6 ? 2 : DISTANCE_MAX;
}

static const char *without_dashes(const char *word)
{
    return word + strspn(word, "-");
}

void options_unknown(const struct cli_command *command, const char *arg, struct strbuf *out)
{
    const char *why = refusal_of(command->name, arg);
    if (why != NULL) {
        strbuf_printf(out, "unknown option '%s': %s", arg, why);
        return;
    }
    struct vec words = {0};
    const char *best = NULL, *bare = without_dashes(arg);
    size_t limit = distance_allowed(strlen(bare)), distance = limit + 1;
    completion_words(command, &words);
    for (size_t i = 0; i < words.count; i++) {
        const char *word = words.items[i];
        size_t far = text_distance(bare, without_dashes(word), limit);
        if ((word[0] == '-') == (arg[0] == '-') && far < distance) {
            distance = far;
            best = word;
        }
    }
    strbuf_printf(out, arg[0] == '-' ? "unknown option '%s'" : "unknown argument '%s'", arg);
    if (best != NULL) {
        strbuf_printf(out, "; did you mean %s?", best);
    } else {
        strbuf_printf(out, "; `roost %s --help` lists all options", command->name);
    }
    vec_fini(&words, mem_free);
}

const char *options_nearest_command(const struct cli_command *const *commands, const char *name)
{
    static const struct {
        const char *word, *command;
    } OTHERS[] = {{"prio", "edit"},      {"qedit", "edit"},        {"ls", "status"},
                  {"cancel", "rm"},      {"kill", "rm"},           {"suspend", "hold"},
                  {"resume", "release"}, {"continue", "release"},  {"run", "submit"},
                  {"ssh_to_job", "ssh"}, {"userlog", "wait"},      {"on", "start"},
                  {"off", "stop"},       {"config_val", "config"}, {"watch_q", "top"},
                  {"nodes", "power"},    {"queue", "q"},           {"jobs", "q"},
                  {"delete", "rm"},      {"remove", "rm"},         {"vacate_job", "vacate"},
                  {"log", "history"}};
    const char *best = NULL;
    name = strncmp(name, "condor_", 7) == 0 ? name + 7 : name;
    size_t limit = distance_allowed(strlen(name)), distance = limit + 1;
    for (size_t i = 0; commands[i] != NULL; i++) {
        size_t far = text_distance(name, commands[i]->name, limit);
        if (far < distance) {
            distance = far;
            best = commands[i]->name;
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(OTHERS) && distance > 0; i++) {
        if (strcmp(OTHERS[i].word, name) == 0) {
            for (size_t k = 0; commands[k] != NULL; k++) {
                if (strcmp(commands[k]->name, OTHERS[i].command) == 0) {
                    return commands[k]->name;
                }
            }
        }
    }
    return best;
}
