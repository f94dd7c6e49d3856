/* ckpt/image/frame.h - assembles an image: ELF headers, stub (the program that resumes the job),
 * contents, tables (format.h).
 *
 * Pure.  The layout of the window, the address range in which stub and tables are mapped, depends
 * on the size of the tables.  So a dump or a merge, which changes an image's tables, must lay the
 * image out anew.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_FRAME_H
#define CKPT_IMAGE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format.h"

struct tables;

/* Largest size of a window in bytes.  A window is put at an address at which so many bytes are
 * free. */
#define FRAME_WINDOW_MAX UINT64_C(0x0080000000)

uint64_t frame_round_up(uint64_t bytes); /* rounds up to whole pages (CKPT_PAGE) */

/* Fills in the fields of the head that depend on the tables: sizes, and addresses in the window,
 * which begins at address `window`. code_bytes: size of ELF headers and stub together; at: offset
 * of the tables in the image.  Returns false if the window would be larger than
 * FRAME_WINDOW_MAX. */
bool frame_lay_out(const struct tables *tables, struct ckpt_head *head, uint64_t window,
                   uint64_t code_bytes, uint64_t at);
/* Writes the first page of the image, the ELF headers, to `page`: CKPT_STUB_OFFSET bytes.
 * code_bytes: size of ELF headers and stub together; at: offset of the tables in the image. */
void frame_elf(const struct ckpt_head *head, uint64_t code_bytes, uint64_t at, unsigned char *page);

#endif
