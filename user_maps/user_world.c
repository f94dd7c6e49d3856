/* user_maps/user_world.c - see user_world.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "user_maps/user_world.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
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

static bool read_text(struct os *os, const char *path, struct strbuf *out, struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    if (os_read_file(os, path, USER_MAP_BYTES_MAX, &text, &length, err) != 0) {
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
    bool good = !whole.failed && read_text(includer->os, strbuf_text(&whole), out, NULL);
    strbuf_fini(&whole);
    return good;
}

/* Returns the value of CLASSAD_USER_<kind>_<name>, or NULL. */
static const char *map_setting(const struct config *config, const char *kind, const char *name)
{
    char knob[KNOB_NAME_MAX];
    int length = snprintf(knob, sizeof(knob), "CLASSAD_USER_%s_%s", kind, name);
    return length > 0 && (size_t)length < sizeof(knob) ? config_text(config, knob) : NULL;
}

static bool is_named(const struct config *config, const char *name)
{
    size_t count = 0;
    const char *const *names = config_list(config, "CLASSAD_USER_MAP_NAMES", &count);
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
    const char *path = map_setting(world->config, "MAPFILE", name);
    const char *data = map_setting(world->config, "MAPDATA", name);
    struct includer includer = {world->os, path};
    const struct user_map_reader reader = {.include = include_file, .arg = &includer};
    struct strbuf text;
    strbuf_init(&text, USER_MAP_BYTES_MAX);
    if (path != NULL && read_text(world->os, path, &text, NULL)) {
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
    if (map == NULL &&
        is_named(world->config, alone)) { /* other names are an expression's: not kept */
        map = load_map(world, alone);
        (void)strmap_set(world->maps, alone, map);
    }
    mem_free(alone);
    return map != NULL &&
           user_map_find(map, dot != NULL ? dot + 1 : USER_MAP_ANY_METHOD, user, out, steps);
}

/* ---- the check ---- */

#define FILE_PREFIX "CLASSAD_USER_MAPFILE_"
#define DATA_PREFIX "CLASSAD_USER_MAPDATA_"

/* A map that is checked. */
struct tried {
    const struct daemon_checking *checking;
    const char *knob;
    struct includer includer;
    bool said; /* one bad line is enough */
};

static bool include_tried(void *arg, const char *path, struct strbuf *out)
{
    return include_file(&((struct tried *)arg)->includer, path, out);
}

static void doubt_line(void *arg, unsigned line, const char *reason)
{
    struct tried *tried = arg;
    if (!tried->said) {
        tried->said = true;
        daemon_doubt(tried->checking, tried->knob, "%s: line %u is skipped: %s", tried->knob, line,
                     reason);
    }
}

/* Doubts a map whose file cannot be read, or that has a bad line. */
static void check_map(const struct daemon_checking *checking, const char *knob, bool is_file)
{
    const char *value = config_text(checking->config, knob);
    struct tried tried = {.checking = checking,
                          .knob = knob,
                          .includer = {checking->os, is_file ? value : NULL}};
    const struct user_map_reader reader = {.include = include_tried,
                                           .complain = doubt_line,
                                           .arg = &tried};
    struct err err = {""};
    struct strbuf text;
    strbuf_init(&text, USER_MAP_BYTES_MAX);
    if (value != NULL && is_file && !read_text(checking->os, value, &text, &err)) {
        daemon_doubt(checking, knob, "%s: %s; the map is empty", knob, err.text);
    } else if (value != NULL) {
        struct user_map *map = user_map_create();
        user_map_add(map, is_file ? strbuf_text(&text) : value,
                     is_file ? text.length : strlen(value), &reader);
        user_map_destroy(map);
    }
    strbuf_fini(&text);
}

/* Doubts a map that nobody can use, because its name is not listed. */
static void check_knob(const struct daemon_checking *checking, const char *knob, bool is_file)
{
    const char *name = knob + strlen(is_file ? FILE_PREFIX : DATA_PREFIX);
    size_t count, distance = text_near_enough(name) + 1;
    const char *nearest = NULL;
    if (is_named(checking->config, name)) {
        check_map(checking, knob, is_file);
        return;
    }
    const char *const *names = config_list(checking->config, "CLASSAD_USER_MAP_NAMES", &count);
    for (size_t i = 0; i < count; i++) {
        text_take_nearer(names[i], name, &nearest, &distance);
    }
    daemon_doubt(checking, knob, "%s has no effect: CLASSAD_USER_MAP_NAMES has no map '%s'%s%s",
                 knob, name, nearest != NULL ? "; did you mean " : "",
                 nearest != NULL ? nearest : "");
}

void user_world_check(const struct daemon_checking *checking)
{
    const char *name = NULL;
    const struct knob *knob = NULL;
    size_t at = 0, count;
    const char *const *names = config_list(checking->config, "CLASSAD_USER_MAP_NAMES", &count);
    for (size_t i = 0; i < count; i++) {
        if (map_setting(checking->config, "MAPFILE", names[i]) == NULL &&
            map_setting(checking->config, "MAPDATA", names[i]) == NULL) {
            daemon_doubt(checking, "CLASSAD_USER_MAP_NAMES",
                         "CLASSAD_USER_MAP_NAMES: the map %s is empty: neither " FILE_PREFIX
                         "%s nor " DATA_PREFIX "%s is set",
                         names[i], names[i], names[i]);
        }
    }
    while (config_next(checking->config, &at, &name, &knob)) {
        bool is_file = text_glob(FILE_PREFIX "?*", name, true);
        if (knob == NULL && (is_file || text_glob(DATA_PREFIX "?*", name, true))) {
            check_knob(checking, name, is_file);
        }
    }
}
