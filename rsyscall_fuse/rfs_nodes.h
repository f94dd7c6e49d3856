/* rsyscall_fuse/rfs_nodes.h - the files that the kernel has a name for, and where they are.
 *
 * A node is what the kernel calls an inode; its number is the node's address.  It lives as long as
 * the kernel remembers it, or somebody here holds it.  Its names are how it was reached: the server
 * is asked by path, so a node whose last name was removed can be asked for by an open file only.
 *
 * Views are the places at which the server's roots appear.  A node for each of them is there from
 * the beginning to the end; where a view lies below nothing real, directories are made up.
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
    TAILQ_ENTRY(rfs_name) entry; /* of the child's names: the latest first */
    size_t length;
    char text[];
};

struct rfs_node {
    struct hash_link link; /* first; in the table of files */
    uint64_t dev, ino;
    uint32_t space; /* of which root; RFS_NO_ROOT: made up */
    uint64_t generation;
    uint64_t lookups; /* how often the kernel was told of it */
    unsigned refs;    /* who else holds it: names of children, open files, calls */
    TAILQ_HEAD(, rfs_name) names;
    struct rfs_view *view;     /* what appears in it; NULL: only what is there */
    struct rsys_attr attr;     /* as last seen; mode 0: never */
    uint64_t attr_ms;          /* when */
    struct rsys_attr cached;   /* of the contents that the kernel may have; mode 0: none */
    uint64_t acked_at;         /* the clock of calls when the last write was answered */
    uint64_t version;          /* one more with each change of the contents that is ours */
    struct rfs_writes *writes; /* rfs_writes.c; NULL: nothing is being written */
    LIST_HEAD(, rfs_open) opens;
};

struct rfs_view {
    struct rfs_view *parent, *first, *next;
    uint32_t root; /* whose place this is; RFS_NO_ROOT: only a way to others */
    struct rfs_node *node;
    char *name;
};

struct rfs_nodes *rfs_nodes_create(void);
void rfs_nodes_destroy(struct rfs_nodes *nodes); /* with all nodes; NULL is allowed */

/* A root of the server's HELLO.  -EINVAL: view is no absolute path without empty names, "." and
 * ".."; -EEXIST. */
int rfs_nodes_add_root(struct rfs_nodes *nodes, uint32_t number, const char *view, size_t length,
                       struct err *err);
/* A directory that must be there, so that something can be mounted over it: it is made up where the
 * server has none.  -EINVAL. */
int rfs_nodes_add_place(struct rfs_nodes *nodes, const char *view, struct err *err);
struct rfs_node *rfs_nodes_top(const struct rfs_nodes *nodes); /* "/" */
size_t rfs_nodes_count(const struct rfs_nodes *nodes);

/* The node of an inode number of the kernel's: it tells only those that it was told. */
struct rfs_node *rfs_node_of(const struct rfs_nodes *nodes, uint64_t number);
uint64_t rfs_node_number(const struct rfs_nodes *nodes, const struct rfs_node *node);

/* What appears at a name in a directory; NULL: only what is there. */
struct rfs_view *rfs_view_below(const struct rfs_node *node, const char *name);
/* Is it one whose place is not of the server's choice: a view, or a way to one? */
bool rfs_node_is_view(const struct rfs_node *node);

/* The node for what was found at a name; made if there is none.  It may already be known by other
 * names.  What had the name before has it no more. */
struct rfs_node *rfs_nodes_found(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                                 const struct rsys_attr *attr);
/* A node without a name (a file made without one). */
struct rfs_node *rfs_nodes_nameless(struct rfs_nodes *nodes, uint32_t space,
                                    const struct rsys_attr *attr);
/* The node that has the name; NULL: none that is known. */
struct rfs_node *rfs_nodes_at(const struct rfs_nodes *nodes, const struct rfs_node *parent,
                              const char *name);
/* A name is gone; nothing if it was not known. */
void rfs_nodes_unname(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name);
/* A name was made another: what had the new one has it no more, unless they are exchanged. */
void rfs_nodes_renamed(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                       struct rfs_node *parent_to, const char *name_to, bool exchange);

void rfs_node_ref(struct rfs_node *node);
void rfs_node_unref(struct rfs_nodes *nodes,
                    struct rfs_node *node); /* may free it; NULL is allowed */
void rfs_node_forget(struct rfs_nodes *nodes, struct rfs_node *node, uint64_t lookups);

/* Where a node, or a name in a directory (name not NULL), is: path in buffer, which has room for
 * RSYS_PATH_MAX + 1 bytes.  -ESTALE: it has no name; -ENAMETOOLONG; -ENOENT: below a directory that
 * is made up there is nothing real. */
int rfs_node_at(const struct rfs_node *node, const char *name, char *buffer, struct rsys_at *ret);

#endif
