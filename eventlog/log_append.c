/* eventlog/log_append.c - see log_append.h.
 *
 * The note: a line "boot ID", then a line "OFFSET PATH" for each log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "eventlog/log_append.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

#define NOTE_BYTES_MAX ((size_t)4 << 20)
#define LOG_MODE       0644

struct target {
    const char *path;
    struct os_file *file;
    int status;
    int64_t end; /* size before this batch; -1: not known */
    struct strbuf text;
};

struct appending {
    const struct log_append *how;
    struct log_append_item *items;
    size_t count;
    struct target targets[LOG_APPEND_ITEMS_MAX];
    size_t target_count;
    struct strmap *noted; /* path -> int64_t, from the note of the earlier process; NULL: no note */
    bool same_boot;
};

static struct target *target_of(struct appending *appending, const char *path)
{
    for (size_t i = 0; i < appending->target_count; i++) {
        if (strcmp(appending->targets[i].path, path) == 0) {
            return &appending->targets[i];
        }
    }
    struct target *target = &appending->targets[appending->target_count++];
    *target = (struct target){.path = path, .end = -1};
    strbuf_init(&target->text, 0);
    return target;
}

/* ---- the note -------------------------------------------------------------------------------- */

static void read_note(struct appending *appending)
{
    char *data = NULL;
    size_t length = 0;
    const struct log_append *how = appending->how;
    if (os_read_file(how->os, how->note_path, NOTE_BYTES_MAX, &data, &length, NULL) != 0) {
        return; /* none: the logs are looked at */
    }
    appending->noted = strmap_create(STRMAP_CASE_SENSITIVE);
    char *line = data;
    while (line != NULL && *line != '\0') {
        char *next = strchr(line, '\n');
        if (next == NULL) {
            break;
        }
        *next++ = '\0';
        char *space = strchr(line, ' ');
        int64_t offset = 0;
        if (space != NULL) {
            *space = '\0';
            if (strcmp(line, "boot") == 0) {
                appending->same_boot = strcmp(space + 1, how->boot_id) == 0;
            } else if (text_parse_int64(line, &offset, NULL) == 0 && offset >= 0) {
                int64_t *value = mem_alloc(sizeof(*value));
                *value = offset;
                mem_free(strmap_set(appending->noted, space + 1, value));
            }
        }
        line = next;
    }
    mem_free(data);
}

static int write_note(struct appending *appending, struct err *err)
{
    const struct log_append *how = appending->how;
    struct strbuf note;
    strbuf_init(&note, 0);
    strbuf_printf(&note, "boot %s\n", how->boot_id);
    for (size_t i = 0; i < appending->target_count; i++) {
        const struct target *target = &appending->targets[i];
        if (target->file != NULL) {
            strbuf_printf(&note, "%" PRId64 " %s\n", target->end, target->path);
        }
    }
    int result = os_write_file(how->os, how->note_path, note.data, note.length, 0600, false, err);
    strbuf_fini(&note);
    return result;
}

/* ---- what is there already ------------------------------------------------------------------- */

/* Returns the offset from which this writer may have written before its restart; -1: nowhere. */
static int64_t look_from(const struct appending *appending, const struct target *target,
                         int64_t size)
{
    int64_t tail =
        size > (int64_t)LOG_APPEND_LOOK_BYTES ? size - (int64_t)LOG_APPEND_LOOK_BYTES : 0;
    if (appending->noted == NULL || !appending->same_boot) {
        return tail;
    }
    const int64_t *noted = strmap_get(appending->noted, target->path);
    if (noted == NULL || *noted > size) {
        return noted == NULL ? -1 : 0; /* rotated or cut meanwhile */
    }
    return *noted;
}

static char *read_from(struct os *os, const char *path, int64_t from, int64_t size, size_t *length)
{
    struct os_file *file = NULL;
    *length = 0;
    if (size <= from || os_file_open(os, path, OS_READ, 0, &file, NULL) != 0) {
        return NULL; /* it may be written and not read: then nothing can be known */
    }
    size_t wanted = (size_t)(size - from);
    if (wanted > 64 * LOG_APPEND_LOOK_BYTES) {
        from = size - (int64_t)(64 * LOG_APPEND_LOOK_BYTES);
        wanted = 64 * LOG_APPEND_LOOK_BYTES;
    }
    char *data = mem_alloc(wanted + 1);
    while (*length < wanted) {
        ssize_t got =
            os_file_read(file, (uint64_t)from + *length, data + *length, wanted - *length);
        if (got <= 0) {
            break;
        }
        *length += (size_t)got;
    }
    data[*length] = '\0';
    os_file_close(file);
    return data;
}

static const char *find_text(const char *data, size_t length, const char *text)
{
    size_t wanted = strlen(text);
    for (size_t at = 0; wanted > 0 && at + wanted <= length; at++) {
        const char *start = memchr(data + at, text[0], length - at - wanted + 1);
        if (start == NULL) {
            return NULL;
        }
        if (memcmp(start, text, wanted) == 0) {
            return start;
        }
        at = (size_t)(start - data);
    }
    return NULL;
}

/* Returns how many first bytes of the text stand at the end of the data, because the write was
 * cut. */
static size_t find_cut(const char *data, size_t length, const char *text)
{
    size_t most = strlen(text) - 1;
    for (size_t part = most < length ? most : length; part > 0; part--) {
        if (memcmp(data + length - part, text, part) == 0) {
            return part;
        }
    }
    return 0;
}

/* Fills target->text with the events that are not in the log yet. */
static void find_missing(struct appending *appending, struct target *target, int64_t size)
{
    int64_t from = appending->how->is_first ? look_from(appending, target, size) : -1;
    size_t length = 0;
    char *data =
        from >= 0 ? read_from(appending->how->os, target->path, from, size, &length) : NULL;
    const char *at = data;
    bool writing = data == NULL;
    for (size_t i = 0; i < appending->count; i++) {
        const struct log_append_item *item = &appending->items[i];
        if (strcmp(item->path, target->path) != 0 || item->text[0] == '\0') {
            continue;
        }
        size_t skip = 0;
        if (!writing) {
            size_t left = length - (size_t)(at - data);
            const char *found = find_text(at, left, item->text);
            if (found != NULL) {
                at = found + strlen(item->text);
                continue;
            }
            writing = true; /* they were written in order: none behind it was */
            skip = find_cut(at, left, item->text);
        }
        strbuf_puts(&target->text, item->text + skip);
    }
    if (from >= 0) {
        target->end = from; /* until the batch is done nothing before it is forgotten */
    }
    mem_free(data);
}

static int open_target(struct appending *appending, struct target *target)
{
    struct os *os = appending->how->os;
    target->status = os_file_open(os, target->path, OS_APPEND, LOG_MODE, &target->file, NULL);
    if (target->status != 0) {
        target->file = NULL;
        return 0; /* the log's own fault: the others go on */
    }
    int locked = os_file_lock(target->file);
    if (locked == -EAGAIN && !appending->how->force) {
        return locked;
    } /* a file system without locks: appending is all that can be done */
    int64_t size = os_file_size(target->file);
    target->end = size > 0 ? size : 0;
    find_missing(appending, target, target->end);
    return 0;
}

static void write_target(struct target *target, bool sync)
{
    if (target->file == NULL) {
        return;
    }
    if (target->text.length > 0) {
        target->status =
            os_file_write(target->file, 0, target->text.data, target->text.length); /* appends */
    }
    if (target->status == 0 && sync) {
        int synced = os_file_sync(target->file);
        target->status = synced == -EINVAL || synced == -EROFS ? 0 : synced; /* /dev/null, a FIFO */
    }
}

size_t log_append_split(const char *text, const char *sizes, size_t lengths[LOG_APPEND_ITEMS_MAX])
{
    size_t whole = strlen(text), left = whole, count = 0;
    bool fits = true;
    for (const char *at = sizes; fits && *at != '\0'; at += *at == ' ' ? 1 : 0) {
        size_t length = 0;
        for (; *at >= '0' && *at <= '9' && length <= left; at++) {
            length = length * 10 + (size_t)(*at - '0');
        }
        fits = length > 0 && length <= left && count < LOG_APPEND_ITEMS_MAX &&
               (*at == ' ' || *at == '\0');
        if (fits) {
            lengths[count++] = length;
            left -= length;
        }
    }
    if (!fits || count == 0 || left > 0) {
        lengths[0] = whole;
        return 1;
    }
    return count;
}

int log_append(const struct log_append *how, struct log_append_item *items, size_t count,
               struct err *err)
{
    CHECK(count <= LOG_APPEND_ITEMS_MAX);
    struct appending *appending = mem_zalloc(sizeof(*appending));
    appending->how = how;
    appending->items = items;
    appending->count = count;
    if (how->is_first) {
        read_note(appending);
    }
    for (size_t i = 0; i < count; i++) {
        (void)target_of(appending, items[i].path); /* made */
    }
    int result = 0;
    for (size_t i = 0; result == 0 && i < appending->target_count; i++) {
        result = open_target(appending, &appending->targets[i]);
        if (result != 0) {
            (void)err_set(err, result, "%s: another process has locked this log",
                          appending->targets[i].path);
        }
    }
    if (result == 0) {
        result = write_note(appending, err);
    }
    for (size_t i = 0; result == 0 && i < appending->target_count; i++) {
        write_target(&appending->targets[i], false);
    }
    for (size_t i = 0; result == 0 && how->sync && i < appending->target_count; i++) {
        struct target *target = &appending->targets[i];
        strbuf_clear(&target->text);
        write_target(target, target->status == 0);
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        items[i].status = target_of(appending, items[i].path)->status;
    }
    for (size_t i = 0; i < appending->target_count; i++) {
        os_file_close(appending->targets[i].file);
        strbuf_fini(&appending->targets[i].text);
    }
    if (appending->noted != NULL) {
        strmap_destroy(appending->noted, mem_free);
    }
    mem_free(appending);
    return result;
}
