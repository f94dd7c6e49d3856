/* Tests of base/config/config_macro.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_macro.h"

#include <errno.h>

#include "base/strbuf.h"
#include "tests/support/unit.h"

/* The references of a text as "start-end name=default" */
static const char *references(const char *text)
{
    static char result[512];
    size_t used = 0;
    size_t at = 0;
    struct macro_reference reference;
    result[0] = '\0';
    int rc = 0;
    while ((rc = macro_next(text, strlen(text), at, &reference, NULL)) > 0) {
        used +=
            (size_t)snprintf(result + used, sizeof(result) - used, "[%zu-%zu %s%.*s%s%.*s]",
                             reference.start, reference.end, reference.environment ? "ENV " : "",
                             (int)reference.name_length, reference.name,
                             reference.fallback ? "=" : "", (int)reference.fallback_length,
                             reference.fallback ? reference.fallback : "");
        at = reference.end;
    }
    return rc < 0 ? "refused" : result;
}

static void references_are_found_with_their_defaults(void **state)
{
    (void)state;
    assert_string_equal(references(""), "");
    assert_string_equal(references("no $ here, $5 $x $"), "");
    assert_string_equal(references("$(A)"), "[0-4 A]");
    assert_string_equal(references("x$(A)$(b.C:)y"), "[1-5 A][5-12 b.C=]");
    assert_string_equal(references("$(A:b(c)d)e)"), "[0-10 A=b(c)d]");
    assert_string_equal(references("$(A:$(B:c))"), "[0-11 A=$(B:c)]");
    assert_string_equal(references("$ENV(HOME) $ENV(X:y)"), "[0-10 ENV HOME][11-20 ENV X=y]");
    assert_string_equal(references("$$(Arch) $$$(A)"), "[11-15 A]");
    assert_string_equal(references("$(A:b:c)"), "[0-8 A=b:c]");
}

static void what_only_looks_like_a_reference_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"$(",   "$(A",         "$(A:(b)", "$()",     "$(:x)", "$(a b)",
                               "$(9)", "$(date +%s)", "$F(x)",   "$env(X)", "$ENV(", "$ENV()"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_string_equal(references(bad[i]), "refused");
    }
}

static const char *replaced(const char *text, const char *old)
{
    static char result[512];
    struct strbuf out;
    strbuf_init(&out, 0);
    int rc = macro_replace_self(text, "Me", old, &out, NULL);
    (void)snprintf(result, sizeof(result), "%s", rc < 0 ? "refused" : strbuf_text(&out));
    strbuf_fini(&out);
    return result;
}

static void only_the_self_is_replaced(void **state)
{
    (void)state;
    assert_string_equal(replaced("a $(ME) b $(me:x) $(You) $(MeToo)", "<old>"),
                        "a <old> b <old> $(You) $(MeToo)");
    assert_string_equal(replaced("$(Me)$(Me:x)$(You:$(Me:y))", NULL), "x$(You:y)");
    assert_string_equal(replaced("$ENV(Me) $$(Me)", "old"), "$ENV(Me) $$(Me)");
    assert_string_equal(replaced("$(Me) $(", "old"), "refused");
    /* What is put in is not looked at again. */
    assert_string_equal(replaced("$(Me)", "$(Me)"), "$(Me)");
}

static void collect(void *arg, const char *name, size_t length)
{
    strbuf_append(arg, name, length);
    strbuf_putc(arg, ' ');
}

static void each_name_is_told_also_inside_defaults(void **state)
{
    (void)state;
    struct strbuf names;
    strbuf_init(&names, 0);
    assert_int_equal(macro_each("$(A:$(B:$(C)) x) $ENV(D:$(E)) $(F)", collect, &names, NULL), 0);
    assert_string_equal(strbuf_text(&names), "A B C E F ");
    assert_int_equal(macro_each("$(", collect, &names, NULL), -EINVAL);
    strbuf_fini(&names);
}

UNIT_TESTS(UNIT(references_are_found_with_their_defaults),
           UNIT(what_only_looks_like_a_reference_is_refused), UNIT(only_the_self_is_replaced),
           UNIT(each_name_is_told_also_inside_defaults))
