/* cli/cmd_drain.c - `roost drain NODE...`: drains machines; also estimates and --cancel.  The
 * action `status` is in drain_status.c.
 *
 * Many machines are asked at once, each in a transaction of its own (drain/drain_client.h), so a
 * machine that refuses or does not answer does not keep others from draining.  A committed request
 * continues whether or not this command waits for it.  With --wait, the command looks at the
 * collector's ads: a machine is done when all slots of our request are Drained/Idle, or when no
 * slot shows our request any more.  A machine that is on its way down is asked again until it is
 * asleep, or stays up.
 *
 * After the first interrupt (Ctrl-C) the command asks no further machines, waits for the answers
 * of those that it has asked, says what continues without it, and ends.  The second interrupt ends
 * it at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hostlist.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/drain_show_plan.h"
#include "cli/drain_sleepers.h"
#include "cli/drain_status.h"
#include "cli/drain_wait_plan.h"
#include "cli/drain_words_plan.h"
#include "cli/listing.h"
#include "cli/power_lock.h"
#include "drain/drain_client.h"
#include "wire/wire.h"

/* machines at the same time; each holds two requests at the collector */
#define ASKED_AT_ONCE 128
#define SHOWN_EACH    16  /* with many machines, progress is shown after so many answers */
#define LOOK_MS       500 /* --wait looks at the ads this often */
/* a request that no ad shows by then was over before we looked */
#define UNSEEN_MS 10000
/* a machine that is on its way down when it is asked is asked again until it is asleep or up: for
 * so long, so often */
#define GOING_DOWN_MS 120000
#define AGAIN_MS      500
#define GONE_MS       5000 /* shorter than the deadline of an answer */
/* exit status after an interrupt, as shells return it */
#define INTERRUPTED    (128 + SIGINT)
#define CANCEL_UNKNOWN (-1)

static const char ID[] = "DrainingRequestId";

struct drain_target {
    struct drain_run *run;
    const char *machine;
    struct drain_client *client; /* the transaction with the startd; NULL before and after it */
    struct ad *result;           /* what drain_show_plan.h prints about this machine */
    const char *id;              /* the request to cancel; NULL: any request of the machine */
    bool asked;
    /* when the machine was asked first, was asked last, and had answered for good, by the loop's
     * clock */
    uint64_t asked_ms, sent_ms, ended_ms;
    bool goes_down;   /* it is to be asked again, because it was on its way down */
    bool waits, seen; /* for --wait: still waited for; an ad has shown our request */
    /* for --at-once: drain_wait_cancel_s() of the first look; CANCEL_UNKNOWN: not looked at yet */
    int64_t cancel_s;
};

struct drain_run {
    struct cli *cli;
    struct drain_words words;
    struct drain_target *targets;
    /* for --cancel ID: the id (const char *, in words.ids) by which words.nodes[i] was found */
    struct vec found_ids;
    size_t count, next, open, ended;
    size_t draining;  /* with --at-once: machines that are waited for before the next are asked */
    size_t cancelled; /* machines that are not waited for any more, because somebody cancelled */
    bool all_ended;   /* every target has ended, or an interrupt ends us */
    int interruptions;
    struct loop_timer *again_timer; /* fires when machines that go down are to be asked again */
    bool terminal;                  /* standard error is a terminal, so progress is shown */
};

static void show_progress(const struct drain_run *run, const char *text)
{
    if (run->terminal) {
        (void)fprintf(stderr, "\r%s\033[K%s", text, text[0] == '\0' ? "\r" : "");
        (void)fflush(stderr);
    }
}

/* ---- asking */

static void start_more(struct drain_run *run);

/* Skips the machine's name at the beginning of an error text ("wn01: wn01: it ..."), because the
 * result line names the machine already. */
static const char *without_name(const char *text, const char *machine)
{
    size_t length = strlen(machine);
    while (strncmp(text, machine, length) == 0 && strncmp(text + length, ": ", 2) == 0) {
        text += length + 2;
    }
    return text;
}

/* Returns what to do about a refusal, to be appended to its text. */
static const char *advice_on(enum drain_code code, const struct ad *answer)
{
    const char *reason = answer != NULL ? ad_string_or(answer, "DrainReason", "") : "";
    return code != DRAIN_ALREADY ? ""
           : power_lock_is_drain(reason)
               ? "; it came with `roost power lock`: `roost drain --cancel` ends it, and the "
                 "machine stays locked"
               : "; `roost drain status` shows the machine";
}

static void end_target(struct drain_target *target, enum drain_code code, const char *text,
                       const struct ad *answer)
{
    struct drain_run *run = target->run;
    ad_set_int(target->result, "ErrorCode", code);
    if (answer != NULL) {
        ad_merge(target->result, answer);
        ad_set_string(target->result, "Machine", target->machine);
    }
    if (code != DRAIN_OK) {
        char why[ERR_TEXT_MAX];
        (void)snprintf(why, sizeof why, "%.*s%s", ERR_TEXT_MAX - 120,
                       without_name(text, target->machine), advice_on(code, answer));
        ad_set_string(target->result, "ErrorString", why);
    }
    target->ended_ms = loop_now_ms(run->cli->loop);
    if (code == DRAIN_OK && run->words.at_once > 0) {
        target->waits = true;
        run->draining++;
    }
    run->ended++;
    run->all_ended = run->ended == run->count;
}

static void on_interrupt(void *arg)
{
    struct drain_run *run = arg;
    run->interruptions++;
    run->all_ended = run->all_ended || run->open == 0 || run->interruptions > 1;
    if (!run->all_ended) {
        char text[100];
        (void)snprintf(text, sizeof text,
                       "%zu machines have not answered yet; press Ctrl-C to stop waiting\n",
                       run->open);
        show_progress(run, text);
    }
}

static void on_offered(void *arg, const char *id, const struct ad *offer)
{
    struct drain_target *target = arg;
    (void)id;
    ad_merge(target->result, offer);
    ad_set_string(target->result, "Machine", target->machine);
    drain_client_commit(target->client);
}

/* Returns whether to ask the machine again: it was on its way down, so it is soon asleep, or stays
 * up.  An uplink that ended instead of an answer means the same, if nothing was committed yet; a
 * machine that does not answer takes longer to be given up. */
static bool is_to_ask_again(const struct drain_target *target, enum drain_code code)
{
    const struct drain_run *run = target->run;
    uint64_t now_ms = loop_now_ms(run->cli->loop);
    bool has_gone = code == DRAIN_NO_ANSWER && !ad_has(target->result, ID) &&
                    now_ms < target->sent_ms + GONE_MS;
    return (code == DRAIN_NOT_NOW || has_gone) && run->words.verb == DRAIN_VERB_START &&
           run->interruptions == 0 && now_ms < target->asked_ms + GOING_DOWN_MS;
}

static void on_done(void *arg, enum drain_code code, const char *text, const struct ad *answer)
{
    struct drain_target *target = arg;
    struct drain_run *run = target->run;
    target->goes_down = is_to_ask_again(target, code);
    if (target->goes_down) {
        loop_timer_set(run->again_timer, AGAIN_MS);
    } else {
        end_target(target, code, text, answer);
    }
    drain_client_destroy(target->client);
    target->client = NULL;
    run->open -= target->goes_down ? 0 : 1;
    start_more(run);
}

static int start_one(struct drain_run *run, struct drain_target *target, struct err *err)
{
    static const struct drain_client_events EVENTS = {.offered = on_offered, .done = on_done};
    const struct drain_words *words = &run->words;
    struct wire *hub = run->cli->collector;
    if (hub == NULL) {
        return err_set(err, -ECONNRESET, "the connection to the collector was lost");
    }
    return words->verb == DRAIN_VERB_CANCEL
               ? drain_client_cancel(hub, target->machine, target->id, words->request.reason,
                                     &EVENTS, target, &target->client, err)
               : drain_client_start(hub, target->machine, &words->request, &EVENTS, target,
                                    &target->client, err);
}

static bool may_ask_more(const struct drain_run *run)
{
    size_t at_once = (size_t)run->words.at_once;
    return run->next < run->count && run->open < ASKED_AT_ONCE && run->interruptions == 0 &&
           (at_once == 0 || run->open + run->draining < at_once);
}

static void ask_target(struct drain_target *target)
{
    struct err err;
    target->goes_down = false;
    target->sent_ms = loop_now_ms(target->run->cli->loop);
    if (start_one(target->run, target, &err) != 0) {
        target->run->open--;
        end_target(target, DRAIN_NO_ANSWER, err.text, NULL);
    }
}

static void ask_again(void *arg)
{
    struct drain_run *run = arg;
    for (size_t i = 0; i < run->count; i++) {
        if (run->targets[i].goes_down) {
            ask_target(&run->targets[i]);
        }
    }
    start_more(run);
}

static void start_more(struct drain_run *run)
{
    while (may_ask_more(run)) {
        struct drain_target *target = &run->targets[run->next++];
        if (target->asked) {
            continue; /* it was cancelled before its turn */
        }
        target->asked = true;
        target->asked_ms = loop_now_ms(run->cli->loop);
        run->open++;
        ask_target(target);
    }
    run->all_ended = run->all_ended || (run->interruptions > 0 && run->open == 0);
    if (run->count > ASKED_AT_ONCE && (run->ended % SHOWN_EACH == 0 || run->open < SHOWN_EACH)) {
        char text[80];
        (void)snprintf(text, sizeof text, "%zu of %zu machines have answered", run->ended,
                       run->count);
        show_progress(run, text);
    }
}

static void make_targets(struct drain_run *run)
{
    const struct drain_words *words = &run->words;
    run->count = words->nodes.count;
    run->targets = mem_zalloc((run->count + 1) * sizeof *run->targets);
    for (size_t i = 0; i < run->count; i++) {
        struct drain_target *target = &run->targets[i];
        *target = (struct drain_target){.run = run,
                                        .machine = words->nodes.items[i],
                                        .result = ad_create(),
                                        .cancel_s = CANCEL_UNKNOWN};
        target->id = run->found_ids.count > 0 ? run->found_ids.items[i]
                     : words->ids.count > 0   ? words->ids.items[0]
                                              : NULL;
        ad_set_string(target->result, "Machine", target->machine);
        if (words->verb == DRAIN_VERB_START) {
            ad_set_string(target->result, "DrainingSchedule",
                          drain_schedule_name(words->request.schedule));
            ad_set_string(target->result, "OnCompletion", drain_then_name(words->request.then));
            if (words->request.deadline_s > 0) {
                ad_set_int(target->result, "DrainingDeadline", words->request.deadline_s);
            }
        }
    }
}

/* ---- what the collector knows */

/* For --cancel ID... without machines: adds to words.nodes the machines that drain by these
 * requests.  Returns the exit status so far, or -errno. */
static int find_by_ids(struct drain_run *run, struct err *err)
{
    struct cli_reply reply = {0};
    struct vec machines = {0};
    struct vec *nodes = &run->words.nodes;
    int status = CLI_OK;
    int rc = drain_status_slots(run->cli, "Draining =?= true", &reply, err);
    drain_show_machines((const struct ad *const *)reply.ads.items, reply.ads.count, &machines);
    for (size_t i = 0; i < run->words.ids.count && rc == 0; i++) {
        const char *id = run->words.ids.items[i];
        size_t before = nodes->count;
        for (size_t k = 0; k < machines.count && nodes->count == before; k++) {
            if (strcmp(ad_string_or(machines.items[k], ID, ""), id) == 0) {
                vec_push(nodes, mem_strdup(ad_string_or(machines.items[k], "Machine", "")));
                vec_push(&run->found_ids, run->words.ids.items[i]);
            }
        }
        if (nodes->count == before) {
            status = cli_fail(run->cli, "no machine is draining for request '%s'", id);
        }
    }
    drain_show_machines_free(&machines);
    cli_reply_fini(&reply);
    return rc != 0 ? rc : status;
}

/* ---- --wait */

struct drained {
    struct vec names;        /* slots are Drained and stay so */
    struct vec over;         /* no ad shows our request any more */
    struct strbuf cancelled; /* lines about the machines whose draining somebody cancelled */
};

/* Ends a machine that is waited for, or that has not been asked yet: somebody cancelled its
 * draining. */
static void end_cancelled(struct drain_target *target, const struct ad *slot, struct drained *ret)
{
    const char *by = ad_string_or(slot, "LastDrainCanceller", "somebody");
    char why[ERR_TEXT_MAX];
    if (target->asked) {
        (void)snprintf(why, sizeof why, "the drain was cancelled by %.200s", by);
        ad_set_int(target->result, "ErrorCode", DRAIN_CANCELLED);
        ad_set_string(target->result, "ErrorString", why);
    } else {
        (void)snprintf(why, sizeof why,
                       "left out, because %.200s cancelled its draining before its turn came", by);
        target->asked = true;
        end_target(target, DRAIN_CANCELLED, why, NULL);
    }
    strbuf_printf(&ret->cancelled, "%s: %s\n", target->machine, why);
    target->run->cancelled++;
}

/* machine, slot: as for drain_wait_judge() */
static void judge_one(struct drain_target *target, const struct ad *machine, const struct ad *slot,
                      struct drained *ret)
{
    const struct drain_run *run = target->run;
    const char *id = target->asked ? ad_string_or(target->result, ID, "") : NULL;
    const struct drain_watched watched = {.id = id,
                                          .stays = run->words.request.then == DRAIN_THEN_STAY,
                                          .was_seen = target->seen,
                                          .is_late = loop_now_ms(run->cli->loop) >
                                                     target->ended_ms + UNSEEN_MS,
                                          .cancel_s = target->cancel_s};
    enum drain_progress progress = drain_wait_judge(&watched, machine, slot);
    target->seen |= id != NULL && machine != NULL && strcmp(ad_string_or(machine, ID, ""), id) == 0;
    if (progress == DRAIN_IS_DRAINED) {
        vec_push(&ret->names, (char *)(uintptr_t)target->machine);
    } else if (progress == DRAIN_IS_OVER) {
        vec_push(&ret->over, (char *)(uintptr_t)target->machine);
    } else if (progress == DRAIN_WAS_CANCELLED) {
        end_cancelled(target, slot, ret);
    }
    target->waits = target->waits && progress == DRAIN_GOES_ON;
}

/* Judges all machines that are waited for or have not been asked yet.  Returns the number of those
 * that are still waited for; *jobs becomes the number of their jobs. */
static size_t judge_all(struct drain_run *run, const struct strmap *by_name,
                        const struct strmap *cancels, struct drained *found, int64_t *jobs)
{
    size_t left = 0;
    *jobs = 0;
    for (size_t i = 0; i < run->count; i++) {
        struct drain_target *target = &run->targets[i];
        const struct ad *machine = strmap_get(by_name, target->machine);
        const struct ad *slot = strmap_get(cancels, target->machine);
        if (target->cancel_s == CANCEL_UNKNOWN) {
            target->cancel_s = drain_wait_cancel_s(slot);
        }
        if (target->waits || !target->asked) {
            judge_one(target, machine, slot, found);
        }
        left += target->waits ? 1 : 0;
        *jobs += target->waits && machine != NULL ? ad_int_or(machine, "DrainingJobs", 0) : 0;
    }
    return left;
}

/* Prints what became of machines since the last look. */
static void print_drained(struct drain_run *run, struct drained *found)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    drain_show_names((const char *const *)found->names.items, found->names.count, "drained", &out);
    drain_show_names((const char *const *)found->over.items, found->over.count, "request ended",
                     &out);
    strbuf_puts(&out, strbuf_text(&found->cancelled));
    if (out.length > 0 && run->words.listing.style == LISTING_TABLE) {
        show_progress(run, "");
        (void)fputs(strbuf_text(&out), stdout);
        (void)fflush(stdout);
    }
    strbuf_fini(&out);
}

/* Looks at the collector's ads once and prints which machines are done; *left becomes the number of
 * machines that are still waited for. */
static int look_at_machines(struct drain_run *run, size_t *left, struct err *err)
{
    struct cli_reply reply = {0};
    struct vec machines = {0};
    struct drained found = {0};
    char text[120];
    int64_t jobs;
    int rc = drain_status_slots(run->cli, "Draining =?= true || LastDrainCancelTime =!= undefined",
                                &reply, err);
    if (rc != 0) {
        cli_reply_fini(&reply);
        return rc;
    }
    drain_show_machines((const struct ad *const *)reply.ads.items, reply.ads.count, &machines);
    struct strmap *by_name = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *cancels = strmap_create(STRMAP_CASE_IGNORED);
    for (size_t i = 0; i < machines.count; i++) {
        (void)strmap_set(by_name, ad_string_or(machines.items[i], "Machine", ""),
                         machines.items[i]);
    }
    for (size_t i = 0; i < reply.ads.count; i++) {
        const struct ad *slot = reply.ads.items[i];
        if (drain_wait_cancel_s(slot) != 0) {
            (void)strmap_set(cancels, ad_string_or(slot, "Machine", ""), reply.ads.items[i]);
        }
    }
    strbuf_init(&found.cancelled, 0);
    *left = judge_all(run, by_name, cancels, &found, &jobs);
    print_drained(run, &found);
    (void)snprintf(text, sizeof text, "%zu of %zu machines are drained, %lld jobs left",
                   run->count - *left, run->count, (long long)jobs);
    show_progress(run, *left > 0 ? text : "");
    strbuf_fini(&found.cancelled);
    vec_fini(&found.names, NULL);
    vec_fini(&found.over, NULL);
    strmap_destroy(by_name, NULL);
    strmap_destroy(cancels, NULL);
    drain_show_machines_free(&machines);
    cli_reply_fini(&reply);
    return 0;
}

/* Appends the names of the targets for which is() holds, folded like "wn[01-03]"; *count becomes
 * their number. */
static void name_some(const struct drain_run *run, bool (*is)(const struct drain_target *target),
                      struct strbuf *out, size_t *count)
{
    struct vec names = {0};
    for (size_t i = 0; i < run->count; i++) {
        if (is(&run->targets[i])) {
            vec_push(&names, (char *)(uintptr_t)run->targets[i].machine);
        }
    }
    hostlist_fold((const char *const *)names.items, names.count, out);
    *count = names.count;
    vec_fini(&names, NULL);
}

static bool is_waited_for(const struct drain_target *target)
{
    return target->waits;
}

static bool was_not_asked(const struct drain_target *target)
{
    return !target->asked;
}

static bool has_not_answered(const struct drain_target *target)
{
    return target->client != NULL || target->goes_down;
}

static int end_waiting(struct drain_run *run)
{
    struct strbuf names;
    size_t count;
    strbuf_init(&names, 0);
    show_progress(run, "");
    name_some(run, is_waited_for, &names, &count);
    if (count > 0) {
        (void)cli_fail(run->cli,
                       "interrupted: %.400s continue to drain; `roost drain status` shows them, "
                       "`roost drain --cancel` ends draining",
                       strbuf_text(&names));
    }
    strbuf_fini(&names);
    return INTERRUPTED;
}

/* Says which machines were not asked or did not answer before the interrupt.  Returns the exit
 * status. */
static int end_asking(struct drain_run *run)
{
    static const char *const GOES_ON[] = {
        [DRAIN_VERB_START] = ("; draining machines continue to drain: `roost drain status` shows "
                              "them, `roost drain --cancel` ends draining"),
        [DRAIN_VERB_ESTIMATE] = "; an estimate changes nothing",
        [DRAIN_VERB_CANCEL] = "; machines that were not cancelled continue to drain",
        [DRAIN_VERB_STATUS] = ""};
    struct strbuf names;
    size_t count;
    strbuf_init(&names, 0);
    name_some(run, has_not_answered, &names, &count);
    if (count > 0) {
        (void)cli_fail(run->cli, "interrupted: no answer of %.400s yet; their state is not known",
                       strbuf_text(&names));
    }
    strbuf_clear(&names);
    name_some(run, was_not_asked, &names, &count);
    (void)cli_fail(run->cli, "interrupted: %zu of %zu machines were not asked%s%.400s%s", count,
                   run->count, count > 0 ? ": " : "", strbuf_text(&names),
                   GOES_ON[run->words.verb]);
    strbuf_fini(&names);
    return INTERRUPTED;
}

static int wait_for_all(struct drain_run *run)
{
    struct cli *cli = run->cli;
    uint64_t begun_ms = loop_now_ms(cli->loop);
    size_t left = 0;
    struct err err;
    for (size_t i = 0; i < run->count; i++) {
        run->targets[i].waits = ad_int_or(run->targets[i].result, "ErrorCode", 0) == DRAIN_OK &&
                                !ad_has(run->targets[i].result, "DoneAsleep");
        left += run->targets[i].waits ? 1 : 0;
    }
    while (left > 0) {
        bool is_late = loop_now_ms(cli->loop) > begun_ms + UNSEEN_MS;
        int rc = cli_collector(cli, &err); /* it may have been started again */
        if ((rc != 0 || look_at_machines(run, &left, &err) != 0) && is_late) {
            show_progress(run, "");
            return cli_fail(cli, "%s; draining continues", err.text);
        }
        if (run->interruptions > 0) {
            return end_waiting(run);
        }
        if (left > 0) {
            cli_pause(cli, LOOK_MS);
        }
    }
    return run->cancelled == 0 ? CLI_OK
                               : cli_fail(cli, "%zu of %zu drains were cancelled by others",
                                          run->cancelled, run->count);
}

/* Asks the machines so that at most --at-once of them drain at the same time, and waits until the
 * last ones are drained. */
static void roll(struct drain_run *run)
{
    struct cli *cli = run->cli;
    struct err err;
    size_t left;
    (void)look_at_machines(run, &left, &err); /* when each was cancelled last; else at the next */
    do {
        start_more(run);
        cli_pause(cli, LOOK_MS);
        int rc = cli_collector(cli, &err); /* it may have been started again */
        if (rc == 0 && look_at_machines(run, &left, &err) == 0) {
            run->draining = left;
        }
    } while (run->interruptions == 0 && (run->next < run->count || run->open + run->draining > 0));
    show_progress(run, "");
}

/* ---- verbs */

/* Prints the results of all machines.  Returns the exit status. */
static int show_results(struct drain_run *run)
{
    struct cli *cli = run->cli;
    const struct ad **ads = mem_alloc((run->count + 1) * sizeof(const struct ad *));
    const struct ad_context context = listing_context(cli);
    struct strbuf out, failures;
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) {
        if (ad_has(run->targets[i].result, "ErrorCode")) { /* else we were interrupted before */
            ads[count++] = run->targets[i].result;
        }
    }
    strbuf_init(&out, 0);
    strbuf_init(&failures, 0);
    size_t failed = drain_show_results(run->words.verb, ads, count, &context, &out, &failures);
    int status = CLI_OK;
    if (run->words.listing.style == LISTING_TABLE) {
        (void)fputs(strbuf_text(&out), stdout);
        (void)fflush(stdout);
        const char *at = strbuf_text(&failures);
        while (*at != '\0') {
            size_t length = strcspn(at, "\n");
            status = cli_fail(cli, "%.*s", (int)length, at);
            at += length + 1;
        }
        if (failed > 0 && run->count > 1) {
            status = cli_fail(cli, "%zu of %zu machines failed", failed, run->count);
        }
    } else if (listing_show(cli, &run->words.listing, ads, count) != CLI_OK) {
        status = CLI_FAILED;
    }
    strbuf_fini(&out);
    strbuf_fini(&failures);
    mem_free(ads);
    return failed > 0 ? CLI_FAILED : status;
}

/* Does with the machines that are asleep what is asked for. */
static void handle_sleepers(struct drain_run *run)
{
    struct vec results = {0};
    for (size_t i = 0; i < run->count; i++) {
        vec_push(&results, run->targets[i].result);
    }
    drain_sleepers(run->cli, &run->words, (struct ad *const *)results.items, results.count);
    vec_fini(&results, NULL);
}

static int ask_machines(struct drain_run *run)
{
    struct cli *cli = run->cli;
    struct err err;
    int unknown = CLI_OK;
    int rc = drain_status_connect(cli, &run->words, &err);
    if (rc == 0 && run->words.listing.constraints.count > 0) {
        rc = power_lock_select(cli, &run->words.listing, &run->words.nodes, &err);
        unknown = rc == 0 && run->words.nodes.count == 0
                      ? cli_fail(cli, "no machine meets the constraint")
                      : CLI_OK;
    } else if (rc == 0 && run->words.nodes.count == 0) {
        unknown = find_by_ids(run, &err);
        rc = unknown < 0 ? unknown : 0;
    }
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    if (run->words.nodes.count == 0) {
        return unknown;
    }
    loop_on_signal(cli->loop, SIGINT, on_interrupt, run);
    run->again_timer = loop_timer_create(cli->loop, ask_again, run);
    make_targets(run);
    if (run->words.at_once > 0) {
        roll(run);
    } else {
        start_more(run);
    }
    if (!run->all_ended) {
        loop_run_until(cli->loop, &run->all_ended);
    }
    show_progress(run, "");
    handle_sleepers(run);
    bool is_text = run->words.listing.style == LISTING_TABLE;
    int status = is_text ? show_results(run) : CLI_OK;
    status = status != CLI_OK ? status : unknown;
    if (run->interruptions > 0) {
        if (!is_text) {
            (void)show_results(run);
        }
        return end_asking(run);
    }
    if (run->words.wait) {
        int waited = wait_for_all(run);
        status = status != CLI_OK ? status : waited;
    }
    if (!is_text) {
        int shown = show_results(run);
        status = status != CLI_OK ? status : shown;
    }
    return status;
}

int cmd_drain(struct cli *cli)
{
    struct drain_run run = {.cli = cli, .terminal = isatty(STDERR_FILENO) == 1};
    const struct ad_context now = listing_context(cli);
    struct err err;
    const struct hostlist_groups groups = cli_groups(cli);
    int rc = drain_words_read(cli->argc, cli->argv, &now, &groups, &run.words, &err);
    int status = rc == -ENOENT                         ? cli_unknown(cli, run.words.unknown)
                 : rc != 0                             ? cli_usage(cli, "%s", err.text)
                 : run.words.verb == DRAIN_VERB_STATUS ? drain_status(cli, &run.words)
                                                       : ask_machines(&run);
    for (size_t i = 0; i < run.count; i++) {
        drain_client_destroy(run.targets[i].client);
        ad_destroy(run.targets[i].result);
    }
    mem_free(run.targets);
    loop_timer_destroy(run.again_timer);
    vec_fini(&run.found_ids, NULL);
    drain_words_fini(&run.words);
    return status;
}
