/* base/strmap.h - a hash map from text to pointer.
 *
 * Keys are copied; values are the caller's.  Iteration is in order of insertion, so that what a
 * daemon does does not depend on a hash seed (the simulator needs runs that repeat).  O(1) for all
 * but iteration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STRMAP_H
#define BASE_STRMAP_H

#include <stdbool.h>
#include <stddef.h>

struct strmap;

/* Ignored is for ASCII letters only, as in ClassAd names. */
enum strmap_case { STRMAP_CASE_SENSITIVE, STRMAP_CASE_IGNORED };

struct strmap *strmap_create(enum strmap_case key_case);
void strmap_destroy(struct strmap *map, void (*free_value)(void *value)); /* both may be NULL */
size_t strmap_count(const struct strmap *map);
void *strmap_get(const struct strmap *map, const char *key); /* NULL when absent */
/* value is not NULL; returns the one it replaced, or NULL. */
void *strmap_set(struct strmap *map, const char *key, void *value);
void *strmap_remove(struct strmap *map, const char *key); /* returns the value or NULL */

/* Walks in order of insertion: at = 0 first; returns false at the end.  Removing the entry just
 * returned is allowed; inserting while walking is not.  key and value may be NULL.
 *     size_t at = 0; const char *key; void *value;
 *     while (strmap_next(map, &at, &key, &value)) ... */
bool strmap_next(const struct strmap *map, size_t *at, const char **key, void **value);

#endif
