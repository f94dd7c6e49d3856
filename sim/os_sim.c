/* sim/os_sim.c - base/os/os.h for a simulated process: facts, users, files, locks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"

#define DISK_FREE_KIB (INT64_C(100) << 20)
/* space on a full disk: enough for small files, but files that are written find none */
#define DISK_FULL_KIB (INT64_C(20) << 10)

static struct sim_host *host_of(const struct os *os)
{
    return os->process->host;
}

/* ---- the machine ----------------------------------------------------------------------------- */

int32_t os_zone_offset_s(struct os *os, int64_t at_s)
{
    (void)os;
    (void)at_s;
    return 0;
}

const char *os_getenv(struct os *os, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; os->process->env[i] != NULL; i++) {
        const char *text = os->process->env[i];
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            return text + length + 1;
        }
    }
    return NULL;
}

const char *const *os_environment(struct os *os)
{
    return (const char *const *)os->process->env;
}

size_t os_cpu_numbers(struct os *os, uint32_t *ret, size_t max)
{
    size_t count = 0;
    for (; count < host_of(os)->cpus_now && count < max; count++) {
        ret[count] = (uint32_t)count;
    }
    return count;
}

void os_program_dir(struct os *os, char *ret, size_t size)
{
    (void)os;
    (void)snprintf(ret, size, "/sim"); /* programs have no files here */
}

int os_machine(struct os *os, struct os_machine *ret, struct err *err)
{
    (void)err;
    const struct sim_host *host = host_of(os);
    const char *boot_id = os_getenv(os, "ROOST_BOOT_ID");
    struct os_machine machine = {
        .boot_time_s = (sim_host_wall_ms(host) - (int64_t)(sim_host_up_us(host) / 1000)) / 1000,
        .arch = "X86_64",
        .opsys = "LINUX",
        .kernel = "6.1.0-sim",
        .cpus = host->cpus_now,
        .memory_mib = host->memory_mib,
    };
    (void)snprintf(machine.hostname, sizeof(machine.hostname), "%s", host->name);
    (void)snprintf(machine.boot_id, sizeof(machine.boot_id), "%s",
                   boot_id != NULL ? boot_id : host->boot_id);
    *ret = machine;
    return 0;
}

double os_load_average(struct os *os)
{
    double load = 0.0;
    const struct sim_link *head = &host_of(os)->processes;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        const struct sim_process *process = at->item;
        if (process->program->timed && !process->stopped) {
            load += 1.0;
        }
    }
    return load;
}

int64_t os_disk_free_kib(struct os *os, const char *path)
{
    char full[SIM_PATH_MAX];
    if (!sim_path(os->process->cwd, path, full) || sim_tree_find(host_of(os), full) == NULL) {
        return -ENOENT;
    }
    if (sim_disk_fault(host_of(os)) == -ENOSPC) {
        return (int64_t)(host_of(os)->faults.disk_room / 1024);
    }
    return host_of(os)->full_until_us > os->process->sim->now_us ? DISK_FULL_KIB : DISK_FREE_KIB;
}

bool os_disk_name(struct os *os, const char *path, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s (simulated)", path); /* cut if too long */
    return sim_disk_fault(host_of(os)) == -EROFS;
}

void os_idleness(struct os *os, const struct os_terminals *which, struct os_idleness *ret)
{
    const struct sim_host *host = host_of(os);
    int64_t idle_s = OS_NEVER_IDLE_S;
    (void)which;
    if (host->owner_came) {
        idle_s =
            host->owner_is_there ? 0 : (int64_t)((host->sim->now_us - host->owner_left_us) / SIM_S);
    }
    *ret = (struct os_idleness){.keyboard_s = idle_s, .console_s = idle_s};
}

/* ---- users ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uid_t uid;
} USERS[] = {{"root", 0}, {"roost", 1000}, {"alice", 1001}, {"bob", 1002}};

uid_t os_uid(struct os *os)
{
    return os->process->uid;
}

int os_become(struct os *os, uid_t uid, gid_t gid, struct err *err)
{
    (void)err;
    os->process->uid = uid;
    os->process->gid = gid;
    return 0;
}

int os_user_find(struct os *os, const char *name, uid_t *uid, gid_t *gid, struct err *err)
{
    (void)os;
    for (size_t i = 0; i < ARRAY_COUNT(USERS); i++) {
        if (strcmp(USERS[i].name, name) == 0) {
            *uid = USERS[i].uid;
            *gid = (gid_t)USERS[i].uid;
            return 0;
        }
    }
    return err_set(err, -ENOENT, "there is no user %s", name);
}

int os_user_home(struct os *os, const char *name, char *ret, size_t size, struct err *err)
{
    uid_t uid;
    gid_t gid;
    int rc = os_user_find(os, name, &uid, &gid, err);
    if (rc == 0 &&
        snprintf(ret, size, "/%s%s", strcmp(name, "root") == 0 ? "" : "home/", name) >= (int)size) {
        rc = err_set(err, -ENAMETOOLONG, "the home of %s is too long", name);
    }
    return rc;
}

int os_user_name(struct os *os, uid_t uid, char *ret, size_t size, struct err *err)
{
    (void)os;
    for (size_t i = 0; i < ARRAY_COUNT(USERS); i++) {
        if (USERS[i].uid == uid) {
            if (strlen(USERS[i].name) >= size) {
                return err_set(err, -ENAMETOOLONG, "the name of user %u is too long",
                               (unsigned)uid);
            }
            (void)snprintf(ret, size, "%s", USERS[i].name);
            return 0;
        }
    }
    return err_set(err, -ENOENT, "there is no user with uid %u", (unsigned)uid);
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct sim_node *find_node(struct os *os, const char *path)
{
    char full[SIM_PATH_MAX];
    return sim_path(os->process->cwd, path, full) ? sim_tree_find(host_of(os), full) : NULL;
}

static struct sim_node *find_parent(struct os *os, const char *path, char name[256])
{
    char full[SIM_PATH_MAX];
    return sim_path(os->process->cwd, path, full) ? sim_tree_parent(host_of(os), full, name, 256)
                                                  : NULL;
}

static int fail_path(struct err *err, int code, const char *path)
{
    return err_set(err, code, "%s: %s", path, err_code_text(code));
}

static void tell_placed(struct os *os, const char *path)
{
    struct sim *sim = os->process->sim;
    char full[SIM_PATH_MAX];
    if (sim_path(os->process->cwd, path, full)) {
        SIM_TELL(sim, file_placed, os->process, full);
    }
}

static void stat_node(const struct sim_node *node, struct os_stat *ret)
{
    *ret = (struct os_stat){
        .is_dir = node->type == SIM_DIR,
        .is_file = node->type == SIM_FILE,
        .size_bytes = (int64_t)(node->size > node->allocated ? node->size : node->allocated),
        .mtime_s = node->mtime_s,
        .mode = node->mode,
        .uid = node->uid,
        .gid = node->gid,
    };
}

int os_stat(struct os *os, const char *path, struct os_stat *ret)
{
    const struct sim_node *node = find_node(os, path);
    if (node == NULL) {
        return -ENOENT;
    }
    stat_node(node, ret);
    return 0;
}

int os_read_file(struct os *os, const char *path, size_t max_bytes, char **data, size_t *length,
                 struct err *err)
{
    const struct sim_node *node = find_node(os, path);
    if (node == NULL) {
        return fail_path(err, -ENOENT, path);
    }
    if (node->type != SIM_FILE) {
        return fail_path(err, node->type == SIM_DIR ? -EISDIR : -ENXIO, path);
    }
    if (node->size > max_bytes) {
        return fail_path(err, -EFBIG, path);
    }
    char *copy = mem_try_alloc(node->size + 1);
    if (copy == NULL) {
        return fail_path(err, -ENOMEM, path);
    }
    if (node->size > 0) {
        memcpy(copy, node->data, node->size);
    }
    copy[node->size] = '\0';
    *data = copy;
    if (length != NULL) {
        *length = node->size;
    }
    return 0;
}

int os_write_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                  bool durable, struct err *err)
{
    char name[256];
    struct sim_node *dir = find_parent(os, path, name);
    if (dir == NULL) {
        return fail_path(err, -ENOENT, path);
    }
    int refused = sim_disk_refusal(host_of(os), SIM_DISK_NAME, 0);
    if (refused != 0) {
        return fail_path(err, refused, path);
    }
    struct sim_node *old = sim_dir_get(dir, name);
    if (old != NULL && old->type == SIM_DIR) {
        return fail_path(err, -EISDIR, path);
    }
    struct sim_node *node = sim_node_create(host_of(os), SIM_FILE, mode);
    sim_node_ref(node);
    node->uid = os->process->uid;
    node->gid = os->process->gid;
    int code = sim_node_write(node, 0, data, length);
    if (code == 0 && durable) {
        code = sim_node_sync(node);
    }
    if (code == 0) {
        sim_dir_set(dir, name, node);
        tell_placed(os, path);
        if (durable) {
            code = sim_tree_sync_dirs(host_of(os));
        }
    }
    sim_node_unref(node);
    return code == 0 ? 0 : fail_path(err, code, path);
}

int os_rewrite_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                    struct err *err)
{
    return os_write_file(os, path, data, length, mode, false, err);
}

int os_mkdirs(struct os *os, const char *path, mode_t mode, struct err *err)
{
    char full[SIM_PATH_MAX];
    if (!sim_path(os->process->cwd, path, full)) {
        return fail_path(err, -ENAMETOOLONG, path);
    }
    int refused = sim_tree_find(host_of(os), full) == NULL
                      ? sim_disk_refusal(host_of(os), SIM_DISK_NAME, 0)
                      : 0;
    if (refused != 0) {
        return fail_path(err, refused, path);
    }
    int code = sim_tree_mkdirs(host_of(os), full, mode);
    return code == 0 ? 0 : fail_path(err, code, path);
}

int os_remove(struct os *os, const char *path, struct err *err)
{
    char name[256];
    struct sim_node *dir = find_parent(os, path, name);
    struct sim_node *node = dir != NULL ? sim_dir_get(dir, name) : NULL;
    if (node == NULL) {
        return 0;
    }
    if (node->child_count > 0) {
        return fail_path(err, -ENOTEMPTY, path);
    }
    int refused = sim_disk_refusal(host_of(os), SIM_DISK_NAME, 0);
    if (refused != 0) {
        return fail_path(err, refused, path);
    }
    sim_dir_set(dir, name, NULL);
    return 0;
}

int os_remove_tree(struct os *os, const char *path, struct err *err)
{
    char name[256];
    struct sim_node *dir = find_parent(os, path, name);
    if (dir == NULL || sim_dir_get(dir, name) == NULL) {
        return 0;
    }
    int refused = sim_disk_refusal(host_of(os), SIM_DISK_NAME, 0);
    if (refused != 0) {
        return fail_path(err, refused, path);
    }
    sim_dir_set(dir, name, NULL);
    return 0;
}

static void renew_node(struct os *os, struct sim_node *dir, const char *kept, mode_t mode)
{
    for (size_t i = dir->child_count; i-- > 0;) {
        struct sim_node *child = dir->children[i];
        if (kept != NULL && child->type == SIM_DIR && strcmp(child->name, kept) == 0) {
            renew_node(os, child, NULL, mode);
        } else {
            sim_dir_set(dir, child->name, NULL);
        }
    }
    dir->uid = os->process->uid;
    dir->gid = os->process->gid;
    dir->mode = mode & 07777;
}

int os_renew_directory(struct os *os, const char *path, const char *kept, mode_t mode,
                       struct err *err)
{
    struct sim_node *dir = find_node(os, path);
    if (dir == NULL || dir->type != SIM_DIR) {
        return fail_path(err, dir == NULL ? -ENOENT : -ENOTDIR, path);
    }
    int refused = sim_disk_refusal(host_of(os), SIM_DISK_NAME, 0);
    if (refused != 0) {
        return fail_path(err, refused, path);
    }
    renew_node(os, dir, kept, mode);
    return 0;
}

int os_rename(struct os *os, const char *from, const char *to, bool durable, struct err *err)
{
    char from_name[256], to_name[256];
    struct sim_node *from_dir = find_parent(os, from, from_name);
    struct sim_node *to_dir = find_parent(os, to, to_name);
    struct sim_node *node = from_dir != NULL ? sim_dir_get(from_dir, from_name) : NULL;
    if (node == NULL || to_dir == NULL) {
        return fail_path(err, -ENOENT, node == NULL ? from : to);
    }
    const struct sim_node *old = sim_dir_get(to_dir, to_name);
    if (old == node) {
        return 0;
    }
    if (old != NULL && old->type == SIM_DIR && (node->type != SIM_DIR || old->child_count > 0)) {
        return fail_path(err, node->type == SIM_DIR ? -ENOTEMPTY : -EISDIR, to);
    }
    int refused = sim_disk_refusal(host_of(os), SIM_DISK_NAME, 0);
    if (refused != 0) {
        return fail_path(err, refused, to);
    }
    sim_node_ref(node);
    sim_dir_set(from_dir, from_name, NULL);
    sim_dir_set(to_dir, to_name, node);
    sim_node_unref(node);
    tell_placed(os, to);
    int code = durable ? sim_tree_sync_dirs(host_of(os)) : 0;
    return code == 0 ? 0 : fail_path(err, code, to);
}

int os_chown(struct os *os, const char *path, uid_t uid, gid_t gid, struct err *err)
{
    struct sim_node *node = find_node(os, path);
    if (node == NULL) {
        return fail_path(err, -ENOENT, path);
    }
    node->uid = uid;
    node->gid = gid;
    return 0;
}

int os_chmod(struct os *os, const char *path, mode_t mode, struct err *err)
{
    struct sim_node *node = find_node(os, path);
    if (node == NULL) {
        return fail_path(err, -ENOENT, path);
    }
    node->mode = mode & 07777;
    return 0;
}

int os_list(struct os *os, const char *path, void (*each)(void *arg, const char *name), void *arg,
            struct err *err)
{
    const struct sim_node *dir = find_node(os, path);
    if (dir == NULL || dir->type != SIM_DIR) {
        return fail_path(err, dir == NULL ? -ENOENT : -ENOTDIR, path);
    }
    size_t count = dir->child_count;
    char **names = sim_alloc((count + 1) * sizeof(char *));
    for (size_t i = 0; i < count; i++) {
        names[i] = sim_strdup(dir->children[i]->name);
    }
    for (size_t i = 0; i < count; i++) {
        each(arg, names[i]);
        sim_free(names[i]);
    }
    sim_free(names);
    return 0;
}

int os_absolute(struct os *os, const char *path, char **ret, struct err *err)
{
    char full[SIM_PATH_MAX];
    if (!sim_path(os->process->cwd, path, full)) {
        return fail_path(err, -ENAMETOOLONG, path);
    }
    *ret = mem_strdup(full);
    return 0;
}

bool os_is_device(struct os *os, const char *path)
{
    (void)os;
    (void)path;
    return false; /* its disks have none */
}

bool os_is_network_fs(struct os *os, const char *path)
{
    (void)os;
    (void)path;
    return false;
}

const char *os_sqlite_vfs(struct os *os)
{
    return host_of(os)->vfs_name;
}

/* ---- open files ------------------------------------------------------------------------------ */

struct os_file {
    struct sim_link link;
    struct sim_node *node;
    bool append, writable;
};

int os_file_open_as(struct os *os, const char *path, uid_t uid, gid_t gid, struct os_file **ret,
                    struct err *err)
{
    (void)uid;
    (void)gid; /* all is one account */
    return os_file_open(os, path, OS_READ, 0, ret, err);
}

int os_file_open(struct os *os, const char *path, enum os_open how, mode_t mode,
                 struct os_file **ret, struct err *err)
{
    char name[256];
    struct sim_node *dir = find_parent(os, path, name);
    struct sim_node *node = dir != NULL ? sim_dir_get(dir, name) : NULL;
    if (dir == NULL || (node == NULL && how == OS_READ)) {
        return fail_path(err, -ENOENT, path);
    }
    if (node != NULL && (how == OS_WRITE_NEW || node->type != SIM_FILE)) {
        return fail_path(err, how == OS_WRITE_NEW ? -EEXIST : -EISDIR, path);
    }
    int refused = how != OS_READ ? sim_disk_refusal(host_of(os), SIM_DISK_NAME, 0) : 0;
    if (refused != 0) {
        return fail_path(err, refused, path);
    }
    if (node == NULL) {
        node = sim_node_create(host_of(os), SIM_FILE, mode);
        node->uid = os->process->uid;
        node->gid = os->process->gid;
        sim_dir_set(dir, name, node);
    } else if (how == OS_WRITE_TRUNCATE) {
        int code = sim_node_truncate(node, 0);
        if (code != 0) {
            return fail_path(err, code, path);
        }
        sim_disk_freed(host_of(os), node->allocated);
        node->allocated = 0;
    }
    struct os_file *file = sim_alloc(sizeof(*file));
    file->node = node;
    file->append = how == OS_APPEND;
    file->writable = how != OS_READ;
    sim_node_ref(node);
    sim_list_add(&os->process->files, &file->link, file);
    *ret = file;
    return 0;
}

ssize_t os_file_read(struct os_file *file, uint64_t offset, void *data, size_t length)
{
    const struct sim_node *node = file->node;
    if (offset >= node->size) {
        return 0;
    }
    size_t there = node->size - (size_t)offset;
    size_t part = there < length ? there : length;
    memcpy(data, node->data + offset, part);
    return (ssize_t)part;
}

int os_file_write(struct os_file *file, uint64_t offset, const void *data, size_t length)
{
    if (!file->writable) {
        return -EBADF;
    }
    const struct sim_host *host = file->node->host;
    if (host->full_until_us > host->sim->now_us) {
        return -ENOSPC;
    }
    return sim_node_write(file->node, file->append ? file->node->size : offset, data, length);
}

int os_file_allocate(struct os_file *file, uint64_t length)
{
    struct sim_host *host = file->node->host;
    int code = sim_disk_refusal(host, SIM_DISK_WRITE, (size_t)length);
    if (code == 0 && host->full_until_us > host->sim->now_us) {
        code = -ENOSPC;
    }
    file->node->allocated = code == 0 ? (size_t)length : file->node->allocated;
    return code;
}

int os_file_sync(struct os_file *file)
{
    return sim_node_sync(file->node);
}

int64_t os_file_size(const struct os_file *file)
{
    return (int64_t)file->node->size;
}

int os_file_chmod(struct os_file *file, mode_t mode)
{
    file->node->mode = mode & 07777;
    return 0;
}

int os_file_chown(struct os_file *file, uid_t uid, gid_t gid)
{
    file->node->uid = uid;
    file->node->gid = gid;
    return 0;
}

void os_file_stat(const struct os_file *file, struct os_stat *ret)
{
    stat_node(file->node, ret);
}

int os_file_lock(struct os_file *file)
{
    (void)file; /* a work on a lane is one step here: nobody comes in between */
    return 0;
}

void os_file_close(struct os_file *file)
{
    if (file != NULL) {
        sim_list_remove(&file->link);
        sim_node_unref(file->node);
        sim_free(file);
    }
}

/* ---- locks ----------------------------------------------------------------------------------- */

struct os_lock {
    struct sim_link link;
    struct sim_node *node;
};

int os_lock(struct os *os, const char *path, struct os_lock **ret, pid_t *holder, struct err *err)
{
    char name[256];
    struct sim_node *dir = find_parent(os, path, name);
    if (dir == NULL) {
        return fail_path(err, -ENOENT, path);
    }
    struct sim_node *node = sim_dir_get(dir, name);
    if (node == NULL) {
        node = sim_node_create(host_of(os), SIM_FILE, 0644);
        sim_dir_set(dir, name, node);
    }
    if (sim_disk_fault(host_of(os)) == -EROFS) {
        return fail_path(err, -EROFS, path);
    }
    if (node->locker != NULL) {
        pid_t pid = node->locker->pid;
        if (holder != NULL) {
            *holder = pid;
        }
        return err_set(err, -EAGAIN, "%s: process %d holds this lock", path, (int)pid);
    }
    char *text =
        sim_text("%d\n%llu\n", (int)os->process->pid, (unsigned long long)os->process->start_time);
    (void)sim_node_truncate(node, 0);
    (void)sim_node_write(node, 0, text, strlen(text));
    sim_free(text);
    struct os_lock *lock = sim_alloc(sizeof(*lock));
    lock->node = node;
    node->locker = os->process;
    sim_node_ref(node);
    sim_list_add(&os->process->locks, &lock->link, lock);
    *ret = lock;
    return 0;
}

void os_lock_note(struct os_lock *lock, const char *line)
{
    char *text = sim_text("%s\n", line);
    (void)sim_node_write(lock->node, lock->node->size, text, strlen(text));
    sim_free(text);
}

void os_unlock(struct os_lock *lock)
{
    if (lock != NULL) {
        lock->node->locker = NULL;
        sim_list_remove(&lock->link);
        sim_node_unref(lock->node);
        sim_free(lock);
    }
}

pid_t os_lock_holder(struct os *os, const char *path)
{
    const struct sim_node *node = find_node(os, path);
    return node != NULL && node->locker != NULL ? node->locker->pid : 0;
}

void sim_files_drop(struct sim_process *process)
{
    struct os_file *file;
    while ((file = sim_list_first(&process->files)) != NULL) {
        os_file_close(file);
    }
    struct os_lock *lock;
    while ((lock = sim_list_first(&process->locks)) != NULL) {
        os_unlock(lock);
    }
}
