/* rsyscall_fuse/rfs_reads.c - reading, and reading ahead.
 *
 * Design note: the kernel reads at most 128 KiB ahead, which leaves a fast network idle.  So a file
 * that is read from front to back is fetched in pieces before the kernel asks for them; the longer
 * that continues, the more pieces.  The kernel's reads are answered from pieces, which may still
 * be on the way.  Pieces are not a cache: the kernel's cache is the only one, and an open of the
 * file, or a write to it, makes its pieces worthless.
 *
 * Pieces follow each other without a gap.  A read that lies completely within the pieces is
 * answered from them.  Any other read is sent to the server; if it does not continue where the last
 * read ended, the pieces are dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

#define PIECE_BYTES  ((size_t)256 << 10)
#define WINDOW_FIRST ((uint64_t)512 << 10)
#define PIECES_READ  (RFS_WRITE_MAX / PIECE_BYTES + 2) /* pieces that one read may touch */
#define NEAR_BYTES   ((uint64_t)256 << 10) /* reads within this distance count as consecutive */

struct piece {
    struct rfs_call call;
    struct rfs_open *open;   /* holds a reference while on the way */
    struct rfs_ahead *ahead; /* NULL: the piece was dropped while on the way */
    TAILQ_ENTRY(piece) entry;
    uint64_t offset;
    size_t length, got; /* got < length: the file ends there */
    bool ready;
    int error;
    unsigned char *data;
};

struct rfs_ahead {
    TAILQ_HEAD(pieces_of_ahead, piece) pieces; /* sorted by offset */
    TAILQ_HEAD(, rfs_op) waiters;              /* reads that wait for pieces on the way */
    uint64_t expected; /* where the next read begins, if reading is sequential */
    uint64_t window;   /* bytes to fetch ahead; 0: none */
    uint64_t version;  /* version of the node when the pieces were asked for */
};

/* ---- data in a reply ------------------------------------------------------------------------- */

/* Returns the data of a reply if it is one piece without gaps, so that it need not be copied; else
 * NULL. */
static const void *in_one_piece(const struct rsys_reply *reply, uint64_t offset)
{
    return reply->extent_count == 1 && reply->extents[0].offset == offset &&
                   reply->extents[0].length == reply->value && reply->data_length == reply->value
               ? reply->data
               : NULL;
}

/* Copies the data of a reply to out, which has reply->value bytes, with zeros in the gaps.  False:
 * the extents are invalid. */
static bool unfold_extents(const struct rsys_reply *reply, uint64_t offset, unsigned char *out)
{
    size_t taken = 0;
    memset(out, 0, (size_t)reply->value);
    for (uint16_t i = 0; i < reply->extent_count; i++) {
        const struct rsys_extent *extent = &reply->extents[i];
        uint64_t at = extent->offset - offset;
        if (extent->offset < offset || at > reply->value || extent->length > reply->value - at ||
            extent->length > reply->data_length - taken) {
            return false;
        }
        memcpy(out + at, (const unsigned char *)reply->data + taken, extent->length);
        taken += extent->length;
    }
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void piece_free(struct piece *piece)
{
    mem_free(piece->data);
    mem_free(piece);
}

static void piece_drop(struct rfs_ahead *ahead, struct piece *piece)
{
    TAILQ_REMOVE(&ahead->pieces, piece, entry);
    if (piece->ready) {
        piece_free(piece);
    } else {
        piece->ahead = NULL;
    }
}

static void drop_all(struct rfs_ahead *ahead)
{
    while (!TAILQ_EMPTY(&ahead->pieces)) {
        piece_drop(ahead, TAILQ_FIRST(&ahead->pieces));
    }
}

void rfs_ahead_destroy(struct rfs_ahead *ahead)
{
    if (ahead != NULL) {
        CHECK(TAILQ_EMPTY(&ahead->waiters)); /* they hold the open file */
        drop_all(ahead);
        mem_free(ahead);
    }
}

enum covered { NOT_COVERED, ON_THE_WAY, COVERED };

/* Returns whether pieces can answer a read of [offset, offset + size), now or later.  Nothing is
 * read beyond the end of a file. */
static enum covered is_covered(const struct rfs_ahead *ahead, uint64_t offset, uint64_t size)
{
    const struct piece *piece;
    enum covered covered = COVERED;
    uint64_t at = offset;
    TAILQ_FOREACH(piece, &ahead->pieces, entry)
    {
        if (piece->offset + piece->length <= at) {
            continue;
        }
        if (piece->offset > at) {
            return NOT_COVERED;
        }
        if (piece->ready && piece->error != 0) {
            return NOT_COVERED;
        }
        covered = piece->ready ? covered : ON_THE_WAY;
        at = piece->offset + piece->length;
        if (at >= offset + size || (piece->ready && piece->got < piece->length)) {
            return covered;
        }
    }
    return NOT_COVERED;
}

static void answer_from_pieces(struct rfs_op *op)
{
    struct rfs_part parts[PIECES_READ + 1];
    struct fuse_out_header header = {.unique = op->unique};
    size_t count = 1;
    uint64_t at = op->offset, end = op->offset + op->size;
    const struct piece *piece;
    TAILQ_FOREACH(piece, &op->open->ahead->pieces, entry)
    {
        if (piece->offset + piece->length <= at || at >= end) {
            continue;
        }
        size_t skip = (size_t)(at - piece->offset);
        size_t part = piece->got > skip ? piece->got - skip : 0;
        part = part < end - at ? part : (size_t)(end - at);
        CHECK(count <= PIECES_READ);
        parts[count++] = (struct rfs_part){piece->data + skip, part};
        at += part;
        if (piece->got < piece->length) {
            break;
        }
    }
    header.len = (uint32_t)(sizeof(header) + (at - op->offset));
    parts[0] = (struct rfs_part){&header, sizeof(header)};
    if (!op->answered) {
        (void)op->fs->device.answer(op->fs->device.arg, parts, count);
    }
    op->fs->stats.ahead++;
    rfs_op_end(op);
}

static void read_directly(struct rfs_op *op);

/* Answers the waiting reads that are covered now, and sends those to the server that the pieces
 * will never cover. */
static void serve_waiters(struct rfs_ahead *ahead)
{
    struct rfs_op *op, *next;
    for (op = TAILQ_FIRST(&ahead->waiters); op != NULL; op = next) {
        next = TAILQ_NEXT(op, waiting);
        enum covered covered = is_covered(ahead, op->offset, op->size);
        if (covered != ON_THE_WAY) {
            TAILQ_REMOVE(&ahead->waiters, op, waiting);
            if (covered == COVERED) {
                answer_from_pieces(op);
            } else {
                read_directly(op);
            }
        }
    }
}

static void piece_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct piece *piece = (struct piece *)call;
    struct rfs_open *open = piece->open;
    struct rfs_ahead *ahead = piece->ahead;
    piece->ready = true;
    piece->open = NULL;
    if (ahead == NULL) {
        piece_free(piece);
        rfs_open_unref(open);
        return;
    }
    piece->error = reply->status;
    if (reply->status == 0 && reply->value <= piece->length) {
        const void *data = in_one_piece(reply, piece->offset);
        piece->got = (size_t)reply->value;
        piece->data = mem_alloc(piece->got > 0 ? piece->got : 1);
        if (data != NULL) {
            memcpy(piece->data, data, piece->got);
        } else if (!unfold_extents(reply, piece->offset, piece->data)) {
            piece->error = -EIO;
        }
    } else if (piece->error == 0) {
        piece->error = -EIO;
    }
    serve_waiters(ahead); /* the open file is held until below */
    rfs_open_unref(open);
}

static void ask_piece(struct rfs_open *open, uint64_t offset, size_t length)
{
    struct piece *piece = mem_zalloc(sizeof(*piece));
    piece->open = open;
    piece->ahead = open->ahead;
    piece->offset = offset;
    piece->length = length;
    rfs_open_ref(open);
    TAILQ_INSERT_TAIL(&open->ahead->pieces, piece, entry);
    piece->call.request.op = RSYS_READ;
    piece->call.request.at.handle = open->handle;
    piece->call.request.offset = offset;
    piece->call.request.length = length;
    piece->call.done = piece_done;
    piece->call.bulk = true;
    rfs_link_submit(open->fs->link, &piece->call);
}

/* Fetches more pieces: from the end of the last one up to the end of the window or of the file. */
static void ask_ahead(struct rfs_open *open, uint64_t from)
{
    struct rfs_ahead *ahead = open->ahead;
    const struct rsys_attr *attr = &open->node->attr;
    const struct piece *last = TAILQ_LAST(&ahead->pieces, pieces_of_ahead);
    uint64_t most = rfs_link_data_max(open->fs->link);
    size_t length = PIECE_BYTES < most ? PIECE_BYTES : (size_t)most;
    uint64_t at = last != NULL ? last->offset + last->length : from;
    uint64_t end = from + ahead->window;
    if (last != NULL && last->ready && last->got < last->length) {
        return; /* the file ends there */
    }
    end = end < attr->size ? end : attr->size;
    while (at < end) {
        ask_piece(open, at, length);
        at += length;
    }
}

/* Notes a read: grows the window when reading continues, else drops the pieces. */
static void follow_reads(struct rfs_open *open, uint64_t offset, uint64_t size)
{
    struct rfs_ahead *ahead = open->ahead;
    bool goes_on = offset + NEAR_BYTES >= ahead->expected && offset <= ahead->expected + NEAR_BYTES;
    if (ahead->version != open->node->version || !goes_on) {
        drop_all(ahead);
        serve_waiters(ahead);
        ahead->version = open->node->version;
    }
    if (!goes_on) {
        ahead->window = 0;
        ahead->expected = offset + size;
        return;
    }
    uint64_t most = open->fs->options.read_ahead_max;
    ahead->window = ahead->window == 0 ? WINDOW_FIRST : ahead->window * 2;
    ahead->window = ahead->window < most ? ahead->window : most;
    ahead->expected = offset + size > ahead->expected ? offset + size : ahead->expected;
    /* What lies well behind was read. */
    struct piece *first;
    while ((first = TAILQ_FIRST(&ahead->pieces)) != NULL && first->ready &&
           first->offset + first->length + NEAR_BYTES <= offset) {
        piece_drop(ahead, first);
    }
}

/* ---- READ ------------------------------------------------------------------------------------ */

static void read_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (rfs_op_failed(op, reply)) {
        return;
    }
    const void *data = in_one_piece(reply, op->offset);
    if (reply->value > op->size) {
        rfs_op_refuse(op, -EIO);
    } else if (data != NULL || reply->value == 0) {
        (void)rfs_op_answer(op, data, (size_t)reply->value);
        rfs_op_end(op);
    } else {
        unsigned char *out = mem_alloc((size_t)reply->value);
        if (unfold_extents(reply, op->offset, out)) {
            (void)rfs_op_answer(op, out, (size_t)reply->value);
            rfs_op_end(op);
        } else {
            rfs_op_refuse(op, -EIO);
        }
        mem_free(out);
    }
}

static void read_directly(struct rfs_op *op)
{
    op->call.request.at.handle = op->open->handle;
    op->call.request.offset = op->offset;
    op->call.request.length = op->size;
    rfs_op_send(op, read_done);
}

static void read_go(struct rfs_op *op)
{
    struct rfs_open *open = op->open;
    if (open->ahead == NULL) {
        open->ahead = mem_zalloc(sizeof(*open->ahead));
        TAILQ_INIT(&open->ahead->pieces);
        TAILQ_INIT(&open->ahead->waiters);
        open->ahead->expected = UINT64_MAX - NEAR_BYTES; /* nowhere */
        open->ahead->version = open->node->version;
    }
    struct rfs_ahead *ahead = open->ahead;
    follow_reads(open, op->offset, op->size);
    uint64_t end = op->offset + op->size;
    enum covered covered = is_covered(ahead, op->offset, op->size);
    rfs_open_ref(open); /* the op may end */
    if (covered == NOT_COVERED) {
        read_directly(op);
    } else {
        TAILQ_INSERT_TAIL(&ahead->waiters, op, waiting);
    }
    if (ahead->window > 0) {
        ask_ahead(open, end);
    }
    if (covered == COVERED) {
        serve_waiters(ahead);
    }
    rfs_open_unref(open);
}

void rfs_read(struct rfs_in *in)
{
    const struct fuse_read_in *arg = RFS_IN(in, fuse_read_in);
    if (arg == NULL) {
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_READ);
    uint64_t most = rfs_link_data_max(in->fs->link);
    rfs_op_hold_open(op, arg->fh);
    op->offset = arg->offset;
    op->size = arg->size < most ? arg->size : most;
    in->fs->stats.reads++;
    rfs_when_written(op, read_go);
}
