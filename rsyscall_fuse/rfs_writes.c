/* rsyscall_fuse/rfs_writes.c - writing behind: the job continues while its data is on the way.
 *
 * Design note: a write is answered to the kernel when it is taken, as long as at most
 * write_behind_max bytes are on the way.  Beyond that, a writer waits for its own write.  The
 * kernel's write-back cache would do the same with fewer requests.  It was rejected, because with
 * it the kernel would trust its own size and time of a file for ever, whatever happens at the
 * submit machine.
 *
 * Small consecutive writes are gathered while another write of the file is on the way, so that a
 * program that writes lines costs one request per round trip, not per line.
 *
 * The server may do requests in any order.  So whatever must come after the writes of a file (stat,
 * truncate, open, close, a lock, a read, a write to the same place, any write in append mode) waits
 * in its order until no write is on the way.
 *
 * Invariants for each file with writes: pieces on the way do not overlap, and of appended pieces
 * there is only one; the gathered piece does not overlap them; a waiting operation finds the
 * gathered piece on the way, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

#define GATHER_MAX ((size_t)256 << 10)
#define SMALL_MAX  ((size_t)64 << 10) /* larger writes are not gathered */
/* larger data is not copied; the kernel's blocks have 1 MiB */
#define COPY_MAX ((size_t)256 << 10)

/* Data on the way to the server. */
struct piece {
    struct rfs_call call;
    struct rfs_open *open; /* holds a reference */
    TAILQ_ENTRY(piece) entry;
    uint64_t offset;
    size_t length, done;
    unsigned char *block, *data; /* data points into block */
    bool waits;                  /* the kernel's write is answered when this piece is written: */
    uint64_t unique;
    size_t asked;
};

struct rfs_writes {
    TAILQ_HEAD(, piece) pieces; /* pieces on the way */
    struct piece *gathered;
    TAILQ_HEAD(, rfs_op) waiters;
};

static void write_now(struct rfs_op *op);

/* ---- on the way ------------------------------------------------------------------------------ */

static void piece_done(struct rfs_call *call, const struct rsys_reply *reply);

static void piece_submit(struct piece *piece)
{
    struct rsys_request *request = &piece->call.request;
    size_t left = piece->length - piece->done;
    size_t most = rfs_link_data_max(piece->open->fs->link);
    size_t part = left < most ? left : most;
    request->op = RSYS_WRITE;
    request->flags = RSYS_WANT_ATTR;
    request->at.handle = piece->open->handle;
    request->extent_count = 1;
    request->extents[0].offset = piece->offset + piece->done;
    request->extents[0].length = (uint32_t)part;
    request->data = piece->data + piece->done;
    request->data_length = part;
    piece->call.done = piece_done;
    piece->call.bulk = true;
    rfs_link_submit(piece->open->fs->link, &piece->call);
}

static struct rfs_writes *writes_of(struct rfs_node *node)
{
    if (node->writes == NULL) {
        node->writes = mem_zalloc(sizeof(*node->writes));
        TAILQ_INIT(&node->writes->pieces);
        TAILQ_INIT(&node->writes->waiters);
        rfs_node_ref(node);
    }
    return node->writes;
}

static bool is_appending(const struct rfs_open *open)
{
    return (open->how & RSYS_OPEN_APPEND) != 0;
}

/* Sends the gathered piece.  An appended one waits until no piece is on the way. */
static void send_gathered(struct rfs_writes *writes)
{
    struct piece *piece = writes->gathered;
    if (piece != NULL && (!is_appending(piece->open) || TAILQ_EMPTY(&writes->pieces))) {
        writes->gathered = NULL;
        TAILQ_INSERT_TAIL(&writes->pieces, piece, entry);
        piece_submit(piece);
    }
}

/* Continues after a piece is done: sends the gathered piece, then starts waiting operations until
 * one of them writes again.  Frees the writes when nothing is left. */
static void go_on(struct rfs *fs, struct rfs_node *node)
{
    struct rfs_writes *writes = node->writes;
    struct rfs_op *op;
    if (TAILQ_EMPTY(&writes->pieces)) {
        send_gathered(writes);
    }
    while (TAILQ_EMPTY(&writes->pieces) && (op = TAILQ_FIRST(&writes->waiters)) != NULL) {
        TAILQ_REMOVE(&writes->waiters, op, waiting);
        op->go(op);
    }
    if (TAILQ_EMPTY(&writes->pieces) && writes->gathered == NULL) {
        node->writes = NULL;
        mem_free(writes);
        rfs_node_unref(fs->nodes, node);
    }
}

static void piece_end(struct piece *piece, int code)
{
    struct rfs_open *open = piece->open;
    struct rfs *fs = open->fs;
    struct rfs_node *node = open->node;
    TAILQ_REMOVE(&node->writes->pieces, piece, entry);
    fs->dirty_bytes -= piece->length;
    node->acked_at = ++fs->clock;
    if (piece->waits && code != 0) {
        rfs_refuse(fs, piece->unique, code);
    } else if (piece->waits) {
        struct fuse_write_out out = {.size = (uint32_t)piece->asked};
        (void)rfs_answer(fs, piece->unique, &out, sizeof(out));
    } else if (code != 0 && open->write_error == 0) {
        open->write_error = code;
    }
    mem_free(piece->block);
    mem_free(piece);
    rfs_node_ref(node);
    go_on(fs, node);
    rfs_open_unref(open);
    rfs_node_unref(fs->nodes, node);
    struct rfs_op *op;
    while (fs->dirty_bytes == 0 && (op = TAILQ_FIRST(&fs->settlers)) != NULL) {
        TAILQ_REMOVE(&fs->settlers, op, waiting);
        op->go(op);
    }
}

static void piece_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct piece *piece = (struct piece *)call;
    size_t sent = call->request.data_length;
    if (reply->status < 0) {
        piece_end(piece, reply->status);
        return;
    }
    /* Answers come in any order: of two of one moment the longer file is the later one. */
    if (reply->attr.mode != 0 && reply->attr.size >= piece->open->node->attr.size) {
        rfs_attr_ours(piece->open->fs, piece->open->node, &reply->attr);
    }
    if (reply->value == 0 || reply->value > sent) {
        piece_end(piece, -EIO);
        return;
    }
    piece->done += (size_t)reply->value;
    if (piece->done < piece->length) {
        piece_submit(piece); /* the rest says why it was not all */
    } else {
        piece_end(piece, 0);
    }
}

/* ---- what comes after writes ----------------------------------------------------------------- */

static void wait_for_writes(struct rfs_op *op, void (*go)(struct rfs_op *op))
{
    op->go = go;
    TAILQ_INSERT_TAIL(&op->node->writes->waiters, op, waiting);
    send_gathered(op->node->writes);
}

void rfs_when_written(struct rfs_op *op, void (*go)(struct rfs_op *op))
{
    if (op->node->writes == NULL) {
        go(op);
    } else {
        wait_for_writes(op, go);
    }
}

void rfs_when_all_written(struct rfs_op *op, void (*go)(struct rfs_op *op))
{
    if (op->fs->dirty_bytes == 0) {
        go(op);
    } else {
        op->go = go;
        TAILQ_INSERT_TAIL(&op->fs->settlers, op, waiting);
    }
}

static uint64_t reach_of(const struct piece *piece, uint64_t end)
{
    return piece->offset + piece->length > end ? piece->offset + piece->length : end;
}

uint64_t rfs_written_end(const struct rfs_node *node)
{
    uint64_t end = 0;
    const struct piece *piece;
    const struct rfs_op *op;
    if (node->writes == NULL) {
        return 0;
    }
    TAILQ_FOREACH(piece, &node->writes->pieces, entry)
    {
        end = reach_of(piece, end);
    }
    end = node->writes->gathered != NULL ? reach_of(node->writes->gathered, end) : end;
    TAILQ_FOREACH(op, &node->writes->waiters, waiting)
    {
        end = op->opcode == FUSE_WRITE && op->offset + op->size > end ? op->offset + op->size : end;
    }
    return end;
}

/* ---- WRITE ----------------------------------------------------------------------------------- */

static struct piece *piece_create(struct rfs_open *open, uint64_t offset)
{
    struct piece *piece = mem_zalloc(sizeof(*piece));
    piece->open = open;
    piece->offset = offset;
    rfs_open_ref(open);
    return piece;
}

/* Answers the kernel's write now or, beyond write_behind_max, when the piece is written. */
static void answer_write(struct piece *piece, uint64_t unique, size_t length)
{
    struct rfs *fs = piece->open->fs;
    fs->dirty_bytes += length;
    if (fs->dirty_bytes > fs->options.write_behind_max && !piece->waits) {
        piece->waits = true;
        piece->unique = unique;
        piece->asked = length;
    } else {
        struct fuse_write_out out = {.size = (uint32_t)length};
        (void)rfs_answer(fs, unique, &out, sizeof(out));
    }
}

static bool overlaps_pieces(const struct rfs_writes *writes, uint64_t offset, size_t length)
{
    const struct piece *piece;
    TAILQ_FOREACH(piece, &writes->pieces, entry)
    {
        if (piece->offset < offset + length && offset < piece->offset + piece->length) {
            return true;
        }
    }
    return false;
}

/* Adds a write to the gathered piece.  False: it does not follow that piece, or has no room
 * there. */
static bool gather_write(struct rfs_writes *writes, const struct rfs_open *open, uint64_t offset,
                         const void *data, size_t length, uint64_t unique)
{
    struct piece *piece = writes->gathered;
    if (piece == NULL || piece->open != open || piece->offset + piece->length != offset ||
        piece->length + length > GATHER_MAX || piece->waits || !TAILQ_EMPTY(&writes->waiters) ||
        (!is_appending(open) && overlaps_pieces(writes, offset, length))) {
        return false;
    }
    memcpy(piece->data + piece->length, data, length);
    piece->length += length;
    open->node->version++;
    answer_write(piece, unique, length);
    if (piece->length > GATHER_MAX / 2) {
        send_gathered(writes);
    }
    return true;
}

/* Makes a piece of a write. block NULL: the data is copied; else the piece takes the block, which
 * contains the data. */
static void write_piece(struct rfs_open *open, uint64_t offset, unsigned char *data, size_t length,
                        unsigned char *block, uint64_t unique)
{
    struct rfs_writes *writes = writes_of(open->node);
    struct piece *piece = piece_create(open, offset);
    bool busy = !TAILQ_EMPTY(&writes->pieces);
    piece->length = length;
    piece->block = block;
    piece->data = data;
    bool gathers = busy && block == NULL && (length <= SMALL_MAX || is_appending(open));
    if (block == NULL) {
        piece->block = piece->data = mem_alloc(gathers ? GATHER_MAX : length);
        memcpy(piece->data, data, length);
    }
    open->node->version++;
    answer_write(piece, unique, length);
    if (gathers) {
        writes->gathered = piece;
    } else {
        TAILQ_INSERT_TAIL(&writes->pieces, piece, entry);
        piece_submit(piece);
    }
}

/* Carries out a write that had to wait. */
static void write_now(struct rfs_op *op)
{
    const struct fuse_write_in *arg =
        (const struct fuse_write_in *)(op->block + sizeof(struct fuse_in_header));
    unsigned char *block = op->block;
    op->block = NULL;
    write_piece(op->open, arg->offset, block + sizeof(struct fuse_in_header) + sizeof(*arg),
                arg->size, block, op->unique);
    rfs_op_end(op);
}

static void write_later(struct rfs_in *in, struct rfs_open *open, const struct fuse_write_in *arg)
{
    struct rfs_op *op = rfs_op_create(in, RSYS_WRITE);
    op->open = open;
    rfs_open_ref(open);
    op->offset = arg->offset;
    op->size = arg->size;
    op->block = in->block;
    in->block = NULL;
    wait_for_writes(op, write_now);
}

/* True when a write must wait for pieces on the way. */
static bool must_wait(struct rfs_writes *writes, const struct rfs_open *open, uint64_t offset,
                      size_t length)
{
    if (!TAILQ_EMPTY(&writes->waiters)) {
        return true;
    }
    const struct piece *first = TAILQ_FIRST(&writes->pieces);
    if (first != NULL && (is_appending(open) || is_appending(first->open))) {
        /* It may be gathered behind its own kind. */
        return first->open != open || writes->gathered != NULL || length > COPY_MAX;
    }
    send_gathered(writes);
    return writes->gathered != NULL || overlaps_pieces(writes, offset, length);
}

/* Returns the open file to write by.  Data of a shared mapping may come with a file in append mode,
 * which would put it at the end; then another open file is used. */
static struct rfs_open *writer_of(const struct rfs_node *node, struct rfs_open *open,
                                  uint32_t write_flags)
{
    struct rfs_open *other;
    if ((write_flags & FUSE_WRITE_CACHE) == 0 || (open->how & RSYS_OPEN_APPEND) == 0) {
        return open;
    }
    LIST_FOREACH(other, &node->opens, entry)
    {
        if ((other->how & (RSYS_OPEN_WRITE | RSYS_OPEN_APPEND)) == RSYS_OPEN_WRITE) {
            return other;
        }
    }
    return NULL;
}

void rfs_write(struct rfs_in *in)
{
    const struct fuse_write_in *arg = RFS_IN(in, fuse_write_in);
    if (arg == NULL) {
        return;
    }
    struct rfs_open *open =
        writer_of(in->node, (struct rfs_open *)(uintptr_t)arg->fh, arg->write_flags);
    unsigned char *data = in->block + sizeof(*in->header) + sizeof(*arg);
    if (open == NULL || in->length - sizeof(*arg) < arg->size) {
        rfs_refuse(in->fs, in->header->unique, -EIO);
        return;
    }
    in->fs->stats.writes++;
    if (open->write_error != 0) {
        int code = open->write_error;
        open->write_error = 0;
        rfs_refuse(in->fs, in->header->unique, code);
        return;
    }
    struct rfs_writes *writes = in->node->writes;
    if (writes != NULL &&
        gather_write(writes, open, arg->offset, data, arg->size, in->header->unique)) {
        return;
    }
    if (writes != NULL && must_wait(writes, open, arg->offset, arg->size)) {
        write_later(in, open, arg);
    } else if (arg->size > COPY_MAX) {
        write_piece(open, arg->offset, data, arg->size, in->block, in->header->unique);
        in->block = NULL;
    } else {
        write_piece(open, arg->offset, data, arg->size, NULL, in->header->unique);
    }
}
