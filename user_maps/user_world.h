/* user_maps/user_world.h - data for userHome() and userMap() in expressions: this machine's
 * accounts, and the maps that the configuration names.
 *
 *     struct user_world *world = user_world_create(os, config);
 *     struct ad_context context = {.now_s = ..., .arg = world};
 *     user_world_serve(world, &context);
 *
 * A map is read when it is first used, and kept until user_world_destroy().  One thread only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef USER_MAPS_USER_WORLD_H
#define USER_MAPS_USER_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad_context;
struct config;
struct daemon_checking;
struct os;
struct strbuf;
struct user_world;

/* Makes the data for userHome() and userMap(); os and config must outlive it. config must be loaded
 * with the table knobs_common, or contain no knob of that table. */
struct user_world *user_world_create(struct os *os, const struct config *config);
void user_world_destroy(struct user_world *world); /* NULL is allowed */

/* Doubts maps whose file cannot be read, that have a bad line, or that the configuration does not
 * name or does not define. */
void user_world_check(const struct daemon_checking *checking);

/* Sets the callbacks user_home and user_map of the context, and its arg.  Other callbacks of the
 * context get the same arg. */
void user_world_serve(struct user_world *world, struct ad_context *context);

/* user_world_home() and user_world_map() are the callbacks user_home and user_map of struct
 * ad_context (classad/ad_eval.h), which says what they return. arg is the struct user_world. */
bool user_world_home(void *arg, const char *account, char *home, size_t size);
bool user_world_map(void *arg, const char *map, const char *user, struct strbuf *out,
                    uint32_t *steps);

#endif
