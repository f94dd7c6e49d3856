/* Tests of base/random.h and base/uuid.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/random.h"

#include "base/uuid.h"
#include "tests/support/unit.h"

static void the_same_seed_gives_the_same_sequence_on_every_machine(void **state)
{
    (void)state;
    struct rng rng = {.state = {1, 2, 3, 4}};
    /* The first outputs of the authors' xoshiro256** from this state. */
    assert_int_equal(rng_next(&rng), 11520);
    assert_int_equal(rng_next(&rng), 0);
    assert_int_equal(rng_next(&rng), 1509978240);
    assert_int_equal(rng_next(&rng), UINT64_C(1215971899390074240));
    /* The first outputs of the authors' splitmix64 from 1234567 fill the state. */
    rng_seed(&rng, 1234567);
    assert_int_equal(rng.state[0], UINT64_C(6457827717110365317));
    assert_int_equal(rng.state[1], UINT64_C(3203168211198807973));
    unsigned char bytes[11];
    rng = (struct rng){.state = {1, 2, 3, 4}};
    rng_bytes(&rng, bytes, sizeof(bytes));
    assert_memory_equal(bytes, "\x00\x2d\0\0\0\0\0\0\0\0\0", 11);
}

static void below_reaches_every_value_evenly(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 0);
    unsigned seen[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t draw = rng_below(&rng, 7);
        assert_true(draw < 7);
        seen[draw]++;
    }
    for (size_t i = 0; i < 7; i++) {
        assert_in_range(seen[i], 9500, 10500);
    }
    assert_int_equal(rng_below(&rng, 1), 0);
}

static void below_is_fair_where_a_plain_remainder_is_not(void **state)
{
    (void)state;
    /* 2^64 mod (3 * 2^62) would make the first third twice as likely. */
    struct rng rng;
    rng_seed(&rng, 3);
    unsigned low = 0;
    for (int i = 0; i < 30000; i++) {
        low += rng_below(&rng, UINT64_C(3) << 62) < (UINT64_C(1) << 62) ? 1 : 0;
    }
    assert_in_range(low, 9500, 10500);
}

static void real_stays_below_one(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double draw = rng_real(&rng);
        assert_true(draw >= 0 && draw < 1);
        sum += draw;
    }
    assert_true(sum > 4800 && sum < 5200);
}

static void jitter_spreads_over_its_percentage_only(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 9);
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < 10000; i++) {
        uint64_t ms = rng_jitter(&rng, 1000, 20);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    assert_int_equal(least, 800);
    assert_int_equal(most, 1200);
    assert_int_equal(rng_jitter(&rng, 1000, 0), 1000);
    assert_int_equal(rng_jitter(&rng, 0, 100), 0);
    assert_in_range(rng_jitter(&rng, 1, 100), 0, 2);
}

static void a_uuid_has_its_form_and_sorts_by_time(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    char first[UUID_TEXT_MAX], second[UUID_TEXT_MAX], third[UUID_TEXT_MAX];
    uuid_v7(UINT64_C(0x0123456789ab), &rng, first);
    assert_memory_equal(first, "01234567-89ab-7", 15);
    assert_int_equal(strlen(first), 36);
    assert_int_equal(first[18], '-');
    assert_non_null(strchr("89ab", first[19]));
    assert_int_equal(first[23], '-');
    uuid_v7(UINT64_C(0x0123456789ab), &rng, second);
    assert_string_not_equal(first, second);
    uuid_v7(UINT64_C(0x0123456789ac), &rng, third);
    assert_true(strcmp(first, third) < 0);
    assert_true(strcmp(second, third) < 0);
}

UNIT_TESTS(UNIT(the_same_seed_gives_the_same_sequence_on_every_machine),
           UNIT(below_reaches_every_value_evenly),
           UNIT(below_is_fair_where_a_plain_remainder_is_not), UNIT(real_stays_below_one),
           UNIT(jitter_spreads_over_its_percentage_only),
           UNIT(a_uuid_has_its_form_and_sorts_by_time))
