/* rsyscall_fuse/rfs_nodes.c - see rfs_nodes.h.
 *
 * Design note: there are two hash tables of the same nodes: by identity (root, device, inode) and
 * by (directory, name).  The root is part of the key because one file may be seen through two roots
 * at two places, and the kernel does not accept a directory at two places.
 *
 * Invariants: a name holds a reference to its directory; a node without lookups and references is
 * freed, with its names; nodes of views hold a reference to themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/rfs_nodes.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"

#define MODE_TYPE   0170000U
#define MODE_DIR    0040000U
#define KERNELS_TOP 1 /* FUSE_ROOT_ID */

struct rfs_nodes {
    struct hash_chains by_file; /* struct rfs_node */
    struct hash_chains by_name; /* struct rfs_name */
    uint64_t generation;
    struct rfs_view *top;
};

/* ---- hashing --------------------------------------------------------------------------------- */

static uint64_t mix_bits(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

static uint64_t file_hash(uint32_t space, uint64_t dev, uint64_t ino)
{
    return mix_bits(ino ^ mix_bits(dev ^ ((uint64_t)space << 40)));
}

static uint64_t name_hash(const struct rfs_node *parent, const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ULL;
    }
    return mix_bits(hash ^ (uint64_t)(uintptr_t)parent);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_name(const struct rfs_name *name, const struct rfs_node *parent, const char *text,
                    size_t length)
{
    return name->parent == parent && name->length == length &&
           memcmp(name->text, text, length) == 0;
}

static struct rfs_name *find_name(const struct rfs_nodes *nodes, const struct rfs_node *parent,
                                  const char *text)
{
    size_t length = strlen(text);
    struct hash_link *link = hash_chains_at(&nodes->by_name, name_hash(parent, text, length));
    while (link != NULL && !is_name((const struct rfs_name *)link, parent, text, length)) {
        link = link->next;
    }
    return (struct rfs_name *)link;
}

static void free_if_unused(struct rfs_nodes *nodes, struct rfs_node *node);

/* Removes a name.  This may free the directory, but not the child. */
static void drop_name(struct rfs_nodes *nodes, struct rfs_name *name)
{
    hash_chains_remove(&nodes->by_name, &name->link);
    TAILQ_REMOVE(&name->child->names, name, entry);
    struct rfs_node *parent = name->parent;
    mem_free(name);
    rfs_node_unref(nodes, parent);
}

static void give_name(struct rfs_nodes *nodes, struct rfs_node *parent, const char *text,
                      struct rfs_node *child)
{
    size_t length = strlen(text);
    struct rfs_name *had = find_name(nodes, parent, text);
    if (had != NULL && had->child == child) {
        TAILQ_REMOVE(&child->names, had, entry);
        TAILQ_INSERT_HEAD(&child->names, had, entry);
        return;
    }
    struct rfs_name *name = mem_alloc(sizeof(*name) + length + 1);
    *name = (struct rfs_name){.parent = parent, .child = child, .length = length};
    memcpy(name->text, text, length + 1);
    rfs_node_ref(parent);
    if (had != NULL) {
        drop_name(nodes, had);
    }
    hash_chains_add(&nodes->by_name, name_hash(parent, text, length), &name->link);
    TAILQ_INSERT_HEAD(&child->names, name, entry);
}

struct rfs_node *rfs_nodes_at(const struct rfs_nodes *nodes, const struct rfs_node *parent,
                              const char *name)
{
    const struct rfs_name *found = find_name(nodes, parent, name);
    return found != NULL ? found->child : NULL;
}

void rfs_nodes_unname(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name)
{
    struct rfs_name *found = find_name(nodes, parent, name);
    if (found != NULL && !rfs_node_is_view(found->child)) {
        struct rfs_node *child = found->child;
        drop_name(nodes, found);
        free_if_unused(nodes, child);
    }
}

void rfs_nodes_renamed(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                       struct rfs_node *parent_to, const char *name_to, bool exchange)
{
    struct rfs_node *moved = rfs_nodes_at(nodes, parent, name);
    struct rfs_node *other = rfs_nodes_at(nodes, parent_to, name_to);
    if (moved != NULL) {
        rfs_node_ref(moved);
    }
    if (other != NULL) {
        rfs_node_ref(other);
    }
    rfs_nodes_unname(nodes, parent, name);
    rfs_nodes_unname(nodes, parent_to, name_to);
    if (moved != NULL) {
        give_name(nodes, parent_to, name_to, moved);
    }
    if (other != NULL && exchange) {
        give_name(nodes, parent, name, other);
    }
    rfs_node_unref(nodes, moved);
    rfs_node_unref(nodes, other);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct rfs_node *make_node(struct rfs_nodes *nodes, uint32_t space, uint64_t dev,
                                  uint64_t ino)
{
    struct rfs_node *node = mem_zalloc(sizeof(*node));
    node->space = space;
    node->dev = dev;
    node->ino = ino;
    node->generation = ++nodes->generation;
    TAILQ_INIT(&node->names);
    LIST_INIT(&node->opens);
    hash_chains_add(&nodes->by_file, file_hash(space, dev, ino), &node->link);
    return node;
}

static void free_if_unused(struct rfs_nodes *nodes, struct rfs_node *node)
{
    if (node->lookups > 0 || node->refs > 0) {
        return;
    }
    CHECK(node->writes == NULL && LIST_EMPTY(&node->opens));
    hash_chains_remove(&nodes->by_file, &node->link);
    node->refs = 1; /* while its names go */
    while (!TAILQ_EMPTY(&node->names)) {
        drop_name(nodes, TAILQ_FIRST(&node->names));
    }
    mem_free(node);
}

void rfs_node_ref(struct rfs_node *node)
{
    node->refs++;
}

void rfs_node_unref(struct rfs_nodes *nodes, struct rfs_node *node)
{
    if (node != NULL) {
        CHECK(node->refs > 0);
        node->refs--;
        free_if_unused(nodes, node);
    }
}

void rfs_node_forget(struct rfs_nodes *nodes, struct rfs_node *node, uint64_t lookups)
{
    node->lookups -= lookups < node->lookups ? lookups : node->lookups;
    free_if_unused(nodes, node);
}

struct rfs_node *rfs_nodes_nameless(struct rfs_nodes *nodes, uint32_t space,
                                    const struct rsys_attr *attr)
{
    struct hash_link *link =
        hash_chains_at(&nodes->by_file, file_hash(space, attr->dev, attr->ino));
    for (; link != NULL; link = link->next) {
        struct rfs_node *node = (struct rfs_node *)link;
        if (node->space == space && node->dev == attr->dev && node->ino == attr->ino) {
            return node;
        }
    }
    return make_node(nodes, space, attr->dev, attr->ino);
}

struct rfs_node *rfs_nodes_found(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                                 const struct rsys_attr *attr)
{
    struct rfs_node *node = rfs_nodes_nameless(nodes, parent->space, attr);
    rfs_node_ref(node);
    give_name(nodes, parent, name, node);
    node->refs--; /* the caller tells the kernel of it, or forgets 0 of it */
    return node;
}

struct rfs_node *rfs_node_of(const struct rfs_nodes *nodes, uint64_t number)
{
    return number == KERNELS_TOP ? nodes->top->node : (struct rfs_node *)(uintptr_t)number;
}

uint64_t rfs_node_number(const struct rfs_nodes *nodes, const struct rfs_node *node)
{
    return node == nodes->top->node ? KERNELS_TOP : (uint64_t)(uintptr_t)node;
}

size_t rfs_nodes_count(const struct rfs_nodes *nodes)
{
    return nodes->by_file.count;
}

/* ---- paths of nodes -------------------------------------------------------------------------- */

static bool prepend_name(char *buffer, size_t *at, const char *text, size_t length)
{
    bool first = *at == RSYS_PATH_MAX;
    if (*at < length + (first ? 0 : 1)) {
        return false;
    }
    if (!first) {
        buffer[--*at] = '/';
    }
    *at -= length;
    memcpy(buffer + *at, text, length);
    return true;
}

int rfs_node_at(const struct rfs_node *node, const char *name, char *buffer, struct rsys_at *ret)
{
    size_t at = RSYS_PATH_MAX;
    buffer[at] = '\0';
    if (name != NULL) {
        size_t length = strlen(name);
        if (length > RSYS_NAME_MAX) {
            return -ENAMETOOLONG;
        }
        (void)prepend_name(buffer, &at, name, length);
    }
    while (node->view == NULL || node->view->root == RFS_NO_ROOT) {
        const struct rfs_name *above = TAILQ_FIRST(&node->names);
        if (above == NULL) {
            return node->view != NULL ? -ENOENT : -ESTALE;
        }
        if (!prepend_name(buffer, &at, above->text, above->length)) {
            return -ENAMETOOLONG;
        }
        node = above->parent;
    }
    size_t length = RSYS_PATH_MAX - at;
    memmove(buffer, buffer + at, length + 1);
    *ret = (struct rsys_at){.handle = node->view->root,
                            .path = {.data = buffer, .length = (uint16_t)length}};
    return 0;
}

/* ---- views ----------------------------------------------------------------------------------- */

bool rfs_node_is_view(const struct rfs_node *node)
{
    return node->view != NULL;
}

static struct rfs_view *find_view(const struct rfs_view *above, const char *name, size_t length)
{
    for (struct rfs_view *each = above->first; each != NULL; each = each->next) {
        if (strlen(each->name) == length && memcmp(each->name, name, length) == 0) {
            return each;
        }
    }
    return NULL;
}

struct rfs_view *rfs_view_below(const struct rfs_node *node, const char *name)
{
    return node->view != NULL ? find_view(node->view, name, strlen(name)) : NULL;
}

/* Returns the number of the root whose files are in a view; RFS_NO_ROOT: none. */
static uint32_t space_of(const struct rfs_view *view)
{
    while (view != NULL && view->root == RFS_NO_ROOT) {
        view = view->parent;
    }
    return view != NULL ? view->root : RFS_NO_ROOT;
}

static struct rfs_view *make_view(struct rfs_nodes *nodes, struct rfs_view *above, const char *name,
                                  size_t length)
{
    struct rfs_view *view = mem_zalloc(sizeof(*view));
    view->name = mem_strndup(name, length);
    view->root = RFS_NO_ROOT;
    view->parent = above;
    /* No device has that number: what is found at the server is never taken for it. */
    view->node = make_node(nodes, space_of(above), UINT64_MAX, nodes->generation + 1);
    view->node->view = view;
    view->node->refs = 1;
    if (above != NULL) {
        view->next = above->first;
        above->first = view;
        give_name(nodes, above->node, view->name, view->node);
    }
    return view;
}

/* Sets the spaces of a view and the views below it again, after a root was added. */
static void renew_spaces(struct rfs_nodes *nodes, struct rfs_view *view)
{
    struct rfs_node *node = view->node;
    hash_chains_remove(&nodes->by_file, &node->link);
    node->space = space_of(view);
    hash_chains_add(&nodes->by_file, file_hash(node->space, node->dev, node->ino), &node->link);
    for (struct rfs_view *each = view->first; each != NULL; each = each->next) {
        renew_spaces(nodes, each);
    }
}

/* Returns the view at a path, and makes it if there is none; NULL: not a valid path. */
static struct rfs_view *view_at(struct rfs_nodes *nodes, const char *path, size_t length)
{
    struct rfs_view *view = nodes->top;
    if (length == 0 || path[0] != '/' || (length > 1 && !rsys_path_is_good(path + 1, length - 1))) {
        return NULL;
    }
    for (size_t at = 1; at < length;) {
        const char *slash = memchr(path + at, '/', length - at);
        size_t end = slash != NULL ? (size_t)(slash - path) : length;
        struct rfs_view *below = find_view(view, path + at, end - at);
        view = below != NULL ? below : make_view(nodes, view, path + at, end - at);
        at = end + 1;
    }
    return view;
}

int rfs_nodes_add_root(struct rfs_nodes *nodes, uint32_t number, const char *path, size_t length,
                       struct err *err)
{
    struct rfs_view *view = view_at(nodes, path, length);
    if (view == NULL) {
        return err_set(err, -EINVAL, "the server offers a root directory at the bad path '%.*s'",
                       (int)length, path);
    }
    if (view->root != RFS_NO_ROOT) {
        return err_set(err, -EEXIST, "the server offers two root directories at '%.*s'",
                       (int)length, path);
    }
    view->root = number;
    renew_spaces(nodes, view);
    return 0;
}

int rfs_nodes_add_place(struct rfs_nodes *nodes, const char *path, struct err *err)
{
    if (view_at(nodes, path, strlen(path)) == NULL) {
        return err_set(err, -EINVAL, "'%s' is not a valid path", path);
    }
    return 0;
}

struct rfs_node *rfs_nodes_top(const struct rfs_nodes *nodes)
{
    return nodes->top->node;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct rfs_nodes *rfs_nodes_create(void)
{
    struct rfs_nodes *nodes = mem_zalloc(sizeof(*nodes));
    nodes->top = make_view(nodes, NULL, "", 0);
    return nodes;
}

static void free_view(struct rfs_view *view)
{
    for (struct rfs_view *each = view->first, *next; each != NULL; each = next) {
        next = each->next;
        free_view(each);
    }
    mem_free(view->name);
    mem_free(view);
}

/* Frees a table and the structs in it; the link must be their first member. */
static void free_links(struct hash_chains *table)
{
    for (struct hash_link *link = hash_chains_next(table, NULL), *next; link != NULL; link = next) {
        next = hash_chains_next(table, link);
        mem_free(link);
    }
    hash_chains_fini(table);
}

void rfs_nodes_destroy(struct rfs_nodes *nodes)
{
    if (nodes == NULL) {
        return;
    }
    free_links(&nodes->by_name);
    free_links(&nodes->by_file);
    free_view(nodes->top);
    mem_free(nodes);
}
