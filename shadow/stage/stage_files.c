/* shadow/stage/stage_files.c - see stage_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/stage/stage_files.h"

#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"

void stage_files_destroy(struct staged *staged)
{
    if (staged != NULL) {
        os_file_close(staged->file);
        digest_destroy(staged->digest);
        mem_free(staged);
    }
}

void stage_files_init(struct stage_files *files, int64_t bytes_max)
{
    *files = (struct stage_files){.by_name = strmap_create(STRMAP_CASE_SENSITIVE),
                                  .bytes_max = bytes_max};
}

static void destroy_staged(void *value)
{
    stage_files_destroy(value);
}

void stage_files_fini(struct stage_files *files)
{
    strmap_destroy(files->by_name, destroy_staged);
    mem_free(files->made);
    mem_free(files->in_hand);
}

struct staged *stage_files_find(const struct stage_files *files, const char *name)
{
    return strmap_get(files->by_name, name);
}

void stage_files_add(struct stage_files *files, const char *name, struct staged *staged)
{
    (void)strmap_set(files->by_name, name, staged); /* was not there */
}

void stage_files_forget(struct stage_files *files, const char *name)
{
    struct staged *old = strmap_remove(files->by_name, name);
    files->bytes -= old != NULL ? old->size : 0;
    stage_files_destroy(old);
}

void stage_files_take_in_hand(struct stage_files *files, const char *name)
{
    const struct staged *before =
        files->in_hand != NULL ? strmap_get(files->by_name, files->in_hand) : NULL;
    if (before != NULL && before->file != NULL && strcmp(files->in_hand, name) != 0) {
        stage_files_forget(files, files->in_hand);
    }
    mem_free(files->in_hand);
    files->in_hand = mem_strdup(name);
}

size_t stage_files_count(const struct stage_files *files)
{
    return strmap_count(files->by_name);
}
