/* ckpt/dump/dump_nameless_linux.c - contents without a name: memory that processes share, and
 * removed files.
 *
 * Each is in the table of files once, whoever maps it or has it open, and however often: it will be
 * shared again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ckpt/dump/dump.h"

struct shared_memory { /* in the table of files */
    uint64_t device, inode;
    char *name;
    uint32_t file;
    bool is_whole; /* its contents are those of an open file */
};

/* Some file systems report another device for a mapping than stat() does: then the name decides. */
static struct shared_memory *find_memory(struct dump *dump, uint64_t device, uint64_t inode,
                                         const char *name)
{
    for (size_t i = 0; i < dump->shared_count; i++) {
        struct shared_memory *shared = &dump->shared[i];
        if (shared->inode == inode &&
            (shared->device == device || strcmp(shared->name, name) == 0)) {
            return shared;
        }
    }
    return NULL;
}

static struct shared_memory *add_memory(struct dump *dump, uint64_t device, uint64_t inode,
                                        const char *name)
{
    bool memory = strncmp(name, "/memfd:", strlen("/memfd:")) == 0 ||
                  strncmp(name, "/dev/zero", strlen("/dev/zero")) == 0 || name[0] != '/';
    const struct ckpt_file file = {.kind = CKPT_MEMORY_FILE,
                                   .mode = S_IFREG | 0600,
                                   .flags = O_RDWR,
                                   .detail = memory ? CKPT_IN_MEMORY : CKPT_ON_DISK,
                                   .path = tables_text(&dump->tables, name)};
    const struct shared_memory shared = {.device = device,
                                         .inode = inode,
                                         .name = mem_strdup(name),
                                         .file = tables_add(&dump->tables, CKPT_FILES, &file)};
    dump->shared = mem_realloc(dump->shared, (dump->shared_count + 1) * sizeof *dump->shared);
    dump->shared[dump->shared_count] = shared;
    return &dump->shared[dump->shared_count++];
}

uint32_t dump_shared_memory(struct dump *dump, const struct map *map)
{
    struct shared_memory *shared = find_memory(dump, map->device, map->inode, map->name);
    shared = shared != NULL ? shared : add_memory(dump, map->device, map->inode, map->name);
    return shared->file;
}

uint32_t dump_nameless_file(struct dump *dump, const struct stat *st, const char *path,
                            bool *ret_new)
{
    struct shared_memory *shared = find_memory(dump, st->st_dev, st->st_ino, path);
    shared = shared != NULL ? shared : add_memory(dump, st->st_dev, st->st_ino, path);
    *ret_new = !shared->is_whole;
    shared->is_whole = true;
    return shared->file;
}

bool dump_is_whole(const struct dump *dump, uint32_t file)
{
    for (size_t i = 0; i < dump->shared_count; i++) {
        if (dump->shared[i].file == file) {
            return dump->shared[i].is_whole;
        }
    }
    return false;
}

void dump_fini_shared(struct dump *dump)
{
    for (size_t i = 0; i < dump->shared_count; i++) {
        mem_free(dump->shared[i].name);
    }
    mem_free(dump->shared);
}
