/* ckpt/image/tables.c - the tables of an image while it is being made: see tables.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/tables.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "ckpt/sum.h"

#define ALIGNMENT 64U

size_t tables_entry_bytes(enum ckpt_table table)
{
    static const size_t BYTES[CKPT_TABLES] = {
        [CKPT_PROCESSES] = sizeof(struct ckpt_process),
        [CKPT_REGIONS] = sizeof(struct ckpt_region),
        [CKPT_EXTENTS] = sizeof(struct ckpt_extent),
        [CKPT_THREADS] = sizeof(struct ckpt_thread),
        [CKPT_FDS] = sizeof(struct ckpt_fd),
        [CKPT_FILES] = sizeof(struct ckpt_file),
        [CKPT_ACTIONS] = sizeof(struct ckpt_action),
        [CKPT_SIGNALS] = sizeof(struct ckpt_signal),
        [CKPT_TIMERS] = sizeof(struct ckpt_timer),
        [CKPT_LIMITS] = sizeof(struct ckpt_limit),
        [CKPT_AUXV] = sizeof(uint64_t),
        [CKPT_XSTATES] = 1,
        [CKPT_TEXTS] = 1,
        [CKPT_WATCHES] = sizeof(struct ckpt_watch),
        [CKPT_LOCKS] = sizeof(struct ckpt_lock),
    };
    return BYTES[table];
}

void tables_init(struct tables *tables)
{
    memset(tables, 0, sizeof *tables);
    for (size_t i = 0; i < CKPT_TABLES; i++) {
        strbuf_init(&tables->bytes[i], CKPT_TABLES_MAX);
    }
    strbuf_putc(&tables->bytes[CKPT_TEXTS], '\0'); /* offset 0: none */
    tables->counts[CKPT_TEXTS] = 1;
}

void tables_fini(struct tables *tables)
{
    for (size_t i = 0; i < CKPT_TABLES; i++) {
        strbuf_fini(&tables->bytes[i]);
    }
}

static uint32_t append_entry(struct tables *tables, enum ckpt_table table, const void *data,
                             size_t bytes)
{
    uint32_t index = tables->counts[table];
    strbuf_append(&tables->bytes[table], data, bytes);
    tables->counts[table] += (uint32_t)(bytes / tables_entry_bytes(table));
    return index;
}

uint32_t tables_add(struct tables *tables, enum ckpt_table table, const void *entry)
{
    CHECK(table != CKPT_TEXTS && table != CKPT_XSTATES);
    return append_entry(tables, table, entry, tables_entry_bytes(table));
}

uint32_t tables_add_xstate(struct tables *tables, const void *xstate, size_t bytes)
{
    return append_entry(tables, CKPT_XSTATES, xstate, bytes);
}

void tables_take(struct tables *tables, enum ckpt_table table, const void *entries, uint32_t count)
{
    strbuf_clear(&tables->bytes[table]);
    strbuf_append(&tables->bytes[table], entries, count * tables_entry_bytes(table));
    tables->counts[table] = count;
}

void *tables_at(struct tables *tables, enum ckpt_table table, uint32_t index)
{
    CHECK(index < tables->counts[table]);
    return tables->bytes[table].data + index * tables_entry_bytes(table);
}

uint32_t tables_text(struct tables *tables, const char *text)
{
    return text[0] != '\0' ? append_entry(tables, CKPT_TEXTS, text, strlen(text) + 1) : 0;
}

static uint64_t align_up(uint64_t offset)
{
    return (offset + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

uint64_t tables_bytes(const struct tables *tables)
{
    uint64_t bytes = align_up(sizeof(struct ckpt_head));
    for (size_t i = 0; i < CKPT_TABLES; i++) {
        bytes = align_up(bytes + tables->bytes[i].length);
    }
    return bytes;
}

static void pad_to(struct strbuf *out, uint64_t length)
{
    while (out->length < length && !out->failed) {
        strbuf_putc(out, '\0');
    }
}

int tables_write(struct tables *tables, struct ckpt_head *head, struct strbuf *out)
{
    uint64_t at = align_up(sizeof *head);
    memcpy(head->magic, CKPT_MAGIC, sizeof head->magic);
    head->version = CKPT_VERSION;
    head->head_bytes = sizeof *head;
    head->tables_bytes = tables_bytes(tables);
    head->sum = 0;
    for (size_t i = 0; i < CKPT_TABLES; i++) {
        if (tables->bytes[i].failed) {
            return -ENOMEM;
        }
        head->tables[i] = (struct ckpt_array){.offset = at, .count = tables->counts[i]};
        at = align_up(at + tables->bytes[i].length);
    }
    strbuf_append(out, head, sizeof *head);
    for (size_t i = 0; i < CKPT_TABLES; i++) {
        pad_to(out, head->tables[i].offset);
        strbuf_append(out, tables->bytes[i].data, tables->bytes[i].length);
    }
    pad_to(out, head->tables_bytes);
    if (out->failed) {
        return -ENOMEM;
    }
    head->sum = ckpt_sum(0, out->data, out->length);
    memcpy(out->data, head, sizeof *head);
    return 0;
}
