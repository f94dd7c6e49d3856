/* base/strmap.h - a hash map from text to pointer.
 *
 * Keys are copied; values belong to the caller.  Iteration is in order of insertion, so that a
 * daemon's behaviour does not depend on a hash seed (runs of the simulator must repeat exactly).
 * Each call is O(1), except iteration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STRMAP_H
#define BASE_STRMAP_H

#include <stdbool.h>
#include <stddef.h>

struct strmap;

/* Whether keys are compared with case.  IGNORED folds only ASCII letters, as in ClassAd names. */
enum strmap_case { STRMAP_CASE_SENSITIVE, STRMAP_CASE_IGNORED };

struct strmap *strmap_create(enum strmap_case key_case);
/* Frees the map; calls free_value, unless NULL, for each value.  map may be NULL. */
void strmap_destroy(struct strmap *map, void (*free_value)(void *value));
size_t strmap_count(const struct strmap *map);
/* Returns the value stored under the key; NULL: none. */
void *strmap_get(const struct strmap *map, const char *key);
/* Stores value, which must not be NULL, under the key.  Returns the value that was stored before;
 * NULL: none. */
void *strmap_set(struct strmap *map, const char *key, void *value);
/* Removes the key.  Returns the value that was stored under the key; NULL: none. */
void *strmap_remove(struct strmap *map, const char *key);

/* Gives the entries in order of insertion, one in each call; *at must be 0 before the first call.
 * Returns false at the end.  Removing the entry just returned is allowed; inserting while walking
 * is not.  key and value may be NULL.
 *     size_t at = 0; const char *key; void *value;
 *     while (strmap_next(map, &at, &key, &value)) ... */
bool strmap_next(const struct strmap *map, size_t *at, const char **key, void **value);

#endif
