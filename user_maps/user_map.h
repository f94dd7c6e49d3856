/* user_maps/user_map.h - a map from users to names, in the form of HTCondor's map files.
 *
 * A line: method, user, names; between blanks, or in double quotes.  `#` begins a comment line.  A
 * user between slashes is a pattern (behind it i: case ignored, U: not greedy), and \0 to \9 in the
 * names stand for what its groups matched.  The first line that fits counts, where users written
 * out one below another are found by a hash.  `@include PATH` brings the lines of a file in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef USER_MAPS_USER_MAP_H
#define USER_MAPS_USER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;
struct user_map;

#define USER_MAP_BYTES_MAX  ((size_t)64 << 20) /* of one text */
#define USER_MAP_ANY_METHOD "*"

struct user_map_reader {
    /* The text of an included file into out; false when it cannot be read.  NULL: no includes. */
    bool (*include)(void *arg, const char *path, struct strbuf *out);
    /* A line that is passed over, counted from 1 in its own text; may be NULL. */
    void (*complain)(void *arg, unsigned line, const char *reason);
    void *arg;
};

struct user_map *user_map_create(void);
void user_map_destroy(struct user_map *map); /* NULL is allowed */

/* Adds the lines of a text behind those that the map has; bad ones are passed over. */
void user_map_add(struct user_map *map, const char *text, size_t length,
                  const struct user_map_reader *reader);

/* Appends what the map says of a user under that method; false: nothing.  Takes what looking costs
 * from *steps, which is 0 when they did not suffice: then it is false, too. */
bool user_map_find(const struct user_map *map, const char *method, const char *user,
                   struct strbuf *out, uint32_t *steps);

#endif
