/* rsyscall/rsys_codec.c - messages of remote system calls, to bytes and back.
 *
 * Design note: the fields of an operation are listed once, in SHAPES, by one letter each, in the
 * order of the wire.  Only the functions put_request_field(), take_request_field(),
 * put_reply_field() and take_reply_field() know the meaning of a letter.  So an operation cannot be
 * encoded in one way and decoded in another, and every check is made for all operations.
 *
 * Numbers are little-endian and not aligned.  A text is its length (u16), its bytes and a zero.
 * With the zero, the server can give a path to the kernel from the buffer in which it arrived.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/rsys.h"

#include <errno.h>
#include <string.h>

#include "rsyscall/rsys_bytes.h"

#define REPLY_BIT 0x8000U

/* The letters:
 *   A at, whole      h at.handle, reply: handle   B to, whole    H to.handle     S text
 *   w how            m mode                       o offset       O offset_to     l length
 *   W owner          t wait_ms                    a attr         L lock          F statfs
 *   C slot_of seq_of E what HELLO says            v value        X extents       D data, the rest
 *   b birth
 */
struct shape {
    const char *name;
    const char *request;
    const char *reply;
    bool repeatable;
};

static const struct shape SHAPES[RSYS_OP_END] = {
    [RSYS_HELLO] = {"HELLO", "E", "ED", true},
    [RSYS_PING] = {"PING", "", "", true},
    [RSYS_BYE] = {"BYE", "", "", true},
    [RSYS_STAT] = {"STAT", "A", "a", true},
    [RSYS_SETATTR] = {"SETATTR", "Awa", "a", false},
    [RSYS_ACCESS] = {"ACCESS", "Aw", "", true},
    [RSYS_READLINK] = {"READLINK", "A", "S", true},
    [RSYS_OPEN] = {"OPEN", "Awmabl", "hvabD", false},
    [RSYS_CLOSE] = {"CLOSE", "h", "", false},
    [RSYS_FLUSH] = {"FLUSH", "hW", "", false},
    [RSYS_READ] = {"READ", "hol", "vXD", true},
    [RSYS_WRITE] = {"WRITE", "hXD", "va", false},
    [RSYS_READDIR] = {"READDIR", "holw", "vD", true},
    [RSYS_MKDIR] = {"MKDIR", "Am", "a", false},
    [RSYS_MKNOD] = {"MKNOD", "Am", "a", false},
    [RSYS_SYMLINK] = {"SYMLINK", "AS", "a", false},
    [RSYS_LINK] = {"LINK", "AB", "a", false},
    [RSYS_RENAME] = {"RENAME", "ABw", "", false},
    [RSYS_UNLINK] = {"UNLINK", "A", "", false},
    [RSYS_RMDIR] = {"RMDIR", "A", "", false},
    [RSYS_STATFS] = {"STATFS", "A", "F", true},
    [RSYS_FSYNC] = {"FSYNC", "hw", "", true},
    [RSYS_LOCK] = {"LOCK", "hLWwt", "L", false},
    [RSYS_XATTR] = {"XATTR", "AS", "", true},
    [RSYS_FALLOCATE] = {"FALLOCATE", "holw", "a", false},
    [RSYS_SEEK] = {"SEEK", "how", "v", true},
    [RSYS_COPY] = {"COPY", "hoHOl", "v", false},
    [RSYS_CANCEL] = {"CANCEL", "C", "", true},
};

/* the fields of a reply with status -ELOOP */
static const char LINK_SHAPE[] = "vwS";

/* ---- parts ----------------------------------------------------------------------------------- */

bool rsys_path_is_good(const char *path, size_t length)
{
    if (length == 0) {
        return true;
    }
    if (length > RSYS_PATH_MAX || memchr(path, 0, length) != NULL) {
        return false;
    }
    for (size_t begin = 0;;) {
        const char *slash = memchr(path + begin, '/', length - begin);
        size_t end = slash != NULL ? (size_t)(slash - path) : length;
        size_t name = end - begin;
        if (name == 0 || name > RSYS_NAME_MAX || (name == 1 && path[begin] == '.') ||
            (name == 2 && path[begin] == '.' && path[begin + 1] == '.')) {
            return false;
        }
        if (slash == NULL) {
            return true;
        }
        begin = end + 1; /* equal to length after a last slash: an empty name */
    }
}

size_t rsys_path_split(const char *path, size_t length, size_t *name)
{
    size_t at = length;
    while (at > 0 && path[at - 1] != '/') {
        at--;
    }
    *name = at;
    return at > 0 ? at - 1 : 0;
}

static void put_at(struct rsys_writer *out, const struct rsys_at *at)
{
    rsys_put_u64(out, at->handle);
    if (at->path.length > 0 && !rsys_path_is_good(at->path.data, at->path.length)) {
        rsys_fail(out, -EINVAL);
    }
    rsys_put_text(out, &at->path, RSYS_PATH_MAX);
}

static void take_at(struct rsys_reader *in, struct rsys_at *ret)
{
    ret->handle = rsys_take_u64(in);
    rsys_take_text(in, &ret->path, RSYS_PATH_MAX);
    if (!in->bad && !rsys_path_is_good(ret->path.data, ret->path.length)) {
        in->bad = true;
    }
}

static void put_lock(struct rsys_writer *out, const struct rsys_lock *lock)
{
    if (lock->type > RSYS_LOCK_WRITE) {
        rsys_fail(out, -EINVAL);
    }
    rsys_put_u32(out, lock->type);
    rsys_put_u32(out, lock->pid);
    rsys_put_offset(out, lock->start);
    rsys_put_offset(out, lock->length);
}

static void take_lock(struct rsys_reader *in, struct rsys_lock *ret)
{
    ret->type = rsys_take_u32(in);
    ret->pid = rsys_take_u32(in);
    ret->start = rsys_take_offset(in);
    ret->length = rsys_take_offset(in);
    if (ret->type > RSYS_LOCK_WRITE || ret->length > INT64_MAX - ret->start) {
        in->bad = true;
    }
}

static void put_statfs(struct rsys_writer *out, const struct rsys_statfs *statfs)
{
    rsys_put_u64(out, statfs->blocks);
    rsys_put_u64(out, statfs->bfree);
    rsys_put_u64(out, statfs->bavail);
    rsys_put_u64(out, statfs->files);
    rsys_put_u64(out, statfs->ffree);
    rsys_put_u32(out, statfs->frsize);
    rsys_put_u32(out, statfs->namelen);
}

static void take_statfs(struct rsys_reader *in, struct rsys_statfs *ret)
{
    ret->blocks = rsys_take_u64(in);
    ret->bfree = rsys_take_u64(in);
    ret->bavail = rsys_take_u64(in);
    ret->files = rsys_take_u64(in);
    ret->ffree = rsys_take_u64(in);
    ret->frsize = rsys_take_u32(in);
    ret->namelen = rsys_take_u32(in);
}

/* Encodes the extents; their lengths must add up to data_length. */
static void put_extents(struct rsys_writer *out, const struct rsys_extent *extents, uint16_t count,
                        size_t data_length)
{
    size_t sum = 0;
    if (count > RSYS_EXTENTS_MAX) {
        rsys_fail(out, -EINVAL);
        return;
    }
    rsys_put_u16(out, count);
    for (size_t i = 0; i < count; i++) {
        rsys_put_offset(out, extents[i].offset);
        rsys_put_u32(out, extents[i].length);
        sum += extents[i].length;
        if (extents[i].length > INT64_MAX - extents[i].offset) {
            rsys_fail(out, -EINVAL);
        }
    }
    if (sum != data_length) {
        rsys_fail(out, -EINVAL);
    }
}

static void take_extents(struct rsys_reader *in, struct rsys_extent *ret, uint16_t *count)
{
    uint16_t all = rsys_take_u16(in);
    uint64_t sum = 0;
    if (all > RSYS_EXTENTS_MAX) {
        in->bad = true;
    }
    for (size_t i = 0; i < all && !in->bad; i++) {
        ret[i].offset = rsys_take_offset(in);
        ret[i].length = rsys_take_u32(in);
        sum += ret[i].length;
        if (ret[i].length > INT64_MAX - ret[i].offset) {
            in->bad = true;
        }
    }
    if (!in->bad && sum != in->size - in->at) {
        in->bad = true;
    }
    if (!in->bad) {
        *count = all;
    }
}

static void take_data(struct rsys_reader *in, const void **data, size_t *length)
{
    *length = in->size - in->at;
    *data = rsys_take_bytes(in, *length);
    if (*length > RSYS_DATA_MAX) {
        in->bad = true;
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_request_field(struct rsys_writer *out, char letter, const struct rsys_request *from)
{
    switch (letter) {
    case 'A':
        put_at(out, &from->at);
        break;
    case 'B':
        put_at(out, &from->to);
        break;
    case 'h':
        rsys_put_u64(out, from->at.handle);
        break;
    case 'H':
        rsys_put_u64(out, from->to.handle);
        break;
    case 'S':
        rsys_put_text(out, &from->text, RSYS_PATH_MAX);
        break;
    case 'w':
        rsys_put_u32(out, from->how);
        break;
    case 'm':
        rsys_put_u32(out, from->mode);
        break;
    case 'o':
        rsys_put_offset(out, from->offset);
        break;
    case 'O':
        rsys_put_offset(out, from->offset_to);
        break;
    case 'l':
        rsys_put_offset(out, from->length);
        break;
    case 'W':
        rsys_put_u64(out, from->owner);
        break;
    case 't':
        rsys_put_u32(out, from->wait_ms);
        break;
    case 'a':
        rsys_put_attr(out, &from->attr);
        break;
    case 'b':
        rsys_put_u64(out, from->birth);
        break;
    case 'L':
        put_lock(out, &from->lock);
        break;
    case 'C':
        rsys_put_u16(out, from->slot_of);
        rsys_put_u32(out, from->seq_of);
        break;
    case 'E':
        rsys_put_u32(out, from->version);
        rsys_put_u32(out, from->slots);
        rsys_put_bytes(out, from->session, RSYS_SESSION_SIZE);
        rsys_put_text(out, &from->text, RSYS_TICKET_MAX);
        break;
    case 'X':
        put_extents(out, from->extents, from->extent_count, from->data_length);
        break;
    default: /* 'D': behind the fields */
        break;
    }
}

static void take_request_field(struct rsys_reader *in, char letter, struct rsys_request *ret)
{
    const unsigned char *bytes;
    switch (letter) {
    case 'A':
        take_at(in, &ret->at);
        break;
    case 'B':
        take_at(in, &ret->to);
        break;
    case 'h':
        ret->at.handle = rsys_take_u64(in);
        break;
    case 'H':
        ret->to.handle = rsys_take_u64(in);
        break;
    case 'S':
        rsys_take_text(in, &ret->text, RSYS_PATH_MAX);
        break;
    case 'w':
        ret->how = rsys_take_u32(in);
        break;
    case 'm':
        ret->mode = rsys_take_u32(in);
        break;
    case 'o':
        ret->offset = rsys_take_offset(in);
        break;
    case 'O':
        ret->offset_to = rsys_take_offset(in);
        break;
    case 'l':
        ret->length = rsys_take_offset(in);
        break;
    case 'W':
        ret->owner = rsys_take_u64(in);
        break;
    case 't':
        ret->wait_ms = rsys_take_u32(in);
        break;
    case 'a':
        rsys_take_attr(in, &ret->attr);
        break;
    case 'b':
        ret->birth = rsys_take_u64(in);
        break;
    case 'L':
        take_lock(in, &ret->lock);
        break;
    case 'C':
        ret->slot_of = rsys_take_u16(in);
        ret->seq_of = rsys_take_u32(in);
        break;
    case 'E':
        ret->version = rsys_take_u32(in);
        ret->slots = rsys_take_u32(in);
        bytes = rsys_take_bytes(in, RSYS_SESSION_SIZE);
        if (bytes != NULL) {
            memcpy(ret->session, bytes, RSYS_SESSION_SIZE);
        }
        rsys_take_text(in, &ret->text, RSYS_TICKET_MAX);
        break;
    case 'X':
        take_extents(in, ret->extents, &ret->extent_count);
        break;
    default: /* 'D' */
        take_data(in, &ret->data, &ret->data_length);
        break;
    }
}

static void put_hello(struct rsys_writer *out, const struct rsys_reply *from)
{
    rsys_put_u32(out, from->version);
    rsys_put_u32(out, from->slots);
    rsys_put_u32(out, from->lease_ms);
    rsys_put_u32(out, from->data_max);
    rsys_put_u32(out, from->uid);
    rsys_put_u32(out, from->gid);
    rsys_put_bytes(out, from->session, RSYS_SESSION_SIZE);
}

static void take_hello(struct rsys_reader *in, struct rsys_reply *ret)
{
    ret->version = rsys_take_u32(in);
    ret->slots = rsys_take_u32(in);
    ret->lease_ms = rsys_take_u32(in);
    ret->data_max = rsys_take_u32(in);
    ret->uid = rsys_take_u32(in);
    ret->gid = rsys_take_u32(in);
    const unsigned char *bytes = rsys_take_bytes(in, RSYS_SESSION_SIZE);
    if (bytes != NULL) {
        memcpy(ret->session, bytes, RSYS_SESSION_SIZE);
    }
    if (ret->slots == 0 || ret->slots > RSYS_SLOTS_MAX || ret->data_max > RSYS_DATA_MAX) {
        in->bad = true;
    }
}

static void put_reply_field(struct rsys_writer *out, char letter, const struct rsys_reply *from)
{
    switch (letter) {
    case 'h':
        rsys_put_u64(out, from->handle);
        break;
    case 'v':
        rsys_put_u64(out, from->value);
        break;
    case 'w':
        rsys_put_u32(out, from->how);
        break;
    case 'S':
        rsys_put_text(out, &from->text, RSYS_PATH_MAX);
        break;
    case 'a':
        rsys_put_attr(out, &from->attr);
        break;
    case 'b':
        rsys_put_u64(out, from->birth);
        break;
    case 'F':
        put_statfs(out, &from->statfs);
        break;
    case 'L':
        put_lock(out, &from->lock);
        break;
    case 'E':
        put_hello(out, from);
        break;
    case 'X':
        put_extents(out, from->extents, from->extent_count, from->data_length);
        break;
    default: /* 'D': behind the fields */
        break;
    }
}

static void take_reply_field(struct rsys_reader *in, char letter, struct rsys_reply *ret)
{
    switch (letter) {
    case 'h':
        ret->handle = rsys_take_u64(in);
        break;
    case 'v':
        ret->value = rsys_take_u64(in);
        break;
    case 'w':
        ret->how = rsys_take_u32(in);
        break;
    case 'S':
        rsys_take_text(in, &ret->text, RSYS_PATH_MAX);
        break;
    case 'a':
        rsys_take_attr(in, &ret->attr);
        break;
    case 'b':
        ret->birth = rsys_take_u64(in);
        break;
    case 'F':
        take_statfs(in, &ret->statfs);
        break;
    case 'L':
        take_lock(in, &ret->lock);
        break;
    case 'E':
        take_hello(in, ret);
        break;
    case 'X':
        take_extents(in, ret->extents, &ret->extent_count);
        break;
    default: /* 'D' */
        take_data(in, &ret->data, &ret->data_length);
        break;
    }
}

static const struct shape *shape_of(uint16_t op)
{
    return op < RSYS_OP_END && SHAPES[op].name != NULL ? &SHAPES[op] : NULL;
}

static const char *reply_letters(const struct shape *shape, int32_t status)
{
    return status >= 0 ? shape->reply : status == -ELOOP ? LINK_SHAPE : "";
}

static void put_header(struct rsys_writer *out, uint16_t op, uint16_t slot, uint32_t seq,
                       uint32_t word)
{
    rsys_put_u32(out, 0); /* the length, at the end */
    rsys_put_u16(out, op);
    rsys_put_u16(out, slot);
    rsys_put_u32(out, seq);
    rsys_put_u32(out, word);
}

static int put_end(struct rsys_writer *out, const char *letters, size_t data_length)
{
    if (strchr(letters, 'D') == NULL) {
        data_length = 0;
    }
    if (data_length > RSYS_DATA_MAX) {
        rsys_fail(out, -EINVAL);
    }
    if (out->code != 0) {
        return out->code;
    }
    struct rsys_writer head = {.data = out->data, .size = 4};
    rsys_put_u32(&head, (uint32_t)(out->at + data_length));
    return (int)out->at;
}

int rsys_encode_request(const struct rsys_request *request, void *out, size_t size)
{
    const struct shape *shape = shape_of(request->op);
    struct rsys_writer writer = {.data = out, .size = size};
    if (shape == NULL) {
        return -EINVAL;
    }
    put_header(&writer, request->op, request->slot, request->seq, request->flags);
    for (const char *letter = shape->request; *letter != '\0'; letter++) {
        put_request_field(&writer, *letter, request);
    }
    return put_end(&writer, shape->request, request->data_length);
}

int rsys_encode_reply(const struct rsys_reply *reply, void *out, size_t size)
{
    const struct shape *shape = shape_of(reply->op);
    struct rsys_writer writer = {.data = out, .size = size};
    if (shape == NULL && reply->status >= 0) {
        return -EINVAL;
    }
    /* What is no operation is refused by the name that it came with. */
    const char *letters = shape != NULL ? reply_letters(shape, reply->status) : "";
    put_header(&writer, (uint16_t)(reply->op | REPLY_BIT), reply->slot, reply->seq,
               (uint32_t)reply->status);
    for (const char *letter = letters; *letter != '\0'; letter++) {
        put_reply_field(&writer, *letter, reply);
    }
    return put_end(&writer, letters, reply->data_length);
}

int64_t rsys_frame_length(const void *in, size_t length)
{
    struct rsys_reader reader = {.data = in, .size = length};
    if (length < RSYS_HEADER_SIZE) {
        return 0;
    }
    uint32_t whole = rsys_take_u32(&reader);
    return whole >= RSYS_HEADER_SIZE && whole <= RSYS_FRAME_MAX ? (int64_t)whole : -EMSGSIZE;
}

int rsys_decode_request(const void *in, size_t length, struct rsys_request *ret)
{
    struct rsys_reader reader = {.data = in, .size = length};
    memset(ret, 0, sizeof(*ret));
    uint32_t whole = rsys_take_u32(&reader);
    ret->op = rsys_take_u16(&reader);
    ret->slot = rsys_take_u16(&reader);
    ret->seq = rsys_take_u32(&reader);
    ret->flags = rsys_take_u32(&reader);
    const struct shape *shape = shape_of(ret->op);
    if (whole != length || shape == NULL) {
        return -EBADMSG;
    }
    struct rsys_request found = *ret;
    for (const char *letter = shape->request; *letter != '\0'; letter++) {
        take_request_field(&reader, *letter, &found);
    }
    if (reader.bad || reader.at != length) {
        return -EBADMSG;
    }
    *ret = found;
    return 0;
}

int rsys_decode_reply(const void *in, size_t length, struct rsys_reply *ret)
{
    struct rsys_reader reader = {.data = in, .size = length};
    memset(ret, 0, sizeof(*ret));
    uint32_t whole = rsys_take_u32(&reader);
    uint16_t op = rsys_take_u16(&reader);
    ret->op = (uint16_t)(op & ~REPLY_BIT);
    ret->slot = rsys_take_u16(&reader);
    ret->seq = rsys_take_u32(&reader);
    ret->status = (int32_t)rsys_take_u32(&reader);
    const struct shape *shape = shape_of(ret->op);
    if (whole != length || (op & REPLY_BIT) == 0 || (shape == NULL && ret->status >= 0)) {
        return -EBADMSG;
    }
    struct rsys_reply found = *ret;
    const char *letters = shape != NULL ? reply_letters(shape, ret->status) : "";
    for (const char *letter = letters; *letter != '\0'; letter++) {
        take_reply_field(&reader, *letter, &found);
    }
    if (reader.bad || reader.at != length) {
        return -EBADMSG;
    }
    *ret = found;
    return 0;
}

bool rsys_op_is_repeatable(uint16_t op)
{
    const struct shape *shape = shape_of(op);
    return shape != NULL && shape->repeatable;
}

const char *rsys_op_name(uint16_t op)
{
    const struct shape *shape = shape_of(op);
    return shape != NULL ? shape->name : "?";
}

/* ---- lists in data --------------------------------------------------------------------------- */

bool rsys_entry_put(void *out, size_t size, size_t *at, const struct rsys_entry *entry)
{
    struct rsys_writer writer = {.data = out, .size = size, .at = *at};
    rsys_put_offset(&writer, entry->cookie);
    rsys_put_u64(&writer, entry->ino);
    rsys_put_number(&writer, entry->type, 1);
    rsys_put_number(&writer, entry->has_attr ? 1 : 0, 1);
    rsys_put_text(&writer, &entry->name, RSYS_NAME_MAX);
    if (entry->has_attr) {
        rsys_put_attr(&writer, &entry->attr);
    }
    if (writer.code != 0) {
        return false;
    }
    *at = writer.at;
    return true;
}

int rsys_entry_next(const void *in, size_t length, size_t *at, struct rsys_entry *ret)
{
    struct rsys_reader reader = {.data = in, .size = length, .at = *at};
    struct rsys_entry found = {0};
    if (*at >= length) {
        return 0;
    }
    found.cookie = rsys_take_offset(&reader);
    found.ino = rsys_take_u64(&reader);
    found.type = (uint32_t)rsys_take_number(&reader, 1);
    uint64_t has_attr = rsys_take_number(&reader, 1);
    rsys_take_text(&reader, &found.name, RSYS_NAME_MAX);
    if (has_attr == 1) {
        found.has_attr = true;
        rsys_take_attr(&reader, &found.attr);
    }
    /* A server is not trusted by its client, either: a name with a slash is no name. */
    if (reader.bad || has_attr > 1 || found.name.length == 0 ||
        memchr(found.name.data, '/', found.name.length) != NULL) {
        return -EBADMSG;
    }
    *ret = found;
    *at = reader.at;
    return 1;
}

bool rsys_root_put(void *out, size_t size, size_t *at, const struct rsys_root *root)
{
    struct rsys_writer writer = {.data = out, .size = size, .at = *at};
    rsys_put_u32(&writer, root->number);
    rsys_put_u32(&writer, root->flags);
    rsys_put_text(&writer, &root->view, RSYS_PATH_MAX);
    if (writer.code != 0) {
        return false;
    }
    *at = writer.at;
    return true;
}

int rsys_root_next(const void *in, size_t length, size_t *at, struct rsys_root *ret)
{
    struct rsys_reader reader = {.data = in, .size = length, .at = *at};
    struct rsys_root found = {0};
    if (*at >= length) {
        return 0;
    }
    found.number = rsys_take_u32(&reader);
    found.flags = rsys_take_u32(&reader);
    rsys_take_text(&reader, &found.view, RSYS_PATH_MAX);
    if (reader.bad || found.number >= RSYS_ROOTS_MAX || found.view.length == 0 ||
        found.view.data[0] != '/' ||
        !rsys_path_is_good(found.view.data + 1, found.view.length - 1U)) {
        return -EBADMSG;
    }
    *ret = found;
    *at = reader.at;
    return 1;
}
