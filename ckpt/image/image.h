/* ckpt/image/image.h - reads the tables of an image, and checks all of them before any is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_IMAGE_H
#define CKPT_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format.h"

struct err;
struct image; /* the tables of an image, in memory; immutable */

/* Finds the tables by the first bytes of a file (ELF header and program headers; CKPT_STUB_OFFSET
 * bytes are enough). *offset, *bytes: where the tables lie in the file.  Returns false if the file
 * is not an image. */
bool image_find_tables(const void *head, size_t head_bytes, uint64_t *offset, uint64_t *bytes);

/* Returns whether the file that begins with these bytes is an image for another processor
 * architecture. */
bool image_is_foreign(const void *head, size_t head_bytes);

/* Parses the bytes of the tables, which are copied.  0; -EBADMSG: damaged, or not made by this
 * program; -EPROTONOSUPPORT: another version of the format. err says what is wrong. */
int image_parse(const void *tables, size_t bytes, struct image **ret, struct err *err);
void image_destroy(struct image *image); /* NULL is allowed */

const struct ckpt_head *image_head(const struct image *image);
uint32_t image_count(const struct image *image, enum ckpt_table table);
/* Returns whether the image is a delta: it holds only the memory that changed since its base. */
bool image_is_delta(const struct image *image);
/* Returns all entries of a table: an array, owned by the image. */
const void *image_table(const struct image *image, enum ckpt_table table);
const struct ckpt_process *image_process(const struct image *image, uint32_t index);
const struct ckpt_region *image_region(const struct image *image, uint32_t index);
const struct ckpt_extent *image_extent(const struct image *image, uint32_t index);
const struct ckpt_thread *image_thread(const struct image *image, uint32_t index);
const struct ckpt_fd *image_fd(const struct image *image, uint32_t index);
const struct ckpt_file *image_file(const struct image *image, uint32_t index);
/* Returns the extended registers of a thread: ckpt_head.xstate_bytes bytes, owned by the image. */
const uint8_t *image_xstate(const struct image *image, const struct ckpt_thread *thread);
const char *image_text(const struct image *image, uint32_t text);

#endif
