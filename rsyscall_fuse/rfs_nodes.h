/* rsyscall_fuse/rfs_nodes.h - the files that the kernel knows, and their names.
 *
 * A node is what the kernel calls an inode; its inode number is the node's address in memory.  A
 * node exists as long as the kernel remembers it or another object references it.  Its names are
 * the paths by which it was reached.  The server is asked by path, so a node whose last name was
 * removed can be used only through an open file.
 *
 * A view is a place where one of the server's roots appears, a place of rfs_nodes_add_place(), or a
 * directory above such a place.  Each view has a node as long as the table of nodes exists.  Where
 * the server does not have the directory of a view, a virtual directory takes its place.
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
    struct hash_link link; /* entry in the table of names; must be the first field */
    struct rfs_node *parent, *child;
    TAILQ_ENTRY(rfs_name) entry; /* entry in the list of names of `child`, the latest name first */
    size_t length;
    char text[];
};

/* A file that the kernel knows. */
struct rfs_node {
    struct hash_link link; /* entry in the table of files; must be the first field */
    uint64_t dev, ino;
    uint32_t space; /* number of the root in which the file is; RFS_NO_ROOT: a virtual directory */
    uint64_t generation;
    /* how often the kernel got this node in an answer, minus the lookups that it has forgotten */
    uint64_t lookups;
    unsigned refs; /* references by names of children, open files and calls */
    TAILQ_HEAD(, rfs_name) names;
    struct rfs_view *view; /* the view whose directory this node is; NULL: none */
    struct rsys_attr attr; /* last known attributes; mode 0: not known */
    uint64_t attr_ms;      /* when attr was received, ms of loop_now_ms() */
    /* The file's attributes when the kernel cached its contents; mode 0: nothing is cached. */
    struct rsys_attr cached;
    /* value of rfs.clock (a count of requests and answers) when the last write was answered */
    uint64_t acked_at;
    uint64_t version;          /* incremented by each change of the contents by this client */
    struct rfs_writes *writes; /* the writes under way (rfs_writes.c); NULL: none */
    LIST_HEAD(, rfs_open) opens;
};

/* A view: a place where a root of the server appears, a place of rfs_nodes_add_place(), or a
 * directory above such a place. */
struct rfs_view {
    struct rfs_view *parent, *first, *next;
    uint32_t root; /* number of the root that appears here; RFS_NO_ROOT: no root appears here */
    struct rfs_node *node;
    char *name;
};

struct rfs_nodes *rfs_nodes_create(void);
/* Frees the table and all nodes in it.  NULL is allowed. */
void rfs_nodes_destroy(struct rfs_nodes *nodes);

/* Adds a root from the server's reply to HELLO, which appears at the path `view`.  Returns 0;
 * -EINVAL: view is not an absolute path, or contains empty names, "." or ".."; -EEXIST: a root
 * appears there already. */
int rfs_nodes_add_root(struct rfs_nodes *nodes, uint32_t number, const char *view, size_t length,
                       struct err *err);
/* Makes sure that the directory at the path `view` exists for the job, so that something can be
 * mounted on it; if the server does not have it, it is virtual.  Returns 0; or -EINVAL: view is not
 * an absolute path, or contains empty names, "." or "..". */
int rfs_nodes_add_place(struct rfs_nodes *nodes, const char *view, struct err *err);
struct rfs_node *rfs_nodes_top(const struct rfs_nodes *nodes); /* returns the node of "/" */
size_t rfs_nodes_count(const struct rfs_nodes *nodes);

/* Returns the node for an inode number that the kernel sent.  The kernel sends only numbers that it
 * got in an answer. */
struct rfs_node *rfs_node_of(const struct rfs_nodes *nodes, uint64_t number);
uint64_t rfs_node_number(const struct rfs_nodes *nodes, const struct rfs_node *node);

/* Returns the view (struct rfs_view) with that name in the directory `node`; NULL: none. */
struct rfs_view *rfs_view_below(const struct rfs_node *node, const char *name);
/* Returns whether the node is the directory of a view (struct rfs_view), so that it cannot be
 * renamed or removed at the server. */
bool rfs_node_is_view(const struct rfs_node *node);

/* Returns the node for a file that the server has found under a name; makes one if the file is not
 * known yet.  The file may already be known by other names.  Another node that had this name loses
 * it.  attr: the file's attributes from the server's reply. */
struct rfs_node *rfs_nodes_found(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                                 const struct rsys_attr *attr);
/* Returns the node for a file that was created without a name; makes one if the file is not known
 * yet.  space: number of the root in which the file is. */
struct rfs_node *rfs_nodes_nameless(struct rfs_nodes *nodes, uint32_t space,
                                    const struct rsys_attr *attr);
/* Returns the node that is known by `name` in the directory `parent`; NULL: none. */
struct rfs_node *rfs_nodes_at(const struct rfs_nodes *nodes, const struct rfs_node *parent,
                              const char *name);
/* Removes a name from the node that has it; does nothing if the name is not known. */
void rfs_nodes_unname(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name);
/* Gives the node that is known by a name another name.  A node that had the new name loses it; if
 * `exchange`, it gets the old name. */
void rfs_nodes_renamed(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                       struct rfs_node *parent_to, const char *name_to, bool exchange);

void rfs_node_ref(struct rfs_node *node);
/* Drops a reference to a node, and frees the node if nothing needs it any more.  NULL is
 * allowed. */
void rfs_node_unref(struct rfs_nodes *nodes, struct rfs_node *node);
/* Takes note that the kernel has forgotten the node as often as `lookups` says (FUSE_FORGET); may
 * free the node. */
void rfs_node_forget(struct rfs_nodes *nodes, struct rfs_node *node, uint64_t lookups);

/* Finds the root and path by which to name a node to the server; if name is not NULL, those of the
 * file `name` in the directory `node`.  The path is written to buffer, which has room for
 * RSYS_PATH_MAX + 1 bytes.  Returns 0; -ESTALE: the node has no name; -ENAMETOOLONG: the path is
 * too long; -ENOENT: the node is a virtual directory. */
int rfs_node_at(const struct rfs_node *node, const char *name, char *buffer, struct rsys_at *ret);

#endif
