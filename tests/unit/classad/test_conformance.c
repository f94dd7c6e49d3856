/* tests/unit/classad/test_conformance.c - replays what HTCondor answered
 * (tests/conformance/classad/README.md), and what follows from its sources (classad_derived/).
 *
 * Every line must agree, except those of KNOWN, which differ on purpose; docs/CLASSAD.md says why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

#define FIELDS_MAX 4

struct fields {
    const char *text[FIELDS_MAX];
    size_t count;
};

/* A line that differs on purpose: its file and the text of its expression. */
struct difference {
    const char *file;
    const char *text;
};

static const struct difference KNOWN[] = {
    {"", ""}, /* the end: none today */
};

static bool is_known(const char *file, const char *text)
{
    for (size_t i = 0; KNOWN[i].file[0] != '\0'; i++) {
        if (strcmp(KNOWN[i].file, file) == 0 && strcmp(KNOWN[i].text, text) == 0) {
            return true;
        }
    }
    return false;
}

static char *read_file(const char *name, size_t *length)
{
    char path[1024];
    const char *source = getenv("ROOST_SRC");
    (void)snprintf(path, sizeof(path), "%s/tests/conformance/%s", source != NULL ? source : ".",
                   name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    struct strbuf text;
    char block[65536];
    strbuf_init(&text, 0);
    for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;) {
        strbuf_append(&text, block, got);
    }
    (void)fclose(file);
    (void)strbuf_text(&text);
    *length = text.length;
    return strbuf_take(&text);
}

static struct fields split_line(char *line)
{
    struct fields fields = {0};
    while (fields.count < FIELDS_MAX) {
        fields.text[fields.count++] = line;
        line = strchr(line, '\t');
        if (line == NULL) {
            break;
        }
        *line++ = '\0';
    }
    return fields;
}

static void evaluate(const char *text, enum ad_syntax syntax, const struct ad *my,
                     const struct ad *target, struct strbuf *out)
{
    struct ad_expr *expr = NULL;
    if (ad_expr_parse(text, strlen(text), syntax, &expr, NULL) < 0) {
        strbuf_puts(out, "PARSE-ERROR");
        return;
    }
    uint64_t seed = 7;
    struct ad_context context = {.now_s = 1731000000, .random_state = &seed};
    struct ad_value value;
    ad_eval(expr, my, target, &context, &value);
    ad_value_print(&value, out);
    ad_value_fini(&value);
    ad_expr_destroy(expr);
}

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    return ad_parse(text, strlen(text), &ad, NULL) == 0 ? ad : NULL;
}

typedef void answer_f(const struct fields *fields, struct strbuf *out);

static void answer_eval(const struct fields *fields, struct strbuf *out)
{
    struct ad *empty = ad_create();
    evaluate(fields->text[0], AD_NEW, empty, NULL, out);
    ad_destroy(empty);
}

static void answer_eval_old(const struct fields *fields, struct strbuf *out)
{
    struct ad *empty = ad_create();
    evaluate(fields->text[0], AD_OLD, empty, NULL, out);
    ad_destroy(empty);
}

static void answer_eval_in_ad(const struct fields *fields, struct strbuf *out)
{
    struct ad *my = ad_of(fields->text[0]);
    if (my == NULL) {
        strbuf_puts(out, "PARSE-ERROR");
    } else {
        evaluate(fields->text[1], AD_NEW, my, NULL, out);
    }
    ad_destroy(my);
}

static void answer_match(const struct fields *fields, struct strbuf *out)
{
    struct ad *my = ad_of(fields->text[0]);
    struct ad *target = ad_of(fields->text[1]);
    if (my == NULL || target == NULL) {
        strbuf_puts(out, "PARSE-ERROR");
    } else if (strcmp(fields->text[2], "symmetric-match") == 0) {
        strbuf_puts(out, ad_match(my, target, NULL) ? "true" : "false");
    } else {
        evaluate(fields->text[2], AD_OLD, my, target, out);
    }
    ad_destroy(my);
    ad_destroy(target);
}

static void unparse(const char *text, enum ad_syntax syntax, struct strbuf *out)
{
    struct ad_expr *expr = NULL;
    if (ad_expr_parse(text, strlen(text), syntax, &expr, NULL) < 0) {
        strbuf_puts(out, "PARSE-ERROR");
        return;
    }
    ad_expr_print(expr, syntax, out);
    ad_expr_destroy(expr);
}

static void answer_unparse(const struct fields *fields, struct strbuf *out)
{
    unparse(fields->text[0], AD_NEW, out);
}

static void answer_unparse_old(const struct fields *fields, struct strbuf *out)
{
    unparse(fields->text[0], AD_OLD, out);
}

static void replay(const char *name, answer_f *answer, size_t least)
{
    size_t length;
    char *text = read_file(name, &length);
    assert_non_null(text);
    struct strbuf out;
    size_t lines = 0;
    size_t wrong = 0;
    strbuf_init(&out, 0);
    for (char *line = text; line < text + length;) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        struct fields fields = split_line(line);
        const char *expected = fields.text[fields.count - 1];
        const char *expression = fields.text[fields.count - 2];
        strbuf_clear(&out);
        answer(&fields, &out);
        lines++;
        if (strcmp(strbuf_text(&out), expected) != 0 && !is_known(name, expression)) {
            wrong++;
            print_message("%s:%zu: %s\n    expected %s\n    got      %s\n", name, lines, expression,
                          expected, strbuf_text(&out));
        }
        line = end != NULL ? end + 1 : text + length;
    }
    strbuf_fini(&out);
    mem_free(text);
    assert_int_equal(wrong, 0);
    assert_true(lines >= least); /* the file is all there */
}

static void expressions_evaluate_as_in_htcondor(void **state)
{
    (void)state;
    replay("classad/eval.tsv", answer_eval, 3470);
}

static void old_expressions_evaluate_as_in_htcondor(void **state)
{
    (void)state;
    replay("classad/eval_old.tsv", answer_eval_old, 124);
}

static void expressions_in_ads_evaluate_as_in_htcondor(void **state)
{
    (void)state;
    replay("classad/eval_in_ad.tsv", answer_eval_in_ad, 533);
}

static void matches_evaluate_as_in_htcondor(void **state)
{
    (void)state;
    replay("classad/match.tsv", answer_match, 290);
}

static void expressions_print_as_in_htcondor(void **state)
{
    (void)state;
    replay("classad/unparse.tsv", answer_unparse, 264);
    replay("classad/unparse_old.tsv", answer_unparse_old, 231);
}

static void what_was_derived_by_reading_holds(void **state)
{
    (void)state;
    replay("classad_derived/eval.tsv", answer_eval, 80);
    replay("classad_derived/match.tsv", answer_match, 20);
}

static void long_form_is_read_and_printed_as_in_htcondor(void **state)
{
    (void)state;
    size_t files = 0;
    size_t agreed = 0;
    for (int i = 0; i < 100; i++) {
        char name[64];
        size_t length;
        (void)snprintf(name, sizeof(name), "classad/longform/%02d.in", i);
        char *in = read_file(name, &length);
        if (in == NULL) {
            continue;
        }
        size_t expected_length;
        (void)snprintf(name, sizeof(name), "classad/longform/%02d.out", i);
        char *expected = read_file(name, &expected_length);
        assert_non_null(expected);
        struct strbuf out;
        struct ad *ad = NULL;
        strbuf_init(&out, 0);
        if (ad_parse_long(in, length, &ad, NULL) < 0) {
            strbuf_puts(&out, "PARSE-ERROR\n");
        } else {
            ad_print_long(ad, &out);
        }
        files++;
        if (strcmp(strbuf_text(&out), expected) == 0) {
            agreed++;
        } else {
            print_message("%s: expected\n%sgot\n%s", name, expected, strbuf_text(&out));
        }
        strbuf_fini(&out);
        ad_destroy(ad);
        mem_free(in);
        mem_free(expected);
    }
    assert_true(files >= 14);
    assert_int_equal(agreed, files);
}

UNIT_TESTS(UNIT(expressions_evaluate_as_in_htcondor), UNIT(old_expressions_evaluate_as_in_htcondor),
           UNIT(expressions_in_ads_evaluate_as_in_htcondor), UNIT(matches_evaluate_as_in_htcondor),
           UNIT(expressions_print_as_in_htcondor), UNIT(what_was_derived_by_reading_holds),
           UNIT(long_form_is_read_and_printed_as_in_htcondor))
