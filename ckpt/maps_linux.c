/* ckpt/maps_linux.c - the memory of another process: see maps_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/maps_linux.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/format.h"

static struct map *add_map(struct maps *maps)
{
    if (maps->count == maps->capacity) {
        maps->capacity = maps->capacity > 0 ? maps->capacity * 2 : 64;
        maps->items = mem_realloc(maps->items, maps->capacity * sizeof *maps->items);
    }
    return &maps->items[maps->count++];
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE   NAME" */
static bool see_header(struct maps *maps, char *line)
{
    uint64_t start, end, offset, inode;
    unsigned major, minor;
    char prot[5];
    int length = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &start, &end,
               prot, &offset, &major, &minor, &inode, &length) != 7) {
        return false;
    }
    struct map *map = add_map(maps);
    *map = (struct map){.start = start,
                        .end = end,
                        .offset = offset,
                        .device = makedev(major, minor),
                        .inode = inode,
                        .name = mem_strdup(line + length)};
    map->prot = (prot[0] == 'r' ? (uint32_t)PROT_READ : 0) |
                (prot[1] == 'w' ? (uint32_t)PROT_WRITE : 0) |
                (prot[2] == 'x' ? (uint32_t)PROT_EXEC : 0);
    map->flags = prot[3] == 's' ? CKPT_SHARED : 0;
    return true;
}

/* "VmFlags: rd wr mr mw me gd" */
static void see_flags(struct map *map, char *words)
{
    static const struct {
        const char *word;
        uint32_t flag;
    } FLAGS[] = {{"gd", CKPT_GROWSDOWN}, {"dc", CKPT_DONTFORK},  {"wf", CKPT_WIPEONFORK},
                 {"dd", CKPT_DONTDUMP},  {"nr", CKPT_NORESERVE}, {"hg", CKPT_HUGE},
                 {"nh", CKPT_NOHUGE},    {"lo", CKPT_LOCKED},    {"mw", CKPT_MAY_WRITE}};
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
            map->flags |= strcmp(word, FLAGS[i].word) == 0 ? FLAGS[i].flag : 0;
        }
        map->may_write = map->may_write || strcmp(word, "mw") == 0;
        map->is_huge = map->is_huge || strcmp(word, "ht") == 0;
        map->is_shadow_stack = map->is_shadow_stack || strcmp(word, "ss") == 0;
        map->is_odd = map->is_odd || strcmp(word, "io") == 0 || strcmp(word, "pf") == 0;
    }
}

/* "Rss:      123 kB" and so on: pages in memory, and those that are swapped out. */
static void see_figure(struct map *map, const char *line)
{
    uint64_t kib;
    if (sscanf(line, "Rss: %" SCNu64, &kib) == 1) {
        map->present_bytes += kib * 1024;
    } else if (sscanf(line, "Anonymous: %" SCNu64, &kib) == 1) {
        map->anonymous_bytes += kib * 1024;
    } else if (sscanf(line, "Swap: %" SCNu64, &kib) == 1) {
        map->present_bytes += kib * 1024;
        map->anonymous_bytes += kib * 1024;
    }
}

int maps_read(pid_t pid, struct maps *maps, struct err *err)
{
    static const char *const FLAGS = "VmFlags: ";
    char path[64], line[8192]; /* a name has 4096 bytes at most */
    *maps = (struct maps){.items = NULL};
    (void)snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return err_set(err, -errno, "process %d: cannot read its memory: %s", (int)pid,
                       err_code_text(-errno));
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, FLAGS, strlen(FLAGS)) == 0 && maps->count > 0) {
            see_flags(&maps->items[maps->count - 1], line + strlen(FLAGS));
        } else if (!see_header(maps, line) && maps->count > 0) {
            see_figure(&maps->items[maps->count - 1], line);
        }
    }
    int rc = ferror(file) != 0 ? -EIO : 0;
    (void)fclose(file);
    return rc != 0 ? err_set(err, rc, "%s: %s", path, err_code_text(rc)) : 0;
}

bool maps_find(pid_t pid, const char *name, uint64_t *ret_start, uint64_t *ret_end)
{
    char path[64], line[8192];
    struct maps maps = {.items = NULL};
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        (void)see_header(&maps, line);
    }
    (void)fclose(file);
    const struct map *found = maps_named(&maps, name);
    if (found != NULL) {
        *ret_start = found->start;
        *ret_end = found->end;
    }
    maps_fini(&maps);
    return found != NULL;
}

void maps_fini(struct maps *maps)
{
    for (size_t i = 0; i < maps->count; i++) {
        mem_free(maps->items[i].name);
    }
    mem_free(maps->items);
    *maps = (struct maps){.items = NULL};
}

const struct map *maps_named(const struct maps *maps, const char *name)
{
    for (size_t i = 0; i < maps->count; i++) {
        if (strcmp(maps->items[i].name, name) == 0) {
            return &maps->items[i];
        }
    }
    return NULL;
}

bool maps_is_free(const struct maps *maps, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < maps->count; i++) {
        if (maps->items[i].start < end && maps->items[i].end > start) {
            return false;
        }
    }
    return true;
}
