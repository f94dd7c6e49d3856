/* rsyscall_fuse/rfs_nodes.h - the files that the kernel knows, and their names.
 *
 * A node is what the kernel calls an inode; its inode number is the node's address.  A node lives
 * as long as the kernel remembers it or something here references it.  Its names are the paths by
 * which it was reached.  The server is asked by path, so a node whose last name was removed can
 * only be used through an open file.
 *
 * Views are the places where the server's roots appear.  Each has a node from the beginning to the
 * end.  Where a view's parent directories do not exist on the server, virtual directories take
 * their place.
 *
 * No I/O, no clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_RFS_NODES_H
#define RSYSCALL_FUSE_RFS_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/hash_chains.h"
#include "rsyscall/rsys.h"

struct err;
struct rfs_node;
struct rfs_nodes;
struct rfs_open;
struct rfs_view;
struct rfs_writes;

#define RFS_NO_ROOT UINT32_MAX

/* One name of a node. */
struct rfs_name {
    struct hash_link link; /* first; in the table of names */
    struct rfs_node *parent, *child;
    TAILQ_ENTRY(rfs_name) entry; /* in the child's list of names, the latest first */
    size_t length;
    char text[];
};

struct rfs_node {
    struct hash_link link; /* first; in the table of files */
    uint64_t dev, ino;
    uint32_t space; /* number of its root; RFS_NO_ROOT: a virtual directory */
    uint64_t generation;
    uint64_t lookups; /* how often the kernel was given this node */
    unsigned refs;    /* references by names of children, open files and calls */
    TAILQ_HEAD(, rfs_name) names;
    struct rfs_view *view; /* root or virtual directory that appears at this node; NULL: none */
    struct rsys_attr attr; /* last known attributes; mode 0: not known */
    uint64_t attr_ms;      /* when attr was received */
    /* attributes of the contents that the kernel may have cached; mode 0: none */
    struct rsys_attr cached;
    uint64_t acked_at;         /* value of rfs.clock when the last write was answered */
    uint64_t version;          /* incremented by each of our own changes of the contents */
    struct rfs_writes *writes; /* see rfs_writes.c; NULL: no write under way */
    LIST_HEAD(, rfs_open) opens;
};

struct rfs_view {
    struct rfs_view *parent, *first, *next;
    uint32_t root; /* the root that appears here; RFS_NO_ROOT: only a parent directory of roots */
    struct rfs_node *node;
    char *name;
};

struct rfs_nodes *rfs_nodes_create(void);
void rfs_nodes_destroy(struct rfs_nodes *nodes); /* also all nodes; NULL is allowed */

/* Adds a root from the server's HELLO.  -EINVAL: view is not an absolute path, or contains empty
 * names, "." or ".."; -EEXIST. */
int rfs_nodes_add_root(struct rfs_nodes *nodes, uint32_t number, const char *view, size_t length,
                       struct err *err);
/* Makes sure that a directory exists, so that something can be mounted on it; it is virtual where
 * the server does not have it.  -EINVAL: bad path. */
int rfs_nodes_add_place(struct rfs_nodes *nodes, const char *view, struct err *err);
struct rfs_node *rfs_nodes_top(const struct rfs_nodes *nodes); /* the node of "/" */
size_t rfs_nodes_count(const struct rfs_nodes *nodes);

/* The node of an inode number that the kernel sent; it only sends numbers that it was given. */
struct rfs_node *rfs_node_of(const struct rfs_nodes *nodes, uint64_t number);
uint64_t rfs_node_number(const struct rfs_nodes *nodes, const struct rfs_node *node);

/* The view that appears under `name` in a directory; NULL: none. */
struct rfs_view *rfs_view_below(const struct rfs_node *node, const char *name);
/* True when the server does not choose the node's place: it is a view, or a parent directory of
 * one. */
bool rfs_node_is_view(const struct rfs_node *node);

/* The node for a file that was found under a name; made if needed.  The file may already be known
 * by other names. Another node that had this name loses it. */
struct rfs_node *rfs_nodes_found(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                                 const struct rsys_attr *attr);
/* Makes a node without a name, for a file that was created without one. */
struct rfs_node *rfs_nodes_nameless(struct rfs_nodes *nodes, uint32_t space,
                                    const struct rsys_attr *attr);
/* The node known by that name; NULL: none. */
struct rfs_node *rfs_nodes_at(const struct rfs_nodes *nodes, const struct rfs_node *parent,
                              const char *name);
/* Removes a name; does nothing when the name is not known. */
void rfs_nodes_unname(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name);
/* Renames: the node that had the new name loses it, or with exchange gets the old name. */
void rfs_nodes_renamed(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                       struct rfs_node *parent_to, const char *name_to, bool exchange);

void rfs_node_ref(struct rfs_node *node);
void rfs_node_unref(struct rfs_nodes *nodes,
                    struct rfs_node *node); /* may free the node; NULL is allowed */
void rfs_node_forget(struct rfs_nodes *nodes, struct rfs_node *node, uint64_t lookups);

/* The server's path of a node or, with name not NULL, of a name in that directory.  The path is
 * written to buffer, which has room for RSYS_PATH_MAX + 1 bytes.  -ESTALE: the node has no name;
 * -ENAMETOOLONG; -ENOENT: in a virtual directory. */
int rfs_node_at(const struct rfs_node *node, const char *name, char *buffer, struct rsys_at *ret);

#endif
