/* sim/vfs_sim.c - an SQLite VFS for each simulated machine, over its tree of files.
 *
 * Stores open their files with locking_mode=EXCLUSIVE, so no shared memory is offered.  A handle
 * belongs to the process that opened it.  When that process dies, the handle is dead: it holds no
 * lock, and whatever SQLite still does with it while it is released does not reach the disk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "base/check.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"

struct sim_vfs {
    sqlite3_vfs vfs; /* must be first: SQLite passes it back */
    struct sim_host *host;
};

struct sim_vfs_file {
    sqlite3_file base; /* must be first */
    struct sim_node *node;
    struct sim_host *host;
    struct sim_link link;      /* in the list of its process */
    struct sim_vfs_file *next; /* the next handle of the same node */
    char *delete_path;
    int lock;
    bool dead;
};

static struct sim_vfs_file *file_of(sqlite3_file *file)
{
    return (struct sim_vfs_file *)(void *)file;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int vfs_close(sqlite3_file *base)
{
    struct sim_vfs_file *file = file_of(base);
    for (struct sim_vfs_file **at = &file->node->vfs_files; *at != NULL; at = &(*at)->next) {
        if (*at == file) {
            *at = file->next;
            break;
        }
    }
    sim_list_remove(&file->link);
    if (file->delete_path != NULL && !file->dead) {
        char name[256];
        struct sim_node *dir = sim_tree_parent(file->host, file->delete_path, name, sizeof(name));
        if (dir != NULL) {
            sim_dir_set(dir, name, NULL);
        }
    }
    sim_free(file->delete_path);
    sim_node_unref(file->node);
    return SQLITE_OK;
}

static int vfs_read(sqlite3_file *base, void *data, int length, sqlite3_int64 offset)
{
    const struct sim_node *node = file_of(base)->node;
    size_t want = (size_t)length, from = (size_t)offset;
    size_t there = from < node->size ? node->size - from : 0;
    size_t part = there < want ? there : want;
    if (part > 0) {
        memcpy(data, node->data + from, part);
    }
    if (part == want) {
        return SQLITE_OK;
    }
    memset((char *)data + part, 0, want - part);
    return SQLITE_IOERR_SHORT_READ;
}

/* Returns what SQLite makes of a result of the disk; its errno can be asked for. */
static int told(struct sim_vfs_file *file, int code, int error)
{
    file->host->faults.last_errno = -code;
    return code == 0 ? SQLITE_OK : code == -ENOSPC ? SQLITE_FULL : error;
}

static int vfs_write(sqlite3_file *base, const void *data, int length, sqlite3_int64 offset)
{
    struct sim_vfs_file *file = file_of(base);
    return file->dead
               ? SQLITE_IOERR_WRITE
               : told(file, sim_node_write(file->node, (uint64_t)offset, data, (size_t)length),
                      SQLITE_IOERR_WRITE);
}

static int vfs_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct sim_vfs_file *file = file_of(base);
    return file->dead
               ? SQLITE_IOERR_TRUNCATE
               : told(file, sim_node_truncate(file->node, (size_t)size), SQLITE_IOERR_TRUNCATE);
}

static int vfs_sync(sqlite3_file *base, int flags)
{
    (void)flags;
    struct sim_vfs_file *file = file_of(base);
    return file->dead || sim_node_sync(file->node) != 0 ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int vfs_size(sqlite3_file *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)file_of(base)->node->size;
    return SQLITE_OK;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Returns the strongest lock that another handle has. */
static int strongest_other(const struct sim_vfs_file *file)
{
    int lock = SQLITE_LOCK_NONE;
    for (const struct sim_vfs_file *at = file->node->vfs_files; at != NULL; at = at->next) {
        if (at != file && !at->dead && at->lock > lock) {
            lock = at->lock;
        }
    }
    return lock;
}

static int vfs_lock(sqlite3_file *base, int level)
{
    struct sim_vfs_file *file = file_of(base);
    if (file->dead || file->lock >= level) {
        return SQLITE_OK;
    }
    int other = strongest_other(file);
    if (level == SQLITE_LOCK_SHARED && other >= SQLITE_LOCK_PENDING) {
        return SQLITE_BUSY;
    }
    if (level >= SQLITE_LOCK_RESERVED && other >= SQLITE_LOCK_RESERVED) {
        return SQLITE_BUSY;
    }
    if (level == SQLITE_LOCK_EXCLUSIVE && other >= SQLITE_LOCK_SHARED) {
        file->lock = SQLITE_LOCK_PENDING;
        return SQLITE_BUSY;
    }
    file->lock = level;
    return SQLITE_OK;
}

static int vfs_unlock(sqlite3_file *base, int level)
{
    struct sim_vfs_file *file = file_of(base);
    if (file->lock > level) {
        file->lock = level;
    }
    return SQLITE_OK;
}

static int vfs_check_reserved(sqlite3_file *base, int *ret)
{
    struct sim_vfs_file *file = file_of(base);
    *ret = file->lock >= SQLITE_LOCK_RESERVED || strongest_other(file) >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

static int vfs_control(sqlite3_file *base, int operation, void *arg)
{
    (void)base;
    (void)operation;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int vfs_sector_size(sqlite3_file *base)
{
    (void)base;
    return SIM_PAGE;
}

static int vfs_characteristics(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* sim_tree_crash() takes back whole pages */
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 1,
    .xClose = vfs_close,
    .xRead = vfs_read,
    .xWrite = vfs_write,
    .xTruncate = vfs_truncate,
    .xSync = vfs_sync,
    .xFileSize = vfs_size,
    .xLock = vfs_lock,
    .xUnlock = vfs_unlock,
    .xCheckReservedLock = vfs_check_reserved,
    .xFileControl = vfs_control,
    .xSectorSize = vfs_sector_size,
    .xDeviceCharacteristics = vfs_characteristics,
};

/* ---- names ----------------------------------------------------------------------------------- */

static struct sim_host *host_of(sqlite3_vfs *vfs)
{
    return ((struct sim_vfs *)(void *)vfs)->host;
}

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *base, int flags,
                    int *out_flags)
{
    struct sim_host *host = host_of(vfs);
    struct sim_vfs_file *file = file_of(base);
    struct sim_node *node = NULL;
    memset(file, 0, sizeof(*file));
    if (path == NULL) {
        node = sim_node_create(host, SIM_FILE, 0600);
    } else {
        char name[256];
        struct sim_node *dir = sim_tree_parent(host, path, name, sizeof(name));
        node = dir != NULL ? sim_dir_get(dir, name) : NULL;
        if (dir == NULL || (node == NULL && (flags & SQLITE_OPEN_CREATE) == 0) ||
            (node != NULL && node->type != SIM_FILE)) {
            return SQLITE_CANTOPEN;
        }
        if (node == NULL && sim_disk_refusal(host, SIM_DISK_NAME, 0) != 0) {
            host->faults.last_errno = EROFS;
            return SQLITE_CANTOPEN;
        }
        if (node == NULL) {
            node = sim_node_create(host, SIM_FILE, 0600);
            sim_dir_set(dir, name, node);
        }
    }
    sim_node_ref(node);
    file->base.pMethods = &METHODS;
    file->node = node;
    file->host = host;
    file->next = node->vfs_files;
    node->vfs_files = file;
    if (path != NULL && (flags & SQLITE_OPEN_DELETEONCLOSE) != 0) {
        file->delete_path = sim_strdup(path);
    }
    if (host->sim->current != NULL) {
        sim_list_add(&host->sim->current->vfs_files, &file->link, file);
    }
    if (out_flags != NULL) {
        *out_flags = flags;
    }
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_dir)
{
    struct sim_host *host = host_of(vfs);
    char name[256];
    struct sim_node *dir = sim_tree_parent(host, path, name, sizeof(name));
    if (dir == NULL || sim_dir_get(dir, name) == NULL) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    if (sim_disk_refusal(host, SIM_DISK_NAME, 0) != 0) {
        host->faults.last_errno = EROFS;
        return SQLITE_IOERR_DELETE;
    }
    sim_dir_set(dir, name, NULL);
    return sync_dir && sim_tree_sync_dirs(host) != 0 ? SQLITE_IOERR_DIR_FSYNC : SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret)
{
    (void)flags;
    const struct sim_node *node = sim_tree_find(host_of(vfs), path);
    *ret = node != NULL;
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
    const struct sim *sim = host_of(vfs)->sim;
    char full[SIM_PATH_MAX];
    if (!sim_path(sim->current != NULL ? sim->current->cwd : "/", path, full) ||
        strlen(full) >= (size_t)size) {
        return SQLITE_CANTOPEN;
    }
    (void)snprintf(out, (size_t)size, "%s", full);
    return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *vfs, int length, char *out)
{
    rng_bytes(&host_of(vfs)->sim->rng, out, (size_t)length);
    return length;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs; /* nobody could let go of a lock meanwhile */
    return us;
}

static int vfs_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
    /* milliseconds of the Julian day */
    *ret = sim_host_wall_ms(host_of(vfs)) + INT64_C(210866760000000);
    return SQLITE_OK;
}

static int vfs_time(sqlite3_vfs *vfs, double *ret)
{
    sqlite3_int64 ms = 0;
    (void)vfs_time_ms(vfs, &ms);
    *ret = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)size;
    (void)out;
    return host_of(vfs)->faults.last_errno;
}

void sim_vfs_create(struct sim_host *host)
{
    struct sim_vfs *vfs = sim_alloc(sizeof(*vfs));
    host->vfs_name = sim_text("sim-%s", host->name);
    host->vfs = vfs;
    vfs->host = host;
    vfs->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(struct sim_vfs_file),
        .mxPathname = SIM_PATH_MAX - 1,
        .zName = host->vfs_name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_time_ms,
    };
    CHECK(sqlite3_vfs_register(&vfs->vfs, 0) == SQLITE_OK);
}

void sim_vfs_destroy(struct sim_host *host)
{
    (void)sqlite3_vfs_unregister(&host->vfs->vfs);
    sim_free(host->vfs);
    sim_free(host->vfs_name);
}

void sim_vfs_files_drop(struct sim_process *process)
{
    struct sim_vfs_file *file;
    while ((file = sim_list_first(&process->vfs_files)) != NULL) {
        file->dead = true;
        file->lock = SQLITE_LOCK_NONE;
        sim_list_remove(&file->link);
    }
}
