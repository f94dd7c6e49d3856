/* tests/fuzz/fuzz_ckpt_image.c - the tables of images from strangers.
 *
 * Their sum is made right first: it is no protection against who means harm.  What is taken is read
 * to its last text and extent.
 *
 * LINK: ckpt base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "ckpt/image/image.h"
#include "ckpt/sum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_process(const struct image *image, const struct ckpt_process *process)
{
    size_t length = strlen(image_text(image, process->exe));
    for (uint32_t i = 0; i < process->regions.count; i++) {
        const struct ckpt_region *region = image_region(image, process->regions.first + i);
        length += strlen(image_text(image, region->file));
        for (uint32_t j = 0; j < region->extents.count; j++) {
            const struct ckpt_extent *extent = image_extent(image, region->extents.first + j);
            CHECK(extent->start >= region->start && extent->start + extent->bytes <= region->end);
        }
    }
    for (uint32_t i = 0; i < process->fds.count; i++) {
        const struct ckpt_fd *fd = image_fd(image, process->fds.first + i);
        length += strlen(image_text(image, image_file(image, fd->file)->path));
    }
    for (uint32_t i = 0; i < process->threads.count; i++) {
        const struct ckpt_thread *thread = image_thread(image, process->threads.first + i);
        length += strlen(image_text(image, thread->command));
    }
    CHECK(length < CKPT_TABLES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ckpt_head head;
    struct image *image = NULL;
    uint64_t offset, bytes;
    (void)image_find_tables(data, size, &offset, &bytes);
    if (size < sizeof head) {
        return 0;
    }
    uint8_t *copy = mem_dup(data, size);
    memcpy(&head, copy, sizeof head);
    head.sum = 0;
    memcpy(copy, &head, sizeof head);
    head.sum = ckpt_sum(0, copy, head.tables_bytes <= size ? (size_t)head.tables_bytes : size);
    memcpy(copy, &head, sizeof head);
    if (image_parse(copy, size, &image, NULL) == 0) {
        for (uint32_t i = 0; i < image_count(image, CKPT_PROCESSES); i++) {
            walk_process(image, image_process(image, i));
        }
    }
    image_destroy(image);
    mem_free(copy);
    return 0;
}
