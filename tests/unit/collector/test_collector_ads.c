/* The tables of ads: proposals, what is shown, walks, machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "wire/secret_list.h"

struct bed {
    struct collector_ads *ads;
    char log[4096];
};

static void note(struct bed *bed, const char *what, const char *name)
{
    size_t used = strlen(bed->log);
    snprintf(bed->log + used, sizeof(bed->log) - used, "%s %s; ", what, name);
}

static void changed(void *arg, const char *type, const char *name, const struct ad *ad)
{
    (void)type;
    char text[64];
    snprintf(text, sizeof(text), "%s=%d", name, (int)ad_int_or(ad, "N", 0));
    note(arg, "changed", text);
}

static void gone(void *arg, const char *type, const char *name)
{
    (void)type;
    note(arg, "gone", name);
}

static int make_bed(void **state)
{
    static const struct ads_events EVENTS = {changed, gone};
    struct bed *bed = calloc(1, sizeof(*bed));
    bed->ads = collector_ads_create(&EVENTS, bed);
    *state = bed;
    return 0;
}

static int remove_bed(void **state)
{
    struct bed *bed = *state;
    collector_ads_destroy(bed->ads);
    free(bed);
    return 0;
}

static struct ad *machine(int n, const char *name)
{
    struct ad *ad = ad_create();
    ad_set_int(ad, "N", n);
    ad_set_string(ad, "Machine", name);
    return ad;
}

static struct ads_change *propose_with(struct bed *bed, const char *type, const char *name,
                                       struct ad *ad, struct secret_list *secrets)
{
    struct ads_change *change = NULL;
    assert_int_equal(collector_ads_propose(bed->ads, type, name, ad, secrets, &change), 0);
    return change;
}

static struct ads_change *propose(struct bed *bed, const char *type, const char *name,
                                  struct ad *ad)
{
    return propose_with(bed, type, name, ad, NULL);
}

static void set(struct bed *bed, const char *type, const char *name, struct ad *ad)
{
    collector_ads_apply(bed->ads, propose(bed, type, name, ad));
}

static void a_proposal_is_latest_at_once_and_shown_when_applied(void **state)
{
    struct bed *bed = *state;
    struct ads_change *change = propose(bed, "Machine", "a", machine(1, "wn01"));
    struct ads_entry *entry = collector_ads_find(bed->ads, "machine", "a");
    assert_non_null(entry);
    assert_ptr_equal(entry, collector_ads_changed(change));
    assert_null(entry->shown);
    assert_int_equal(ad_int_or(entry->latest, "N", 0), 1);
    assert_string_equal(bed->log, "");
    collector_ads_apply(bed->ads, change);
    assert_ptr_equal(entry->shown, entry->latest);
    assert_string_equal(bed->log, "changed a=1; ");
}

static void changes_under_way_are_shown_in_their_order(void **state)
{
    struct bed *bed = *state;
    struct ads_change *first = propose(bed, "Machine", "a", machine(1, "wn01"));
    struct ads_change *second = propose(bed, "Machine", "a", NULL);
    struct ads_change *third = propose(bed, "Machine", "a", machine(3, "wn01"));
    struct ads_entry *entry = collector_ads_find(bed->ads, "Machine", "a");
    assert_int_equal(ad_int_or(entry->latest, "N", 0), 3);
    assert_int_equal(entry->waiting, 3);
    collector_ads_apply(bed->ads, first);
    assert_int_equal(ad_int_or(entry->shown, "N", 0), 1);
    collector_ads_apply(bed->ads, second);
    assert_ptr_equal(collector_ads_find(bed->ads, "Machine", "a"), entry);
    collector_ads_apply(bed->ads, third);
    assert_string_equal(bed->log, "changed a=1; gone a; changed a=3; ");
}

static void what_is_gone_leaves_nothing(void **state)
{
    struct bed *bed = *state;
    set(bed, "Machine", "a", machine(1, "wn01"));
    set(bed, "Machine", "a", NULL);
    assert_null(collector_ads_find(bed->ads, "Machine", "a"));
    size_t count;
    assert_null(collector_ads_of_machine(bed->ads, "wn01", &count));
    assert_int_equal(collector_ads_count(bed->ads, NULL), 0);
    bed->log[0] = '\0';
    set(bed, "Machine", "never there", NULL);
    assert_string_equal(bed->log, "");
    assert_int_equal(collector_ads_count(bed->ads, "Machine"), 0);
}

static void types_are_apart(void **state)
{
    struct bed *bed = *state;
    set(bed, "Machine", "a", machine(1, "wn01"));
    set(bed, "Scheduler", "a", machine(2, "wn01"));
    assert_int_equal(ad_int_or(collector_ads_find(bed->ads, "Machine", "a")->shown, "N", 0), 1);
    assert_int_equal(ad_int_or(collector_ads_find(bed->ads, "Scheduler", "a")->shown, "N", 0), 2);
    assert_null(collector_ads_find(bed->ads, "Machine", "A")); /* names are as they are */
    assert_int_equal(collector_ads_count(bed->ads, "scheduler"), 1);
}

static void the_ads_of_a_machine_are_found_without_case(void **state)
{
    struct bed *bed = *state;
    set(bed, "Machine", "slot1@wn01", machine(1, "wn01"));
    set(bed, "Machine", "slot2@wn01", machine(2, "WN01"));
    set(bed, "Machine", "slot1@wn02", machine(3, "wn02"));
    size_t count;
    struct ads_entry *const *entries = collector_ads_of_machine(bed->ads, "Wn01", &count);
    assert_int_equal(count, 2);
    assert_string_equal(entries[0]->name, "slot1@wn01");
    assert_string_equal(entries[1]->name, "slot2@wn01");
    set(bed, "Machine", "slot1@wn01", machine(1, "wn02")); /* moves */
    (void)collector_ads_of_machine(bed->ads, "wn01", &count);
    assert_int_equal(count, 1);
    (void)collector_ads_of_machine(bed->ads, "wn02", &count);
    assert_int_equal(count, 2);
}

static const struct wire_secret SECRET = {.kind = SECRET_CLAIM_ID, .text = "secret"};

static void secrets_are_beside_the_ad_and_go_with_it(void **state)
{
    struct bed *bed = *state;
    struct ads_change *change =
        propose_with(bed, "Machine", "a", machine(1, "wn01"), secret_list_create(&SECRET, 1));
    struct ads_entry *entry = collector_ads_find(bed->ads, "Machine", "a");
    assert_string_equal(secret_list_find(entry->latest_secrets, SECRET_CLAIM_ID), "secret");
    assert_null(entry->shown_secrets);
    collector_ads_apply(bed->ads, change);
    assert_string_equal(secret_list_find(entry->shown_secrets, SECRET_CLAIM_ID), "secret");
    set(bed, "Machine", "a", machine(2, "wn01"));
    assert_null(entry->shown_secrets);
    collector_ads_drop(
        propose_with(bed, "Machine", "b", machine(1, "wn01"), secret_list_create(&SECRET, 1)));
}

static void there_is_a_limit_of_types(void **state)
{
    struct bed *bed = *state;
    char type[16];
    for (int i = 0; i < COLLECTOR_TYPES_MAX; i++) {
        snprintf(type, sizeof(type), "T%d", i);
        set(bed, type, "a", machine(1, ""));
    }
    struct ads_change *change = NULL;
    assert_int_equal(collector_ads_propose(bed->ads, "One", "a", machine(1, ""),
                                           secret_list_create(&SECRET, 1), &change),
                     -ENOSPC);
    assert_null(change);
    set(bed, "T3", "b", machine(1, ""));
}

static const char *walk(struct bed *bed, const char *type)
{
    bed->log[0] = '\0';
    struct ads_cursor cursor;
    ads_cursor_init(&cursor, bed->ads, type);
    struct ads_entry *entry;
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        note(bed, entry->type, entry->name);
    }
    assert_null(ads_cursor_next(&cursor));
    ads_cursor_fini(&cursor);
    return bed->log;
}

static void a_walk_sees_one_type_or_all(void **state)
{
    struct bed *bed = *state;
    assert_string_equal(walk(bed, "Machine"), "");
    assert_string_equal(walk(bed, NULL), "");
    set(bed, "Machine", "b", machine(1, ""));
    set(bed, "Scheduler", "s", machine(1, ""));
    set(bed, "Machine", "a", machine(1, ""));
    set(bed, "Empty", "x", machine(1, ""));
    set(bed, "Empty", "x", NULL);
    set(bed, "Last", "z", machine(1, ""));
    assert_string_equal(walk(bed, "machine"), "Machine b; Machine a; ");
    assert_string_equal(walk(bed, NULL), "Machine b; Machine a; Scheduler s; Last z; ");
}

static void a_walk_goes_on_when_entries_go_and_come(void **state)
{
    struct bed *bed = *state;
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        set(bed, "Machine", names[i], machine(1, ""));
    }
    struct ads_cursor cursor;
    struct ads_cursor other;
    ads_cursor_init(&cursor, bed->ads, "Machine");
    ads_cursor_init(&other, bed->ads, "Machine");
    assert_string_equal(ads_cursor_next(&cursor)->name, "a");
    set(bed, "Machine", "a", NULL);
    set(bed, "Machine", "b", NULL); /* the next of both */
    set(bed, "Machine", "c", NULL);
    set(bed, "Machine", "e", machine(1, ""));
    assert_string_equal(ads_cursor_next(&other)->name, "d");
    ads_cursor_fini(&other);
    assert_string_equal(ads_cursor_next(&cursor)->name, "d");
    assert_string_equal(ads_cursor_next(&cursor)->name, "e");
    assert_null(ads_cursor_next(&cursor));
    ads_cursor_fini(&cursor);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static const char *seen(struct bed *bed, const struct ads_snapshot *snapshot, const char *type)
{
    bed->log[0] = '\0';
    struct ads_cursor cursor;
    ads_cursor_init(&cursor, bed->ads, type);
    struct ads_entry *entry;
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        struct ads_seen seen;
        const struct ad *ad = ads_snapshot_see(snapshot, entry, &seen);
        if (ad) {
            char text[64];
            snprintf(text, sizeof(text), "%s=%d%s", entry->name, (int)ad_int_or(ad, "N", 0),
                     seen.absent ? " absent" : "");
            note(bed, "", text);
        }
    }
    ads_cursor_fini(&cursor);
    return bed->log;
}

static void a_snapshot_shows_one_moment(void **state)
{
    struct bed *bed = *state;
    struct ads_snapshot first, second;
    struct ad *gone = machine(4, "wn02");
    ad_set_bool(gone, "Absent", true);
    set(bed, "Machine", "a", machine(1, "wn01"));
    set(bed, "Machine", "b", machine(2, "wn01"));
    set(bed, "Machine", "c", gone);
    ads_snapshot_begin(&first, bed->ads);
    assert_int_equal(collector_ads_past_count(bed->ads), 0);
    set(bed, "Machine", "a", machine(10, "wn01"));
    set(bed, "Machine", "a", machine(11, "wn01")); /* nobody saw 10 */
    assert_int_equal(collector_ads_past_count(bed->ads), 1);
    set(bed, "Machine", "b", NULL);
    set(bed, "Machine", "d", machine(3, "wn01"));
    ads_snapshot_begin(&second, bed->ads);
    set(bed, "Machine", "b", machine(20, "wn01"));
    set(bed, "Machine", "d", NULL);
    set(bed, "Machine", "a", machine(12, "wn01"));
    assert_string_equal(seen(bed, &first, "Machine"), " a=1;  b=2;  c=4 absent; ");
    assert_string_equal(seen(bed, &second, "Machine"), " a=11;  c=4 absent;  d=3; ");
    assert_int_equal(collector_ads_count(bed->ads, "Machine"), 3);
    assert_int_equal(collector_ads_count_absent(bed->ads), 1);
    ads_snapshot_end(&first);
    assert_string_equal(seen(bed, &second, "Machine"), " a=11;  c=4 absent;  d=3; ");
    ads_snapshot_end(&second);
    assert_int_equal(collector_ads_past_count(bed->ads), 0);
    assert_string_equal(walk(bed, "Machine"), "Machine a; Machine b; Machine c; ");
    ads_snapshot_end(&second); /* one that is over */
}

static void a_snapshot_saw_the_secrets_beside_the_ad(void **state)
{
    struct bed *bed = *state;
    struct ads_snapshot snapshot;
    struct ads_seen seen;
    collector_ads_apply(bed->ads, propose_with(bed, "Machine", "a", machine(1, "wn01"),
                                               secret_list_create(&SECRET, 1)));
    ads_snapshot_begin(&snapshot, bed->ads);
    const struct ads_entry *entry = collector_ads_find(bed->ads, "Machine", "a");
    for (int i = 0; i < 2; i++) {
        assert_true(ad_has(ads_snapshot_see(&snapshot, entry, &seen), "N"));
        assert_string_equal(secret_list_find(seen.secrets, SECRET_CLAIM_ID), "secret");
        set(bed, "Machine", "a", NULL);
    }
    ads_snapshot_end(&snapshot);
    assert_null(collector_ads_find(bed->ads, "Machine", "a"));
}

enum { MODEL = 12, HELD = 4 };

/* What each of MODEL names had when a snapshot was taken; 0: nothing. */
struct model {
    struct ads_snapshot snapshot;
    int n[MODEL];
    bool held;
};

static void agree(struct bed *bed, struct model *model)
{
    for (int i = 0; i < MODEL; i++) {
        char name[16];
        struct ads_seen seen;
        snprintf(name, sizeof(name), "m%d", i);
        struct ads_entry *entry = collector_ads_find(bed->ads, "Machine", name);
        const struct ad *ad = entry ? ads_snapshot_see(&model->snapshot, entry, &seen) : NULL;
        assert_int_equal(ad ? ad_int_or(ad, "N", -1) : 0, model->n[i]);
    }
}

static void snapshots_agree_with_copies_whatever_happens(void **state)
{
    struct bed *bed = *state;
    struct model held[HELD] = {{.held = false}};
    int now[MODEL] = {0};
    uint64_t seed = 7;
    for (int step = 1; step < 20000; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned dice = (unsigned)(seed >> 40);
        struct model *model = &held[dice / 100 % HELD];
        int which = (int)(dice / 1000 % MODEL);
        char name[8];
        snprintf(name, sizeof(name), "m%d", which);
        if (dice % 100 < 6 && !model->held) {
            memcpy(model->n, now, sizeof(now));
            ads_snapshot_begin(&model->snapshot, bed->ads);
            model->held = true;
        } else if (dice % 100 < 12 && model->held) {
            agree(bed, model);
            ads_snapshot_end(&model->snapshot);
            model->held = false;
        } else {
            now[which] = dice % 100 < 30 ? 0 : step;
            set(bed, "Machine", name, now[which] ? machine(step, "wn01") : NULL);
        }
        bed->log[0] = '\0';
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i].held) {
            agree(bed, &held[i]);
            ads_snapshot_end(&held[i].snapshot);
        }
    }
    assert_int_equal(collector_ads_past_count(bed->ads), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_bed, remove_bed)

UNIT_TESTS(CASE(a_proposal_is_latest_at_once_and_shown_when_applied),
           CASE(changes_under_way_are_shown_in_their_order), CASE(what_is_gone_leaves_nothing),
           CASE(types_are_apart), CASE(the_ads_of_a_machine_are_found_without_case),
           CASE(secrets_are_beside_the_ad_and_go_with_it), CASE(there_is_a_limit_of_types),
           CASE(a_walk_sees_one_type_or_all), CASE(a_walk_goes_on_when_entries_go_and_come),
           CASE(a_snapshot_shows_one_moment), CASE(a_snapshot_saw_the_secrets_beside_the_ad),
           CASE(snapshots_agree_with_copies_whatever_happens))
