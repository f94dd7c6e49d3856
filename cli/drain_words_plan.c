/* cli/drain_words_plan.c - see drain_words_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/drain_words_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/options_plan.h"
#include "cli/until_plan.h"

#define ID_LETTERS 16

/* ---- words */

struct reading {
    struct drain_words *words;
    const struct ad_context *now;
    const struct hostlist_groups *groups;
    struct err *err;
    const char *text; /* the argument of the current option */
    /* a verb or a schedule was given as an option; if not, the default holds */
    bool has_verb, has_how;
    struct vec slots;
};

static int set_text(char **place, const char *text)
{
    mem_free(*place);
    *place = mem_strdup(text);
    return 0;
}

static int set_verb(struct reading *reading, enum drain_verb verb)
{
    if (reading->has_verb && reading->words->verb != verb) {
        return err_set(reading->err, -EINVAL, "use either --estimate or --cancel");
    }
    reading->has_verb = true;
    reading->words->verb = verb;
    return 0;
}

static int set_schedule(struct reading *reading, enum drain_schedule schedule)
{
    if (reading->has_how && reading->words->request.schedule != schedule) {
        return err_set(reading->err, -EINVAL,
                       "use only one of --peaceful, --graceful, --quick and --fast");
    }
    reading->has_how = true;
    reading->words->request.schedule = schedule;
    return 0;
}

static int on_graceful(struct reading *reading)
{
    return set_schedule(reading, DRAIN_GRACEFUL);
}
static int on_peaceful(struct reading *reading)
{
    return set_schedule(reading, DRAIN_PEACEFUL);
}
static int on_quick(struct reading *reading)
{
    return set_schedule(reading, DRAIN_QUICK);
}
static int on_fast(struct reading *reading)
{
    return set_schedule(reading, DRAIN_FAST);
}
static int on_estimate(struct reading *reading)
{
    return set_verb(reading, DRAIN_VERB_ESTIMATE);
}
static int on_cancel(struct reading *reading)
{
    return set_verb(reading, DRAIN_VERB_CANCEL);
}
static int on_wait(struct reading *reading)
{
    reading->words->wait = true;
    return 0;
}
static int on_at_once(struct reading *reading)
{
    if (text_parse_int64(reading->text, &reading->words->at_once, NULL) != 0 ||
        reading->words->at_once < 1) {
        return err_set(reading->err, -EINVAL, "--at-once needs a number of machines, not '%.60s'",
                       reading->text);
    }
    return 0;
}
static int on_check(struct reading *reading)
{
    return set_text(&reading->words->request.check, reading->text);
}
static int on_start(struct reading *reading)
{
    return set_text(&reading->words->request.start, reading->text);
}
static int on_reason(struct reading *reading)
{
    return set_text(&reading->words->request.reason, reading->text);
}
/* Appends to names, a list for hostlist_expand(): "3" and "3-5" become the slots with these
 * numbers, any other word is a slot's name. */
static int put_slots(const struct reading *reading, const char *word, struct strbuf *names)
{
    char *end = NULL;
    bool is_number = word[0] >= '0' && word[0] <= '9';
    unsigned long first = is_number ? strtoul(word, &end, 10) : 0;
    unsigned long last = is_number && *end == '-' ? strtoul(end + 1, &end, 10) : first;
    bool is_name = !is_number || *end == '_'; /* "1_2" is a piece of slot1 */
    if (!is_name && (*end != '\0' || last < first || last - first >= DRAIN_SLOTS_MAX)) {
        return err_set(reading->err, -EINVAL,
                       "'%.60s' does not name slots; expected names or numbers such as slot1, "
                       "slot[2-4], 1, 2-4",
                       word);
    }
    if (is_name) {
        strbuf_printf(names, "%s%s,", is_number ? "slot" : "", word);
    } else {
        strbuf_printf(names, "slot[%lu-%lu],", first, last);
    }
    return 0;
}

static int on_slots(struct reading *reading)
{
    struct vec words = {0};
    struct strbuf names; /* expanded at once: each time costs as much as there already are */
    strbuf_init(&names, 0);
    int rc = hostlist_expand(reading->text, NULL, &words, reading->err);
    for (size_t i = 0; i < words.count && rc == 0; i++) {
        rc = put_slots(reading, words.items[i], &names);
    }
    rc = rc != 0 ? rc : hostlist_expand(strbuf_text(&names), NULL, &reading->slots, reading->err);
    strbuf_fini(&names);
    vec_fini(&words, mem_free);
    return rc;
}
static int on_deadline(struct reading *reading)
{
    return until_plan_read(reading->text, reading->now, &reading->words->request.deadline_s,
                           reading->err);
}
static int on_then(struct reading *reading)
{
    return drain_then_parse(reading->text, &reading->words->request.then) == 0
               ? 0
               : err_set(
                     reading->err, -EINVAL,
                     "unknown action '%.60s'; expected resume, stay, restart, exit, sleep or off",
                     reading->text);
}
static int on_reclaimable(struct reading *reading)
{
    reading->words->request.reclaimable = true;
    return 0;
}
static int on_resume(struct reading *reading)
{
    reading->words->request.then = DRAIN_THEN_RESUME;
    return 0;
}
static int on_exit_after(struct reading *reading)
{
    reading->words->request.then = DRAIN_THEN_EXIT;
    return 0;
}
static int on_restart(struct reading *reading)
{
    reading->words->request.then = DRAIN_THEN_RESTART;
    return 0;
}
static int on_pool(struct reading *reading)
{
    reading->words->pool = reading->text;
    return 0;
}
static int on_id(struct reading *reading)
{
    size_t length = strlen(reading->text);
    if (length >= DRAIN_ID_MAX) {
        return err_set(reading->err, -EINVAL, "'%.60s' is not a request id", reading->text);
    }
    vec_push(&reading->words->ids, mem_strdup(reading->text));
    return 0;
}

/* The options, with the number of letters to which each may be shortened.  Those of condor_drain
 * are among them. */
static const struct {
    const char *name;
    size_t letters;
    bool has_text;
    int (*take)(struct reading *reading);
} OPTIONS[] = {
    {"graceful", 1, false, on_graceful},
    {"peaceful", 2, false, on_peaceful},
    {"quick", 1, false, on_quick},
    {"fast", 1, false, on_fast},
    {"slots", 2, true, on_slots},
    {"check", 2, true, on_check},
    {"start", 5, true, on_start},
    {"deadline", 4, true, on_deadline},
    {"then", 4, true, on_then},
    {"reclaimable", 3, false, on_reclaimable},
    {"resume-on-completion", 4, false, on_resume}, /* "res" may be restart, too */
    {"exit-on-completion", 2, false, on_exit_after},
    {"restart-on-completion", 4, false, on_restart},
    {"reason", 6, true, on_reason},
    {"estimate", 2, false, on_estimate},
    {"cancel", 2, false, on_cancel},
    {"request-id", 3, true, on_id},
    {"wait", 1, false, on_wait},
    {"at-once", 2, true, on_at_once},
    {"pool", 2, true, on_pool},
};

/* For an option that is too short to be unique: sets err to a message with the options that it may
 * be, and returns -EINVAL; -ENOENT when there are fewer than two. */
static int say_which(struct reading *reading, const char *arg)
{
    const char *found[ARRAY_COUNT(OPTIONS)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++) {
        if (listing_is(arg, OPTIONS[i].name, 1)) {
            found[count++] = OPTIONS[i].name;
        }
    }
    if (count < 2) {
        return -ENOENT;
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(&text, "%s--%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", found[i]);
    }
    int rc = err_set(reading->err, -EINVAL, "%.40s may be %s", arg, strbuf_text(&text));
    strbuf_fini(&text);
    return rc;
}

static int take_option(struct reading *reading, int argc, char *const *argv, int *at)
{
    const char *arg = argv[*at];
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++) {
        if (!listing_is(arg, OPTIONS[i].name, OPTIONS[i].letters)) {
            continue;
        }
        if (OPTIONS[i].has_text) {
            if (*at + 1 >= argc || argv[*at + 1][0] == '\0') {
                return err_set(reading->err, -EINVAL, "%s needs a value", arg);
            }
            reading->text = argv[++*at];
        }
        int rc = OPTIONS[i].take(reading);
        return rc != 0 ? rc : 1;
    }
    int rc =
        listing_plan_option(&reading->words->listing, argc, argv, at, reading->now, reading->err);
    if (rc == 0 && options_ignored("drain", arg)) {
        return 1;
    }
    if (rc == 0) {
        reading->words->unknown = arg;
        return say_which(reading, arg);
    }
    return rc;
}

/* Adds the machines of a word.  The name of a slot stands for its machine, as for condor_drain. */
static int add_machines(struct reading *reading, const char *word)
{
    struct vec names = {0};
    struct strbuf machines; /* expanded at once, as slots are */
    strbuf_init(&machines, 0);
    int rc = hostlist_expand(word, reading->groups, &names, reading->err);
    for (size_t i = 0; i < names.count && rc == 0; i++) {
        const char *name = names.items[i], *at = strchr(name, '@');
        if (at != NULL && at[1] == '\0') {
            rc = err_set(reading->err, -EINVAL, "no host names in '%.60s'", name);
        }
        strbuf_printf(&machines, "%s,", at != NULL ? at + 1 : name);
    }
    rc = rc != 0
             ? rc
             : hostlist_expand(strbuf_text(&machines), NULL, &reading->words->nodes, reading->err);
    strbuf_fini(&machines);
    vec_fini(&names, mem_free);
    return rc != 0 ? -EINVAL : 0; /* -ENOENT is an unknown option */
}

/* True for a request id as the startd makes it: 8 random bytes in hexadecimal. */
static bool is_id(const char *word)
{
    return strlen(word) == ID_LETTERS && strspn(word, "0123456789abcdef") == ID_LETTERS;
}

/* Checks the combination of all arguments and fills in what follows from it. */
static int judge_words(struct reading *reading)
{
    struct drain_words *words = reading->words;
    struct drain_request *request = &words->request;
    if (words->verb == DRAIN_VERB_STATUS) {
        return reading->has_verb || reading->has_how
                   ? err_set(reading->err, -EINVAL, "status accepts only machine names")
                   : 0;
    }
    if (words->verb != DRAIN_VERB_CANCEL && words->ids.count > 0) {
        return err_set(reading->err, -EINVAL, "-request-id needs --cancel");
    }
    if (words->verb == DRAIN_VERB_CANCEL && reading->slots.count > 0) {
        return err_set(reading->err, -EINVAL,
                       "--cancel ends a request for all slots; leave out --slots");
    }
    bool has_constraint = words->listing.constraints.count > 0;
    if (words->nodes.count == 0 && words->ids.count == 0 && !has_constraint) {
        return err_set(reading->err, -EINVAL, "no machines named");
    }
    if (has_constraint && words->nodes.count + words->ids.count > 0) {
        return err_set(reading->err, -EINVAL, "use either machine names or --constraint");
    }
    if (words->at_once > 0 && words->verb != DRAIN_VERB_START) {
        return err_set(reading->err, -EINVAL, "--at-once can be used only with a request to drain");
    }
    if (words->nodes.count > 0 && words->ids.count > 1) {
        return err_set(reading->err, -EINVAL,
                       "several request ids cannot be combined with machine names");
    }
    if (words->wait && words->verb != DRAIN_VERB_START) {
        return err_set(reading->err, -EINVAL, "--wait can be used only with a request to drain");
    }
    request->slot_count = reading->slots.count;
    request->slots = (char **)reading->slots.items;
    reading->slots = (struct vec){0};
    request->estimate = words->verb == DRAIN_VERB_ESTIMATE;
    struct drain_request checked;
    struct ad *args = ad_create();
    drain_request_write(request, args);
    enum drain_code code = drain_request_read(args, &checked, reading->err);
    ad_destroy(args);
    drain_request_fini(&checked);
    return code == DRAIN_OK ? 0 : -EINVAL;
}

static int read_all(struct reading *reading, int argc, char *const *argv)
{
    struct drain_words *words = reading->words;
    for (int i = 1; i < argc; i++) {
        int rc = 0;
        if (argv[i][0] == '-') {
            rc = take_option(reading, argc, argv, &i);
        } else if (i == 1 && strcmp(argv[i], "status") == 0) {
            words->verb = DRAIN_VERB_STATUS;
        } else if (words->verb == DRAIN_VERB_CANCEL && is_id(argv[i])) {
            reading->text = argv[i];
            rc = on_id(reading);
        } else {
            rc = add_machines(reading, argv[i]);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return judge_words(reading);
}

int drain_words_read(int argc, char *const *argv, const struct ad_context *now,
                     const struct hostlist_groups *groups, struct drain_words *ret, struct err *err)
{
    *ret = (struct drain_words){0};
    struct reading reading = {.words = ret, .now = now, .groups = groups, .err = err};
    int rc = read_all(&reading, argc, argv);
    vec_fini(&reading.slots, mem_free);
    return rc;
}

void drain_words_fini(struct drain_words *words)
{
    vec_fini(&words->nodes, mem_free);
    vec_fini(&words->ids, mem_free);
    drain_request_fini(&words->request);
    listing_fini(&words->listing);
}
