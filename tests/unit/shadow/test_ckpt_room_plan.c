/* tests/unit/shadow/test_ckpt_room_plan.c - what making a whole one may take, by two manifests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_room_plan.h"

#include "tests/support/unit.h"

#include "classad/ad.h"

#define MEGABYTE (INT64_C(1) << 20)

/* -1: it is not said. */
static struct ad *manifest(int64_t plain, int64_t stored)
{
    struct ad *ad = ad_create();
    if (plain != -1) {
        ad_set_int(ad, "Plain", plain);
    }
    if (stored != -1) {
        ad_set_int(ad, "Stored", stored);
    }
    return ad;
}

static struct checkpoint_room room(struct ad *base, struct ad *changes)
{
    struct checkpoint_room ret = checkpoint_room_plan(base, changes, "Plain", "Stored");
    ad_destroy(base);
    ad_destroy(changes);
    return ret;
}

static void both_are_there_and_what_comes_of_them_and_that_packed(void **state)
{
    (void)state;
    struct checkpoint_room is = room(manifest(6400, 100), manifest(640, 50));
    assert_int_equal(is.made, 2 * 7040 + 110 + MEGABYTE);
    assert_int_equal(is.disk, 3 * 7040 + 2 * (110 + MEGABYTE));
}

static void what_says_nothing_is_as_large_as_it_is_kept(void **state)
{
    (void)state;
    assert_int_equal(room(manifest(-1, 6400), manifest(640, 50)).made, 2 * 7040 + 110 + MEGABYTE);
    assert_int_equal(room(NULL, manifest(640, 50)).made, 2 * 640 + 10 + MEGABYTE);
    assert_int_equal(room(manifest(-1, -1), manifest(-7, 50)).made, MEGABYTE);
}

static void no_figure_makes_it_less(void **state)
{
    (void)state;
    struct checkpoint_room is = room(manifest(INT64_MAX, 0), manifest(INT64_MAX, INT64_MAX));
    assert_true(is.made > INT64_MAX / 8 && is.disk > is.made);
    assert_true(is.disk < INT64_MAX / 2); /* of images and of files: the sum of two */
    is = room(manifest(INT64_MIN, INT64_MIN), manifest(INT64_MIN, 0));
    assert_int_equal(is.made, MEGABYTE);
}

UNIT_TESTS(UNIT(both_are_there_and_what_comes_of_them_and_that_packed),
           UNIT(what_says_nothing_is_as_large_as_it_is_kept), UNIT(no_figure_makes_it_less))
