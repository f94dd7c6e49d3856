/* shadow/stage/stage_files.h - the files of a run's output as they arrive.  To be used on the run's
 * lane (worker thread) only.
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

/* Up to this number of output files, each file is synced by itself; with more files, the whole file
 * system is synced once. */
#define STAGE_SYNC_EACH_MAX 16

struct staged {                /* a file that arrives */
    struct os_file *file;      /* open file; NULL once it is complete */
    struct digest *digest;     /* checksum of the bytes that have arrived */
    uint64_t offset;           /* bytes that have arrived */
    int64_t size;              /* size that the starter announced */
    char hex[DIGEST_HEX_SIZE]; /* checksum of the complete file */
};

struct stage_files {
    struct strmap *by_name;   /* maps names to struct staged */
    char *made;               /* the directory made last in the stage */
    char *in_hand;            /* name of the file that began to arrive last */
    bool has_stage;           /* the stage's directory exists */
    bool has_trees;           /* some output is in subdirectories, or is not a plain file */
    int64_t bytes, bytes_max; /* sum of the announced sizes, and its limit (-1: no limit) */
};

/* Initializes *files without any file.  bytes_max: limit for the sum of the announced sizes; -1: no
 * limit. */
void stage_files_init(struct stage_files *files, int64_t bytes_max);
void stage_files_fini(struct stage_files *files); /* frees all entries and closes open files */

/* Returns the file with this name; NULL when there is no such file. */
struct staged *stage_files_find(const struct stage_files *files, const char *name);
/* Adds a file; `files` owns it from now on.  No other file may have this name. */
void stage_files_add(struct stage_files *files, const char *name, struct staged *staged);
/* Frees the file with this name, if there is one; its announced size no longer counts. */
void stage_files_forget(struct stage_files *files, const char *name);
/* To be called when a file begins to arrive.  Files arrive one after the other, so if the file
 * before is not complete it is forgotten: a starter that begins many files must not use up the
 * shadow's file descriptors. */
void stage_files_take_in_hand(struct stage_files *files, const char *name);
/* number of files that have begun to arrive */
size_t stage_files_count(const struct stage_files *files);
/* Frees a file that was not added; NULL is allowed. */
void stage_files_destroy(struct staged *staged);

#endif
