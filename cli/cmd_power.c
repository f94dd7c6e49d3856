/* cli/cmd_power.c - `roost power status|on|wake|off|sleep|lock|unlock|keep|test|history|report`.
 *
 * Requests reach the rooster by the collector, which relays them to the uplink named in the
 * rooster's ad.  `off` and `sleep` ask the machine's own startd in the same way: after `off` the
 * machine stays off until `on`, after `sleep` it stays off until a job needs it.  Locks are kept by
 * the collector, for machines in any state; so is `off` for a machine that is asleep.  Rooster and
 * startd verify our token themselves.  With --now or --after-drain, this command runs `roost drain`
 * and tells it what follows: there is one way to empty a machine.  A dry run is judged by the
 * daemon that would do the work, not here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/hostlist.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/keep_plan.h"
#include "cli/listing.h"
#include "cli/power_keep.h"
#include "cli/power_keep_off.h"
#include "cli/power_lock.h"
#include "cli/power_report_plan.h"
#include "cli/power_show_plan.h"
#include "cli/rooster_ask.h"
#include "wire/wire.h"

#define OFF_MS       120000 /* longest wait for a machine whose jobs are being ended */
#define OFF_RETRY_MS 250
#define TEST_POLL_MS 1000
#define DAYS         30 /* days of a report without --days and --since */
#define DAYS_MAX     4000

struct power_command {
    struct cli *cli;
    struct listing listing;
    struct vec nodes; /* machine names, expanded */
    const char *reason, *until;
    int64_t days; /* value of --days, used unless --since was given */
    int64_t since_s;
    unsigned said; /* the options that were given, a set of these flags: */
#define SAID_FORCE       0x1U
#define SAID_NOW         0x2U
#define SAID_AFTER_DRAIN 0x4U
#define SAID_DRY_RUN     0x8U
#define SAID_UNTIL       0x10U
#define SAID_ALL         0x20U
#define SAID_USERS       0x40U
#define SAID_CSV         0x80U
#define SAID_SINCE       0x100U
    struct rooster_ask rooster;
};

static const struct {
    const char *name;
    size_t min;
    unsigned flag;
} FLAGS[] = {
    {"force", 5, SAID_FORCE},     {"now", 3, SAID_NOW},     {"after-drain", 2, SAID_AFTER_DRAIN},
    {"dry-run", 3, SAID_DRY_RUN}, {"users", 2, SAID_USERS}, {"csv", 3, SAID_CSV},
    {"all", 3, SAID_ALL}};

static unsigned flag_of(const char *arg)
{
    for (size_t i = 0; i < ARRAY_COUNT(FLAGS); i++) {
        if (listing_is(arg, FLAGS[i].name, FLAGS[i].min)) {
            return FLAGS[i].flag;
        }
    }
    return 0;
}

static int parse_options(struct power_command *power)
{
    struct cli *cli = power->cli;
    struct err err;
    const struct hostlist_groups groups = cli_groups(cli);
    for (int i = 2; i < cli->argc; i++) {
        char *arg = cli->argv[i];
        int rc =
            listing_plan_option(&power->listing, cli->argc, cli->argv, &i, &listing_zone, &err);
        if (rc < 0) {
            return cli_usage(cli, "%s", err.text);
        }
        if (rc == 1) {
            continue;
        }
        if (listing_is(arg, "reason", 1)) {
            if (i + 1 >= cli->argc) {
                return cli_usage(cli, "%s needs a text", arg);
            }
            power->reason = cli->argv[++i];
        } else if (listing_is(arg, "until", 2)) {
            if (i + 1 >= cli->argc) {
                return cli_usage(cli, "%s needs a time", arg);
            }
            power->until = cli->argv[++i];
            power->said |= SAID_UNTIL;
        } else if (listing_is(arg, "days", 3)) {
            if (i + 1 >= cli->argc || text_parse_int64(cli->argv[++i], &power->days, NULL) != 0 ||
                power->days < 1 || power->days > DAYS_MAX) {
                return cli_usage(cli, "%s needs a number of days from 1 to %d", arg, DAYS_MAX);
            }
            power->said |= SAID_SINCE;
        } else if (listing_is(arg, "since", 2)) {
            if (i + 1 >= cli->argc ||
                power_report_since(cli->argv[++i], loop_wall_s(cli->loop), &power->since_s) != 0) {
                return cli_usage(cli, "%s needs a date in the past such as 2026-11-01 (UTC)", arg);
            }
            power->said |= SAID_SINCE;
        } else if (flag_of(arg) != 0) {
            power->said |= flag_of(arg);
        } else if (arg[0] == '-') {
            return cli_unknown(cli, arg);
        } else if (hostlist_expand(arg, &groups, &power->nodes, &err) != 0) {
            return cli_usage(cli, "%s", err.text);
        }
    }
    return CLI_OK;
}

/* Adds a constraint that selects the named machines: "Machine == "a" || ...". */
static void select_nodes(struct power_command *power, const char *attribute)
{
    struct strbuf text;
    if (power->nodes.count == 0) {
        return;
    }
    strbuf_init(&text, 0);
    for (size_t i = 0; i < power->nodes.count; i++) {
        strbuf_printf(&text, "%s%s == \"%s\"", i > 0 ? " || " : "", attribute,
                      (const char *)power->nodes.items[i]);
    }
    listing_also(&power->listing, strbuf_text(&text));
    strbuf_fini(&text);
}

static int print_ads(struct power_command *power, const struct ad **ads, size_t count,
                     void (*table)(const struct ad *const *, size_t, const struct ad_context *,
                                   struct strbuf *))
{
    struct cli *cli = power->cli;
    if (power->listing.style != LISTING_TABLE) {
        return listing_show(cli, &power->listing, ads, count);
    }
    struct strbuf out;
    const struct ad_context context = listing_context(cli);
    strbuf_init(&out, 0);
    table(ads, count, &context, &out);
    return listing_write(cli, &out);
}

/* Gets the ads of all nodes into *nodes, owned by the caller: from the rooster, or from the slots'
 * ads if the rooster does not respond; then `silent` says so, else it is "". */
static int get_nodes(struct power_command *power, struct vec *nodes, char silent[ERR_TEXT_MAX],
                     struct err *err)
{
    struct cli *cli = power->cli;
    const struct listing all = {0};
    struct cli_reply reply = {0};
    silent[0] = '\0';
    int rc = rooster_ask_find(cli, &power->rooster, err);
    if (power->rooster.is_silent) {
        (void)snprintf(silent, ERR_TEXT_MAX, "%s", err->text);
        rc = listing_query(cli, cli->collector, NULL, "Machine", &all, NULL, NULL, &reply, err);
        power_show_slots((const struct ad *const *)reply.ads.items, reply.ads.count, nodes);
        cli_reply_fini(&reply);
        return rc;
    }
    rc = rc != 0 ? rc : rooster_ask_nodes(cli, &power->rooster, &reply, err);
    *nodes = reply.ads;
    reply.ads = (struct vec){0};
    cli_reply_fini(&reply);
    return rc;
}

static int power_status(struct power_command *power)
{
    struct cli *cli = power->cli;
    struct vec nodes = {0};
    struct err err;
    char silent[ERR_TEXT_MAX];
    int status = CLI_OK;
    int rc = get_nodes(power, &nodes, silent, &err);
    size_t count = nodes.count;
    const struct ad **ads = mem_alloc((count + 1) * sizeof *ads);
    for (size_t i = 0; i < count; i++) {
        ads[i] = nodes.items[i];
    }
    power_show_sort(ads, count);
    select_nodes(power, "Name");
    rc = rc != 0 ? rc : listing_select(cli, &power->listing, ads, &count, &err);
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (count < power->nodes.count && power->listing.style == LISTING_TABLE) {
        (void)print_ads(power, ads, count, power_show_status); /* fails below in any case */
        status = cli_fail(cli, "the %s does not know all of the named machines",
                          silent[0] != '\0' ? "collector" : "rooster");
    } else {
        status = print_ads(power, ads, count, power_show_status);
    }
    if (silent[0] != '\0') {
        (void)fflush(stdout);
        status = cli_fail(cli, "%s; what is shown is from the machines' ads", silent);
    }
    mem_free(ads);
    vec_fini(&nodes, ad_destroy_item);
    return status;
}

static int power_history(struct power_command *power)
{
    struct cli *cli = power->cli;
    struct cli_reply reply = {0};
    struct err err;
    int status = CLI_OK;
    select_nodes(power, "Machine");
    int rc = rooster_ask_find(cli, &power->rooster, &err);
    rc = rc != 0 ? rc
                 : listing_query(cli, cli->collector, power->rooster.uplink, "Wake",
                                 &power->listing, NULL, NULL, &reply, &err);
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        status = print_ads(power, (const struct ad **)reply.ads.items, reply.ads.count,
                           power_show_history);
    }
    cli_reply_fini(&reply);
    return status;
}

static int power_report(struct power_command *power)
{
    struct cli *cli = power->cli;
    struct cli_reply reply = {0};
    struct err err;
    struct listing all = {0};
    struct ad *more = ad_create();
    int64_t now_s = loop_wall_s(cli->loop);
    int status = CLI_OK;
    ad_set_string(more, "Kind", (power->said & SAID_USERS) != 0 ? "User" : "Node");
    ad_set_int(more, "Since",
               power->since_s > 0 ? power->since_s
                                  : now_s - (power->days - 1) * 86400); /* today is one of them */
    ad_set_int(more, "Until", now_s);
    int rc = rooster_ask_find(cli, &power->rooster, &err);
    rc = rc != 0 ? rc
                 : listing_query(cli, cli->collector, power->rooster.uplink, "Energy", &all, NULL,
                                 more, &reply, &err);
    size_t count = reply.ads.count;
    const struct ad **ads = mem_alloc((count + 1) * sizeof *ads);
    for (size_t i = 0; i < count; i++) {
        ads[i] = reply.ads.items[i];
    }
    power_show_sort(ads, count);
    select_nodes(power, "Name");
    rc = rc != 0 ? rc : listing_select(cli, &power->listing, ads, &count, &err);
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if ((power->said & SAID_CSV) != 0) {
        struct strbuf out;
        strbuf_init(&out, 0);
        power_report_csv(ads, count, &out);
        status = listing_write(cli, &out);
    } else {
        status = print_ads(power, ads, count, power_report_show);
    }
    mem_free(ads);
    ad_destroy(more);
    cli_reply_fini(&reply);
    return status;
}

/* ---- switching */

static void print_line(const char *text, bool is_done)
{
    (void)fprintf(is_done ? stdout : stderr, "%s\n", text);
}

static int order_on(struct power_command *power, bool test)
{
    struct cli *cli = power->cli;
    struct cli_reply reply = {0};
    struct err err;
    struct ad *args = ad_create();
    int status = CLI_OK;
    ad_set_strings(args, "Nodes", (const char *const *)power->nodes.items, power->nodes.count);
    if (power->reason != NULL) {
        ad_set_string(args, "Reason", power->reason);
    }
    if (test) {
        ad_set_bool(args, "Test", true);
    }
    if ((power->said & SAID_DRY_RUN) != 0) {
        ad_set_bool(args, "DryRun", true);
    }
    const struct wire_body body = {.args = args};
    int rc = rooster_ask_find(cli, &power->rooster, &err);
    rc = rc != 0 ? rc
                 : cli_call(cli, cli->collector, power->rooster.uplink, VERB_POWER_ON, &body, 0,
                            &reply, &err);
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    }
    for (size_t i = 0; i < reply.ads.count; i++) {
        struct strbuf line;
        strbuf_init(&line, 0);
        bool is_done = power_show_order(reply.ads.items[i], &line);
        print_line(strbuf_text(&line), is_done);
        status = is_done ? status : CLI_FAILED;
        strbuf_fini(&line);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return status;
}

static int power_on(struct power_command *power)
{
    return order_on(power, false);
}

/* What `off` and `sleep` do with a machine that is asleep already. */
static int switch_sleeper(struct power_command *power, const char *node, bool is_off)
{
    struct err err;
    bool dry = (power->said & SAID_DRY_RUN) != 0;
    if (is_off && !dry && power_keep_off(power->cli, node, power->reason, &err) != 0) {
        return cli_fail(power->cli, "%s", err.text);
    }
    (void)printf("%s is asleep%s\n", node,
                 !is_off ? ""
                 : dry   ? ", and would stay off until somebody switches the machine on by name"
                         : ", and stays off until somebody switches the machine on by name");
    return CLI_OK;
}

/* Asks the startd to power its machine off, again while it answers -EAGAIN because jobs are still
 * being ended.  The startd answers after it has stored its offline ads. */
static int switch_off(struct power_command *power, const char *node, bool stays_off)
{
    struct cli *cli = power->cli;
    uint64_t end_ms = loop_now_ms(cli->loop) + OFF_MS;
    char uplink[WIRE_NAME_MAX + 1];
    struct ad *args = ad_create();
    struct strbuf would; /* of a dry run */
    struct err err;
    int rc = -EAGAIN;
    bool dry = (power->said & SAID_DRY_RUN) != 0;
    bool keeps = stays_off && !dry;
    strbuf_init(&would, 0);
    ad_set_bool(args, "Force", (power->said & SAID_FORCE) != 0);
    ad_set_bool(args, "DryRun", dry);
    ad_set_bool(args, "KeepOff", stays_off);
    if (power->reason != NULL) {
        ad_set_string(args, "Reason", power->reason);
    }
    (void)snprintf(uplink, sizeof uplink, "startd/%s", node);
    const struct wire_body body = {.args = args};
    while ((rc == -EAGAIN || (rc == -EALREADY && keeps && !power_keep_is_asleep(cli, node))) &&
           loop_now_ms(cli->loop) < end_ms) {
        struct cli_reply reply;
        rc = cli_call(cli, cli->collector, uplink, VERB_POWER_DOWN, &body, 0, &reply, &err);
        if (rc == 0 && dry) {
            strbuf_puts(&would, ad_string_or(reply.args, "Text", "would go down"));
        }
        cli_reply_fini(&reply);
        if (rc == -EAGAIN || (rc == -EALREADY && keeps)) {
            cli_pause(cli, OFF_RETRY_MS);
        }
    }
    ad_destroy(args);
    int status = CLI_OK;
    /* Gone with its answer, or going down by itself: nobody knows whether it will stay off. */
    if ((rc == -ECONNRESET || (rc == -EALREADY && keeps)) && power_keep_is_asleep(cli, node)) {
        rc = keeps ? power_keep_off(cli, node, power->reason, &err) : 0;
    }
    if (rc == 0 && dry) {
        (void)printf("%s %s\n", node, strbuf_text(&would));
    } else if (rc == 0) {
        (void)printf("%s %s\n", node, stays_off ? "is switched off" : "goes to sleep");
    } else if (rc == -EALREADY && keeps) {
        status = cli_fail(cli,
                          "%s is going to sleep, but is not asleep yet, and jobs may wake it; "
                          "run `roost power off %s` again",
                          node, node);
    } else if (rc == -EALREADY) {
        (void)printf("%s is already going to sleep\n", node);
    } else if (rc == -EHOSTUNREACH && power_keep_is_asleep(cli, node)) {
        status = switch_sleeper(power, node, stays_off);
    } else if (rc == -EHOSTUNREACH) {
        status = cli_fail(cli, "%s is not connected to the collector, and has no offline ad", node);
    } else {
        status = cli_fail(cli, "%s", err.text);
    }
    strbuf_fini(&would);
    return status;
}

/* Runs `roost drain` with these words, then machine names. */
static int run_drain(struct power_command *power, const char *const *words, size_t word_count,
                     const struct vec *nodes)
{
    struct cli *cli = power->cli;
    char **argv = cli->argv;
    int argc = cli->argc;
    const char **all = mem_alloc((word_count + nodes->count + 1) * sizeof(const char *));
    size_t count = 0;
    for (size_t i = 0; i < word_count; i++) {
        all[count++] = words[i];
    }
    for (size_t i = 0; i < nodes->count; i++) {
        all[count++] = nodes->items[i];
    }
    cli->argc = (int)count;
    cli->argv = (char **)all; /* they are only read */
    int status = cmd_drain(cli);
    cli->argc = argc;
    cli->argv = argv;
    mem_free(all);
    return status;
}

/* Runs `roost drain` with what follows the draining: the jobs run to their end (--after-drain) or
 * are asked to end (--now), then the machine goes off or to sleep. */
static int drain_first(struct power_command *power, bool keep_off)
{
    const char *words[7];
    size_t count = 0;
    words[count++] = "drain";
    words[count++] = (power->said & SAID_AFTER_DRAIN) != 0 ? "--peaceful" : "--quick";
    words[count++] = "--then";
    words[count++] = keep_off ? "off" : "sleep";
    if (power->reason != NULL) {
        words[count++] = "--reason";
        words[count++] = power->reason;
    }
    if ((power->said & SAID_DRY_RUN) != 0) {
        words[count++] = "--estimate";
    }
    return run_drain(power, words, count, &power->nodes);
}

static int switch_all_off(struct power_command *power, bool keep_off)
{
    struct err err;
    int status = CLI_OK;
    if ((power->said & (SAID_NOW | SAID_AFTER_DRAIN)) != 0) {
        return drain_first(power, keep_off);
    }
    if (cli_collector(power->cli, &err) != 0) {
        return cli_fail(power->cli, "%s", err.text);
    }
    for (size_t i = 0; i < power->nodes.count; i++) {
        status |= switch_off(power, power->nodes.items[i], keep_off);
    }
    return status != CLI_OK ? CLI_FAILED : CLI_OK;
}

static int power_off(struct power_command *power)
{
    return switch_all_off(power, true);
}

static int power_sleep_now(struct power_command *power)
{
    return switch_all_off(power, false);
}

/* ---- self-tests: wake a machine, see it, put it to sleep again */

static int ask_status(struct power_command *power, struct cli_reply *reply)
{
    struct err err;
    int rc = rooster_ask_nodes(power->cli, &power->rooster, reply, &err);
    return rc != 0 ? cli_fail(power->cli, "%s", err.text) : CLI_OK;
}

/* The time when the machine's last self-test ended, by the rooster's clock; compare it only with
 * other such times. */
static int64_t test_time(const struct ad *status)
{
    return status != NULL ? ad_int_or(status, "LastTestTime", 0) : 0;
}

/* For --all: adds the machines that are off and have a power method. */
static void add_sleeping(struct power_command *power, const struct cli_reply *reply)
{
    for (size_t i = 0; i < reply->ads.count; i++) {
        const struct ad *status = reply->ads.items[i];
        if (strcmp(ad_string_or(status, "PowerState", ""), "Off") == 0 &&
            strcmp(ad_string_or(status, "PowerMethod", "none"), "none") != 0) {
            vec_push(&power->nodes, mem_strdup(ad_string_or(status, "Name", "")));
        }
    }
}

static int test_one(struct power_command *power, const char *node, int64_t before_s)
{
    struct cli *cli = power->cli;
    for (;;) {
        struct cli_reply reply = {0};
        int status = ask_status(power, &reply);
        const struct ad *ad = rooster_ask_node(&reply, node);
        bool is_over = test_time(ad) != before_s;
        if (status == CLI_OK && is_over && ad_bool_or(ad, "LastTestPassed", false)) {
            const char *fault = ad_string_or(ad, "LastWakeFault", "");
            char took[40] = ""; /* it is not known if the rooster was started again meanwhile */
            if (ad_has(ad, "LastWakeSeconds")) {
                (void)snprintf(took, sizeof took, " in %.1f s",
                               ad_real_or(ad, "LastWakeSeconds", 0));
            }
            (void)printf("%s came up%s%s%s\n", node, took, fault[0] != '\0' ? ": " : "",
                         fault[0] != '\0' ? ad_string_or(ad, "PowerStateReason", "") : "");
            (void)switch_off(power, node, false); /* with a job on it, it stays: it says so */
            status = fault[0] != '\0' ? CLI_FAILED : CLI_OK;
        } else if (status == CLI_OK && is_over) {
            status = cli_fail(cli, "%s did not come up: %s", node,
                              ad_string_or(ad, "PowerStateReason", "no reason given"));
        } else if (status == CLI_OK && ad != NULL && ad_bool_or(ad, "UnderTest", false)) {
            cli_reply_fini(&reply);
            cli_pause(cli, TEST_POLL_MS);
            continue;
        } else if (status == CLI_OK) {
            status = cli_fail(cli, "%s was not tested", node);
        }
        cli_reply_fini(&reply);
        return status;
    }
}

static int power_test(struct power_command *power)
{
    struct cli *cli = power->cli;
    struct cli_reply before = {0};
    struct err err;
    if (rooster_ask_find(cli, &power->rooster, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    int status = ask_status(power, &before);
    if (status == CLI_OK && (power->said & SAID_ALL) != 0) {
        add_sleeping(power, &before);
    }
    if (status == CLI_OK && power->nodes.count > 0) {
        status = order_on(power, true);
        for (size_t i = 0; i < power->nodes.count; i++) {
            const char *node = power->nodes.items[i];
            status |= test_one(power, node, test_time(rooster_ask_node(&before, node)));
        }
    }
    cli_reply_fini(&before);
    return status != CLI_OK ? CLI_FAILED : CLI_OK;
}

/* ---- locks */

/* Lock: drains those of the machines that have claims and do not drain yet.  Unlock: cancels the
 * drains that came with a lock. */
static int drain_locked(struct power_command *power, bool locks)
{
    struct cli *cli = power->cli;
    struct listing awake = {0};
    struct vec nodes = {0};
    struct strbuf text;
    struct err err;
    int status = CLI_OK;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < power->nodes.count; i++) {
        strbuf_printf(&text, "%sMachine == \"%s\"", i > 0 ? " || " : "",
                      (const char *)power->nodes.items[i]);
    }
    listing_also(&awake, strbuf_text(&text));
    listing_also(&awake, "Offline =!= true && Absent =!= true");
    listing_also(&awake,
                 locks ? "Draining =!= true && (State == \"Claimed\" || State == \"Preempting\")"
                       : "Draining =?= true && regexp(\"^" POWER_LOCK_DRAINS
                         "(:|$)\", DrainReason)");
    int rc = power_lock_select(cli, &awake, &nodes, &err);
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (nodes.count > 0 && locks) {
        strbuf_clear(&text);
        strbuf_printf(&text, "%s%s%s", POWER_LOCK_DRAINS, power->reason != NULL ? ": " : "",
                      power->reason != NULL ? power->reason : "");
        const char *const words[] = {"drain",  "--peaceful", "--then",
                                     "resume", "--reason",   strbuf_text(&text)};
        status = run_drain(power, words, ARRAY_COUNT(words), &nodes);
    } else if (nodes.count > 0) {
        const char *const words[] = {"drain", "--cancel"};
        status = run_drain(power, words, ARRAY_COUNT(words), &nodes);
    }
    strbuf_fini(&text);
    vec_fini(&nodes, mem_free);
    listing_fini(&awake);
    return status;
}

static int set_locks(struct power_command *power, bool locks)
{
    struct cli *cli = power->cli;
    struct power_lock_wish wish = {.locks = locks, .reason = power->reason};
    struct cli_reply reply = {0};
    struct err err;
    char until[TEXT_UTC_MAX];
    int status = CLI_OK;
    if (power->until != NULL && keep_plan_until(power->until, loop_wall_s(cli->loop), &listing_zone,
                                                &wish.until_s, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    }
    int rc = cli_collector(cli, &err);
    rc = rc != 0 ? rc
                 : power_lock_ask(cli, (const char *const *)power->nodes.items, power->nodes.count,
                                  &wish, &reply, &err);
    if (rc != 0) {
        cli_reply_fini(&reply);
        return cli_fail(cli, "%s", err.text);
    }
    text_utc_s(wish.until_s, until);
    for (size_t i = 0; i < power->nodes.count; i++) {
        const char *node = power->nodes.items[i];
        if (!locks && power_lock_is_in(&reply, "NotLocked", node)) {
            status = cli_fail(cli, "%s is not locked", node);
        } else if (!locks) {
            (void)printf("%s is no longer locked\n", node);
        } else {
            (void)printf("%s is locked%s%s%s\n", node, wish.until_s != 0 ? " until " : "",
                         wish.until_s != 0 ? until : "",
                         power_lock_is_in(&reply, "Unknown", node)
                             ? "; the pool knows no machine of that name yet"
                             : "");
        }
    }
    (void)fflush(stdout);
    cli_reply_fini(&reply);
    status |= drain_locked(power, locks);
    return status != CLI_OK ? CLI_FAILED : CLI_OK;
}

static int power_lock(struct power_command *power)
{
    return set_locks(power, true);
}

static int power_unlock(struct power_command *power)
{
    return set_locks(power, false);
}

static int power_keep(struct power_command *power)
{
    struct cli *cli = power->cli;
    int64_t until_s;
    int status = CLI_OK;
    struct err err;
    if (power->until == NULL) {
        return cli_usage(cli, "keep needs --until TIME");
    }
    if (keep_plan_until(power->until, loop_wall_s(cli->loop), &listing_zone, &until_s, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    }
    if (cli_collector(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    for (size_t i = 0; i < power->nodes.count; i++) {
        status |= power_keep_up(cli, power->nodes.items[i], until_s, power->reason);
    }
    return status != CLI_OK ? CLI_FAILED : CLI_OK;
}

#define SAID_DOWN (SAID_FORCE | SAID_NOW | SAID_AFTER_DRAIN)

static const struct power_verb {
    const char *name;
    int (*run)(struct power_command *power);
    bool needs_nodes;
    unsigned takes; /* the options that the verb accepts, SAID_ flags */
} VERBS[] = {
    {"status", power_status, false, 0},
    {"on", power_on, true, SAID_DRY_RUN},
    {"wake", power_on, true, SAID_DRY_RUN},
    {"off", power_off, true, SAID_DOWN | SAID_DRY_RUN},
    {"sleep", power_sleep_now, true, SAID_DOWN | SAID_DRY_RUN},
    {"lock", power_lock, true, SAID_UNTIL},
    {"unlock", power_unlock, true, 0},
    {"keep", power_keep, true, SAID_UNTIL},
    {"history", power_history, false, 0},
    {"test", power_test, true, SAID_ALL},
    {"report", power_report, false, SAID_USERS | SAID_CSV | SAID_SINCE},
};

/* Refuses options that the verb would ignore: "keep --dry-run" must not keep anything. */
static int check_options(const struct power_command *power, const struct power_verb *verb)
{
    unsigned strange = power->said & ~verb->takes, how = power->said & SAID_DOWN;
    for (size_t i = 0; i < ARRAY_COUNT(FLAGS); i++) {
        if ((strange & FLAGS[i].flag) != 0) {
            return cli_usage(power->cli, "--%s does not go with %s", FLAGS[i].name, verb->name);
        }
    }
    if (strange != 0) {
        return cli_usage(power->cli,
                         (strange & SAID_UNTIL) != 0 ? "--until does not go with %s"
                                                     : "--days and --since do not go with %s",
                         verb->name);
    }
    if ((how & (how - 1)) != 0) {
        return cli_usage(power->cli, "use only one of --after-drain, --now and --force");
    }
    return CLI_OK;
}

/* Adds the machines of --constraint. */
static int select_by_constraint(struct power_command *power)
{
    struct cli *cli = power->cli;
    struct err err;
    if (power->nodes.count > 0 || (power->said & SAID_ALL) != 0) {
        return cli_usage(cli, "use either machine names or --constraint");
    }
    if (cli_collector(cli, &err) != 0 ||
        power_lock_select(cli, &power->listing, &power->nodes, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    return power->nodes.count > 0 ? CLI_OK : cli_fail(cli, "no machine meets the constraint");
}

int cmd_power(struct cli *cli)
{
    struct power_command power = {.cli = cli, .days = DAYS};
    size_t verb = 0;
    const char *word = cli->argc > 1 ? cli->argv[1] : "";
    while (verb < ARRAY_COUNT(VERBS) && strcmp(VERBS[verb].name, word) != 0) {
        verb++;
    }
    if (verb == ARRAY_COUNT(VERBS)) {
        return word[0] != '\0' ? cli_usage(cli,
                                           "unknown action '%s'; expected status, on, wake, off, "
                                           "sleep, lock, unlock, keep, test, history or report",
                                           word)
                               : cli_usage(cli, "the action is missing: status, on, wake, off, "
                                                "sleep, lock, unlock, keep, test, history or "
                                                "report");
    }
    int status = parse_options(&power);
    bool all = (power.said & SAID_ALL) != 0;
    if (status == CLI_OK && all && power.nodes.count > 0) {
        status = cli_usage(cli, "use either --all or machine names");
    }
    if (status == CLI_OK && VERBS[verb].needs_nodes && power.listing.constraints.count > 0) {
        status = select_by_constraint(&power);
    }
    if (status == CLI_OK && VERBS[verb].needs_nodes && power.nodes.count == 0 && !all) {
        status = cli_usage(cli, "no machines named");
    }
    status = status != CLI_OK ? status : check_options(&power, &VERBS[verb]);
    if (status == CLI_OK) {
        status = VERBS[verb].run(&power);
    }
    vec_fini(&power.nodes, mem_free);
    listing_fini(&power.listing);
    return status;
}
