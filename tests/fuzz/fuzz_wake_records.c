/* Records of the rooster's ledger and of its energy, read again after a restart: any ad tells a
 * past that can be shown and figures that can be added up.
 *
 * The input is texts of ads, new syntax, a record each, with a line that says "-" between them.
 *
 * LINK: rooster classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "rooster/boots_plan.h"
#include "rooster/energy_plan.h"
#include "rooster/past_plan.h"

#define INPUT_MAX ((size_t)1 << 14)

static void check_past(const struct past *past)
{
    struct ad *ad = ad_create();
    past_put(past, ad);
    CHECK(past_is_in(past, ad)); /* else it would be told to the collector for ever */
    CHECK(past->count <= PAST_KEPT);
    CHECK(memchr(past->differed, '\0', sizeof past->differed) != NULL);
    double rate = ad_real_or(ad, "WakeSuccessRate", 0);
    CHECK(rate >= 0 && rate <= 1);
    CHECK(ad_int_or(ad, "LastWakeTime", 1) > 0 && ad_int_or(ad, "WakesTried", 1) > 0);
    ad_destroy(ad);
}

static void check_compared(const struct past *past, const struct ad *record)
{
    static const char OTHER[] = "[BootId = \"other\"; TotalMemory = 1; Arch = \"none\"]";
    struct past compared = *past;
    struct ad *promise = past_promise(record), *live = NULL;
    CHECK(ad_parse(OTHER, sizeof OTHER - 1, &live, NULL) == 0);
    past_compare(&compared, promise, live);
    check_past(&compared);
    ad_destroy(live);
    ad_destroy(promise);
}

static void check_figure(double figure)
{
    CHECK(isfinite(figure) && figure >= 0);
}

static void check_energy(const struct ad *record)
{
    struct energy_sum sum, again;
    energy_plan_read(record, &sum);
    check_figure(sum.on_s);
    check_figure(sum.asleep_s);
    check_figure(sum.busy_core_s);
    check_figure(sum.used_j);
    check_figure(sum.jobs_j);
    check_figure(sum.saved_j);
    check_figure(energy_plan_busy_cores(record));
    struct ad *kept = ad_create();
    energy_plan_write(&sum, kept);
    energy_plan_read(kept, &again);
    check_figure(again.used_j);
    CHECK(fabs(again.used_j - sum.used_j) <= sum.used_j / 1e9);
    CHECK(fabs(again.on_s - sum.on_s) <= sum.on_s / 1e9);
    ad_destroy(kept);
}

/* The next record, up to the line that ends it. */
static size_t record_length(const char *text, size_t left)
{
    for (size_t i = 0; i + 3 <= left; i++) {
        if (memcmp(text + i, "\n-\n", 3) == 0) {
            return i;
        }
    }
    return left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct past past = {0};
    struct boots boots = {.count = 0};
    size_t at = 0;
    while (size <= INPUT_MAX && at < size) {
        struct ad *record = NULL;
        size_t length = record_length(text + at, size - at);
        if (ad_parse(text + at, length, &record, NULL) == 0) {
            past_recall(&past, record);
            check_past(&past);
            check_compared(&past, record);
            check_energy(record);
            boots_add(&boots, ad_int_or(record, "BootTime", 0));
            CHECK(boots_p95_ms(&boots) >= 0);
            ad_destroy(record);
        }
        at += length + 3;
    }
    return 0;
}
