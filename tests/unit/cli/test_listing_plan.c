/* The options that all listings share, and what they print.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/mem.h"
#include "cli/listing_plan.h"

#define ARGS(...) ((char *[]){"q", __VA_ARGS__, NULL})

struct fixture {
    struct listing listing;
    struct vec jobs, slots;
    struct ad_context context;
    struct strbuf out;
    struct err err;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    strbuf_init(&f->out, 0);
    ads_add(&f->jobs, "[ClusterId = 33; ProcId = 0; JobStatus = 2; Owner = \"user\";"
                      " RequestDisk = MAX({ 1024,2 }) * 1024; ClaimId = \"secret\"]");
    ads_add(&f->jobs, "[ClusterId = 34; ProcId = 1; JobStatus = 5; Owner = \"user\"]");
    ads_add(&f->slots, "[Name = \"slot1@node001.example\"; State = \"Claimed\"; Cpus = 1]");
    ads_add(&f->slots, "[Name = \"slot2@node001.example\"; State = \"Claimed\"; Cpus = 1]");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    listing_fini(&f->listing);
    vec_fini(&f->jobs, ads_destroy_one);
    vec_fini(&f->slots, ads_destroy_one);
    strbuf_fini(&f->out);
    mem_free(f);
    return 0;
}

/* Reads all arguments; 1 if all were options of a listing. */
static int read_all(struct fixture *f, char *const *argv)
{
    int argc = 0, rc = 1;
    while (argv[argc] != NULL) {
        argc++;
    }
    for (int at = 1; at < argc && rc == 1; at++) {
        rc = listing_plan_option(&f->listing, argc, argv, &at, &f->context, &f->err);
    }
    return rc;
}

static void expect(struct fixture *f, const struct vec *ads, char *const *argv, const char *text)
{
    const struct ad_context context = {.now_s = 0};
    assert_int_equal(read_all(f, argv), 1);
    listing_plan_print(&f->listing, ads_list(ads), ads->count, &context, &f->out);
    ads_expect(&f->out, text);
}

static int32_t east(void *arg, int64_t at_s)
{
    (void)arg;
    (void)at_s;
    return 5 * 3600 + 1800;
}

static void times_without_a_zone_are_the_callers(void **state)
{
    struct fixture *f = *state;
    f->context.zone_offset_s = east;
    expect(f, &f->slots,
           ARGS("-af", "int(absTime(\"1970-01-01T05:30:00\"))", "-constraint",
                "Now > absTime(\"1970-01-02T00:00:00\")"),
           "0\n0\n");
    char *constraint = listing_plan_constraint(&f->listing);
    assert_string_equal(constraint, "(Now > absTime(\"1970-01-02T00:00:00+05:30\"))");
    mem_free(constraint);
    assert_int_equal(listing_plan_zoned("QDate  > int(absTime(\"1970-01-02T00:00:00\"))",
                                        &f->context, &constraint, &f->err),
                     0);
    assert_string_equal(constraint, "QDate > int(absTime(\"1970-01-02T00:00:00+05:30\"))");
    mem_free(constraint);
    assert_int_equal(listing_plan_zoned("QDate  >  3", &f->context, &constraint, &f->err), 0);
    assert_string_equal(constraint, "QDate  >  3");
    mem_free(constraint);
    assert_int_equal(listing_plan_zoned("QDate >", &f->context, &constraint, &f->err), -EINVAL);
    assert_non_null(strstr(f->err.text, "-constraint QDate >: "));
}

static void af_prints_values_with_blanks_between(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs, ARGS("-af", "ClusterId", "ProcId", "JobStatus", "NoSuch"),
           "33 0 2 undefined\n34 1 5 undefined\n");
}

static void af_takes_expressions_and_ends_at_the_next_option(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs, ARGS("-autoformat", "ProcId + 1", "-constraint", "JobStatus == 5"),
           "1\n2\n");
    char *constraint = listing_plan_constraint(&f->listing);
    assert_string_equal(constraint, "(JobStatus == 5)");
    mem_free(constraint);
}

static void af_j_puts_the_job_id_first(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs, ARGS("-af:j", "JobStatus", "Owner"), "33.0 2 user\n34.1 5 user\n");
}

static void af_h_heads_columns_as_wide_as_their_longest_cell(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->slots, ARGS("-af:h", "Name", "State", "Cpus", "NoSuch"),
           "Name                  State   Cpus NoSuch\n"
           "slot1@node001.example Claimed 1    undefined\n"
           "slot2@node001.example Claimed 1    undefined\n");
}

static void af_ht_pads_the_last_column_too(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs, ARGS("-af:ht", "ClusterId", "JobStatus", "Owner"),
           "ClusterId\tJobStatus\tOwner\n"
           "33       \t2        \tuser \n"
           "34       \t5        \tuser \n");
}

static void af_comma_V_quotes_strings(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->slots, ARGS("-af:,V", "Name", "State", "Cpus", "NoSuch"),
           "\"slot1@node001.example\", \"Claimed\", 1, undefined\n"
           "\"slot2@node001.example\", \"Claimed\", 1, undefined\n");
}

static void af_r_shows_expressions_unevaluated(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs, ARGS("-af:rV", "RequestDisk"), "MAX({ 1024,2 }) * 1024\nundefined\n");
}

static void af_l_labels_n_breaks_lines_g_leaves_a_gap(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs, ARGS("-af:lng", "ClusterId", "Owner"),
           "ClusterId = 33\nOwner = user\n\nClusterId = 34\nOwner = user\n\n");
}

static void af_prints_nothing_for_no_ads(void **state)
{
    struct fixture *f = *state;
    struct vec none = {0};
    expect(f, &none, ARGS("-af:h", "Owner"), "");
}

static void format_prints_what_is_there_and_nothing_for_what_is_not(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs,
           ARGS("-format", "%d.", "ClusterId", "-format", "%-3d|", "ProcId", "-format", "%s",
                "NoSuch", "-format", "%6.2f 100%%\\n", "JobStatus"),
           "33.0  |  2.00 100%\n34.1  |  5.00 100%\n");
}

static void json_is_one_array_in_the_order_of_the_alphabet(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->slots, ARGS("--json", "-attributes", "State,Cpus,Name"),
           "[\n{\n  \"Cpus\": 1,\n  \"Name\": \"slot1@node001.example\",\n"
           "  \"State\": \"Claimed\"\n}\n,\n{\n  \"Cpus\": 1,\n"
           "  \"Name\": \"slot2@node001.example\",\n  \"State\": \"Claimed\"\n}\n]\n");
}

static void json_of_nothing_is_an_empty_array(void **state)
{
    struct fixture *f = *state;
    struct vec none = {0};
    expect(f, &none, ARGS("-json"), "[\n]\n");
}

static void long_leaves_out_what_is_private(void **state)
{
    struct fixture *f = *state;
    expect(f, &f->jobs, ARGS("-l"),
           "ClusterId = 33\nJobStatus = 2\nOwner = \"user\"\nProcId = 0\n"
           "RequestDisk = MAX({ 1024,2 }) * 1024\n\n"
           "ClusterId = 34\nJobStatus = 5\nOwner = \"user\"\nProcId = 1\n\n");
}

static void constraints_are_joined(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_all(f, ARGS("-const", "a || b", "--constraint", "c", "-lim", "7")), 1);
    char *constraint = listing_plan_constraint(&f->listing);
    assert_string_equal(constraint, "(a || b) && (c)");
    assert_int_equal(f->listing.limit, 7);
    mem_free(constraint);
}

static void other_words_are_not_ours(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_all(f, ARGS("33.0")), 0);
    assert_int_equal(read_all(f, ARGS("-nobatch")), 0);
    assert_int_equal(read_all(f, ARGS("-longer")), 0);
    assert_int_equal(read_all(f, ARGS("-")), 0);
}

static void mistakes_are_named(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_all(f, ARGS("-constraint", "SlotID ==")), -EINVAL);
    assert_non_null(strstr(f->err.text, "-constraint SlotID =="));
    assert_int_equal(read_all(f, ARGS("-af")), -EINVAL);
    assert_int_equal(read_all(f, ARGS("-af:x", "Name")), -EINVAL);
    assert_non_null(strstr(f->err.text, "-af:x"));
    assert_int_equal(read_all(f, ARGS("-limit", "0")), -EINVAL);
    assert_int_equal(read_all(f, ARGS("-limit")), -EINVAL);
    assert_int_equal(read_all(f, ARGS("-format", "%s")), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void lines_and_mixed_items_are_printed_in_their_order(void **state)
{
    (void)state;
    static const struct {
        const char *words[8];
        const char *text;
    } CASES[] = {
        {{"-jsonl", "-attributes", "A,B"}, "{\"A\": 1, \"B\": \"x\"}\n"},
        {{"-format", "%d:", "A", "-af", "B", "A"}, "1:x 1\n"},
        {{"-af", "B", "-format", "<%s>\\n", "B"}, "x\n<x>\n"},
        {{"-af:T", "A", "B"}, "0+00:00:01 x\n"},
        {{"-af:Y", "A"}, "1970-01-01 00:00:01\n"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const struct ad_context context = {.now_s = 100};
        struct listing listing = {0};
        struct vec ads = {0};
        struct strbuf out;
        struct err err;
        char *argv[8];
        int argc = 0;
        for (; CASES[i].words[argc] != NULL; argc++) {
            argv[argc] = (char *)(uintptr_t)CASES[i].words[argc];
        }
        for (int at = 0; at < argc; at++) {
            assert_int_equal(listing_plan_option(&listing, argc, argv, &at, &context, &err), 1);
        }
        ads_add(&ads, "[A = 1; B = \"x\"]");
        strbuf_init(&out, 0);
        listing_plan_print(&listing, ads_list(&ads), 1, &context, &out);
        vec_fini(&ads, ads_destroy_one);
        listing_fini(&listing);
        ads_expect(&out, CASES[i].text);
    }
}

static void a_target_is_what_expressions_see(void **state)
{
    (void)state;
    const struct ad_context context = {.now_s = 100};
    struct listing listing = {0};
    struct vec ads = {0};
    struct strbuf out;
    struct err err;
    char *argv[] = {(char[]){"-af"}, (char[]){"A + TARGET.B"}};
    int at = 0;
    ads_add(&ads, "[A = 1]");
    ads_add(&ads, "[B = 41]");
    assert_int_equal(listing_plan_option(&listing, 2, argv, &at, &context, &err), 1);
    listing.target = ads.items[1];
    ads.count = 1;
    strbuf_init(&out, 0);
    listing_plan_print(&listing, ads_list(&ads), 1, &context, &out);
    listing_fini(&listing);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out, "42\n");
}

/* Prints each portion into an empty buffer, as a caller does that writes portions; returns their
 * number. */
static size_t print_portions(const struct listing *listing, const struct vec *ads,
                             struct strbuf *out)
{
    const struct ad_context context = {.now_s = 0};
    struct listing_print print;
    struct strbuf portion;
    size_t count = 0;
    bool more = true;
    strbuf_init(&portion, 0);
    listing_plan_begin(&print, listing, ads_list(ads), ads->count, &context);
    for (; more; count++) {
        more = listing_plan_more(&print, &portion);
        assert_true(portion.length < (size_t)300 << 10);
        strbuf_puts(out, strbuf_text(&portion));
        strbuf_clear(&portion);
    }
    listing_plan_end(&print);
    strbuf_fini(&portion);
    return count;
}

static void portions_together_are_the_whole(void **state)
{
    (void)state;
    static const enum listing_style STYLES[] = {LISTING_LONG, LISTING_JSON, LISTING_JSON_LINES,
                                                LISTING_XML};
    const struct ad_context context = {.now_s = 0};
    char line[4096], text[4200];
    struct vec ads = {0};
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    (void)snprintf(text, sizeof text, "[A = \"%s\"]", line);
    for (int i = 0; i < 200; i++) {
        ads_add(&ads, text);
    }
    for (size_t i = 0; i < sizeof STYLES / sizeof STYLES[0]; i++) {
        struct listing listing = {.style = STYLES[i]};
        struct strbuf whole, parts;
        strbuf_init(&whole, 0);
        strbuf_init(&parts, 0);
        listing_plan_print(&listing, ads_list(&ads), ads.count, &context, &whole);
        assert_int_equal(print_portions(&listing, &ads, &parts), 4);
        ads_expect(&parts, strbuf_text(&whole));
        strbuf_fini(&whole);
        listing_fini(&listing);
    }
    vec_fini(&ads, ads_destroy_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(af_prints_values_with_blanks_between),
        TEST(times_without_a_zone_are_the_callers),
        TEST(af_takes_expressions_and_ends_at_the_next_option),
        TEST(af_j_puts_the_job_id_first),
        TEST(af_h_heads_columns_as_wide_as_their_longest_cell),
        TEST(af_ht_pads_the_last_column_too),
        TEST(af_comma_V_quotes_strings),
        TEST(af_r_shows_expressions_unevaluated),
        TEST(af_l_labels_n_breaks_lines_g_leaves_a_gap),
        TEST(af_prints_nothing_for_no_ads),
        TEST(format_prints_what_is_there_and_nothing_for_what_is_not),
        TEST(json_is_one_array_in_the_order_of_the_alphabet),
        TEST(json_of_nothing_is_an_empty_array),
        TEST(long_leaves_out_what_is_private),
        TEST(constraints_are_joined),
        TEST(other_words_are_not_ours),
        TEST(mistakes_are_named),
        cmocka_unit_test(lines_and_mixed_items_are_printed_in_their_order),
        cmocka_unit_test(a_target_is_what_expressions_see),
        cmocka_unit_test(portions_together_are_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
