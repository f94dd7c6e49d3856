/* ckpt/image/tables.h - the tables of an image while it is being made; format.h describes them.
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

/* Appends a copy of one entry, an object of the struct that format.h defines for this table;
 * returns the entry's index. */
uint32_t tables_add(struct tables *tables, enum ckpt_table table, const void *entry);
uint32_t tables_add_xstate(struct tables *tables, const void *xstate, size_t bytes);
/* Returns an entry, which the caller may change; valid until the next entry is added to its
 * table. */
void *tables_at(struct tables *tables, enum ckpt_table table, uint32_t index);
/* Replaces all entries of a table by copies of the given ones. */
void tables_take(struct tables *tables, enum ckpt_table table, const void *entries, uint32_t count);
/* Adds a text and returns its offset in the table of texts; 0 for "". */
uint32_t tables_text(struct tables *tables, const char *text);
/* Returns the size of one entry of a table in bytes; 1 for the tables of texts and of extended
 * registers, whose entries are bytes. */
size_t tables_entry_bytes(enum ckpt_table table);

/* Returns the size of all tables together with their head. */
uint64_t tables_bytes(const struct tables *tables);
/* Appends head and tables to out, in the format of the image, and fills in the head's fields about
 * the tables (magic, version, sizes, sum).  Returns 0; or -ENOMEM: the tables are too large. */
int tables_write(struct tables *tables, struct ckpt_head *head, struct strbuf *out);

#endif
