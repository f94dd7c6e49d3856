/* Indexes: they leave out nothing that meets a constraint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "collector/collector_ads.h"
#include "collector/collector_index.h"

static void changed(void *arg, const char *type, const char *name, const struct ad *ad)
{
    (void)arg;
    (void)type;
    (void)name;
    (void)ad;
}

static void gone(void *arg, const char *type, const char *name)
{
    (void)arg;
    (void)type;
    (void)name;
}

static int make_ads(void **state)
{
    static const struct ads_events EVENTS = {changed, gone};
    *state = collector_ads_create(&EVENTS, NULL);
    return 0;
}

static int remove_ads(void **state)
{
    collector_ads_destroy(*state);
    return 0;
}

static void set(struct collector_ads *ads, const char *name, const char *text)
{
    struct ad *ad = NULL;
    struct ads_change *change = NULL;
    struct err err = {""};
    if (text && ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    assert_int_equal(collector_ads_propose(ads, "Machine", name, ad, NULL, &change), 0);
    collector_ads_apply(ads, change);
}

static struct ad_expr *parsed(const char *text)
{
    struct ad_expr *expr = NULL;
    struct err err = {""};
    if (ad_expr_parse(text, strlen(text), AD_OLD, &expr, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return expr;
}

/* Names of those that an index leaves, "scan" when none helps. */
static const char *left(struct collector_ads *ads, const char *constraint, uint64_t now_ms)
{
    static char text[4096];
    struct ad_expr *expr = parsed(constraint);
    struct ad_clauses *clauses = ad_clauses_create(expr, NULL);
    struct vec few = {0};
    bool found = collector_ads_select(ads, "machine", clauses, now_ms, &few);
    text[0] = '\0';
    for (size_t i = 0; i < few.count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s ", ((struct ads_entry *)few.items[i])->name);
    }
    vec_fini(&few, NULL);
    ad_clauses_destroy(clauses);
    ad_expr_destroy(expr);
    return found ? text : "scan";
}

static void only_ads_that_may_meet_the_constraint_are_looked_at(void **state)
{
    struct collector_ads *ads = *state;
    set(ads, "a", "[ State = \"Claimed\"; Cpus = 1; Owner = \"x\" ]");
    set(ads, "b", "[ State = \"Unclaimed\"; Cpus = 2; Owner = \"y\" ]");
    set(ads, "c", "[ State = strcat(\"Clai\", \"med\"); Cpus = 3.0 ]");
    set(ads, "d", "[ Cpus = \"2\"; State = undefined ]");
    set(ads, "e", "[ State = { \"Claimed\" }; Cpus = true ]");
    assert_string_equal(left(ads, "State == \"claimed\"", 1), "a c e ");
    assert_string_equal(left(ads, "(\"UNCLAIMED\" == MY.State)", 1), "b c e ");
    assert_string_equal(left(ads, "State =?= \"Owner\"", 1), "c e ");
    assert_string_equal(left(ads, "Cpus == 1", 1), "a e ");
    assert_string_equal(left(ads, "Cpus == 3", 1), "c ");
    assert_string_equal(left(ads, "Cpus =?= \"2\"", 1), "d ");
    assert_string_equal(left(ads, "Cpus == 2 && State == \"Claimed\" && true", 1), "b ");
    assert_string_equal(left(ads, "Cpus == 1 || Owner == \"y\"", 1), "a b e ");
    assert_string_equal(left(ads, "Cpus == 1 || Cpus == 1.0", 1), "a e ");
    assert_string_equal(left(ads, "NoSuch == 1", 1), "");
}

static void what_is_no_equation_is_not_helped(void **state)
{
    struct collector_ads *ads = *state;
    set(ads, "a", "[ State = \"Claimed\"; Cpus = 5 ]");
    assert_string_equal(left(ads, "Cpus > 1", 1), "scan");
    assert_string_equal(left(ads, "Cpus", 1), "scan"); /* 5 is true, but is not =?= true */
    assert_string_equal(left(ads, "State != \"Owner\"", 1), "scan");
    assert_string_equal(left(ads, "State == \"Claimed\" || Cpus > 1", 1), "scan");
    assert_string_equal(left(ads, "State == Owner", 1), "scan");
    assert_string_equal(left(ads, "State =?= undefined", 1), "scan");
}

static void an_index_follows_what_is_shown(void **state)
{
    struct collector_ads *ads = *state;
    set(ads, "a", "[ State = \"Claimed\" ]");
    assert_string_equal(left(ads, "State == \"Claimed\"", 1), "a ");
    set(ads, "b", "[ State = \"Claimed\" ]");
    set(ads, "c", "[ State = \"Owner\" ]");
    assert_string_equal(left(ads, "State == \"Claimed\"", 1), "a b ");
    set(ads, "a", "[ State = \"Owner\" ]");
    set(ads, "c", "[ State = f(x) ]");
    assert_string_equal(left(ads, "State == \"Claimed\"", 1), "b c ");
    assert_string_equal(left(ads, "State == \"Owner\"", 1), "a c ");
    set(ads, "b", NULL);
    set(ads, "c", "[ x = 1 ]");
    assert_string_equal(left(ads, "State == \"Claimed\"", 1), "");
    set(ads, "c", "[ State = \"Claimed\"; Absent = true ]");
    assert_string_equal(left(ads, "State == \"Claimed\" && Absent", 1), "c ");
}

static void a_large_table_is_indexed_in_steps_while_it_changes(void **state)
{
    struct collector_ads *ads = *state;
    char name[16];
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "m%d", i);
        set(ads, name, i % 1000 == 7 ? "[ State = \"Claimed\" ]" : "[ State = \"Owner\" ]");
    }
    assert_string_equal(left(ads, "State == \"Claimed\"", 1), "scan");
    assert_true(collector_ads_make_indexes(ads, 1000));
    set(ads, "m7", "[ State = \"Owner\" ]");   /* behind the walk */
    set(ads, "m3", "[ State = \"Claimed\" ]"); /* likewise */
    set(ads, "m4007", NULL);                   /* before it */
    set(ads, "m4999", "[ State = \"Claimed\" ]");
    assert_string_equal(left(ads, "State == \"Claimed\"", 1), "scan");
    assert_string_equal(left(ads, "Cpus == 1", 1), "scan"); /* another one is wanted meanwhile */
    int steps = 0;
    while (collector_ads_make_indexes(ads, 1000)) {
        steps++;
    }
    assert_in_range(steps, 4, 6);
    assert_string_equal(left(ads, "State == \"Claimed\"", 1), "m3 m1007 m2007 m3007 m4999 ");
    assert_string_equal(left(ads, "Cpus == 1", 1), "");
}

static void an_index_that_nobody_asks_goes_and_a_new_one_takes_the_place_of_the_oldest(void **state)
{
    struct collector_ads *ads = *state;
    char constraint[64];
    set(ads, "a", "[ A0 = 1 ]");
    for (int i = 0; i < INDEXES_MAX; i++) {
        snprintf(constraint, sizeof(constraint), "A%d == 1", i);
        assert_string_equal(left(ads, constraint, (uint64_t)i), i == 0 ? "a " : "");
    }
    assert_string_equal(left(ads, "B == 1", 100), "scan"); /* all are busy */
    assert_string_equal(left(ads, "B == 1", 60000), "");
    assert_int_equal(collector_ads_index_count(ads), INDEXES_MAX);
    assert_string_equal(left(ads, "A0 == 1", 90001), "a "); /* had gone, comes again */
    collector_ads_trim_indexes(ads, 60000 + INDEX_IDLE_MS);
    assert_int_equal(collector_ads_index_count(ads), 1);
    collector_ads_trim_indexes(ads, 90001 + INDEX_IDLE_MS);
    assert_int_equal(collector_ads_index_count(ads), 0);
    assert_string_equal(left(ads, "A0 == 1", 900000), "a ");
}

/* ---- any constraint -------------------------------------------------------------------------- */

static uint64_t dice(uint64_t *seed, uint64_t sides)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % sides;
}

static const char *const VALUES[] = {
    "1",
    "2",
    "2.0",
    "0",
    "true",
    "false",
    "\"x\"",
    "\"X\"",
    "\"y\"",
    "undefined",
    "error",
    "-0.0",
    "1e300",
    "\"1\"",
    "9007199254740993",
    "{ 1 }",
    "absTime(\"2026-01-01T00:00:00Z\")",
    "relTime(\"0+00:00:01\")",
    "1 + 1",
    "A",
    "B",
    "strcat(\"x\", \"\")",
};
static const char *const TARGETS[] = {"A", "B", "C", "MY.A", "TARGET.B", "Name", "(A)"};
static const char *const OPS[] = {"==", "=?=", "!=", "=!=", "<", ">="};

#define PICK(seed, list) (list)[dice(seed, sizeof(list) / sizeof((list)[0]))]

static void random_constraint(uint64_t *seed, int depth, struct strbuf *out)
{
    uint64_t kind = depth > 0 ? dice(seed, 8) : 7;
    if (kind < 5) {
        strbuf_puts(out, kind == 4 ? "!(" : "(");
        random_constraint(seed, depth - 1, out);
        strbuf_puts(out, kind % 2 == 0 ? " && " : " || ");
        random_constraint(seed, depth - 1, out);
        strbuf_putc(out, ')');
    } else if (kind == 5) {
        strbuf_puts(out, PICK(seed, TARGETS));
    } else if (dice(seed, 4) == 0) {
        strbuf_printf(out, "%s %s %s", PICK(seed, VALUES), OPS[dice(seed, 2)], PICK(seed, TARGETS));
    } else {
        const char *op = dice(seed, 3) == 0 ? PICK(seed, OPS) : OPS[dice(seed, 2)];
        strbuf_printf(out, "%s %s %s", PICK(seed, TARGETS), op, PICK(seed, VALUES));
    }
}

static void random_change(struct collector_ads *ads, uint64_t *seed)
{
    char name[16];
    struct strbuf text;
    strbuf_init(&text, 0);
    snprintf(name, sizeof(name), "m%d", (int)dice(seed, 40));
    strbuf_printf(&text, "[ Name = \"%s\"", name);
    for (int i = 0; i < 3; i++) {
        if (dice(seed, 4) > 0) {
            strbuf_printf(&text, "; %c = %s", 'A' + i, PICK(seed, VALUES));
        }
    }
    strbuf_puts(&text, dice(seed, 20) == 0 ? "; Absent = true ]" : " ]");
    set(ads, name, dice(seed, 10) == 0 ? NULL : strbuf_text(&text));
    strbuf_fini(&text);
}

/* The names that meet the constraint, among `few` or, where that is NULL, all. */
static void meet(struct collector_ads *ads, const struct ad_expr *expr, const struct vec *few,
                 struct strbuf *out)
{
    struct ads_cursor cursor;
    size_t at = 0;
    ads_cursor_init(&cursor, ads, "Machine");
    for (;;) {
        struct ads_entry *entry = !few              ? ads_cursor_next(&cursor)
                                  : at < few->count ? few->items[at++]
                                                    : NULL;
        if (!entry) {
            break;
        }
        if (entry->shown && ad_eval_bool(expr, entry->shown, NULL, NULL) == AD_TRUE) {
            strbuf_printf(out, "%s ", entry->name);
        }
    }
    ads_cursor_fini(&cursor);
}

static void an_index_answers_as_looking_at_all_does(void **state)
{
    struct collector_ads *ads = *state;
    uint64_t seed = 42;
    size_t helped = 0, found = 0;
    for (int i = 0; i < 20000; i++) {
        random_change(ads, &seed);
        struct strbuf text, all, some;
        struct vec few = {0};
        strbuf_init(&text, 0);
        strbuf_init(&all, 0);
        strbuf_init(&some, 0);
        random_constraint(&seed, 3, &text);
        struct ad_expr *expr = parsed(strbuf_text(&text));
        struct ad_clauses *clauses = ad_clauses_create(expr, NULL);
        meet(ads, expr, NULL, &all);
        if (collector_ads_select(ads, "Machine", clauses, (uint64_t)i, &few)) {
            helped++;
            meet(ads, expr, &few, &some);
            found += some.length > 0;
            if (strcmp(strbuf_text(&all), strbuf_text(&some)) != 0) {
                fail_msg("%s: all '%s', index '%s'", strbuf_text(&text), strbuf_text(&all),
                         strbuf_text(&some));
            }
        }
        ad_clauses_destroy(clauses);
        ad_expr_destroy(expr);
        vec_fini(&few, NULL);
        strbuf_fini(&text);
        strbuf_fini(&all);
        strbuf_fini(&some);
    }
    assert_true(helped > 5000); /* it was tried */
    assert_true(found > 1000);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_ads, remove_ads)

UNIT_TESTS(CASE(only_ads_that_may_meet_the_constraint_are_looked_at),
           CASE(what_is_no_equation_is_not_helped), CASE(an_index_follows_what_is_shown),
           CASE(a_large_table_is_indexed_in_steps_while_it_changes),
           CASE(an_index_that_nobody_asks_goes_and_a_new_one_takes_the_place_of_the_oldest),
           CASE(an_index_answers_as_looking_at_all_does))
