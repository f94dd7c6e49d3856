/* bench/update_ads.h - encoded ads, ready to be sent in UPDATE requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_UPDATE_ADS_H
#define BENCH_UPDATE_ADS_H

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "bench/slot_ad.h"
#include "classad/ad.h"

#define ROUNDS 4 /* number of different versions of each ad, which are sent in turn */

/* Ads in binary form, one after the other in the buffer `text`. */
struct bytes {
    struct strbuf text;
    size_t *at; /* offset in text of each ad, and of the end: count + 1 numbers */
    unsigned count;
};

enum kind { WHOLE, WHOLE_DIFFER, FIVE, OFFLINE };

static inline void five_of(struct ad *ad, unsigned number, unsigned round)
{
    struct ad *all = ad_create();
    static const char *const FIVE_NAMES[] = {"LoadAvg", "CondorLoadAvg", "KeyboardIdle", "Disk",
                                             "MyCurrentTime"};
    slot_ad_renew(all, number, round);
    slot_ad_identify(all, number);
    for (size_t i = 0; i < ARRAY_COUNT(FIVE_NAMES); i++) {
        CHECK(ad_copy_attr(ad, FIVE_NAMES[i], all, FIVE_NAMES[i]) == 0);
    }
    CHECK(ad_copy_attr(ad, "Name", all, "Name") == 0);
    ad_set_string(ad, "MyType", "Machine");
    ad_destroy(all);
}

static inline struct ad *make_ad(enum kind kind, unsigned number, unsigned round)
{
    if (kind == FIVE) {
        struct ad *ad = ad_create();
        five_of(ad, number, round);
        return ad;
    }
    struct ad *ad = slot_ad_create(number, kind == WHOLE_DIFFER);
    slot_ad_renew(ad, number, round);
    if (kind == OFFLINE) {
        ad_set_bool(ad, "Offline", true);
        ad_set_int(ad, "ClassAdLifetime", 8640000);
        ad_set_string(ad, "OfflineReason", "nothing to do");
    }
    return ad;
}

static inline void encode(struct bytes *ret, enum kind kind, unsigned count, unsigned round)
{
    strbuf_init(&ret->text, 0);
    ret->at = mem_alloc((count + 1) * sizeof ret->at[0]);
    ret->count = count;
    for (unsigned i = 0; i < count; i++) {
        struct ad *ad = make_ad(kind, i, round);
        ret->at[i] = ret->text.length;
        ad_encode(ad, true, &ret->text);
        ad_destroy(ad);
    }
    ret->at[count] = ret->text.length;
}

static inline void bytes_fini(struct bytes *bytes)
{
    strbuf_fini(&bytes->text);
    mem_free(bytes->at);
}

static inline void encode_all(struct bytes *rounds, enum kind kind, unsigned count)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        encode(&rounds[i], kind, count, i);
    }
}

static inline void bytes_fini_all(struct bytes *rounds)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        bytes_fini(&rounds[i]);
    }
}

#endif
