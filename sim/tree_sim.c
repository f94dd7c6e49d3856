/* sim/tree_sim.c - a machine's file system: a tree in memory that forgets what was not synced.
 *
 * A power cut may take back two things.  Pages: for every page written since its last sync, a file
 * keeps what the disk still holds.  Directories: each machine has a journal of changes of names, in
 * order; a power cut keeps a part of it from the beginning, chosen by the seed, as a journaling
 * file system does.  A sync of any file or directory commits the whole journal, as in ext4; that is
 * enough for SQLite, which syncs directories.  The death of a process takes nothing back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"

#define FILE_SIZE_MAX ((size_t)1 << 30)

/* ---- nodes ----------------------------------------------------------------------------------- */

struct sim_node *sim_node_create(struct sim_host *host, enum sim_node_type type, mode_t mode)
{
    struct sim_node *node = sim_alloc(sizeof(*node));
    node->host = host;
    node->type = type;
    node->mode = mode & 07777;
    node->uid = node->gid = 1000;
    node->mtime_s = sim_host_wall_ms(host) / 1000;
    return node;
}

void sim_node_ref(struct sim_node *node)
{
    node->refs++;
}

static void forget_dirty(struct sim_node *node)
{
    for (size_t i = 0; i < node->dirty_count; i++) {
        sim_free(node->dirty[i].before);
    }
    node->dirty_count = 0;
    node->is_dirty = false;
}

void sim_node_unref(struct sim_node *node)
{
    if (node == NULL) {
        return;
    }
    CHECK(node->refs > 0);
    if (--node->refs > 0) {
        return;
    }
    sim_disk_freed(node->host, node->size + node->allocated);
    for (size_t i = 0; i < node->child_count; i++) {
        node->children[i]->parent = NULL;
        sim_node_unref(node->children[i]);
    }
    forget_dirty(node);
    sim_free(node->dirty);
    sim_free(node->children);
    sim_free(node->data);
    sim_free(node->name);
    sim_free(node);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool sim_path(const char *cwd, const char *path, char out[SIM_PATH_MAX])
{
    char joined[SIM_PATH_MAX];
    int length = snprintf(joined, sizeof(joined), "%s/%s", path[0] == '/' ? "" : cwd, path);
    if (length < 0 || (size_t)length >= sizeof(joined)) {
        return false;
    }
    size_t used = 0;
    const char *at = joined;
    while (*at != '\0') {
        at += strspn(at, "/");
        size_t part = strcspn(at, "/");
        if (part == 2 && at[0] == '.' && at[1] == '.') {
            while (used > 0 && out[--used] != '/') {
            }
        } else if (part > 0 && !(part == 1 && at[0] == '.')) {
            out[used++] = '/';
            memcpy(out + used, at, part);
            used += part;
        }
        at += part;
    }
    if (used == 0) {
        out[used++] = '/';
    }
    out[used] = '\0';
    return true;
}

static size_t child_slot(const struct sim_node *dir, const char *name, bool *found)
{
    size_t low = 0, high = dir->child_count;
    *found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(dir->children[middle]->name, name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct sim_node *sim_dir_get(const struct sim_node *dir, const char *name)
{
    bool found;
    size_t slot = child_slot(dir, name, &found);
    return found ? dir->children[slot] : NULL;
}

struct sim_node *sim_tree_find(struct sim_host *host, const char *path)
{
    struct sim_node *node = host->root;
    char name[256];
    while (*path != '\0') {
        path += strspn(path, "/");
        size_t part = strcspn(path, "/");
        if (part == 0) {
            break;
        }
        if (part >= sizeof(name) || node->type != SIM_DIR) {
            return NULL;
        }
        memcpy(name, path, part);
        name[part] = '\0';
        node = sim_dir_get(node, name);
        if (node == NULL) {
            return NULL;
        }
        path += part;
    }
    return node;
}

struct sim_node *sim_tree_parent(struct sim_host *host, const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    char above[SIM_PATH_MAX];
    if (slash == NULL || slash[1] == '\0' || strlen(slash + 1) >= size) {
        return NULL;
    }
    size_t length = (size_t)(slash - path);
    memcpy(above, path, length);
    above[length] = '\0';
    (void)snprintf(name, size, "%s", slash + 1);
    struct sim_node *dir = sim_tree_find(host, above);
    return dir != NULL && dir->type == SIM_DIR ? dir : NULL;
}

/* Puts a node under a name; takes over a reference of node, and releases that of the node that had
 * the name. */
static void dir_put(struct sim_node *dir, const char *name, struct sim_node *node)
{
    bool found;
    size_t slot = child_slot(dir, name, &found);
    struct sim_node *old = found ? dir->children[slot] : NULL;
    if (node != NULL) {
        char *copy = sim_strdup(name);
        sim_free(node->name);
        node->name = copy;
        node->parent = dir;
        sim_node_ref(node);
    }
    if (found && node != NULL) {
        dir->children[slot] = node;
    } else if (found) {
        dir->child_count--;
        memmove(dir->children + slot, dir->children + slot + 1,
                (dir->child_count - slot) * sizeof(struct sim_node *));
    } else if (node != NULL) {
        if (dir->child_count == dir->child_capacity) {
            dir->child_capacity = dir->child_capacity > 0 ? dir->child_capacity * 2 : 8;
            dir->children =
                sim_realloc(dir->children, dir->child_capacity * sizeof(struct sim_node *));
        }
        memmove(dir->children + slot + 1, dir->children + slot,
                (dir->child_count - slot) * sizeof(struct sim_node *));
        dir->children[slot] = node;
        dir->child_count++;
    }
    if (old != NULL && old != node) {
        if (old->parent == dir && strcmp(old->name, name) == 0) {
            old->parent = NULL;
        }
        sim_node_unref(old);
    }
}

void sim_dir_set(struct sim_node *dir, const char *name, struct sim_node *node)
{
    struct sim_host *host = dir->host;
    struct sim_node *old = sim_dir_get(dir, name);
    if (old == NULL && node == NULL) {
        return;
    }
    if (host->journal_count == host->journal_capacity) {
        host->journal_capacity = host->journal_capacity > 0 ? host->journal_capacity * 2 : 32;
        host->journal = sim_realloc(host->journal, host->journal_capacity * sizeof(*host->journal));
    }
    struct sim_journal_entry *entry = &host->journal[host->journal_count++];
    entry->dir = dir;
    entry->name = sim_strdup(name);
    entry->before = old;
    entry->after = node;
    sim_node_ref(dir);
    if (old != NULL) {
        sim_node_ref(old);
    }
    if (node != NULL) {
        sim_node_ref(node);
    }
    dir_put(dir, name, node);
}

int sim_tree_mkdirs(struct sim_host *host, const char *path, mode_t mode)
{
    struct sim_node *node = host->root;
    char name[256];
    while (*path != '\0') {
        path += strspn(path, "/");
        size_t part = strcspn(path, "/");
        if (part == 0) {
            break;
        }
        if (part >= sizeof(name)) {
            return -ENAMETOOLONG;
        }
        memcpy(name, path, part);
        name[part] = '\0';
        struct sim_node *next = sim_dir_get(node, name);
        if (next == NULL) {
            next = sim_node_create(host, SIM_DIR, mode);
            sim_dir_set(node, name, next);
        } else if (next->type != SIM_DIR) {
            return -ENOTDIR;
        }
        node = next;
        path += part;
    }
    return 0;
}

/* ---- contents -------------------------------------------------------------------------------- */

static bool is_page_dirty(const struct sim_node *node, size_t number)
{
    for (size_t i = node->dirty_count; i > 0; i--) {
        if (node->dirty[i - 1].number == number) {
            return true;
        }
    }
    return false;
}

/* Keeps the disk's contents of the pages first to last before they change. */
static void remember_pages(struct sim_node *node, size_t first, size_t last)
{
    if (!node->is_dirty) {
        node->is_dirty = true;
        node->size_before = node->size;
    }
    size_t end = (node->size_before + SIM_PAGE - 1) / SIM_PAGE;
    for (size_t number = first; number <= last && number < end; number++) {
        if (is_page_dirty(node, number)) {
            continue;
        }
        if (node->dirty_count == node->dirty_capacity) {
            node->dirty_capacity = node->dirty_capacity > 0 ? node->dirty_capacity * 2 : 8;
            node->dirty = sim_realloc(node->dirty, node->dirty_capacity * sizeof(*node->dirty));
        }
        unsigned char *before = sim_alloc(SIM_PAGE);
        size_t from = number * SIM_PAGE;
        if (from < node->size) {
            size_t there = node->size - from < SIM_PAGE ? node->size - from : SIM_PAGE;
            memcpy(before, node->data + from, there);
        }
        node->dirty[node->dirty_count++] = (struct sim_page){number, before};
    }
}

static void reserve_bytes(struct sim_node *node, size_t size)
{
    if (size + 1 > node->capacity) {
        size_t capacity = node->capacity > 0 ? node->capacity : 256;
        while (capacity < size + 1) {
            capacity *= 2;
        }
        node->data = sim_realloc(node->data, capacity);
        node->capacity = capacity;
    }
}

static void set_size(struct sim_node *node, size_t size)
{
    reserve_bytes(node, size);
    if (size > node->size) {
        memset(node->data + node->size, 0, size - node->size);
    }
    node->size = size;
    node->data[size] = '\0';
}

static void cut_now(void *arg)
{
    struct sim_host *host = arg;
    sim_host_power_cut(host);
}

static void kill_now(void *arg)
{
    sim_kill(arg);
}

/* Returns whether this write must fail: by a planned error, or because the power or the process
 * ends here. */
static bool must_fail(struct sim_host *host, unsigned *errors)
{
    struct sim *sim = host->sim;
    struct sim_process *process = sim->current;
    if (host->failing || (process != NULL && process->failing)) {
        return true;
    }
    if (process == NULL || process->program->timed) {
        return false; /* a job that cannot write is the job's failure */
    }
    if (host->cut_ops > 0 && --host->cut_ops == 0) {
        host->failing = true;
        host->journal_limit = host->journal_count;
        (void)sim_at_host(host, sim->now_us, cut_now, host);
        return true;
    }
    if (process->kill_ops > 0 && --process->kill_ops == 0) {
        process->failing = true;
        (void)sim_at_process(process, sim->now_us, kill_now, process);
        return true;
    }
    if (*errors == 0) {
        return false;
    }
    (*errors)--;
    sim_count(sim, SIM_COUNT_DISK_ERRORS);
    sim_trace(sim, process, "disk error");
    host->disk_error_us = sim->now_us;
    return true;
}

int sim_node_write(struct sim_node *node, uint64_t offset, const void *data, size_t length)
{
    if (must_fail(node->host, &node->host->fail_writes)) {
        return -EIO;
    }
    uint64_t grown = offset + length;
    int refused = sim_disk_refusal(node->host, SIM_DISK_WRITE,
                                   grown > node->size ? (size_t)(grown - node->size) : 0);
    if (refused != 0) {
        return refused;
    }
    if (offset > FILE_SIZE_MAX || length > FILE_SIZE_MAX - offset) {
        return -EFBIG;
    }
    if (length == 0) {
        return 0;
    }
    size_t end = (size_t)offset + length;
    remember_pages(node, (size_t)offset / SIM_PAGE, (end - 1) / SIM_PAGE);
    if (end > node->size) {
        set_size(node, end);
    }
    memcpy(node->data + offset, data, length);
    node->mtime_s = sim_host_wall_ms(node->host) / 1000;
    return 0;
}

int sim_node_truncate(struct sim_node *node, size_t size)
{
    if (must_fail(node->host, &node->host->fail_writes)) {
        return -EIO;
    }
    int refused = sim_disk_refusal(node->host, SIM_DISK_WRITE, 0);
    if (refused != 0) {
        return refused;
    }
    if (size < node->size) {
        sim_disk_freed(node->host, node->size - size);
    }
    remember_pages(node, size / SIM_PAGE, node->size / SIM_PAGE);
    set_size(node, size);
    return 0;
}

/* ---- durability ------------------------------------------------------------------------------ */

static void journal_entry_free(struct sim_journal_entry *entry)
{
    sim_node_unref(entry->dir);
    sim_node_unref(entry->before);
    sim_node_unref(entry->after);
    sim_free(entry->name);
}

static void journal_commit(struct sim_host *host)
{
    for (size_t i = 0; i < host->journal_count; i++) {
        journal_entry_free(&host->journal[i]);
    }
    host->journal_count = 0;
}

void sim_tree_commit(struct sim_host *host)
{
    journal_commit(host);
}

int sim_tree_sync_dirs(struct sim_host *host)
{
    if (must_fail(host, &host->fail_syncs) || sim_disk_refusal(host, SIM_DISK_SYNC, 0) != 0) {
        return -EIO;
    }
    journal_commit(host);
    return 0;
}

int sim_node_sync(struct sim_node *node)
{
    if (must_fail(node->host, &node->host->fail_syncs) ||
        sim_disk_refusal(node->host, SIM_DISK_SYNC, 0) != 0) {
        return -EIO;
    }
    forget_dirty(node);
    journal_commit(node->host);
    return 0;
}

static void sync_below(struct sim_node *node)
{
    forget_dirty(node);
    for (size_t i = 0; i < node->child_count; i++) {
        sync_below(node->children[i]);
    }
}

void sim_tree_sync_all(struct sim_host *host)
{
    sync_below(host->root);
    journal_commit(host);
}

static void crash_file(struct sim_node *node)
{
    struct sim *sim = node->host->sim;
    size_t size_now = node->size;
    uint64_t mode = sim_between(sim, 0, 2); /* all gone, all there, some pages */
    for (size_t i = 0; i < node->dirty_count; i++) {
        if (mode == 0 || (mode == 2 && sim_chance(sim, 500))) {
            size_t from = node->dirty[i].number * SIM_PAGE;
            if (node->size < from + SIM_PAGE) {
                set_size(node, from + SIM_PAGE);
            }
            memcpy(node->data + from, node->dirty[i].before, SIM_PAGE);
            sim_count(sim, SIM_COUNT_LOST_WRITES);
        }
    }
    bool old_size = mode == 0 || (mode == 2 && sim_chance(sim, 500));
    set_size(node, old_size ? node->size_before : size_now);
    forget_dirty(node);
}

static void crash_below(struct sim_node *node)
{
    if (node->is_dirty) {
        crash_file(node);
    }
    node->locker = NULL;
    for (size_t i = 0; i < node->child_count; i++) {
        crash_below(node->children[i]);
    }
}

void sim_tree_crash(struct sim_host *host)
{
    struct sim *sim = host->sim;
    size_t keep = (size_t)sim_between(sim, 0, host->journal_limit);
    for (size_t i = host->journal_count; i > keep; i--) {
        struct sim_journal_entry *entry = &host->journal[i - 1];
        dir_put(entry->dir, entry->name, entry->before);
        sim_count(sim, SIM_COUNT_LOST_WRITES);
    }
    journal_commit(host);
    crash_below(host->root);
}

void sim_tree_destroy(struct sim_host *host)
{
    journal_commit(host);
    sim_free(host->journal);
    sim_node_unref(host->root);
}

/* ---- for tests and scenarios ----------------------------------------------------------------- */

void sim_file_put(struct sim_host *host, const char *path, const void *data, size_t length,
                  mode_t mode)
{
    char name[256], above[SIM_PATH_MAX];
    const char *slash = strrchr(path, '/');
    CHECK(slash != NULL);
    (void)snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
    CHECK(sim_tree_mkdirs(host, above, 0755) == 0);
    struct sim_node *dir = sim_tree_parent(host, path, name, sizeof(name));
    CHECK(dir != NULL);
    struct sim_node *node = sim_node_create(host, SIM_FILE, mode);
    set_size(node, length);
    memcpy(node->data, data, length);
    sim_dir_set(dir, name, node);
    journal_commit(host);
}

const char *sim_file_get(struct sim_host *host, const char *path, size_t *length)
{
    struct sim_node *node = sim_tree_find(host, path);
    if (node == NULL || node->type != SIM_FILE) {
        return NULL;
    }
    if (length != NULL) {
        *length = node->size;
    }
    return node->data != NULL ? (const char *)node->data : "";
}

void sim_program_put(struct sim_host *host, const char *path, const char *program)
{
    char text[256];
    int length = snprintf(text, sizeof(text), "#!/sim/%s\n", program);
    sim_file_put(host, path, text, (size_t)length, 0755);
}

void sim_disk_fail(struct sim_host *host, unsigned writes, unsigned syncs)
{
    host->fail_writes = writes;
    host->fail_syncs = syncs;
}

void sim_disk_fill(struct sim_host *host, uint64_t for_us)
{
    host->full_until_us = host->sim->now_us + for_us;
    sim_accident_until(host->sim, host->full_until_us);
}

void sim_disk_power_cut(struct sim_host *host, unsigned ops)
{
    host->cut_ops = ops;
}

void sim_disk_kill(struct sim_process *process, unsigned ops)
{
    process->kill_ops = ops;
}
