/* tests/unit/schedd/test_dollar_plan.c - what $$() becomes on a slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/dollar_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"

#define SLOT                                                                                  \
    "[Name = \"slot1@wn\"; Memory = 2048; Arch = \"X86_64\"; Half = Memory / 2; Ratio = 0.5;" \
    " HasIt = true; Evil = \"../x\"; ClaimId = \"secret\"; Wants = TARGET.Want; Bad = 1 / \"x\"]"

static const struct ad_context NOW = {.now_s = 10000};

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static int expand(const char *job_text, const char *parent_text, struct ad *ret, struct err *err)
{
    struct ad *job = ad_of(job_text), *slot = ad_of(SLOT);
    struct ad *parent = parent_text != NULL ? ad_of(parent_text) : NULL;
    ad_chain(job, parent);
    int result = dollar_plan_expand(job, parent, slot, &NOW, ret, err);
    ad_destroy(job);
    ad_destroy(parent);
    ad_destroy(slot);
    return result;
}

static void each_form_becomes_what_the_slot_has(void **state)
{
    (void)state;
    static const struct {
        const char *job;
        const char *expanded; /* of Args */
    } ROWS[] = {
        {"[Args = \"$$(Name)\"]", "slot1@wn"},
        {"[Args = \"a$$(name)b$$(Memory)c\"]", "aslot1@wnb2048c"},
        {"[Args = \"$$(Half) $$(Ratio) $$(HasIt)\"]", "1024 0.5 true"},
        {"[Args = \"$$(NoSuch:other) $$(Arch:other)\"]", "other X86_64"},
        {"[Args = \"$$(NoSuch:)\"]", ""},
        {"[Args = \"$$(Bad:x:y)\"]", "x:y"},
        {"[Args = \"$$(Wants)\"; Want = \"me\"]", "me"},
        {"[Args = \"$$([Memory * 2]) x\"]", "4096 x"},
        {"[Args = \"$$([ TARGET.Memory > MY.Need ? \\\"big\\\" : \\\"small\\\" ])\"; Need = 9]",
         "big"},
        {"[Args = \"$$([ strcat(Arch, \\\")\\\") ])\"]", "X86_64)"},
        {"[Args = \"$$(DOLLARDOLLAR)(Name)\"]", "$$(Name)"},
        {"[Args = \"$$(Arch) $$(never ends\"]", "X86_64 $$(never ends"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct ad *ret = ad_create();
        struct err err = {{0}};
        if (expand(ROWS[i].job, NULL, ret, &err) != 0) {
            fail_msg("%s: %s", ROWS[i].job, err.text);
        }
        assert_string_equal(ad_string_or(ret, "MATCH_EXP_Args", "?"), ROWS[i].expanded);
        ad_destroy(ret);
    }
}

static void what_cannot_be_expanded_is_named_in_htcondors_words(void **state)
{
    (void)state;
    static const struct {
        const char *job, *text;
    } ROWS[] = {
        {"[Args = \"$$(NoSuch)\"]", "Cannot expand $$(NoSuch)."},
        {"[Args = \"$$(Bad)\"]", "Cannot expand $$(Bad)."},
        {"[Args = \"$$(a b)\"]", "Cannot expand $$(a b)."},
        {"[Args = \"$$(ClaimId)\"]", "Cannot expand $$(ClaimId)."},
        {"[Args = \"$$([NoSuch + 1])\"]", "Cannot expand $$ expression ([NoSuch + 1])."},
        {"[Args = \"$$([ 1 + ])\"]", "Cannot expand $$ expression ([ 1 + ])."},
        {"[Out = \"$$(Evil)\"]", "Cannot expand $$(Evil) in Out: it has a '/' in it."},
        {"[TransferOutputRemaps = \"a=$$(Evil)\"]",
         "Cannot expand $$(Evil) in TransferOutputRemaps: it has a '/' in it."},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct ad *ret = ad_create();
        struct err err = {{0}};
        assert_int_equal(expand(ROWS[i].job, NULL, ret, &err), -EINVAL);
        assert_string_equal(err.text, ROWS[i].text);
        ad_destroy(ret);
    }
}

static void the_jobs_own_hides_its_clusters_and_both_take_their_places(void **state)
{
    (void)state;
    struct ad *ret = ad_create(), *flat = ad_of("[Args = 1; Env = 2; Out = 3]");
    struct err err = {{0}};
    assert_int_equal(expand("[Args = \"mine $$(Arch)\"; Plain = \"x\"]",
                            "[Args = \"$$(NoSuch)\"; Env = \"A=$$(Memory)\"; Out = \"plain\"]", ret,
                            &err),
                     0);
    assert_string_equal(ad_string_or(ret, "MATCH_EXP_Args", ""), "mine X86_64");
    assert_string_equal(ad_string_or(ret, "MATCH_EXP_Env", ""), "A=2048");
    assert_string_equal(ad_string_or(ret, "MATCH_Memory", ""), "2048");
    assert_int_equal(ad_count(ret), 4);
    dollar_plan_apply(ret, flat);
    assert_string_equal(ad_string_or(flat, "Args", ""), "mine X86_64");
    assert_string_equal(ad_string_or(flat, "Env", ""), "A=2048");
    assert_int_equal(ad_int_or(flat, "Out", 0), 3);
    assert_int_equal(ad_count(flat), 3);
    ad_set_int(ret, "Other", 1);
    dollar_plan_forget(ret);
    assert_int_equal(ad_count(ret), 1);
    ad_destroy(ret);
    ad_destroy(flat);
}

static void only_texts_with_it_matter(void **state)
{
    (void)state;
    struct ad *with = ad_of("[A = 1; B = \"x $$(Arch)\"]");
    struct ad *without = ad_of("[A = 1; B = \"x $(Arch) $$\"; C = strcat(\"$\", \"$(x)\")]");
    struct ad *told = ad_of("[HoldReason = \"Cannot expand $$(x).\"; lastholdreason = \"$$(x)\"]");
    struct ad *ret = ad_create();
    assert_false(dollar_plan_matters(told));
    assert_int_equal(dollar_plan_expand(told, NULL, with, &NOW, ret, NULL), 0);
    assert_int_equal(ad_count(ret), 0);
    ad_destroy(ret);
    ad_destroy(told);
    assert_true(dollar_plan_matters(with));
    assert_false(dollar_plan_matters(without));
    assert_false(dollar_plan_matters(NULL));
    ad_destroy(with);
    ad_destroy(without);
}

/* It is asked of each of a million queued jobs. */
static void the_question_leaves_no_expressions_behind(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *job = ad_of("[Args = \"1 $(x)\"; Out = \"out.1\"; Wanted = 7]");
    ad_pack(pool, NULL, job);
    size_t bytes = ad_own_bytes(job);
    assert_false(dollar_plan_matters(job));
    assert_int_equal(ad_own_bytes(job), bytes);
    ad_destroy(job);
    ad_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_becomes_what_the_slot_has),
        cmocka_unit_test(what_cannot_be_expanded_is_named_in_htcondors_words),
        cmocka_unit_test(the_jobs_own_hides_its_clusters_and_both_take_their_places),
        cmocka_unit_test(only_texts_with_it_matter),
        cmocka_unit_test(the_question_leaves_no_expressions_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
