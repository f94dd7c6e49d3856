/* shadow/stage/stage_files.h - files of a run's output that arrive: what there is of each.  On the
 * run's lane only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_FILES_H
#define SHADOW_STAGE_STAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"

struct os_file;
struct strmap;

/* Up to so many entries each file is synced by itself; more, the whole file system once. */
#define STAGE_SYNC_EACH_MAX 16

struct staged {           /* a file that arrives */
    struct os_file *file; /* NULL once it is complete */
    struct digest *digest;
    uint64_t offset;
    int64_t size; /* as it was said */
    char hex[DIGEST_HEX_SIZE];
};

struct stage_files {
    struct strmap *by_name;   /* struct staged */
    char *made;               /* the directory of the stage that was made last */
    char *in_hand;            /* the file that was begun last */
    bool has_stage;           /* the directory was made */
    bool has_trees;           /* not all is at its top */
    int64_t bytes, bytes_max; /* as their senders said; the latter -1: any */
};

void stage_files_init(struct stage_files *files, int64_t bytes_max);
void stage_files_fini(struct stage_files *files); /* closes what is open */

struct staged *stage_files_find(const struct stage_files *files, const char *name); /* or NULL */
/* It is there from now on, by a name that nothing else has. */
void stage_files_add(struct stage_files *files, const char *name, struct staged *staged);
void stage_files_forget(struct stage_files *files, const char *name);
/* They come one after the other: a starter that begins another without an end of the one before
 * would only use up our descriptors. */
void stage_files_take_in_hand(struct stage_files *files, const char *name);
size_t stage_files_count(const struct stage_files *files);
/* One that was not added; NULL is allowed. */
void stage_files_destroy(struct staged *staged);

#endif
