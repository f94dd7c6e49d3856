/* user_maps/user_world.c - see user_world.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "user_maps/user_world.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "user_maps/user_map.h"

#define KNOB_NAME_MAX 256 /* most bytes of a knob's name, with the terminating zero */

struct user_world {
    struct os *os;
    const struct config *config;
    struct strmap *maps; /* name to struct user_map */
};

struct user_world *user_world_create(struct os *os, const struct config *config)
{
    struct user_world *world = mem_zalloc(sizeof(*world));
    world->os = os;
    world->config = config;
    world->maps = strmap_create(STRMAP_CASE_IGNORED);
    return world;
}

static void destroy_map(void *arg)
{
    user_map_destroy(arg);
}

void user_world_destroy(struct user_world *world)
{
    if (world != NULL) {
        strmap_destroy(world->maps, destroy_map);
        mem_free(world);
    }
}

void user_world_serve(struct user_world *world, struct ad_context *context)
{
    context->user_home = user_world_home;
    context->user_map = user_world_map;
    context->arg = world;
}

bool user_world_home(void *arg, const char *account, char *home, size_t size)
{
    const struct user_world *world = arg;
    return config_bool(world->config, "CLASSAD_ENABLE_USER_HOME") &&
           os_user_home(world->os, account, home, size, NULL) == 0;
}

/* ---- maps ---- */

static bool read_text(struct os *os, const char *path, struct strbuf *out)
{
    char *text = NULL;
    size_t length = 0;
    if (os_read_file(os, path, USER_MAP_BYTES_MAX, &text, &length, NULL) != 0) {
        return false;
    }
    strbuf_append(out, text, length);
    mem_free(text);
    return !out->failed;
}

struct includer {
    struct os *os;
    const char *path; /* path of the including file; NULL: none */
};

/* Reads an included file; a relative path starts at the directory of the including file. */
static bool include_file(void *arg, const char *path, struct strbuf *out)
{
    const struct includer *includer = arg;
    const char *slash = includer->path != NULL ? strrchr(includer->path, '/') : NULL;
    struct strbuf whole;
    strbuf_init(&whole, 0);
    if (*path != '/' && slash != NULL) {
        strbuf_append(&whole, includer->path, (size_t)(slash - includer->path) + 1);
    }
    strbuf_puts(&whole, path);
    bool good = !whole.failed && read_text(includer->os, strbuf_text(&whole), out);
    strbuf_fini(&whole);
    return good;
}

/* Returns the value of CLASSAD_USER_<kind>_<name>, or NULL. */
static const char *map_setting(const struct user_world *world, const char *kind, const char *name)
{
    char knob[KNOB_NAME_MAX];
    int length = snprintf(knob, sizeof(knob), "CLASSAD_USER_%s_%s", kind, name);
    return length > 0 && (size_t)length < sizeof(knob) ? config_text(world->config, knob) : NULL;
}

static bool is_named(const struct user_world *world, const char *name)
{
    size_t count = 0;
    const char *const *names = config_list(world->config, "CLASSAD_USER_MAP_NAMES", &count);
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static struct user_map *load_map(const struct user_world *world, const char *name)
{
    struct user_map *map = user_map_create();
    const char *path = map_setting(world, "MAPFILE", name);
    const char *data = map_setting(world, "MAPDATA", name);
    struct includer includer = {world->os, path};
    const struct user_map_reader reader = {.include = include_file, .arg = &includer};
    struct strbuf text;
    strbuf_init(&text, USER_MAP_BYTES_MAX);
    if (path != NULL && read_text(world->os, path, &text)) {
        user_map_add(map, strbuf_text(&text), text.length, &reader);
    } else if (path == NULL && data != NULL) {
        user_map_add(map, data, strlen(data), &reader);
    }
    strbuf_fini(&text);
    return map;
}

bool user_world_map(void *arg, const char *name, const char *user, struct strbuf *out,
                    uint32_t *steps)
{
    struct user_world *world = arg;
    const char *dot = strchr(name, '.');
    char *alone = mem_strndup(name, dot != NULL ? (size_t)(dot - name) : strlen(name));
    struct user_map *map = strmap_get(world->maps, alone);
    if (map == NULL && is_named(world, alone)) { /* other names are an expression's: not kept */
        map = load_map(world, alone);
        (void)strmap_set(world->maps, alone, map);
    }
    mem_free(alone);
    return map != NULL &&
           user_map_find(map, dot != NULL ? dot + 1 : USER_MAP_ANY_METHOD, user, out, steps);
}
