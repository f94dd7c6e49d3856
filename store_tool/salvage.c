/* store_tool/salvage.c - see salvage.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store_tool/salvage.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/store.h"

#define FILE_HEADER_BYTES  100
#define PAGE_BYTES_DEFAULT 4096
#define LEAF_OF_TABLE      0x0d
#define WAL_HEADER_BYTES   32
#define FRAME_HEADER_BYTES 24
#define ROW_COLUMNS        4 /* id, key, value, sum */
#define PAYLOAD_MAX        (STORE_VALUE_MAX + STORE_KEY_MAX + 100)

struct pages {
    const uint8_t **at; /* at[n]: page n + 1 */
    size_t count;
    size_t bytes;  /* of a page */
    size_t usable; /* bytes of a page without what is reserved at its end */
};

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
    return get16(at) << 16 | get16(at + 2);
}

/* Reads a number of 1 to 9 bytes.  Returns how many bytes it has; 0: it goes beyond the end. */
static size_t get_varint(const uint8_t *at, const uint8_t *end, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < 9 && at + i < end; i++) {
        if (i == 8) {
            *ret = value << 8 | at[i];
            return 9;
        }
        value = value << 7 | (at[i] & 0x7f);
        if ((at[i] & 0x80) == 0) {
            *ret = value;
            return i + 1;
        }
    }
    return 0;
}

/* ---- pages ------------------------------------------------------------------------------------
 */

static bool is_page_size(size_t bytes)
{
    return bytes >= 512 && bytes <= 65536 && (bytes & (bytes - 1)) == 0;
}

/* Puts the pages in place that the write-ahead log has committed. */
static void overlay_wal(struct pages *pages, const uint8_t *wal, size_t length)
{
    if (length < WAL_HEADER_BYTES || get32(wal + 8) != pages->bytes) {
        return;
    }
    const size_t frame_bytes = FRAME_HEADER_BYTES + pages->bytes;
    size_t committed = 0, count = 0;
    for (size_t at = WAL_HEADER_BYTES; at + frame_bytes <= length; at += frame_bytes) {
        if (memcmp(wal + at + 8, wal + 16, 8) != 0) { /* the salts of another round */
            break;
        }
        count++;
        committed = get32(wal + at + 4) != 0 ? count : committed;
    }
    for (size_t i = 0; i < committed; i++) {
        const uint8_t *frame = wal + WAL_HEADER_BYTES + i * frame_bytes;
        const uint32_t number = get32(frame);
        if (number > pages->count && number < pages->count + count + 1) {
            pages->at = mem_realloc(pages->at, number * sizeof(pages->at[0]));
            memset(pages->at + pages->count, 0, (number - pages->count) * sizeof(pages->at[0]));
            pages->count = number;
        }
        if (number > 0 && number <= pages->count) {
            pages->at[number - 1] = frame + FRAME_HEADER_BYTES;
        }
    }
}

static int take_pages(struct pages *pages, const uint8_t *file, size_t length, const uint8_t *wal,
                      size_t wal_length, struct err *err)
{
    size_t bytes = length >= FILE_HEADER_BYTES ? get16(file + 16) : 0;
    bytes = bytes == 1 ? 65536 : bytes;
    if (!is_page_size(bytes)) { /* the header is damaged, too: the log's, or as stores are made */
        bytes = wal_length >= WAL_HEADER_BYTES ? get32(wal + 8) : PAGE_BYTES_DEFAULT;
    }
    if (!is_page_size(bytes) || length < bytes) {
        return err_set(err, -EUCLEAN, "not one whole page of a store is left");
    }
    const uint8_t reserved = length >= FILE_HEADER_BYTES ? file[20] : 0;
    pages->bytes = bytes;
    pages->usable = bytes - (reserved < 32 ? reserved : 0);
    pages->count = length / bytes;
    pages->at = mem_alloc(pages->count * sizeof(pages->at[0]));
    for (size_t i = 0; i < pages->count; i++) {
        pages->at[i] = file + i * bytes;
    }
    overlay_wal(pages, wal, wal_length);
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Collects the bytes of a row, part of which may be on overflow pages, into *ret. */
static bool take_payload(const struct pages *pages, const uint8_t *at, const uint8_t *end,
                         size_t length, uint8_t *ret)
{
    const size_t most = pages->usable - 35, least = (pages->usable - 12) * 32 / 255 - 23;
    const size_t wanted = least + (length - least) % (pages->usable - 4);
    size_t local = length <= most ? length : wanted <= most ? wanted : least;
    if (local > (size_t)(end - at) || (length > local && local + 4 > (size_t)(end - at))) {
        return false;
    }
    memcpy(ret, at, local);
    uint32_t next = length > local ? get32(at + local) : 0;
    for (size_t done = local; done < length;) {
        const uint8_t *page = next > 0 && next <= pages->count ? pages->at[next - 1] : NULL;
        if (page == NULL) {
            return false;
        }
        const size_t part = length - done < pages->usable - 4 ? length - done : pages->usable - 4;
        memcpy(ret + done, page + 4, part);
        done += part;
        next = get32(page);
    }
    return true;
}

static int64_t get_integer(const uint8_t *at, size_t bytes)
{
    uint64_t value = bytes > 0 && (at[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < bytes; i++) {
        value = value << 8 | at[i];
    }
    return (int64_t)value;
}

/* Takes a record apart: id (no bytes), key (text), value (bytes or text), sum (an integer).  Other
 * records (of the schema, of rows that were set aside) are not rows: *is_row. */
static bool take_record(const uint8_t *record, size_t length, struct salvage_row *row, bool *is_row)
{
    static const size_t INTEGER_BYTES[] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};
    const uint8_t *end = record + length;
    uint64_t header = 0, types[ROW_COLUMNS + 1] = {0};
    size_t count = 0, at = get_varint(record, end, &header);
    *is_row = false;
    if (at == 0 || header > length || header < at) {
        return false;
    }
    while (at < header) {
        uint64_t type = 0;
        const size_t used = get_varint(record + at, record + header, &type);
        if (used == 0) {
            return false;
        }
        if (count <= ROW_COLUMNS) {
            types[count] = type;
        }
        count++;
        at += used;
    }
    if (count != ROW_COLUMNS || types[0] != 0 || types[1] < 13 || types[1] % 2 == 0 ||
        types[2] < 12 || types[3] > 9 || types[3] == 0 || types[3] == 7) {
        return true;
    }
    row->key = (const char *)record + header;
    row->key_length = (size_t)(types[1] - 12) / 2;
    row->value = record + header + row->key_length;
    row->length = (size_t)(types[2] - 12) / 2;
    const size_t sum_bytes = INTEGER_BYTES[types[3]];
    if (row->key_length > length || row->length > length ||
        header + row->key_length + row->length + sum_bytes != length) {
        return false;
    }
    row->sum = types[3] >= 8 ? (int64_t)types[3] - 8 : get_integer(end - sum_bytes, sum_bytes);
    *is_row = true;
    return true;
}

static bool read_cell(const struct pages *pages, const uint8_t *at, const uint8_t *end,
                      struct salvage_row *row, uint8_t **payload, bool *is_row)
{
    uint64_t length = 0, id = 0;
    const size_t first = at < end ? get_varint(at, end, &length) : 0;
    const size_t second = first > 0 ? get_varint(at + first, end, &id) : 0;
    if (second == 0 || length == 0 || length > PAYLOAD_MAX) {
        return false;
    }
    *payload = mem_try_alloc((size_t)length);
    return *payload != NULL &&
           take_payload(pages, at + first + second, end, (size_t)length, *payload) &&
           take_record(*payload, (size_t)length, row, is_row);
}

static int read_leaf(const struct pages *pages, size_t number, salvage_f each, void *arg,
                     size_t *broken)
{
    const uint8_t *page = pages->at[number], *end = page + pages->usable;
    const uint8_t *header = page + (number == 0 ? FILE_HEADER_BYTES : 0);
    const size_t cells = get16(header + 3);
    int code = 0;
    if (header + 8 + 2 * cells > end) {
        ++*broken;
        return 0;
    }
    for (size_t i = 0; code == 0 && i < cells; i++) {
        struct salvage_row row = {.page = (uint32_t)number + 1};
        uint8_t *payload = NULL;
        bool is_row = false;
        if (!read_cell(pages, page + get16(header + 8 + 2 * i), end, &row, &payload, &is_row)) {
            ++*broken;
        } else if (is_row) {
            code = each(arg, &row);
        }
        mem_free(payload);
    }
    return code;
}

int salvage_rows(const uint8_t *file, size_t length, const uint8_t *wal, size_t wal_length,
                 salvage_f each, void *arg, size_t *broken, struct err *err)
{
    struct pages pages = {.at = NULL};
    *broken = 0;
    int code = take_pages(&pages, file, length, wal, wal_length, err);
    for (size_t i = 0; code == 0 && i < pages.count; i++) {
        const size_t header = i == 0 ? FILE_HEADER_BYTES : 0;
        if (pages.at[i] != NULL && pages.at[i][header] == LEAF_OF_TABLE) {
            code = read_leaf(&pages, i, each, arg, broken);
        }
    }
    mem_free(pages.at);
    return code;
}
