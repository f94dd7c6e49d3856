/* ckpt/files/archive_linux.c - archives of a job's files: see archive_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/files/archive_linux.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "ckpt/image/new_file_linux.h"

#define BLOCK     ((size_t)512)
#define CHUNK     ((size_t)1 << 20)
#define RECORDS   ((size_t)1 << 20)    /* of a member's extended header */
#define LIST_MAX  ((uint64_t)64 << 20) /* of what is kept; it is all in memory */
#define NAMES_MAX 1000000
#define END_BYTES (2 * BLOCK)
#define SUFFIX    ".kept"

/* As they lie in a header's block. */
#define NAME_AT    0
#define NAME_SIZE  100
#define SIZE_AT    124
#define SIZE_SIZE  12
#define SUM_AT     148
#define SUM_SIZE   8
#define TYPE_AT    156
#define MAGIC_AT   257
#define PREFIX_AT  345
#define PREFIX_MAX 155

struct archive {
    int fd;
    const char *name;
    uint64_t at; /* the next member */
    char *records;
};

struct member {
    char name[PATH_MAX];
    char type;
    uint64_t start, data, bytes, end; /* with its extended header, and what fills its last block */
};

struct joining {
    struct archive before, changes;
    int out;
    const char *out_name;
    uint64_t written, max;
    uint64_t from, to;   /* of the archive in hand: to be copied */
    struct strmap *kept; /* of each name: is_wanted or is_there, below */
    char is_wanted, is_there;
    char **names; /* of kept */
    size_t count;
    char *list, *chunk;
    struct err *err;
};

static int set_damaged(const struct archive *archive, const char *why, struct err *err)
{
    return err_set(err, -EBADMSG, "%s: at byte %llu: %s", archive->name,
                   (unsigned long long)archive->at, why);
}

/* ---- members --------------------------------------------------------------------------------- */

static int read_at(const struct archive *archive, uint64_t at, void *to, size_t bytes,
                   struct err *err)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(archive->fd, (char *)to + done, bytes - done, (off_t)(at + done));
        if (got < 0) {
            return err_set(err, -errno, "%s: %s", archive->name, err_code_text(-errno));
        }
        if (got == 0) {
            return set_damaged(archive, "damaged archive: the file is cut off", err);
        }
        done += (size_t)got;
    }
    return 0;
}

/* Reads octal digits, as tar writes them.  False: something else. */
static bool number_in(const char *text, size_t size, uint64_t *ret)
{
    uint64_t number = 0;
    size_t i = 0;
    while (i < size && text[i] == ' ') {
        i++;
    }
    for (; i < size && text[i] >= '0' && text[i] <= '7'; i++) {
        number = number * 8 + (uint64_t)(text[i] - '0');
    }
    *ret = number;
    return i == size || text[i] == '\0' || text[i] == ' ';
}

static bool sum_is_right(const unsigned char *block)
{
    uint64_t said, sum = SUM_SIZE * ' ';
    for (size_t i = 0; i < BLOCK; i++) {
        sum += i < SUM_AT || i >= SUM_AT + SUM_SIZE ? block[i] : 0U;
    }
    return number_in((const char *)block + SUM_AT, SUM_SIZE, &said) && said == sum;
}

static bool is_end(const unsigned char *block)
{
    return block[0] == 0 && memcmp(block, block + 1, BLOCK - 1) == 0;
}

static bool put_name(struct member *member, const char *name, size_t length)
{
    if (length == 0 || length >= sizeof member->name || memchr(name, '\0', length) != NULL) {
        return false;
    }
    memcpy(member->name, name, length);
    member->name[length] = '\0';
    return true;
}

static bool is_key(const char *key, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(key, wanted, length) == 0;
}

/* Reads records "LENGTH KEY=VALUE\n", one after the other.  The name of a sparse file is in a
 * record of its own. */
static bool take_records(const char *records, size_t bytes, struct member *member, bool *has_size)
{
    bool has_sparse = false;
    for (size_t at = 0; at < bytes;) {
        char *after = NULL;
        unsigned long long length = strtoull(records + at, &after, 10);
        size_t head = (size_t)(after - (records + at)) + 1;
        if (*after != ' ' || length > bytes - at || length < head + 1 ||
            records[at + length - 1] != '\n') {
            return false;
        }
        const char *key = after + 1, *end = records + at + length - 1;
        const char *value = memchr(key, '=', (size_t)(end - key));
        if (value == NULL) {
            return false;
        }
        size_t key_length = (size_t)(value - key), value_length = (size_t)(end - ++value);
        bool sparse = is_key(key, key_length, "GNU.sparse.name");
        if (sparse || (is_key(key, key_length, "path") && !has_sparse)) {
            if (!put_name(member, value, value_length)) {
                return false;
            }
            has_sparse = has_sparse || sparse;
        } else if (is_key(key, key_length, "size")) {
            member->bytes = strtoull(value, &after, 10);
            *has_size = true;
            if (after != end) {
                return false;
            }
        }
        at += length;
    }
    return true;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

/* Reads the extended header before a member. */
static int read_records(struct archive *archive, const unsigned char *block, struct member *member,
                        bool *has_size, struct err *err)
{
    uint64_t bytes;
    if (!number_in((const char *)block + SIZE_AT, SIZE_SIZE, &bytes) || bytes > RECORDS) {
        return set_damaged(archive, "damaged archive: an extended header is empty", err);
    }
    int rc = read_at(archive, archive->at + BLOCK, archive->records, (size_t)bytes, err);
    archive->records[rc == 0 ? bytes : 0] = '\0'; /* numbers end there at last */
    if (rc == 0 && !take_records(archive->records, (size_t)bytes, member, has_size)) {
        rc = set_damaged(archive, "damaged archive: an extended header cannot be read", err);
    }
    archive->at += BLOCK + round_up(bytes);
    return rc;
}

static bool take_short_name(const unsigned char *block, struct member *member)
{
    const char *name = (const char *)block + NAME_AT, *prefix = (const char *)block + PREFIX_AT;
    size_t name_length = strnlen(name, NAME_SIZE), prefix_length = strnlen(prefix, PREFIX_MAX);
    char both[PREFIX_MAX + 1 + NAME_SIZE];
    if (prefix_length == 0) {
        return put_name(member, name, name_length);
    }
    memcpy(both, prefix, prefix_length);
    both[prefix_length] = '/';
    memcpy(both + prefix_length + 1, name, name_length);
    return put_name(member, both, prefix_length + 1 + name_length);
}

/* Goes to the next member.  1; 0: the archive has ended; or -errno. */
static int next_member(struct archive *archive, struct member *ret, struct err *err)
{
    unsigned char block[BLOCK];
    bool has_size = false, extended = false;
    *ret = (struct member){.start = archive->at};
    int rc = read_at(archive, archive->at, block, sizeof block, err);
    if (rc != 0 || is_end(block)) {
        return rc;
    }
    if (sum_is_right(block) && block[TYPE_AT] == 'x') {
        extended = true;
        rc = read_records(archive, block, ret, &has_size, err);
        rc = rc != 0 ? rc : read_at(archive, archive->at, block, sizeof block, err);
    }
    if (rc != 0) {
        return rc;
    }
    uint64_t bytes;
    if (!sum_is_right(block) || memcmp(block + MAGIC_AT, "ustar", 6) != 0 ||
        strchr("01234567", block[TYPE_AT]) == NULL || block[TYPE_AT] == '\0' ||
        !number_in((const char *)block + SIZE_AT, SIZE_SIZE, &bytes) ||
        (ret->name[0] == '\0' && !take_short_name(block, ret))) {
        return set_damaged(archive,
                           extended ? "damaged archive: no member follows an extended header"
                                    : "damaged archive: expected the header of a member",
                           err);
    }
    ret->type = (char)block[TYPE_AT];
    ret->bytes = has_size ? ret->bytes : bytes;
    ret->data = archive->at + BLOCK;
    if (ret->bytes > INT64_MAX - ret->data - BLOCK) {
        return set_damaged(archive, "damaged archive: a member has no size", err);
    }
    ret->end = archive->at = ret->data + round_up(ret->bytes);
    return 1;
}

/* ---- copying --------------------------------------------------------------------------------- */

static int copy_range(struct joining *joining, const struct archive *from)
{
    int rc = 0;
    if (joining->to - joining->from + END_BYTES > joining->max - joining->written) {
        return err_set(joining->err, -EFBIG, "%s: the result would be larger than %llu bytes",
                       joining->out_name, (unsigned long long)joining->max);
    }
    while (rc == 0 && joining->from < joining->to) {
        uint64_t left = joining->to - joining->from;
        size_t wanted = left < CHUNK ? (size_t)left : CHUNK;
        rc = read_at(from, joining->from, joining->chunk, wanted, joining->err);
        if (rc == 0) {
            rc = new_file_write(joining->out, joining->chunk, wanted, joining->written);
            rc = rc != 0 ? err_set(joining->err, rc, "%s: %s", joining->out_name, err_code_text(rc))
                         : 0;
        }
        joining->from += wanted;
        joining->written += wanted;
    }
    return rc;
}

/* Members that follow each other are copied as one piece. */
static int copy_member(struct joining *joining, const struct archive *from,
                       const struct member *member)
{
    int rc = member->start != joining->to ? copy_range(joining, from) : 0;
    joining->from = member->start != joining->to ? member->start : joining->from;
    joining->to = member->end;
    return rc;
}

/* ---- joining --------------------------------------------------------------------------------- */

static int read_list(struct joining *joining)
{
    struct member member;
    struct archive *changes = &joining->changes;
    size_t suffix = sizeof SUFFIX - 1;
    int rc = next_member(changes, &member, joining->err);
    size_t length = rc == 1 ? strlen(member.name) : 0;
    if (rc >= 0 && (length < suffix || strcmp(member.name + length - suffix, SUFFIX) != 0 ||
                    member.type != '0')) {
        return set_damaged(changes, "damaged archive: the list of kept files is missing",
                           joining->err);
    }
    if (rc == 1 && member.bytes > LIST_MAX) {
        return err_set(joining->err, -EFBIG,
                       "%s: the list of kept files has %llu bytes; the limit is %llu",
                       changes->name, (unsigned long long)member.bytes,
                       (unsigned long long)LIST_MAX);
    }
    if (rc < 0) {
        return rc;
    }
    size_t bytes = (size_t)member.bytes;
    joining->list = mem_alloc(bytes + 1);
    rc = read_at(changes, member.data, joining->list, bytes, joining->err);
    if (rc == 0 && bytes > 0 && joining->list[bytes - 1] != '\0') {
        return set_damaged(changes, "damaged archive: the list of kept files is cut off",
                           joining->err);
    }
    for (size_t at = 0; rc == 0 && at < bytes; at += strlen(joining->list + at) + 1) {
        joining->count++;
    }
    if (joining->count > NAMES_MAX) {
        return err_set(joining->err, -EFBIG,
                       "%s: the list of kept files has %zu names; the limit is %d", changes->name,
                       joining->count, NAMES_MAX);
    }
    joining->names = mem_alloc((joining->count + 1) * sizeof *joining->names);
    size_t count = 0;
    for (size_t at = 0; rc == 0 && at < bytes; at += strlen(joining->list + at) + 1) {
        joining->names[count++] = joining->list + at;
        (void)strmap_set(joining->kept, joining->list + at,
                         &joining->is_wanted); /* said twice: once */
    }
    return rc;
}

static int take_changes(struct joining *joining)
{
    struct member member;
    int rc;
    joining->from = joining->to = joining->changes.at;
    while ((rc = next_member(&joining->changes, &member, joining->err)) == 1) {
        if (strmap_get(joining->kept, member.name) != NULL) {
            return set_damaged(
                &joining->changes,
                "damaged archive: a file is both a member and in the list of kept files",
                joining->err);
        }
        rc = copy_member(joining, &joining->changes, &member);
        if (rc != 0) {
            return rc;
        }
    }
    return rc != 0 ? rc : copy_range(joining, &joining->changes);
}

static int take_kept(struct joining *joining)
{
    struct member member;
    int rc;
    joining->from = joining->to = 0;
    while ((rc = next_member(&joining->before, &member, joining->err)) == 1) {
        if (member.type != '0' || strmap_get(joining->kept, member.name) != &joining->is_wanted) {
            continue;
        }
        (void)strmap_set(joining->kept, member.name, &joining->is_there);
        rc = copy_member(joining, &joining->before, &member);
        if (rc != 0) {
            return rc;
        }
    }
    rc = rc != 0 ? rc : copy_range(joining, &joining->before);
    for (size_t i = 0; rc == 0 && i < joining->count; i++) {
        if (strmap_get(joining->kept, joining->names[i]) != &joining->is_there) {
            rc = err_set(joining->err, -ENODATA,
                         "%s: the archive has no file %s, which the list of kept files names",
                         joining->before.name, joining->names[i]);
        }
    }
    return rc;
}

int archive_merge(const struct archive_file *before, const struct archive_file *changes,
                  const struct archive_file *out, uint64_t max, uint64_t *bytes, struct err *err)
{
    static const char END[END_BYTES];
    struct joining joining = {.before = {.fd = before->fd, .name = before->name},
                              .changes = {.fd = changes->fd, .name = changes->name},
                              .out = out->fd,
                              .out_name = out->name,
                              .max = max,
                              .err = err};
    joining.kept = strmap_create(STRMAP_CASE_SENSITIVE);
    joining.chunk = mem_alloc(CHUNK);
    joining.before.records = mem_alloc(RECORDS + 1);
    joining.changes.records = mem_alloc(RECORDS + 1);
    int rc = read_list(&joining);
    rc = rc != 0 ? rc : take_changes(&joining);
    rc = rc != 0 ? rc : take_kept(&joining);
    if (rc == 0) {
        rc = new_file_write(out->fd, END, sizeof END, joining.written);
        rc = rc != 0 ? err_set(err, rc, "%s: %s", out->name, err_code_text(rc)) : 0;
    }
    if (rc == 0) {
        *bytes = joining.written + sizeof END;
    }
    strmap_destroy(joining.kept, NULL);
    mem_free(joining.names);
    mem_free(joining.list);
    mem_free(joining.chunk);
    mem_free(joining.before.records);
    mem_free(joining.changes.records);
    return rc;
}
