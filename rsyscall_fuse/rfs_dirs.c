/* rsyscall_fuse/rfs_dirs.c - directories: opened and listed.
 *
 * Design note: the kernel asks for one page of memory at a time, which would be a round trip for
 * each 30 names.  So we ask the server for larger batches, and answer the kernel's requests from
 * them.  The kernel's offset is the number of the entry, because the cookies of the server's file
 * system may be any number, and some entries are not from the server: ".", "..", and views.  For
 * each batch, the first number and the cookie are kept, so that a program can seek back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

#define BATCH_BYTES  ((size_t)128 << 10)
#define ATTR_OLD_MS  1000 /* older attributes are not passed on */
#define KERNELS_DIR  4    /* DT_DIR */
#define DOTS         2    /* "." and ".." */
#define BATCHES_KEPT 100000

struct batch_start {
    uint64_t number, cookie;
};

struct rfs_listing {
    struct batch_start *starts; /* starts of all batches so far */
    size_t start_count, start_capacity;
    unsigned char *data; /* the current batch; NULL: none */
    size_t length, at;   /* at: where the next entry begins */
    uint64_t number;     /* number of the next entry */
    uint64_t cookie;     /* cookie of the next batch */
    size_t batch;        /* index of the current batch in starts */
    bool at_end;         /* the current batch is the last */
    uint64_t began, fetched_ms;
};

void rfs_listing_destroy(struct rfs_listing *listing)
{
    if (listing != NULL) {
        mem_free(listing->starts);
        mem_free(listing->data);
        mem_free(listing);
    }
}

/* ---- OPENDIR --------------------------------------------------------------------------------- */

static void answer_opened(struct rfs_op *op, struct rfs_open *open)
{
    struct fuse_open_out out = {.fh = (uint64_t)(uintptr_t)open};
    open->listing = mem_zalloc(sizeof(*open->listing));
    if (rfs_op_answer(op, &out, sizeof(out)) != 0) {
        rfs_open_unref(open);
    }
    rfs_op_end(op);
}

static void open_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    bool is_way = rfs_node_is_view(op->node) && op->node->view->root == RFS_NO_ROOT;
    if (reply->status < 0 && is_way) {
        answer_opened(op, rfs_open_create(op->fs, op->node, NULL, RSYS_OPEN_DIRECTORY));
    } else if (reply->status == -ENOENT || reply->status == -ENOTDIR) {
        rfs_op_refuse(op, -ESTALE);
    } else if (!rfs_op_failed(op, reply)) {
        answer_opened(op, rfs_open_create(op->fs, op->node, reply, op->call.request.how));
    }
}

void rfs_opendir(struct rfs_in *in)
{
    struct rfs_op *op = rfs_op_create(in, RSYS_OPEN);
    struct rsys_request *request = &op->call.request;
    request->how = RSYS_OPEN_DIRECTORY | RSYS_OPEN_READ;
    if (in->node->space == RFS_NO_ROOT) {
        answer_opened(op, rfs_open_create(in->fs, in->node, NULL, request->how));
        return;
    }
    if (rfs_op_at(op, NULL) == 0) {
        if (!rfs_node_is_view(in->node) && request->at.path.length > 0) {
            request->how |= RSYS_OPEN_SAME;
            request->attr.dev = in->node->dev;
            request->attr.ino = in->node->ino;
        }
        rfs_op_send(op, open_answered);
    }
}

/* ---- an answer's bytes ----------------------------------------------------------------------- */

struct page {
    struct rfs_op *op;
    unsigned char *data;
    size_t size, length;
    bool plus;
};

/* Appends an entry. attr NULL: without attributes; the kernel will ask when it needs them.  False:
 * the page is full. */
static bool put_record(struct page *page, uint64_t number, const char *name, size_t name_length,
                       uint32_t type, uint64_t ino, struct rfs_node *node, struct rsys_attr *attr,
                       uint64_t began)
{
    size_t before = page->plus ? FUSE_NAME_OFFSET_DIRENTPLUS : FUSE_NAME_OFFSET;
    size_t total = FUSE_DIRENT_ALIGN(before + name_length);
    if (total > page->size - page->length) {
        return false;
    }
    unsigned char *to = page->data + page->length;
    memset(to, 0, total);
    struct fuse_dirent entry = {.ino = ino,
                                .off = number + 1,
                                .namelen = (uint32_t)name_length,
                                .type = type};
    if (page->plus) {
        struct fuse_entry_out out = {.attr = {.ino = ino, .mode = type << 12}};
        if (node != NULL) {
            rfs_fill_entry(page->op->fs, node, attr, began, &out);
            entry.ino = out.attr.ino;
        }
        memcpy(to, &out, sizeof(out));
        to += sizeof(out);
    }
    memcpy(to, &entry, FUSE_NAME_OFFSET);
    memcpy(to + FUSE_NAME_OFFSET, name, name_length);
    page->length += total;
    return true;
}

/* Takes back the lookups of a page that the kernel did not accept, so it does not know the
 * nodes. */
static void take_back(const struct page *page)
{
    struct rfs *fs = page->op->fs;
    for (size_t at = 0; page->plus && at < page->length;) {
        struct fuse_entry_out out;
        struct fuse_dirent entry;
        memcpy(&out, page->data + at, sizeof(out));
        memcpy(&entry, page->data + at + sizeof(out), FUSE_NAME_OFFSET);
        if (out.nodeid != 0) {
            rfs_node_forget(fs->nodes, rfs_node_of(fs->nodes, out.nodeid), 1);
        }
        at += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + entry.namelen);
    }
}

/* Appends ".", ".." and views, from entry `number` on.  Returns the number of the first entry that
 * was not appended. */
static uint64_t put_own(struct page *page, uint64_t number)
{
    const struct rfs_node *node = page->op->node;
    uint64_t at = DOTS;
    for (; number < DOTS; number++) {
        if (!put_record(page, number, "..", (size_t)number + 1, KERNELS_DIR, node->ino, NULL, NULL,
                        0)) {
            return number;
        }
    }
    if (node->view != NULL) {
        for (const struct rfs_view *each = node->view->first; each != NULL; each = each->next) {
            if (at == number) {
                if (!put_record(page, number, each->name, strlen(each->name), KERNELS_DIR,
                                each->node->ino, NULL, NULL, 0)) {
                    return number;
                }
                number++;
            }
            at++;
        }
    }
    return number;
}

static uint64_t own_count(const struct rfs_node *node)
{
    uint64_t count = DOTS;
    for (const struct rfs_view *each = node->view != NULL ? node->view->first : NULL; each != NULL;
         each = each->next) {
        count++;
    }
    return count;
}

static bool put_entry(struct page *page, const struct rfs_listing *listing,
                      struct rsys_entry *entry)
{
    struct rfs_op *op = page->op;
    struct rfs *fs = op->fs;
    struct rfs_node *node = NULL;
    bool fresh = loop_now_ms(fs->loop) - listing->fetched_ms < ATTR_OLD_MS;
    if (page->plus && entry->has_attr && fresh && entry->name.length <= RSYS_NAME_MAX) {
        node = rfs_nodes_found(fs->nodes, op->node, entry->name.data, &entry->attr);
        rfs_node_ref(node);
        if (node->writes != NULL || node->acked_at > listing->began) {
            rfs_node_unref(fs->nodes, node);
            node = NULL;
        }
    }
    bool fits = put_record(page, listing->number, entry->name.data, entry->name.length, entry->type,
                           entry->ino, node, &entry->attr, listing->began);
    rfs_node_unref(fs->nodes, node);
    return fits;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Starts the listing over: forgets all batches. */
static void rewind_listing(struct rfs_listing *listing, uint64_t first)
{
    mem_free(listing->data);
    listing->data = NULL;
    listing->start_count = 0;
    listing->length = listing->at = 0;
    listing->number = first;
    listing->cookie = 0;
    listing->at_end = false;
}

/* Goes to an entry that was listed before.  False: its batch must be fetched again, from
 * listing->cookie. */
static bool seek_back(struct rfs_listing *listing, uint64_t number)
{
    size_t i = listing->start_count;
    while (i > 1 && listing->starts[i - 1].number > number) {
        i--;
    }
    if (i == 0) {
        return listing->data != NULL;
    }
    listing->number = listing->starts[i - 1].number;
    if (listing->data != NULL && listing->batch == i - 1) {
        listing->at = 0;
        return true;
    }
    listing->cookie = listing->starts[i - 1].cookie;
    listing->start_count = i - 1;
    mem_free(listing->data);
    listing->data = NULL;
    listing->at_end = false;
    return false;
}

static void remember_start(struct rfs_listing *listing)
{
    if (listing->start_count == listing->start_capacity) {
        listing->start_capacity = listing->start_capacity > 0 ? 2 * listing->start_capacity : 4;
        listing->starts =
            mem_realloc(listing->starts, listing->start_capacity * sizeof(*listing->starts));
    }
    listing->batch = listing->start_count;
    listing->starts[listing->start_count++] =
        (struct batch_start){listing->number, listing->cookie};
}

static void list_go(struct rfs_op *op);

static void batch_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    struct rfs_listing *listing = op->open->listing;
    struct rsys_entry entry;
    size_t at = 0;
    int code;
    if (rfs_op_failed(op, reply)) {
        return;
    }
    if (listing->start_count >= BATCHES_KEPT) {
        rfs_op_refuse(op, -EOVERFLOW);
        return;
    }
    remember_start(listing);
    uint64_t cookie = listing->cookie;
    while ((code = rsys_entry_next(reply->data, reply->data_length, &at, &entry)) == 1) {
        cookie = entry.cookie;
    }
    if (code < 0 || (reply->value == 0 && at == 0)) { /* not the end, and nothing: for ever */
        rfs_op_refuse(op, -EIO);
        return;
    }
    mem_free(listing->data);
    listing->data = mem_dup(reply->data, reply->data_length);
    listing->length = reply->data_length;
    listing->at = 0;
    listing->cookie = cookie;
    listing->at_end = reply->value != 0;
    listing->began = op->began;
    listing->fetched_ms = loop_now_ms(op->fs->loop);
    list_go(op);
}

static void ask_batch(struct rfs_op *op)
{
    struct rsys_request *request = &op->call.request;
    size_t most = rfs_link_data_max(op->fs->link);
    request->at.handle = op->open->handle;
    request->offset = op->open->listing->cookie;
    request->length = BATCH_BYTES < most ? BATCH_BYTES : most;
    op->began = ++op->fs->clock;
    rfs_op_send(op, batch_done);
}

/* ---- READDIR, READDIRPLUS -------------------------------------------------------------------- */

/* Appends entries of the current batch, from number `from` on.  False: the page is full. */
static bool put_batch(struct page *page, struct rfs_listing *listing, uint64_t from)
{
    struct rsys_entry entry;
    while (listing->at < listing->length) {
        size_t at = listing->at;
        CHECK(rsys_entry_next(listing->data, listing->length, &at, &entry) == 1); /* as before */
        bool skipped = rfs_view_below(page->op->node, entry.name.data) != NULL;
        if (!skipped && listing->number >= from && !put_entry(page, listing, &entry)) {
            return false;
        }
        listing->at = at;
        listing->number += skipped ? 0 : 1;
    }
    return true;
}

static void answer_page(struct page *page)
{
    struct rfs_op *op = page->op;
    if (rfs_op_answer(op, page->data, page->length) != 0) {
        take_back(page);
    }
    mem_free(page->data);
    rfs_op_end(op);
}

static void list_go(struct rfs_op *op)
{
    struct rfs_listing *listing = op->open->listing;
    struct page page = {.op = op,
                        .data = mem_alloc((size_t)op->size + 1),
                        .size = (size_t)op->size,
                        .plus = op->opcode == FUSE_READDIRPLUS};
    uint64_t first = own_count(op->node);
    uint64_t number = op->offset;
    if (number < first) {
        number = put_own(&page, number);
    }
    if (number < first || op->open->made_up) {
        answer_page(&page);
        return;
    }
    if (op->offset == 0 && listing->start_count > 0 && op->began == 0) {
        rewind_listing(listing, first);
    }
    bool here = listing->data != NULL;
    if (listing->start_count == 0) {
        listing->number = first;
    } else if (number < listing->number) {
        here = seek_back(listing, number);
    }
    bool room = !here || put_batch(&page, listing, number);
    if (page.length > 0 || (here && listing->at_end) || !room) {
        answer_page(&page);
    } else {
        mem_free(page.data);
        ask_batch(op);
    }
}

void rfs_readdir(struct rfs_in *in)
{
    const struct fuse_read_in *arg = RFS_IN(in, fuse_read_in);
    if (arg == NULL) {
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_READDIR);
    rfs_op_hold_open(op, arg->fh);
    op->offset = arg->offset;
    op->size = arg->size < RFS_WRITE_MAX ? arg->size : RFS_WRITE_MAX;
    op->began = 0; /* no batch was asked for by it yet */
    op->call.request.how = in->header->opcode == FUSE_READDIRPLUS ? RSYS_DIR_PLUS : 0;
    list_go(op);
}
