/* ckpt/image/tables.h - the tables of an image while it is made: format.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_TABLES_H
#define CKPT_IMAGE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "ckpt/format.h"

struct tables {
    struct strbuf bytes[CKPT_TABLES];
    uint32_t counts[CKPT_TABLES];
};

void tables_init(struct tables *tables);
void tables_fini(struct tables *tables);

/* Appends one entry, of the size that the table's entries have; its index. */
uint32_t tables_add(struct tables *tables, enum ckpt_table table, const void *entry);
uint32_t tables_add_xstate(struct tables *tables, const void *xstate, size_t bytes);
/* The entry, to be changed; until the next one of that table is added. */
void *tables_at(struct tables *tables, enum ckpt_table table, uint32_t index);
/* All entries of that table, in the place of what was there. */
void tables_take(struct tables *tables, enum ckpt_table table, const void *entries, uint32_t count);
/* The offset of that text; 0 for "". */
uint32_t tables_text(struct tables *tables, const char *text);
size_t tables_entry_bytes(enum ckpt_table table); /* texts and extended states: 1 */

/* All bytes that they will take with their head. */
uint64_t tables_bytes(const struct tables *tables);
/* Head and tables as they are in the image; fills in what of the head is theirs (magic, version,
 * sizes, sum).  -ENOMEM: they are too large. */
int tables_write(struct tables *tables, struct ckpt_head *head, struct strbuf *out);

#endif
