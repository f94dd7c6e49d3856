/* rooster/energy_report.c - see energy_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/energy_report.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "rooster/energy_days.h"
#include "rooster/energy_plan.h"
#include "store/store.h"
#include "wire/wire.h"

struct energy_reports {
    struct vec under_way; /* struct report */
};

struct report {
    struct energy_reports *reports;
    struct wire_request *request; /* NULL: the asker is gone */
    char kind;
    int64_t since_s, until_s;
    int64_t counts_from_s; /* the time could be counted only from then on */
    double counted_s;      /* and did */
    struct strmap *sums;   /* name -> struct energy_sum; filled on the worker thread */
};

/* Adds a row to the sums; called off the loop thread.  Keeps no row. */
static enum store_verdict add_row(void *arg, const struct store_row *row)
{
    struct report *report = arg;
    const char *what = strchr(row->key, '/');
    struct energy_sum sum;
    struct ad *ad;
    bool is_ours = what != NULL && what[1] == 'w';
    if (what == NULL || (what[1] != report->kind && !is_ours) || what[2] != '/' ||
        ad_decode(row->value, row->length, NULL, &ad, NULL) != 0) {
        return STORE_LEAVE;
    }
    energy_plan_read(ad, &sum);
    ad_destroy(ad);
    if (is_ours) {
        report->counted_s += sum.on_s;
        return STORE_LEAVE;
    }
    struct energy_sum *all = strmap_get(report->sums, what + 3);
    if (all == NULL) {
        all = mem_zalloc(sizeof *all);
        (void)strmap_set(report->sums, what + 3, all); /* was absent */
    }
    energy_plan_join(all, &sum, 1);
    return STORE_LEAVE;
}

static void report_destroy(void *arg)
{
    struct report *report = arg;
    strmap_destroy(report->sums, mem_free);
    mem_free(report);
}

static void report_gone(void *arg)
{
    ((struct report *)arg)->request = NULL;
}

static void send_report(const struct report *report)
{
    struct vec ads = {0};
    size_t at = 0, sent = 0;
    const char *name;
    void *sum;
    double uncounted_s = (double)(report->until_s - report->counts_from_s) - report->counted_s;
    while (strmap_next(report->sums, &at, &name, &sum)) {
        struct ad *ad = ad_create();
        ad_set_string(ad, "MyType", "Energy");
        ad_set_string(ad, "Kind", report->kind == 'u' ? "User" : "Node");
        ad_set_string(ad, "Name", name);
        ad_set_int(ad, "Since", report->since_s);
        ad_set_int(ad, "Until", report->until_s);
        ad_set_real(ad, "UncountedSeconds", uncounted_s > 0 ? uncounted_s : 0);
        energy_plan_write(sum, ad);
        if (report->kind == 'n') {
            const struct energy_sum *of_all = sum;
            ad_set_real(ad, "EnergyAlwaysOn",
                        (of_all->used_j + of_all->saved_j) / ENERGY_JOULES_PER_KWH);
        }
        vec_push(&ads, ad);
    }
    for (; ads.count - sent > WIRE_ADS_MAX; sent += WIRE_ADS_MAX) {
        const struct wire_body part = {.ads = (const struct ad *const *)ads.items + sent,
                                       .ad_count = WIRE_ADS_MAX};
        (void)wire_reply_part(report->request, &part); /* bounded by machines and users */
    }
    const struct wire_body body = {.ads = (const struct ad *const *)ads.items + sent,
                                   .ad_count = ads.count - sent};
    wire_reply_ok(report->request, &body);
    for (size_t i = 0; i < ads.count; i++) {
        ad_destroy(ads.items[i]);
    }
    vec_fini(&ads, NULL);
}

static void rows_summed(void *arg, int result, const struct store_row *rows, size_t row_count)
{
    struct report *report = arg;
    struct vec *queries = &report->reports->under_way;
    (void)rows;
    (void)row_count; /* none are kept */
    if (report->request != NULL && result != 0) {
        wire_reply_error(report->request, result, "cannot read the energy records: %s",
                         err_code_text(result));
    } else if (report->request != NULL) {
        send_report(report);
    }
    for (size_t i = 0; i < queries->count; i++) {
        if (queries->items[i] == report) {
            vec_remove_at(queries, i);
            break;
        }
    }
    report_destroy(report);
}

void energy_report_answer(struct energy_reports *reports, struct store *store, int64_t now_s,
                          int64_t began_s, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    int64_t since_s = ad_int_or(args, "Since", 0), until_s = ad_int_or(args, "Until", now_s);
    char from[ENERGY_KEY_SIZE], to[ENERGY_KEY_SIZE];
    if (since_s < 0 || until_s < since_s || until_s > INT64_C(253402300799)) {
        wire_reply_error(request, -EINVAL, "Since or Until is not a valid time");
        return;
    }
    struct report *report = mem_zalloc(sizeof *report);
    int64_t ends_s = until_s - until_s % ENERGY_DAY_S + ENERGY_DAY_S;
    report->reports = reports;
    report->request = request;
    report->kind = strcmp(ad_string_or(args, "Kind", "Node"), "User") == 0 ? 'u' : 'n';
    report->since_s = since_s - since_s % ENERGY_DAY_S;
    report->until_s = ends_s < now_s ? ends_s : now_s;
    report->counts_from_s = began_s > report->since_s ? began_s : report->since_s;
    report->sums = strmap_create(STRMAP_CASE_SENSITIVE);
    energy_days_key(report->since_s, "", from);
    energy_days_key(until_s - until_s % ENERGY_DAY_S, "~", to); /* that day is in it */
    wire_request_on_gone(request, report_gone, report);
    vec_push(&reports->under_way, report);
    store_scan(store, ENERGY_TABLE, from, to, false, 0, add_row, report, rows_summed, report);
}

struct energy_reports *energy_reports_create(void)
{
    return mem_zalloc(sizeof(struct energy_reports));
}

void energy_reports_destroy(struct energy_reports *reports)
{
    for (size_t i = 0; i < reports->under_way.count; i++) {
        struct report *report = reports->under_way.items[i];
        if (report->request != NULL) {
            wire_reply_error(report->request, -ESHUTDOWN, "the rooster is stopping");
        }
    }
    vec_fini(&reports->under_way, report_destroy);
    mem_free(reports);
}
