/* tests/unit/ckpt/test_feature_list.c - the features of a processor as a list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/feature_list.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "tests/support/unit.h"

static void lists(const uint32_t words[MACHINE_WORDS], const char *wanted)
{
    struct strbuf list;
    strbuf_init(&list, 0);
    feature_list(words, &list);
    assert_string_equal(strbuf_text(&list), wanted);
    strbuf_fini(&list);
}

static void features_have_their_names_in_order(void **state)
{
    (void)state;
    const uint32_t words[MACHINE_WORDS] = {
        [MACHINE_1_ECX] = 1U << 28, [MACHINE_7_EBX] = 1U << 5 | 1U << 16};
    lists(words, "avx,avx2,avx512f");
}

static void one_without_a_name_is_its_word_and_bit(void **state)
{
    (void)state;
    const uint32_t words[MACHINE_WORDS] = {[MACHINE_7_1_EAX] = 1U << 25};
    lists(words, "w4.25");
}

static void a_name_is_one_word_of_the_list(void **state)
{
    (void)state;
    const uint32_t words[MACHINE_WORDS] = {[MACHINE_XCR0] = 1U << 2};
    lists(words, "AVX-registers");
}

static void what_no_program_goes_by_is_left_out(void **state)
{
    (void)state;
    const uint32_t words[MACHINE_WORDS] = {[MACHINE_1_ECX] = 1U << 31 /* a hypervisor */,
                                           [MACHINE_7_EBX] = 1U << 9 /* fast rep movsb */};
    lists(words, "");
}

static void no_two_features_have_one_name(void **state)
{
    (void)state;
    struct strbuf list;
    uint32_t words[MACHINE_WORDS];
    memset(words, 0xff, sizeof words);
    strbuf_init(&list, 0);
    strbuf_putc(&list, ',');
    feature_list(words, &list);
    strbuf_putc(&list, ',');
    for (const char *at = strbuf_text(&list), *end; (end = strchr(at + 1, ',')) != NULL; at = end) {
        char name[64];
        assert_true((size_t)(end - at) + 2 <= sizeof name);
        memcpy(name, at, (size_t)(end - at) + 1); /* with both commas */
        name[end - at + 1] = '\0';
        assert_null(strstr(end, name));
    }
    strbuf_fini(&list);
}

static void rooms(void (*put)(uint32_t registers, struct strbuf *ret), uint32_t registers,
                  const char *wanted)
{
    struct strbuf list;
    strbuf_init(&list, 0);
    put(registers, &list);
    assert_string_equal(strbuf_text(&list), wanted);
    strbuf_fini(&list);
}

/* Of a job that began with SSE and AVX, and of machines with as much, less, and more. */
static void a_job_runs_where_its_linker_has_room_for_the_registers(void **state)
{
    (void)state;
    rooms(feature_list_room, ~0U, "");
    rooms(feature_list_room, 0x7 | ~MACHINE_LINKER_SAVES, "room-06");
    rooms(feature_list_rooms, 0x207, "room-06,room-0e,room-e6");
    rooms(feature_list_rooms, 0x3, "room-02,room-06,room-0e,room-e6");
    rooms(feature_list_rooms, 0x2e7, "room-e6");
    rooms(feature_list_rooms, 0x2ff, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_have_their_names_in_order),
        cmocka_unit_test(one_without_a_name_is_its_word_and_bit),
        cmocka_unit_test(a_name_is_one_word_of_the_list),
        cmocka_unit_test(what_no_program_goes_by_is_left_out),
        cmocka_unit_test(no_two_features_have_one_name),
        cmocka_unit_test(a_job_runs_where_its_linker_has_room_for_the_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
