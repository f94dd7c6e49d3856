/* starter/files/kept.c - see kept.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/files/kept.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_below.h"
#include "starter/job/cage_plan.h"

#define LINKS_MAX 40 /* on the way of one name, as in the kernel */

/* The characters between the words of a text: an expression may name programs, too. */
static const char DIVIDERS[] = " \t\n,;:=\"'()[]{}<>|&";

static bool has_text(const struct vec *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_readonly(const struct kept *kept, const char *path)
{
    for (size_t i = 0; i < kept->readonly.count; i++) {
        if (is_below(path, kept->readonly.items[i])) {
            return true;
        }
    }
    return false;
}

/* Returns whether the job, which has our account, could change it.  In doubt true. */
static bool is_changeable(struct os *os, const char *path)
{
    struct os_stat stat;
    return os_stat(os, path, &stat) == 0 && (stat.uid == os_uid(os) || (stat.mode & 022) != 0);
}

/* ---- the way of a name ----------------------------------------------------------------------- */

struct way {
    struct os *os;
    char at[PATH_MAX];   /* where it has led so far, without links; "" is the root */
    char rest[PATH_MAX]; /* what is left of the name */
    int links;
    struct kept found; /* what must stay as it is, so that the name leads where it does now */
};

static const char *place_of(const struct way *way)
{
    return way->at[0] != '\0' ? way->at : "/";
}

static void take_name(struct way *way, const char *name, size_t length)
{
    memmove(way->rest, name + length, strlen(name + length) + 1);
}

/* Puts what the link contains in front of the rest of the path. */
static bool follow_link(struct way *way, const char *link)
{
    char target[PATH_MAX];
    if (is_changeable(way->os, place_of(way))) {
        vec_push(&way->found.readonly, mem_strdup(place_of(way)));
    }
    if (++way->links > LINKS_MAX ||
        os_below_read_link(way->os, "/", link + 1, target, sizeof(target)) != 0 ||
        strlen(target) + 1 + strlen(way->rest) >= sizeof(way->rest)) {
        return false;
    }
    size_t length = strlen(target);
    memmove(way->rest + length + 1, way->rest, strlen(way->rest) + 1);
    memcpy(way->rest, target, length);
    way->rest[length] = '/';
    if (target[0] == '/') {
        way->at[0] = '\0';
    }
    return true;
}

/* Goes on to the next name of a path; stat: of what is there.  False: nothing is there. */
static bool take_step(struct way *way, const char *name, size_t length, struct os_stat *stat)
{
    char child[PATH_MAX];
    if (length == 1 && name[0] == '.') {
        take_name(way, name, length);
        return true;
    }
    if (length == 2 && memcmp(name, "..", 2) == 0) {
        char *slash = strrchr(way->at, '/');
        way->at[slash != NULL ? slash - way->at : 0] = '\0';
        take_name(way, name, length);
        return true;
    }
    size_t used = strlen(way->at);
    if (used + 1 + length >= sizeof(child)) {
        return false;
    }
    memcpy(child, way->at, used);
    child[used] = '/';
    memcpy(child + used + 1, name, length);
    child[used + 1 + length] = '\0';
    take_name(way, name, length);
    if (os_stat(way->os, child, stat) != 0) {
        return false;
    }
    if (stat->is_link) {
        return follow_link(way, child);
    }
    if (is_changeable(way->os, place_of(way))) {
        vec_push(&way->found.ways, mem_strdup(child));
    }
    memcpy(way->at, child, strlen(child) + 1);
    return true;
}

/* Follows a path to its end.  False: it leads nowhere. */
static bool follow_name(struct way *way, struct os_stat *stat)
{
    for (;;) {
        const char *name = way->rest + strspn(way->rest, "/");
        size_t length = strcspn(name, "/");
        if (length == 0) {
            return way->at[0] != '\0' && os_stat(way->os, way->at, stat) == 0;
        }
        if (!take_step(way, name, length, stat)) {
            return false;
        }
    }
}

/* ---- what is held ---------------------------------------------------------------------------- */

static int add_path(struct vec *list, const char *path, struct err *err)
{
    if (list->count == CAGE_KEPT_MAX) {
        return err_set(
            err, -E2BIG,
            "%s: a job could change this file, and more than %d other files and directories in the "
            "configuration; put programs below SBIN and files into a directory of LOCAL_CONFIG_DIR",
            path, CAGE_KEPT_MAX);
    }
    vec_push(list, mem_strdup(path));
    return 0;
}

/* Protects the directories through which a path leads. */
static int hold_way(struct kept *kept, const struct way *way, struct err *err)
{
    const struct vec *ways = &way->found.ways, *readonly = &way->found.readonly;
    int rc = 0;
    for (size_t i = 0; i < readonly->count && rc == 0; i++) {
        if (!is_readonly(kept, readonly->items[i])) {
            rc = add_path(&kept->readonly, readonly->items[i], err);
        }
    }
    for (size_t i = 0; i < ways->count && rc == 0; i++) {
        const char *path = ways->items[i];
        if (strcmp(path, way->at) != 0 && !has_text(&kept->ways, path) &&
            !is_readonly(kept, path)) {
            rc = add_path(&kept->ways, path, err);
        }
    }
    return rc;
}

static int hold_end(struct kept *kept, const struct way *way, struct err *err)
{
    bool changeable = way->found.ways.count > 0 || is_changeable(way->os, way->at);
    return changeable && !is_readonly(kept, way->at) ? add_path(&kept->readonly, way->at, err) : 0;
}

/* What a name leads to. */
enum keep {
    KEEP_WAY,  /* stays where it is: something else covers it */
    KEEP_FILE, /* is not changed, if it is a regular file */
    KEEP_ANY,  /* is not changed; a directory with all below */
};

struct keeper {
    struct os *os;
    struct kept *kept;
    struct vec hidden; /* char *: without links */
};

static bool is_hidden(const struct keeper *keeper, const char *path)
{
    for (size_t i = 0; i < keeper->hidden.count; i++) {
        if (is_below(path, keeper->hidden.items[i])) {
            return true;
        }
    }
    return false;
}

static int keep_path(struct keeper *keeper, const char *path, enum keep what, struct err *err)
{
    struct os_stat stat;
    int rc = 0;
    if (path == NULL || path[0] != '/' || strlen(path) >= PATH_MAX) {
        return 0;
    }
    struct way *way = mem_zalloc(sizeof(*way));
    way->os = keeper->os;
    memcpy(way->rest, path, strlen(path) + 1);
    if (follow_name(way, &stat) && (stat.is_file || (what != KEEP_FILE && stat.is_dir))) {
        rc = hold_way(keeper->kept, way, err);
        if (what == KEEP_WAY) {
            vec_push(&keeper->hidden, mem_strdup(way->at));
        } else if (rc == 0 && !is_hidden(keeper, way->at)) {
            rc = hold_end(keeper->kept, way, err);
        }
    }
    kept_fini(&way->found);
    mem_free(way);
    return rc;
}

static int keep_words(struct keeper *keeper, const char *text, struct err *err)
{
    char word[PATH_MAX];
    int rc = 0;
    while (rc == 0 && *(text += strspn(text, DIVIDERS)) != '\0') {
        size_t length = strcspn(text, DIVIDERS);
        if (text[0] == '/' && length < sizeof(word)) {
            memcpy(word, text, length);
            word[length] = '\0';
            rc = keep_path(keeper, word, KEEP_FILE, err);
        }
        text += length;
    }
    return rc;
}

/* Makes a directory that the job could make otherwise.  What we may not make, the job, with the
 * same account, may not make either. */
static int make_there(struct os *os, const char *path, struct err *err)
{
    int rc = os_mkdirs(os, path, 0700, err);
    return rc == -EACCES || rc == -EPERM || rc == -EROFS || rc == -ENOTDIR || rc == -EEXIST ? 0
                                                                                            : rc;
}

static int keep_configuration(struct keeper *keeper, const struct config *config, struct err *err)
{
    static const char *const LISTS[] = {"LOCAL_CONFIG_DIR", "LOCAL_CONFIG_FILE", "LOCAL_CONFIG"};
    int rc = keep_path(keeper, config_path(config, "PERSISTENT_CONFIG_DIR"), KEEP_ANY, err);
    for (size_t i = 0; i < ARRAY_COUNT(LISTS) && rc == 0; i++) {
        const char *const *list = config_list(config, LISTS[i], NULL);
        for (; *list != NULL && rc == 0; list++) {
            rc = keep_path(keeper, *list, KEEP_ANY, err);
        }
    }
    for (size_t i = 0; i < config_file_count(config) && rc == 0; i++) {
        rc = keep_path(keeper, config_file(config, i), KEEP_ANY, err);
    }
    return rc;
}

int kept_find(struct os *os, const struct config *config, const char *const *hidden, size_t count,
              struct kept *ret, struct err *err)
{
    struct keeper keeper = {.os = os, .kept = ret};
    const char *settings = config_path(config, "PERSISTENT_CONFIG_DIR");
    int rc = settings != NULL ? make_there(os, settings, err) : 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = make_there(os, hidden[i], err);
        rc = rc != 0 ? rc : keep_path(&keeper, hidden[i], KEEP_WAY, err);
    }
    rc = rc != 0 ? rc : keep_path(&keeper, config_path(config, "SBIN"), KEEP_ANY, err);
    rc = rc != 0 ? rc : keep_configuration(&keeper, config, err);
    for (size_t i = 0; i < config_text_count(config) && rc == 0; i++) {
        rc = keep_words(&keeper, config_text_at(config, i), err);
    }
    vec_fini(&keeper.hidden, mem_free);
    return rc;
}

void kept_fini(struct kept *kept)
{
    vec_fini(&kept->ways, mem_free);
    vec_fini(&kept->readonly, mem_free);
}
