/* user_maps/user_map.h - maps users to names; the format is that of HTCondor's map files.
 *
 * A line has method, user and names, separated by blanks or in double quotes.  `#` begins a comment
 * line.  A user between slashes is a regular expression (followed by i: ignore case, U: not
 * greedy); \0 to \9 in the names stand for what its groups matched.  The first line that matches
 * counts; adjacent lines with literal users are found by a hash.  `@include PATH` inserts the lines
 * of a file.
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

#define USER_MAP_BYTES_MAX  ((size_t)64 << 20) /* most bytes of one file of a map */
#define USER_MAP_ANY_METHOD "*"

/* Callbacks for user_map_add(). */
struct user_map_reader {
    /* Must read the file `path`, named by an @include line, into out, and return false if it cannot
     * be read.  NULL: @include is not allowed. */
    bool (*include)(void *arg, const char *path, struct strbuf *out);
    /* Called for each bad line, which is skipped; line: its number in its text, from 1.  May be
     * NULL. */
    void (*complain)(void *arg, unsigned line, const char *reason);
    void *arg;
};

struct user_map *user_map_create(void);
void user_map_destroy(struct user_map *map); /* NULL is allowed */

/* Appends the lines of text[0..length) to the map; bad lines are skipped, and reported with
 * reader->complain. reader NULL: bad lines are not reported, and @include is not allowed. */
void user_map_add(struct user_map *map, const char *text, size_t length,
                  const struct user_map_reader *reader);

/* Finds the names to which the map maps a user with that method, and appends them to out.  Returns
 * false if no line matches.  The cost of the search is subtracted from *steps; if *steps does not
 * suffice, it becomes 0 and the result is false. */
bool user_map_find(const struct user_map *map, const char *method, const char *user,
                   struct strbuf *out, uint32_t *steps);

#endif
