/* cli/factory_plan.c - see factory_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/factory_plan.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "classad/ad_value.h"
#include "cli/status/status_cells_plan.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"

/* ---- tables */

STATUS_STRING_CELL(cell_name, "Name")
STATUS_STRING_CELL(cell_site, "Site")
STATUS_STRING_CELL(cell_state, "State")
STATUS_STRING_CELL(cell_site_id, "SiteId")
STATUS_STRING_CELL(cell_reason, "Reason")
STATUS_INT_CELL(cell_sites, "Sites")
STATUS_INT_CELL(cell_glideins, "Glideins")
STATUS_INT_CELL(cell_wanted, "Wanted")
STATUS_INT_CELL(cell_coming, "Coming")
STATUS_INT_CELL(cell_queued, "Queued")
STATUS_INT_CELL(cell_held, "Held")
STATUS_INT_CELL(cell_running, "Running")
STATUS_INT_CELL(cell_idle, "Idle")
STATUS_INT_CELL(cell_total, "Total")
STATUS_INT_CELL(cell_samples, "Samples")
STATUS_INT_CELL(cell_claims, "Claims")
STATUS_SINCE_CELL(cell_uptime, "DaemonStartTime")
STATUS_SINCE_CELL(cell_age, "SubmitTime")

#define LEFT(heading, width, cell)                         \
    {                                                      \
        heading, TABLE_LEFT, width, TABLE_LEFT, true, cell \
    }
#define RIGHT(heading, width, cell)                          \
    {                                                        \
        heading, TABLE_RIGHT, width, TABLE_RIGHT, true, cell \
    }

const struct column factory_plan_factory_columns[4] = {
    LEFT("Name", 20, cell_name),
    RIGHT("Sites", 5, cell_sites),
    RIGHT("Glideins", 8, cell_glideins),
    RIGHT("Uptime", 11, cell_uptime),
};
const struct column factory_plan_site_columns[10] = {
    LEFT("Name", 16, cell_name),       LEFT("State", 9, cell_state),
    RIGHT("Wanted", 6, cell_wanted),   RIGHT("Coming", 6, cell_coming),
    RIGHT("Queued", 6, cell_queued),   RIGHT("Held", 4, cell_held),
    RIGHT("Running", 7, cell_running), RIGHT("Idle", 4, cell_idle),
    RIGHT("Total", 5, cell_total),     RIGHT("Samples", 7, cell_samples),
};
const struct column factory_plan_glidein_columns[7] = {
    LEFT("Name", 20, cell_name),     LEFT("Site", 8, cell_site), LEFT("State", 8, cell_state),
    LEFT("SiteId", 8, cell_site_id), RIGHT("Age", 11, cell_age), RIGHT("Claims", 6, cell_claims),
    LEFT("Reason", 6, cell_reason),
};

static void put_table(const struct column *columns, size_t column_count,
                      const struct ad *const *ads, size_t count, const struct terminal *terminal,
                      const struct ad_context *context, struct strbuf *out)
{
    if (count == 0) {
        return;
    }
    struct table *table = table_plan_begin(columns, column_count, context);
    table_plan_look(table, terminal);
    for (size_t i = 0; i < count; i++) {
        table_plan_add(table, ads[i]);
    }
    table_plan_end(table, true, NULL, NULL, NULL, out);
}

static bool are_of_one_factory(const struct ad *const *ads, size_t count)
{
    bool one = true;
    for (size_t i = 1; i < count; i++) {
        one = one &&
              strcmp(ad_string_or(ads[0], "Factory", ""), ad_string_or(ads[i], "Factory", "")) == 0;
    }
    return one;
}

void factory_plan_sites(const struct ad *const *ads, size_t count, const struct terminal *terminal,
                        const struct ad_context *context, struct strbuf *out)
{
    struct column columns[ARRAY_COUNT(factory_plan_site_columns)];
    memcpy(columns, factory_plan_site_columns, sizeof(columns));
    columns[0].heading = "Site";
    columns[0].cell = are_of_one_factory(ads, count) ? cell_site : cell_name;
    put_table(columns, ARRAY_COUNT(columns), ads, count, terminal, context, out);
}

void factory_plan_glideins(const struct ad *const *ads, size_t count,
                           const struct terminal *terminal, const struct ad_context *context,
                           struct strbuf *out)
{
    put_table(factory_plan_glidein_columns, ARRAY_COUNT(factory_plan_glidein_columns), ads, count,
              terminal, context, out);
}

/* ---- lines */

/* Appends a number with its noun: "1 job", "2 jobs". */
static void put_count(int64_t count, const char *noun, struct strbuf *out)
{
    strbuf_printf(out, "%lld %s%s", (long long)count, noun, count == 1 ? "" : "s");
}

void factory_plan_factories(const struct ad *const *ads, size_t count,
                            const struct ad_context *context, struct strbuf *out)
{
    static const char *const PROBLEMS[] = {"StoreProblem", "DaemonProblems"};
    for (size_t i = 0; i < count; i++) {
        size_t begin = out->length;
        strbuf_printf(out, "Factory %s: ", ad_string_or(ads[i], "Name", "?"));
        put_count(ad_int_or(ads[i], "Sites", 0), "site", out);
        strbuf_puts(out, ", ");
        put_count(ad_int_or(ads[i], "Glideins", 0), "glidein", out);
        strbuf_puts(out, ", running for ");
        cell_uptime(ads[i], context, out);
        if (offline_ads_is_silent(ads[i])) {
            strbuf_puts(out, "; it has not responded for ");
            status_put_since(ads[i], OFFLINE_ADS_SILENT, context, out);
            strbuf_puts(out, ", so what is shown of its sites may be old");
        }
        for (size_t j = 0; j < ARRAY_COUNT(PROBLEMS); j++) {
            const char *problem = ad_string_or(ads[i], PROBLEMS[j], "");
            strbuf_printf(out, problem[0] != '\0' ? "; %s" : "%s", problem);
        }
        strbuf_putc(out, '\n');
        table_plan_clean(out, begin);
    }
}

/* Appends the last trouble and its age, such as ", 0+00:01:00 ago: it failed". */
static void put_trouble(const struct ad *site, const struct ad_context *context, struct strbuf *out)
{
    if (ad_int_or(site, "TroubleTime", 0) > 0) {
        strbuf_puts(out, ", ");
        status_put_since(site, "TroubleTime", context, out);
        strbuf_puts(out, " ago");
    }
    strbuf_printf(out, ": %s", ad_string_or(site, "Trouble", ""));
}

void factory_plan_troubles(const struct ad *const *ads, size_t count,
                           const struct ad_context *context, struct strbuf *out)
{
    bool one = are_of_one_factory(ads, count), first = true;
    for (size_t i = 0; i < count; i++) {
        size_t begin = out->length;
        const char *why = ad_string_or(ads[i], "Why", "");
        bool troubled = ad_string_or(ads[i], "Trouble", "")[0] != '\0';
        if (why[0] == '\0' && !troubled) {
            continue;
        }
        strbuf_printf(out, "%s%s:%s%s\n", first ? "\n" : "",
                      ad_string_or(ads[i], one ? "Site" : "Name", "?"), why[0] != '\0' ? " " : "",
                      why);
        if (troubled) {
            table_plan_clean(out, begin + first);
            begin = out->length;
            strbuf_puts(out, "    last trouble");
            put_trouble(ads[i], context, out);
            strbuf_putc(out, '\n');
            table_plan_clean(out, begin);
        } else {
            table_plan_clean(out, begin + first);
        }
        first = false;
    }
}

/* ---- one site */

bool factory_plan_is_called(const struct ad *site, const char *word)
{
    return strcmp(ad_string_or(site, "Site", ""), word) == 0 ||
           strcmp(ad_string_or(site, "Name", ""), word) == 0;
}

bool factory_plan_is_sample_of(const struct ad *site, const struct ad *machine)
{
    return offline_ads_is_sample(machine) &&
           strcmp(ad_string_or(machine, "GLIDEIN_Site", ""), ad_string_or(site, "Site", "?")) ==
               0 &&
           strcmp(ad_string_or(machine, "GLIDEIN_Factory", ""),
                  ad_string_or(site, "Factory", "?")) == 0;
}

static int64_t waiting_for(const struct ad *sample, int64_t now_s)
{
    struct offline_holds *holds = offline_holds_read(sample);
    (void)offline_holds_prune(holds, now_s);
    int64_t jobs = offline_holds_total(holds);
    offline_holds_destroy(holds);
    return jobs;
}

/* How many jobs wait for the samples, as the negotiator has noted in them. */
static int64_t waiting_for_all(const struct ad *const *samples, size_t count, int64_t now_s)
{
    int64_t jobs = 0;
    for (size_t i = 0; i < count; i++) {
        jobs += waiting_for(samples[i], now_s);
    }
    return jobs;
}

static int64_t multiplicity_of(const struct ad *const *samples, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += ad_int_or(samples[i], "OfflineMultiplicity", 1);
    }
    return sum;
}

static void put_state(const struct ad *site, struct strbuf *out)
{
    static const struct {
        const char *state, *words;
    } STATES[] = {
        {"Serving", "works"},
        {"LeftAlone", "is left alone for a while, because it failed or refused"},
        {"Canary", "has failed; one glidein is tried before others"},
        {"Unknown", "has not told yet which glideins it has"},
        {"Paused", "is paused"},
    };
    const char *state = ad_string_or(site, "State", "?"), *words = state;
    for (size_t i = 0; i < ARRAY_COUNT(STATES); i++) {
        words = strcmp(STATES[i].state, state) == 0 ? STATES[i].words : words;
    }
    strbuf_printf(out, "Site %s of factory %s %s.\n", ad_string_or(site, "Site", "?"),
                  ad_string_or(site, "Factory", "?"), words);
}

static void put_demand(const struct ad *site, int64_t jobs, struct strbuf *out)
{
    int64_t wanted = ad_int_or(site, "Wanted", 0), coming = ad_int_or(site, "Coming", 0);
    strbuf_puts(out, "  ");
    put_count(jobs, "job", out);
    strbuf_puts(out, jobs == 1 ? " waits for it, which makes " : " wait for it, which makes ");
    put_count(wanted, "wanted glidein", out);
    strbuf_printf(out, "; %lld %s on the way.\n", (long long)coming, coming == 1 ? "is" : "are");
}

static void put_glideins(const struct ad *site, struct strbuf *out)
{
    strbuf_puts(out, "  It has ");
    put_count(ad_int_or(site, "Total", 0), "glidein", out);
    strbuf_printf(out, ": %lld queued, %lld held, %lld running (%lld idle).\n",
                  (long long)ad_int_or(site, "Queued", 0), (long long)ad_int_or(site, "Held", 0),
                  (long long)ad_int_or(site, "Running", 0), (long long)ad_int_or(site, "Idle", 0));
    int64_t submitted = ad_int_or(site, "Submitted", 0), ended = ad_int_or(site, "EndedUnused", 0);
    strbuf_puts(out, "  ");
    put_count(submitted, "glidein", out);
    strbuf_puts(out, submitted == 1 ? " was" : " were");
    strbuf_printf(out,
                  " submitted since the factory started; %lld ended before joining the pool.\n",
                  (long long)ended);
}

/* Nothing if site, journal and pool agree. */
static void put_differences(const struct ad *site, struct strbuf *out)
{
    int64_t orphans = ad_int_or(site, "Orphans", 0), zombies = ad_int_or(site, "Zombies", 0);
    int64_t ghosts = ad_int_or(site, "Ghosts", 0);
    if (orphans + zombies + ghosts > 0) {
        strbuf_puts(out, "  Site, journal and pool disagree about ");
        put_count(orphans, "orphan", out);
        strbuf_puts(out, ", ");
        put_count(zombies, "zombie", out);
        strbuf_puts(out, " and ");
        put_count(ghosts, "ghost", out);
        strbuf_puts(out, "; `roost factory reconcile` names them.\n");
    }
}

static void put_sample(const struct ad *sample, const struct ad_context *context,
                       struct strbuf *out)
{
    const char *was = ad_string_or(sample, "PreviousName", "");
    int64_t jobs = waiting_for(sample, context->now_s);
    size_t begin = out->length;
    strbuf_printf(out, "    %s stands for ", ad_string_or(sample, "Name", "?"));
    put_count(ad_int_or(sample, "OfflineMultiplicity", 1), "glidein", out);
    strbuf_puts(out, " with ");
    put_count(ad_int_or(sample, "Cpus", 0), "CPU", out);
    strbuf_printf(out, ", %lld MiB of memory and %lld KiB of disk; ",
                  (long long)ad_int_or(sample, "Memory", 0),
                  (long long)ad_int_or(sample, "Disk", 0));
    if (strcmp(was, "example") == 0) {
        strbuf_puts(out, "the configuration describes it");
    } else {
        strbuf_printf(out, "%s was like it", was);
        if (ad_has(sample, "OfflineSince")) {
            strbuf_puts(out, " ");
            status_put_since(sample, "OfflineSince", context, out);
            strbuf_puts(out, " ago");
        }
    }
    strbuf_puts(out, "; ");
    put_count(jobs, "job", out);
    strbuf_puts(out, jobs == 1 ? " waits for it.\n" : " wait for it.\n");
    table_plan_clean(out, begin);
}

static void put_samples(const struct ad *site, const struct ad *const *samples, size_t count,
                        const struct ad_context *context, struct strbuf *out)
{
    int64_t known = ad_int_or(site, "Samples", 0);
    if (known == 0) {
        strbuf_puts(out, "  It has no samples, so no job can wait for it; set `example` or `learn` "
                         "in its section.\n");
    } else if (count == 0) {
        strbuf_puts(out, "  It has ");
        put_count(known, "sample", out);
        strbuf_puts(out, ", which cannot be matched while it could start no glidein.\n");
    } else {
        strbuf_printf(out, "  Its samples, with which jobs are matched%s:\n",
                      ad_bool_or(site, "Delinquent", false) ? " (fewer than the site should have)"
                                                            : "");
    }
    for (size_t i = 0; i < count; i++) {
        put_sample(samples[i], context, out);
    }
}

void factory_plan_why(const struct ad *site, const struct ad *const *samples, size_t count,
                      const struct ad_context *context, struct strbuf *out)
{
    size_t begin = out->length;
    const char *why = ad_string_or(site, "Why", "");
    put_state(site, out);
    table_plan_clean(out, begin);
    put_demand(site, waiting_for_all(samples, count, context->now_s), out);
    begin = out->length;
    if (why[0] != '\0') {
        strbuf_printf(out, "  No more are asked for: %s.\n", why);
        table_plan_clean(out, begin);
    }
    begin = out->length;
    if (ad_string_or(site, "Trouble", "")[0] != '\0') {
        strbuf_puts(out, "  Its last trouble");
        put_trouble(site, context, out);
        strbuf_puts(out, ".\n");
    } else {
        strbuf_puts(out, "  Nothing has gone wrong there since the factory started.\n");
    }
    table_plan_clean(out, begin);
    begin = out->length;
    if (ad_string_or(site, "LogOf", "")[0] != '\0') {
        const char *line = ad_string_or(site, "LogEnd", "");
        strbuf_printf(out,
                      line[0] != '\0' ? "  The log of glidein %s ends with: %s\n"
                                      : "  The log of glidein %s is empty.%s\n",
                      ad_string_or(site, "LogOf", ""), line);
    }
    table_plan_clean(out, begin);
    put_glideins(site, out);
    put_differences(site, out);
    put_samples(site, samples, count, context, out);
}

struct ad *factory_plan_why_ad(const struct ad *site, const struct ad *const *samples, size_t count,
                               const struct ad_context *context)
{
    struct ad *ad = ad_copy(site);
    struct strbuf text;
    const char **names = mem_alloc((count + 1) * sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = ad_string_or(samples[i], "Name", "?");
    }
    strbuf_init(&text, 0);
    factory_plan_why(site, samples, count, context, &text);
    ad_set_string(ad, "Text", strbuf_text(&text));
    ad_set_int(ad, "JobsWaiting", waiting_for_all(samples, count, context->now_s));
    ad_set_strings(ad, "SampleNames", names, count);
    ad_set_int(ad, "SampleMultiplicity", multiplicity_of(samples, count));
    strbuf_fini(&text);
    mem_free(names);
    return ad;
}

static void put_names(const struct ad *answer, const char *attribute, const char *word,
                      struct strbuf *out)
{
    struct ad_value list;
    if (ad_eval_attr(answer, NULL, attribute, NULL, &list) == 0 && list.type == AD_TYPE_LIST) {
        for (size_t i = 0; i < ad_value_count(&list); i++) {
            struct ad_value item;
            size_t begin = out->length;
            ad_value_item(&list, i, &item);
            strbuf_printf(out, "  %s: %s\n", word,
                          item.type == AD_TYPE_STRING ? item.string.text : "?");
            table_plan_clean(out, begin);
            ad_value_fini(&item);
        }
    }
    ad_value_fini(&list);
}

void factory_plan_answer(const struct ad *answer, struct strbuf *out)
{
    size_t begin = out->length;
    strbuf_printf(out, "%s: %s\n", ad_string_or(answer, "Site", "?"),
                  ad_string_or(answer, "Text", "done"));
    table_plan_clean(out, begin);
    put_names(answer, "OrphanNames", "orphan", out);
    put_names(answer, "ZombieNames", "zombie", out);
    put_names(answer, "GhostNames", "ghost", out);
    put_names(answer, "RemovedNames", "is removed", out);
}

void factory_plan_step(const struct ad *step, struct strbuf *out)
{
    size_t begin = out->length;
    strbuf_printf(out, "%8.2f s  %s\n", ad_real_or(step, "Seconds", 0),
                  ad_string_or(step, "Text", "?"));
    table_plan_clean(out, begin);
}

void factory_plan_clean_lines(struct strbuf *text)
{
    size_t begin = 0;
    while (begin < text->length) {
        const char *end = memchr(text->data + begin, '\n', text->length - begin);
        size_t length = end != NULL ? (size_t)(end - text->data) - begin : text->length - begin;
        terminal_clean(text->data + begin, length);
        begin += length + 1;
    }
}

void factory_plan_test(const struct ad *answer, const char *log, struct strbuf *out)
{
    struct strbuf lines;
    factory_plan_answer(answer, out);
    if (log[0] == '\0') {
        return;
    }
    strbuf_init(&lines, 0);
    strbuf_printf(&lines, "The log of glidein %s ends with:\n%s",
                  ad_string_or(answer, "Glidein", "?"), log);
    factory_plan_clean_lines(&lines);
    strbuf_append(out, strbuf_text(&lines), lines.length);
    strbuf_puts(out, out->data[out->length - 1] != '\n' ? "\n" : "");
    strbuf_fini(&lines);
}
