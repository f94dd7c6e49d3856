/* rsyscall_fuse/rfs_names.c - names: looked up, made, changed, removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

static void set_valid(struct fuse_entry_out *entry, uint64_t entry_ms, uint64_t attr_ms)
{
    entry->entry_valid = entry_ms / 1000;
    entry->entry_valid_nsec = (uint32_t)(entry_ms % 1000) * 1000000;
    entry->attr_valid = attr_ms / 1000;
    entry->attr_valid_nsec = (uint32_t)(attr_ms % 1000) * 1000000;
}

void rfs_fill_entry(struct rfs *fs, struct rfs_node *node, struct rsys_attr *attr, uint64_t began,
                    struct fuse_entry_out *ret)
{
    uint64_t attr_ms;
    rfs_attr_seen(fs, node, attr, began, &attr_ms);
    *ret = (struct fuse_entry_out){.nodeid = rfs_node_number(fs->nodes, node),
                                   .generation = node->generation};
    set_valid(ret, rfs_valid_ms(fs, attr), attr_ms);
    rfs_fill_attr(fs, attr, &ret->attr);
    node->lookups++;
}

static void answer_entry(struct rfs_op *op, struct rfs_node *node, struct rsys_attr *attr)
{
    struct fuse_entry_out out;
    rfs_fill_entry(op->fs, node, attr, op->began, &out);
    if (rfs_op_answer(op, &out, sizeof(out)) != 0) {
        rfs_node_forget(op->fs->nodes, node, 1);
    }
    rfs_op_end(op);
}

/* ---- LOOKUP ---------------------------------------------------------------------------------- */

static void answer_made_up(struct rfs_op *op, struct rfs_node *node)
{
    struct rsys_attr attr;
    rfs_made_up_attr(node, &attr);
    answer_entry(op, node, &attr);
}

static void answer_no_such_name(struct rfs_op *op)
{
    struct fuse_entry_out none = {0};
    rfs_nodes_unname(op->fs->nodes, op->node, op->name);
    set_valid(&none, op->fs->options.negative_ms, 0);
    (void)rfs_op_answer(op, &none, sizeof(none));
    rfs_op_end(op);
}

static void lookup_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    const struct rfs_view *view = rfs_view_below(op->node, op->name);
    bool is_way = view != NULL && view->root == RFS_NO_ROOT;
    struct rsys_attr attr = reply->attr;
    if (is_way && (reply->status < 0 || (attr.mode & 0170000) != 0040000)) {
        answer_made_up(op, view->node);
    } else if (view != NULL && reply->status == 0) {
        answer_entry(op, view->node, &attr);
    } else if (reply->status == -ENOENT) {
        answer_no_such_name(op);
    } else if (!rfs_op_failed(op, reply)) {
        struct rfs_node *node = rfs_nodes_found(op->fs->nodes, op->node, op->name, &attr);
        answer_entry(op, node, &attr);
    }
}

/* Sets the request's place to a name in its directory.  Returns 0; otherwise the op was refused and
 * freed. */
static int at_name(struct rfs_op *op, const char *name)
{
    const struct rfs_view *view = rfs_view_below(op->node, name);
    op->name = mem_strdup(name);
    if (view != NULL && view->root != RFS_NO_ROOT) {
        op->call.request.at = (struct rsys_at){.handle = view->root};
        return 0;
    }
    return rfs_op_at(op, name);
}

void rfs_lookup(struct rfs_in *in)
{
    const char *name = rfs_in_name(in, 0);
    if (name == NULL) {
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_STAT);
    const struct rfs_view *view = rfs_view_below(in->node, name);
    if (in->node->space == RFS_NO_ROOT && (view == NULL || view->root == RFS_NO_ROOT)) {
        op->name = mem_strdup(name);
        if (view != NULL) {
            answer_made_up(op, view->node);
        } else {
            answer_no_such_name(op);
        }
    } else if (at_name(op, name) == 0) {
        rfs_op_send(op, lookup_done);
    }
}

/* ---- what makes a name ----------------------------------------------------------------------- */

/* Makes an op for a new or removed name.  NULL: the name cannot be changed, and the request was
 * refused. */
static struct rfs_op *op_for_name(struct rfs_in *in, uint16_t rsys_op, const char *name)
{
    struct rfs_op *op = rfs_op_create(in, rsys_op);
    if (rfs_view_below(in->node, name) != NULL) {
        rfs_op_refuse(op, rsys_op == RSYS_UNLINK || rsys_op == RSYS_RMDIR ? -EBUSY : -EEXIST);
        return NULL;
    }
    if (in->node->space == RFS_NO_ROOT) {
        rfs_op_refuse(op, -EROFS);
        return NULL;
    }
    return at_name(op, name) == 0 ? op : NULL;
}

static void made_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (!rfs_op_failed(op, reply)) {
        struct rsys_attr attr = reply->attr;
        answer_entry(op, rfs_nodes_found(op->fs->nodes, op->node, op->name, &attr), &attr);
    }
}

void rfs_mkdir(struct rfs_in *in)
{
    const struct fuse_mkdir_in *arg = RFS_IN(in, fuse_mkdir_in);
    const char *name = arg != NULL ? rfs_in_name(in, sizeof(*arg)) : NULL;
    struct rfs_op *op = name != NULL ? op_for_name(in, RSYS_MKDIR, name) : NULL;
    if (op != NULL) {
        op->call.request.mode = arg->mode;
        rfs_op_send(op, made_done);
    }
}

void rfs_mknod(struct rfs_in *in)
{
    const struct fuse_mknod_in *arg = RFS_IN(in, fuse_mknod_in);
    const char *name = arg != NULL ? rfs_in_name(in, sizeof(*arg)) : NULL;
    struct rfs_op *op = name != NULL ? op_for_name(in, RSYS_MKNOD, name) : NULL;
    if (op != NULL) {
        op->call.request.mode = arg->mode;
        rfs_op_send(op, made_done);
    }
}

void rfs_symlink(struct rfs_in *in)
{
    const char *name = rfs_in_name(in, 0);
    const char *target = name != NULL ? rfs_in_name(in, strlen(name) + 1) : NULL;
    if (target == NULL) {
        return;
    }
    if (strlen(target) > RSYS_PATH_MAX) {
        rfs_refuse(in->fs, in->header->unique, -ENAMETOOLONG);
        return;
    }
    struct rfs_op *op = op_for_name(in, RSYS_SYMLINK, name);
    if (op != NULL) {
        op->name_to = mem_strdup(target);
        op->call.request.text =
            (struct rsys_text){.data = op->name_to, .length = (uint16_t)strlen(target)};
        rfs_op_send(op, made_done);
    }
}

/* Handles the reply to LINK. node_to is the file, node the directory of the new name. */
static void linked_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    struct rsys_attr attr = reply->attr;
    if (rfs_op_failed(op, reply)) {
        return;
    }
    struct rfs_node *node = rfs_nodes_found(op->fs->nodes, op->node_to, op->name, &attr);
    if (node == op->node) {
        rfs_attr_ours(op->fs, node, &attr);
    }
    answer_entry(op, node, &attr);
}

static void link_go(struct rfs_op *op)
{
    if (rfs_op_at(op, NULL) == 0 && rfs_op_to(op, op->node_to, op->name) == 0) {
        op->began = ++op->fs->clock;
        rfs_op_send(op, linked_done);
    }
}

void rfs_hard_link(struct rfs_in *in)
{
    const struct fuse_link_in *arg = RFS_IN(in, fuse_link_in);
    const char *name = arg != NULL ? rfs_in_name(in, sizeof(*arg)) : NULL;
    if (name == NULL) {
        return;
    }
    struct rfs_node *directory = in->node;
    in->node = rfs_node_of(in->fs->nodes, arg->oldnodeid);
    struct rfs_op *op = rfs_op_create(in, RSYS_LINK);
    op->node_to = directory;
    rfs_node_ref(directory);
    op->name = mem_strdup(name);
    if (directory->space != in->node->space || rfs_view_below(directory, name) != NULL) {
        rfs_op_refuse(op, directory->space == RFS_NO_ROOT ? -EROFS : -EXDEV);
    } else {
        rfs_when_written(op, link_go);
    }
}

/* ---- what changes and removes names ---------------------------------------------------------- */

static void renamed_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (rfs_op_failed(op, reply)) {
        return;
    }
    bool exchange = (op->call.request.how & RSYS_RENAME_EXCHANGE) != 0;
    rfs_nodes_renamed(op->fs->nodes, op->node, op->name, op->node_to, op->name_to, exchange);
    (void)rfs_op_answer(op, NULL, 0);
    rfs_op_end(op);
}

void rfs_rename(struct rfs_in *in)
{
    bool with_flags = in->header->opcode == FUSE_RENAME2;
    size_t size = with_flags ? sizeof(struct fuse_rename2_in) : sizeof(struct fuse_rename_in);
    const struct fuse_rename2_in *arg = rfs_in_arg(in, size); /* begins as the other does */
    const char *name = arg != NULL ? rfs_in_name(in, size) : NULL;
    const char *to = name != NULL ? rfs_in_name(in, size + strlen(name) + 1) : NULL;
    if (to == NULL) {
        return;
    }
    uint32_t flags = with_flags ? arg->flags : 0;
    struct rfs_node *directory = rfs_node_of(in->fs->nodes, arg->newdir);
    if ((flags & ~(RSYS_RENAME_NOREPLACE | RSYS_RENAME_EXCHANGE)) != 0) {
        rfs_refuse(in->fs, in->header->unique, -EINVAL);
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_RENAME);
    op->call.request.how = flags;
    op->name = mem_strdup(name);
    op->name_to = mem_strdup(to);
    op->node_to = directory;
    rfs_node_ref(directory);
    if (rfs_view_below(in->node, name) != NULL || rfs_view_below(directory, to) != NULL) {
        rfs_op_refuse(op, -EBUSY);
    } else if (directory->space != in->node->space) {
        rfs_op_refuse(op, -EXDEV);
    } else if (directory->space == RFS_NO_ROOT) {
        rfs_op_refuse(op, -EROFS);
    } else if (rfs_op_at(op, name) == 0 && rfs_op_to(op, directory, to) == 0) {
        rfs_op_send(op, renamed_done);
    }
}

static void unlinked_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (reply->status == 0 || reply->status == -ENOENT) {
        rfs_nodes_unname(op->fs->nodes, op->node, op->name);
    }
    rfs_done_plain(call, reply);
}

void rfs_unlink(struct rfs_in *in)
{
    const char *name = rfs_in_name(in, 0);
    uint16_t rsys_op = in->header->opcode == FUSE_RMDIR ? RSYS_RMDIR : RSYS_UNLINK;
    struct rfs_op *op = name != NULL ? op_for_name(in, rsys_op, name) : NULL;
    if (op != NULL) {
        rfs_op_send(op, unlinked_done);
    }
}

/* ---- READLINK -------------------------------------------------------------------------------- */

static void readlink_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (!rfs_op_failed(op, reply)) {
        (void)rfs_op_answer(op, reply->text.data, reply->text.length);
        rfs_op_end(op);
    }
}

void rfs_readlink(struct rfs_in *in)
{
    struct rfs_op *op = rfs_op_create(in, RSYS_READLINK);
    if (rfs_op_at(op, NULL) == 0) {
        rfs_op_send(op, readlink_done);
    }
}
