/* cli/cmd_act.c - `roost rm`, `hold`, `release`, `vacate`, `suspend`, `continue`, `checkpoint`:
 * actions on jobs in the schedd's queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/act_plan.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing.h"
#include "wire/wire.h"

struct act {
    struct cli *cli;
    const struct act_words *words;
    const char *reason; /* value of -reason; NULL: the schedd chooses the reason */
    int64_t subcode;    /* value of -subcode, for hold */
    bool fast, all;
    struct vec ids, users, constraints; /* borrowed texts, as they were given */
    struct vec zoned; /* the same constraints, with the local time zone filled in */
    bool *heard; /* for checkpoint: whether an answer for ids[i] arrived; NULL: no ids were given */
    size_t heard_count; /* number of answers that arrived */
    int status;
};

static int read_option(struct act *act, int *at)
{
    struct cli *cli = act->cli;
    const char *arg = cli->argv[*at];
    const char *next = *at + 1 < cli->argc ? cli->argv[*at + 1] : NULL;
    char *zoned;
    struct err err;
    if (listing_is(arg, "all", 1)) {
        act->all = true;
        return CLI_OK;
    }
    if (act_words_action(act->words, false) == NULL && !listing_is(arg, "constraint", 3)) {
        return cli_unknown(cli, arg); /* there are no two ways of it, nor reasons */
    }
    if (listing_is(arg, "fast", 1)) {
        act->fast = true;
        return CLI_OK;
    }
    bool is_reason = listing_is(arg, "reason", 3), is_code = listing_is(arg, "subcode", 3);
    if (!is_reason && !is_code && !listing_is(arg, "constraint", 3)) {
        return cli_unknown(cli, arg);
    }
    if (next == NULL) {
        return cli_usage(cli, "%s needs an argument", arg);
    }
    ++*at;
    if (is_reason) {
        act->reason = next;
    } else if (is_code) {
        if (text_parse_int64(next, &act->subcode, &err) != 0) {
            return cli_usage(cli, "-subcode: %s", err.text);
        }
    } else if (listing_plan_zoned(next, &listing_zone, &zoned, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    } else {
        vec_push(&act->constraints, cli->argv[*at]);
        vec_push(&act->zoned, zoned);
    }
    return CLI_OK;
}

static int parse_options(struct act *act)
{
    struct cli *cli = act->cli;
    for (int i = 1; i < cli->argc; i++) {
        char *arg = cli->argv[i];
        if (arg[0] == '-') {
            int status = read_option(act, &i);
            if (status != CLI_OK) {
                return status;
            }
        } else if (jobs_plan_is_id(arg)) {
            vec_push(&act->ids, arg);
        } else {
            struct strbuf scratch;
            struct err err;
            strbuf_init(&scratch, 0);
            int rc = jobs_plan_select(arg, &scratch, &err);
            strbuf_fini(&scratch);
            if (rc != 0) {
                return cli_usage(cli, "%s", err.text);
            }
            vec_push(&act->users, arg);
        }
    }
    if (!act->all && act->ids.count + act->users.count + act->constraints.count == 0) {
        return cli_usage(cli, "no jobs named; name ids, an owner, -constraint or -all");
    }
    return CLI_OK;
}

static void print_line(struct strbuf *line, bool is_done)
{
    (void)fprintf(is_done ? stdout : stderr, "%s\n", strbuf_text(line));
    strbuf_clear(line);
}

/* Sends one ACT request and prints the answers; args selects the jobs, and is released here. what
 * describes the constraint for the message; NULL: args has ids.  Returns the exit status. */
static int act_once(struct act *act, struct ad *args, const char *what)
{
    struct cli *cli = act->cli;
    struct cli_reply reply;
    struct err err;
    int status = CLI_OK;
    ad_set_string(args, "Action", act_words_action(act->words, act->fast));
    if (act->reason != NULL) {
        ad_set_string(args, "Reason", act->reason);
    }
    if (act->subcode != 0) {
        ad_set_int(args, "ReasonSubCode", act->subcode);
    }
    const struct wire_body body = {.args = args};
    if (cli_call(cli, cli->schedd, NULL, VERB_ACT, &body, 0, &reply, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        struct strbuf line;
        strbuf_init(&line, 0);
        for (size_t i = 0; what == NULL && i < reply.ads.count; i++) {
            bool is_done = act_plan_id(act->words, reply.ads.items[i], &line);
            print_line(&line, is_done);
            status = is_done ? status : CLI_FAILED;
        }
        if (what != NULL && reply.args != NULL) {
            bool is_done = act_plan_many(act->words, what, reply.args, &line);
            print_line(&line, is_done);
            status = is_done ? CLI_OK : CLI_FAILED;
        }
        strbuf_fini(&line);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return status;
}

/* ---- checkpoint: each answer is printed when it arrives */

static void show_checkpoints(void *arg, struct ad *const *ads, size_t count)
{
    struct act *act = arg;
    struct strbuf line;
    strbuf_init(&line, 0);
    for (size_t i = 0; i < count; i++) {
        bool is_done = act_plan_checkpoint(ads[i], &line);
        print_line(&line, is_done);
        (void)fflush(stdout);
        act->status = is_done ? act->status : CLI_FAILED;
        act->heard_count++;
        for (size_t k = 0; act->heard != NULL && k < act->ids.count; k++) {
            act->heard[k] = act->heard[k] || act_plan_answers(ads[i], act->ids.items[k]);
        }
    }
    strbuf_fini(&line);
}

static void say_missing(const struct act *act)
{
    for (size_t i = 0; i < act->ids.count; i++) {
        const char *id = act->ids.items[i];
        if (!act->heard[i]) {
            (void)fprintf(stderr,
                          strchr(id, '.') != NULL ? "Job %s not found\n"
                                                  : "Couldn't find jobs in cluster %s\n",
                          id);
        }
    }
}

/* Sends one JOB_CHECKPOINT request; args selects the jobs, and is released here. what describes the
 * constraint for the message; NULL: args has ids.  Returns the exit status. */
static int checkpoint_once(struct act *act, struct ad *args, const char *what)
{
    struct cli *cli = act->cli;
    struct cli_reply reply;
    struct err err;
    const struct wire_body body = {.args = args};
    act->status = CLI_OK;
    act->heard_count = 0;
    act->heard = what == NULL ? mem_zalloc(act->ids.count * sizeof(*act->heard)) : NULL;
    if (cli_call_each(cli, cli->schedd, VERB_JOB_CHECKPOINT, &body, show_checkpoints, act, &reply,
                      &err) != 0) {
        act->status = cli_fail(cli, "%s", err.text);
    } else if (what != NULL && act->heard_count == 0) {
        (void)fprintf(stderr, "No running job with checkpoints%s%s\n", what[0] != '\0' ? " " : "",
                      what);
        act->status = CLI_FAILED;
    } else if (what == NULL) {
        say_missing(act);
        for (size_t i = 0; i < act->ids.count; i++) {
            act->status = act->heard[i] ? act->status : CLI_FAILED;
        }
    }
    cli_reply_fini(&reply);
    mem_free(act->heard);
    act->heard = NULL;
    ad_destroy(args);
    return act->status;
}

static int do_once(struct act *act, struct ad *args, const char *what)
{
    return act_words_action(act->words, false) == NULL ? checkpoint_once(act, args, what)
                                                       : act_once(act, args, what);
}

static int act_constraint(struct act *act, const char *constraint, const char *what)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Constraint", constraint);
    return do_once(act, args, what);
}

static int act_all(struct act *act)
{
    struct strbuf text, what;
    int status = CLI_OK;
    strbuf_init(&text, 0);
    strbuf_init(&what, 0);
    if (act->ids.count > 0) {
        struct ad *args = ad_create();
        ad_set_strings(args, "Ids", (const char *const *)act->ids.items, act->ids.count);
        status |= do_once(act, args, NULL);
    }
    for (size_t i = 0; i < act->users.count; i++) {
        strbuf_clear(&text);
        strbuf_clear(&what);
        strbuf_printf(&what, "of user %s", (const char *)act->users.items[i]);
        (void)jobs_plan_select(act->users.items[i], &text, NULL); /* parse_options() looked */
        status |= act_constraint(act, strbuf_text(&text), strbuf_text(&what));
    }
    for (size_t i = 0; i < act->constraints.count; i++) {
        strbuf_clear(&what);
        strbuf_printf(&what, "matching constraint (%s)", (const char *)act->constraints.items[i]);
        status |= act_constraint(act, act->zoned.items[i], strbuf_text(&what));
    }
    if (act->all) {
        status |= act_constraint(act, "true", "");
    }
    strbuf_fini(&text);
    strbuf_fini(&what);
    return status != CLI_OK ? CLI_FAILED : CLI_OK;
}

int cmd_act(struct cli *cli)
{
    struct act act = {.cli = cli, .words = act_words_find(cli->argv[0])};
    struct err err;
    int status = parse_options(&act);
    if (status == CLI_OK && cli_schedd(cli, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    }
    if (status == CLI_OK) {
        status = act_all(&act);
    }
    vec_fini(&act.ids, NULL);
    vec_fini(&act.users, NULL);
    vec_fini(&act.constraints, NULL);
    vec_fini(&act.zoned, mem_free);
    return status;
}
