/* tests/unit/collector/test_collector_prototype.c - ads on disk as what they differ in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "collector/collector_prototype.h"

#define ATTRIBUTES 60

/* Machines of one kind differ in two attributes. */
static void machine(struct strbuf *ret, const char *kind, unsigned number)
{
    struct ad *ad = ad_create();
    char name[32], text[64];
    for (unsigned i = 0; i < ATTRIBUTES; i++) {
        (void)snprintf(name, sizeof(name), "%sAttribute%u", kind, i);
        (void)snprintf(text, sizeof(text), "of kind %s, number %u", kind, i);
        ad_set_string(ad, name, text);
    }
    (void)snprintf(text, sizeof(text), "wn%u", number);
    ad_set_string(ad, "Name", text);
    ad_set_int(ad, "Last", number);
    strbuf_init(ret, 0);
    ad_encode(ad, true, ret);
    ad_destroy(ad);
}

static void assert_comes_back(struct prototypes *prototypes, const struct strbuf *packed,
                              const struct strbuf *bytes)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(prototypes_unpack(prototypes, packed->data, packed->length, &out, NULL), 0);
    assert_int_equal(out.length, bytes->length);
    assert_memory_equal(out.data, bytes->data, bytes->length);
    strbuf_fini(&out);
}

static void ads_alike_are_packed_to_what_is_their_own_and_come_back(void **state)
{
    (void)state;
    struct prototypes *prototypes = prototypes_create();
    for (unsigned i = 0; i < 5; i++) {
        struct strbuf bytes, packed;
        bool is_new = false;
        uint32_t number = 0;
        machine(&bytes, "One", i * 1000);
        strbuf_init(&packed, 0);
        assert_true(
            prototypes_pack(prototypes, bytes.data, bytes.length, &packed, &is_new, &number));
        assert_int_equal(is_new, i == 0);
        assert_int_equal(number, 1);
        assert_true(packed.length < 40);
        assert_comes_back(prototypes, &packed, &bytes);
        strbuf_fini(&packed);
        strbuf_fini(&bytes);
    }
    prototypes_destroy(prototypes);
}

static void another_kind_gets_a_prototype_of_its_own_until_there_are_too_many(void **state)
{
    (void)state;
    struct prototypes *prototypes = prototypes_create();
    char kind[16];
    for (unsigned i = 0; i < COLLECTOR_PROTOTYPES_MAX + 1; i++) {
        struct strbuf bytes, packed;
        bool is_new = false;
        uint32_t number = 0;
        (void)snprintf(kind, sizeof(kind), "Kind%u", i);
        machine(&bytes, kind, i);
        strbuf_init(&packed, 0);
        bool fits =
            prototypes_pack(prototypes, bytes.data, bytes.length, &packed, &is_new, &number);
        assert_int_equal(fits, i < COLLECTOR_PROTOTYPES_MAX);
        assert_int_equal(is_new, fits);
        assert_int_equal(packed.length > 0, fits);
        strbuf_fini(&packed);
        strbuf_fini(&bytes);
    }
    prototypes_destroy(prototypes);
}

static void drop(void *arg, uint32_t number)
{
    *(uint32_t *)arg = *(uint32_t *)arg * 100 + number;
}

static void what_nobody_needs_is_dropped_and_its_number_not_given_again(void **state)
{
    (void)state;
    struct prototypes *prototypes = prototypes_create();
    struct strbuf one, two, three, packed;
    uint32_t dropped = 0, number = 0;
    bool is_new = false;
    machine(&one, "One", 1);
    machine(&two, "Two", 2);
    machine(&three, "Three", 3);
    strbuf_init(&packed, 0);
    prototypes_add(prototypes, 7, one.data, one.length);
    prototypes_add(prototypes, 8, two.data, two.length);
    assert_true(prototypes_pack(prototypes, one.data, one.length, &packed, &is_new, &number));
    assert_false(is_new);
    assert_int_equal(number, 7);
    prototypes_drop_unused(prototypes, drop, &dropped);
    assert_int_equal(dropped, 8);
    assert_comes_back(prototypes, &packed, &one);
    strbuf_clear(&packed);
    assert_true(prototypes_pack(prototypes, three.data, three.length, &packed, &is_new, &number));
    assert_true(is_new);
    assert_int_equal(number, 9);
    strbuf_fini(&packed);
    strbuf_fini(&one);
    strbuf_fini(&two);
    strbuf_fini(&three);
    prototypes_destroy(prototypes);
}

static void what_is_cut_short_or_of_no_prototype_is_refused(void **state)
{
    (void)state;
    struct prototypes *prototypes = prototypes_create(), *none = prototypes_create();
    struct strbuf first, second, packed, out;
    struct err err = {""};
    uint32_t number = 0;
    bool is_new = false;
    machine(&first, "One", 1);
    machine(&second, "One", 2);
    strbuf_init(&packed, 0);
    strbuf_init(&out, 0);
    assert_true(prototypes_pack(prototypes, first.data, first.length, &packed, &is_new, &number));
    strbuf_clear(&packed);
    assert_true(prototypes_pack(prototypes, second.data, second.length, &packed, &is_new, &number));
    assert_int_equal(prototypes_unpack(none, packed.data, packed.length, &out, &err), -ENOENT);
    for (size_t length = 0; length < packed.length; length++) {
        assert_int_equal(prototypes_unpack(prototypes, packed.data, length, &out, &err), -EBADMSG);
    }
    strbuf_putc(&packed, 0);
    assert_int_equal(prototypes_unpack(prototypes, packed.data, packed.length, &out, &err),
                     -EBADMSG);
    packed.data[5] = 0x7f; /* more values of the prototype's than it has */
    assert_int_equal(prototypes_unpack(prototypes, packed.data, packed.length, &out, &err),
                     -EBADMSG);
    strbuf_fini(&out);
    strbuf_fini(&packed);
    strbuf_fini(&first);
    strbuf_fini(&second);
    prototypes_destroy(prototypes);
    prototypes_destroy(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ads_alike_are_packed_to_what_is_their_own_and_come_back),
        cmocka_unit_test(another_kind_gets_a_prototype_of_its_own_until_there_are_too_many),
        cmocka_unit_test(what_nobody_needs_is_dropped_and_its_number_not_given_again),
        cmocka_unit_test(what_is_cut_short_or_of_no_prototype_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
