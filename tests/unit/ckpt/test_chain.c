/* tests/unit/ckpt/test_chain.c - where the memory of the newest image of a chain lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/chain.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "ckpt/image/image.h"
#include "ckpt/image/tables.h"
#include "ckpt/xstate.h"
#include "tests/support/unit.h"

#define START UINT64_C(0x400000)
#define PAGES 16U
#define PAGE  ((uint64_t)CKPT_PAGE)

struct part { /* pages of the one region */
    uint32_t first, count;
    uint32_t at; /* page of the image; 0: in the base */
};

static const char *const NAMES[] = {"whole", "first", "second"};

/* An image of process 7, or of another, with these extents. */
static struct image *make(uint64_t id, uint64_t base_id, int32_t pid, const struct part *parts,
                          size_t count)
{
    static const unsigned char XSTATE[XSTATE_MIN];
    struct image *image = NULL;
    struct tables tables;
    struct strbuf bytes;
    struct ckpt_head head = {.window = 0x1000000000,
                             .window_bytes = PAGE,
                             .image_bytes = 64 * PAGE,
                             .xstate_bytes = sizeof XSTATE,
                             .id = id,
                             .base_id = base_id,
                             .flags = base_id != 0 ? CKPT_DELTA : 0};
    struct ckpt_thread thread = {.tid = pid};
    struct ckpt_process process = {.pid = pid, .parent = CKPT_NOBODY};
    struct ckpt_region region = {.start = START,
                                 .end = START + PAGES * PAGE,
                                 .kind = CKPT_MEMORY,
                                 .extents = {0, (uint32_t)count}};
    tables_init(&tables);
    strbuf_init(&bytes, 0);
    head.base = base_id != 0 ? tables_text(&tables, "the base") : 0;
    thread.xstate = tables_add_xstate(&tables, XSTATE, sizeof XSTATE);
    process.threads = (struct ckpt_span){tables_add(&tables, CKPT_THREADS, &thread), 1};
    for (size_t i = 0; i < count; i++) {
        const struct ckpt_extent extent = {.start = START + parts[i].first * PAGE,
                                           .bytes = parts[i].count * PAGE,
                                           .offset = parts[i].at * PAGE,
                                           .flags = parts[i].at == 0 ? CKPT_IN_BASE : 0};
        (void)tables_add(&tables, CKPT_EXTENTS, &extent);
    }
    process.regions = (struct ckpt_span){tables_add(&tables, CKPT_REGIONS, &region), 1};
    (void)tables_add(&tables, CKPT_PROCESSES, &process);
    assert_int_equal(tables_write(&tables, &head, &bytes), 0);
    assert_int_equal(image_parse(bytes.data, bytes.length, &image, NULL), 0);
    strbuf_fini(&bytes);
    tables_fini(&tables);
    return image;
}

static void is_piece(const struct chain_pieces *pieces, size_t index, uint32_t page, uint32_t count,
                     uint32_t image, uint32_t at)
{
    assert_true(index < pieces->count);
    const struct chain_piece *piece = &pieces->items[index];
    assert_int_equal(piece->start, START + page * PAGE);
    assert_int_equal(piece->bytes, count * PAGE);
    assert_int_equal(piece->image, image);
    assert_int_equal(piece->offset, at * PAGE);
}

static void what_has_not_changed_is_found_in_the_image_where_it_last_did(void **state)
{
    (void)state;
    const struct part whole[] = {{0, 4, 10}, {6, 6, 20}};
    const struct part first[] = {{0, 2, 0}, {2, 1, 30}, {3, 9, 0}, {14, 1, 31}};
    const struct part second[] = {{1, 1, 40}, {2, 6, 0}, {9, 1, 0}, {14, 2, 0}};
    struct image *images[] = {make(1, 0, 7, whole, 2), make(2, 1, 7, first, 4),
                              make(3, 2, 7, second, 4)};
    struct chain_pieces pieces = {.items = NULL};
    assert_int_equal(chain_check((const struct image *const *)images, NAMES, 3, NULL), 0);
    assert_int_equal(chain_pieces_of((const struct image *const *)images, 3, 0, &pieces, NULL), 0);
    assert_int_equal(pieces.count, 6);
    is_piece(&pieces, 0, 1, 1, 2, 40); /* page 0 is not there any more */
    is_piece(&pieces, 1, 2, 1, 1, 30);
    is_piece(&pieces, 2, 3, 1, 0, 13);
    is_piece(&pieces, 3, 6, 2, 0, 20); /* 4 and 5 were zeroes */
    is_piece(&pieces, 4, 9, 1, 0, 23);
    is_piece(&pieces, 5, 14, 1, 1, 31);
    chain_pieces_fini(&pieces);
    for (size_t i = 0; i < 3; i++) {
        image_destroy(images[i]);
    }
}

static void a_process_that_changed_wholly_needs_no_base(void **state)
{
    (void)state;
    const struct part whole[] = {{0, 4, 10}}, all[] = {{3, 2, 50}, {0, 1, 40}};
    struct image *images[] = {make(1, 0, 8, whole, 1), make(2, 1, 7, all, 2)};
    struct chain_pieces pieces = {.items = NULL};
    assert_int_equal(chain_pieces_of((const struct image *const *)images, 2, 0, &pieces, NULL), 0);
    assert_int_equal(pieces.count, 2);
    is_piece(&pieces, 0, 0, 1, 1, 40); /* by address */
    is_piece(&pieces, 1, 3, 2, 1, 50);
    chain_pieces_fini(&pieces);
    image_destroy(images[0]);
    image_destroy(images[1]);
}

static void is_refused(struct image *a, struct image *b, int code, const char *text)
{
    struct image *images[] = {a, b};
    struct chain_pieces pieces = {.items = NULL};
    struct err err = {.text = ""};
    size_t count = b != NULL ? 2 : 1;
    int rc = chain_check((const struct image *const *)images, NAMES, count, &err);
    rc = rc != 0 ? rc
                 : chain_pieces_of((const struct image *const *)images, count, 0, &pieces, &err);
    assert_int_equal(rc, code);
    assert_non_null(strstr(err.text, text));
    assert_null(pieces.items);
    image_destroy(a);
    image_destroy(b);
}

static void a_delta_of_another_base_is_refused(void **state)
{
    (void)state;
    const struct part part[] = {{0, 1, 10}};
    is_refused(make(1, 0, 7, part, 1), make(2, 9, 7, part, 1), -EINVAL,
               "since the base, but the image before it in the chain is whole");
}

static void a_delta_alone_is_refused(void **state)
{
    (void)state;
    const struct part part[] = {{0, 1, 10}};
    is_refused(make(2, 9, 7, part, 1), NULL, -EINVAL, "whole: not a full checkpoint image");
}

static void two_whole_images_are_no_chain(void **state)
{
    (void)state;
    const struct part part[] = {{0, 1, 10}};
    is_refused(make(1, 0, 7, part, 1), make(2, 0, 7, part, 1), -EINVAL,
               "expected an image with changes only");
}

static void extents_on_each_other_are_refused(void **state)
{
    (void)state;
    const struct part part[] = {{0, 1, 10}}, twice[] = {{0, 4, 10}, {3, 1, 20}};
    is_refused(make(1, 0, 7, part, 1), make(2, 1, 7, twice, 2), -EBADMSG, "overlap at");
}

static void memory_of_a_process_that_the_base_has_not_is_refused(void **state)
{
    (void)state;
    const struct part part[] = {{0, 1, 10}}, based[] = {{0, 1, 0}};
    is_refused(make(1, 0, 8, part, 1), make(2, 1, 7, based, 1), -EBADMSG, "no such process");
}

UNIT_TESTS(cmocka_unit_test(what_has_not_changed_is_found_in_the_image_where_it_last_did),
           cmocka_unit_test(a_process_that_changed_wholly_needs_no_base),
           cmocka_unit_test(a_delta_of_another_base_is_refused),
           cmocka_unit_test(a_delta_alone_is_refused),
           cmocka_unit_test(two_whole_images_are_no_chain),
           cmocka_unit_test(extents_on_each_other_are_refused),
           cmocka_unit_test(memory_of_a_process_that_the_base_has_not_is_refused))
