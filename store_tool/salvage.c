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
#include "store/store_beside.h"
#include "store/store_db.h"

#define FILE_HEADER_BYTES  100
#define PAGE_BYTES_DEFAULT 4096
#define LEAF_OF_TABLE      0x0d
#define LEAF_OF_INDEX      0x0a
#define NODE_OF_INDEX      0x02
#define WAL_HEADER_BYTES   32
#define FRAME_HEADER_BYTES 24
#define ROW_COLUMNS        4 /* id, key, value, sum */
#define RECORD_COLUMNS     5
#define VERSION_OFFSET     60 /* of user_version, in the first page */
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

/* Puts the pages in place that the write-ahead log has committed.  Frames behind a damaged one
 * count, too: the checksums of the rows say what is good. */
static void overlay_wal(struct pages *pages, const uint8_t *wal, size_t length)
{
    const size_t frame_bytes = FRAME_HEADER_BYTES + pages->bytes;
    if (length < WAL_HEADER_BYTES + frame_bytes) {
        return;
    }
    /* If the header is damaged, the first frame says of which round the log is. */
    const uint8_t *salts = get32(wal + 8) == pages->bytes ? wal + 16 : wal + WAL_HEADER_BYTES + 8;
    size_t committed = 0, count = 0;
    for (size_t at = WAL_HEADER_BYTES; at + frame_bytes <= length; at += frame_bytes) {
        if (memcmp(wal + at + 8, salts, 8) != 0) { /* the salts of another round */
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

static int take_pages(struct pages *pages, const struct salvage_bytes *from, struct err *err)
{
    const uint8_t *file = from->file, *wal = from->wal;
    const size_t length = from->length, wal_length = from->wal_length;
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
static bool take_payload(const struct pages *pages, uint8_t kind, const uint8_t *at,
                         const uint8_t *end, size_t length, uint8_t *ret)
{
    const size_t most =
        kind == LEAF_OF_TABLE ? pages->usable - 35 : (pages->usable - 12) * 64 / 255 - 23;
    const size_t least = (pages->usable - 12) * 32 / 255 - 23;
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

/* A record: the types of its columns, and where their bytes begin. */
struct record {
    uint64_t types[RECORD_COLUMNS];
    size_t count; /* of all columns */
    const uint8_t *body;
    const uint8_t *end;
};

static size_t column_bytes(uint64_t type)
{
    static const size_t INTEGER_BYTES[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < 12 ? INTEGER_BYTES[type] : (size_t)(type - 12) / 2;
}

static bool open_record(const uint8_t *record, size_t length, struct record *ret)
{
    uint64_t header = 0;
    size_t at = get_varint(record, record + length, &header);
    *ret = (struct record){.end = record + length};
    if (at == 0 || header > length || header < at) {
        return false;
    }
    while (at < header) {
        uint64_t type = 0;
        const size_t used = get_varint(record + at, record + header, &type);
        if (used == 0) {
            return false;
        }
        if (ret->count < RECORD_COLUMNS) {
            ret->types[ret->count] = type;
        }
        ret->count++;
        at += used;
    }
    ret->body = record + header;
    return true;
}

/* Takes a record apart: id (no bytes), key (text), value (bytes or text), sum (an integer).  Other
 * records (of the schema, of rows that were set aside) are not rows: *is_row. */
static bool take_record(const uint8_t *bytes, size_t length, struct salvage_row *row, bool *is_row)
{
    struct record record;
    const uint64_t *types = record.types;
    *is_row = false;
    if (!open_record(bytes, length, &record)) {
        return false;
    }
    if (record.count != ROW_COLUMNS || types[0] != 0 || types[1] < 13 || types[1] % 2 == 0 ||
        types[2] < 12 || types[3] > 9 || types[3] == 0 || types[3] == 7) {
        return true;
    }
    row->key = (const char *)record.body;
    row->key_length = column_bytes(types[1]);
    row->value = record.body + row->key_length;
    row->length = column_bytes(types[2]);
    const size_t room = (size_t)(record.end - record.body), sum_bytes = column_bytes(types[3]);
    if (row->key_length > room || row->length > room ||
        row->key_length + row->length + sum_bytes != room) {
        return false;
    }
    row->sum =
        types[3] >= 8 ? (int64_t)types[3] - 8 : get_integer(record.end - sum_bytes, sum_bytes);
    *is_row = true;
    return true;
}

static bool read_payload(const struct pages *pages, uint8_t kind, const uint8_t *at,
                         const uint8_t *end, uint8_t **payload, size_t *ret)
{
    uint64_t length = 0, id = 0;
    at += kind == NODE_OF_INDEX ? 4 : 0; /* the page below */
    size_t used = at < end ? get_varint(at, end, &length) : 0;
    if (used > 0 && kind == LEAF_OF_TABLE) {
        const size_t id_bytes = get_varint(at + used, end, &id);
        used = id_bytes > 0 ? used + id_bytes : 0;
    }
    if (used == 0 || length == 0 || length > PAYLOAD_MAX) {
        return false;
    }
    *ret = (size_t)length;
    *payload = mem_try_alloc((size_t)length);
    return *payload != NULL && take_payload(pages, kind, at + used, end, (size_t)length, *payload);
}

/* Callback that gets the bytes of each cell of a page; NULL: they cannot be read. */
typedef int (*cell_f)(void *arg, size_t page, const uint8_t *bytes, size_t length);

static int read_page(const struct pages *pages, size_t number, cell_f each, void *arg)
{
    const uint8_t *page = pages->at[number], *end = page + pages->usable;
    const uint8_t *header = page + (number == 0 ? FILE_HEADER_BYTES : 0);
    const uint8_t *places = header + (header[0] == NODE_OF_INDEX ? 12 : 8);
    const size_t cells = get16(header + 3);
    int code = 0;
    if (places + 2 * cells > end) {
        return each(arg, number, NULL, 0);
    }
    for (size_t i = 0; code == 0 && i < cells; i++) {
        uint8_t *payload = NULL;
        size_t length = 0;
        const bool good =
            read_payload(pages, header[0], page + get16(places + 2 * i), end, &payload, &length);
        code = each(arg, number, good ? payload : NULL, length);
        mem_free(payload);
    }
    return code;
}

static int read_pages(const struct salvage_bytes *bytes, bool of_index, cell_f each, void *arg,
                      struct err *err)
{
    struct pages pages = {.at = NULL};
    int code = take_pages(&pages, bytes, err);
    for (size_t i = 0; code == 0 && i < pages.count; i++) {
        const size_t header = i == 0 ? FILE_HEADER_BYTES : 0;
        const uint8_t kind = pages.at[i] != NULL ? pages.at[i][header] : 0;
        if (of_index ? kind == LEAF_OF_INDEX || kind == NODE_OF_INDEX : kind == LEAF_OF_TABLE) {
            code = read_page(&pages, i, each, arg);
        }
    }
    mem_free(pages.at);
    return code;
}

/* ---- the rows of the daemon's tables ----------------------------------------------------------
 */

struct row_reader {
    salvage_f each;
    void *arg;
};

static int give_row(void *arg, size_t page, const uint8_t *bytes, size_t length)
{
    const struct row_reader *reader = arg;
    struct salvage_row row = {.page = (uint32_t)page + 1};
    bool is_row = false;
    row.is_broken = bytes == NULL || !take_record(bytes, length, &row, &is_row);
    return row.is_broken || is_row ? reader->each(reader->arg, &row) : 0;
}

int salvage_rows(const struct salvage_bytes *bytes, salvage_f each, void *arg, struct err *err)
{
    struct row_reader reader = {each, arg};
    return read_pages(bytes, false, give_row, &reader, err);
}

/* ---- the keys that the indexes name ----------------------------------------------------------
 */

struct key_reader {
    salvage_key_f each;
    void *arg;
};

/* An entry has two columns: a text and the id of its row, an integer. */
static int give_key(void *arg, size_t page, const uint8_t *bytes, size_t length)
{
    const struct key_reader *reader = arg;
    struct record record;
    if (bytes == NULL || !open_record(bytes, length, &record) || record.count != 2 ||
        record.types[0] < 13 || record.types[0] % 2 == 0 || record.types[1] > 9 ||
        column_bytes(record.types[0]) > (size_t)(record.end - record.body)) {
        return 0;
    }
    return reader->each(reader->arg, (uint32_t)page + 1, (const char *)record.body,
                        column_bytes(record.types[0]));
}

int salvage_keys(const struct salvage_bytes *bytes, salvage_key_f each, void *arg, struct err *err)
{
    struct key_reader reader = {each, arg};
    return read_pages(bytes, true, give_key, &reader, err);
}

/* ---- what the store is ------------------------------------------------------------------------
 */

struct identity {
    struct store_witness *witness;
    size_t used; /* of its names */
    size_t count;
};

/* Gets one of the first two columns, which must be a text. */
static bool text_column(const struct record *record, size_t number, const char **ret,
                        size_t *length)
{
    const uint8_t *at = record->body + (number > 0 ? column_bytes(record->types[0]) : 0);
    if (number >= record->count || record->types[number] < 13 || record->types[number] % 2 == 0) {
        return false;
    }
    *ret = (const char *)at;
    *length = column_bytes(record->types[number]);
    return at <= record->end && *length <= (size_t)(record->end - at);
}

static bool text_is(const char *text, size_t length, const char *expected)
{
    return length == strlen(expected) && memcmp(text, expected, length) == 0;
}

static bool is_table_of_daemon(const char *name, size_t length)
{
    return length > 0 && !text_is(name, length, STORE_META_TABLE) &&
           !text_is(name, length, STORE_SET_ASIDE_TABLE) &&
           (length < 7 || memcmp(name, "sqlite_", 7) != 0);
}

/* A row of SQLite's own table has five columns, the first "table", the second its name; a row of
 * the table "meta" has two. */
static int take_identity(void *arg, size_t page, const uint8_t *bytes, size_t length)
{
    struct identity *identity = arg;
    struct store_witness *witness = identity->witness;
    struct record record;
    const char *first = NULL, *second = NULL;
    size_t first_length = 0, second_length = 0;
    if (bytes == NULL || !open_record(bytes, length, &record) ||
        !text_column(&record, 0, &first, &first_length) ||
        !text_column(&record, 1, &second, &second_length)) {
        return 0;
    }
    if (page == 0 && record.count == 5 && text_is(first, first_length, "table") &&
        is_table_of_daemon(second, second_length) && identity->count < STORE_TABLES_MAX &&
        identity->used + second_length < sizeof(witness->names)) {
        char *name = witness->names + identity->used;
        memcpy(name, second, second_length);
        name[second_length] = '\0';
        witness->tables[identity->count++] = name;
        identity->used += second_length + 1;
    } else if (record.count == 2 && text_is(first, first_length, "daemon") &&
               second_length < sizeof(witness->daemon)) {
        memcpy(witness->daemon, second, second_length);
        witness->daemon[second_length] = '\0';
    }
    return 0;
}

int salvage_identify(const struct salvage_bytes *bytes, struct store_witness *ret, struct err *err)
{
    struct store_witness witness = {.present = false};
    struct identity identity = {.witness = &witness};
    struct pages pages = {.at = NULL};
    int code = take_pages(&pages, bytes, err);
    if (code == 0) {
        witness.version = (int)(get32(pages.at[0] + VERSION_OFFSET) % STORE_FORMAT_STEP);
        code = read_pages(bytes, false, take_identity, &identity, err);
    }
    mem_free(pages.at);
    if (code == 0 && (witness.daemon[0] == '\0' || witness.version == 0 || identity.count == 0)) {
        code = err_set(err, -EUCLEAN, "the first page, which says what the store is, is damaged");
    }
    if (code == 0) {
        *ret = witness;
        for (size_t i = 0; i < identity.count; i++) { /* the names have moved */
            ret->tables[i] = ret->names + (witness.tables[i] - witness.names);
        }
    }
    return code;
}
