/* tests/fuzz/fuzz_ckpt_chain.c - a whole image and a delta from strangers, and the memory that
 * comes of them.
 *
 * The input: four bytes say how long the tables of the first are, those of the second follow.  Sums
 * and names are made right first.  What pieces say must lie in the images.
 *
 * LINK: ckpt base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "ckpt/image/chain.h"
#include "ckpt/image/image.h"
#include "ckpt/sum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct image *read_tables(const uint8_t *data, size_t size, uint64_t base_id)
{
    struct ckpt_head head;
    struct image *image = NULL;
    if (size < sizeof head) {
        return NULL;
    }
    uint8_t *copy = mem_dup(data, size);
    memcpy(&head, copy, sizeof head);
    head.sum = 0;
    head.id = base_id + 1;
    head.base_id = base_id;
    head.flags = base_id != 0 ? CKPT_DELTA : 0;
    memcpy(copy, &head, sizeof head);
    head.sum = ckpt_sum(0, copy, head.tables_bytes <= size ? (size_t)head.tables_bytes : size);
    memcpy(copy, &head, sizeof head);
    (void)image_parse(copy, size, &image, NULL);
    mem_free(copy);
    return image;
}

static void walk(const struct image *const *images, const struct chain_pieces *pieces)
{
    uint64_t last = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct chain_piece *piece = &pieces->items[i];
        CHECK(piece->image < 2 && piece->bytes > 0 && piece->start >= last);
        uint64_t bytes = image_head(images[piece->image])->image_bytes;
        CHECK(piece->offset <= bytes && piece->bytes <= bytes - piece->offset);
        last = piece->start + piece->bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const NAMES[] = {"whole", "delta"};
    uint32_t first;
    if (size < sizeof first) {
        return 0;
    }
    memcpy(&first, data, sizeof first);
    data += sizeof first;
    size -= sizeof first;
    first = first < size ? first : (uint32_t)size;
    const struct image *images[] = {read_tables(data, first, 0),
                                    read_tables(data + first, size - first, 1)};
    if (images[0] != NULL && images[1] != NULL && chain_check(images, NAMES, 2, NULL) == 0) {
        for (uint32_t i = 0; i < image_count(images[1], CKPT_PROCESSES); i++) {
            struct chain_pieces pieces = {.items = NULL};
            if (chain_pieces_of(images, 2, i, &pieces, NULL) == 0) {
                walk(images, &pieces);
            }
            chain_pieces_fini(&pieces);
        }
    }
    image_destroy((struct image *)(uintptr_t)images[0]);
    image_destroy((struct image *)(uintptr_t)images[1]);
    return 0;
}
