/* ckpt/command/command_show_linux.c - prints what a pool needs to match jobs with machines: see
 * command_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "ckpt/command/command_linux.h"
#include "ckpt/feature_list.h"
#include "ckpt/image/image.h"
#include "ckpt/image/image_linux.h"

void ckpt_print_features(const uint32_t words[MACHINE_WORDS],
                         void (*put_rooms)(uint32_t registers, struct strbuf *list),
                         uint32_t registers)
{
    struct strbuf list;
    strbuf_init(&list, 0);
    feature_list(words, &list);
    put_rooms(registers, &list);
    (void)printf("CkptFeatures = \"%s\"\n", strbuf_text(&list));
    strbuf_fini(&list);
}

void ckpt_print_attributes(const struct image *image)
{
    const struct ckpt_head *head = image_head(image);
    (void)printf("CkptImageSize = %" PRIu64 "\nCkptMemorySize = %" PRIu64
                 "\nLastCkptTime = %" PRId64 "\nCkptProcesses = %u\n",
                 head->image_bytes, head->memory_bytes, head->made_s,
                 (unsigned)image_count(image, CKPT_PROCESSES));
    (void)printf("CkptImageId = \"%016" PRIx64 "\"\n", head->id);
    if (image_is_delta(image)) {
        (void)printf("CkptBaseId = \"%016" PRIx64 "\"\n", head->base_id);
    }
    (void)printf("LastCheckpointPlatform = \"LINUX x86_64 %s\"\n", image_text(image, head->kernel));
    ckpt_print_features(head->machine, feature_list_room, head->linker_room);
}

int ckpt_show_attributes(const char *path, struct err *err)
{
    struct image *image = NULL;
    int rc = image_open(path, &image, err);
    if (rc == 0) {
        ckpt_print_attributes(image);
    }
    image_destroy(image);
    return rc;
}
