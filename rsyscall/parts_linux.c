/* rsyscall/parts_linux.c - the read-only and hidden parts of the files that a job can reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "rsyscall/rsys.h"
#include "rsyscall/view.h"

#define KNOWN_MS   1000
#define LINKS_MAX  40 /* most symbolic links in one path, as in the kernel */
#define PLACES_MAX (LINKS_MAX + 1)

struct part {
    const char *path; /* the path that the configuration names */
    bool hidden;
    /* all paths to which the name led when the server began; never changed */
    char *places[PLACES_MAX];
    size_t place_count;
    /* the file that was found by the name; -1: none yet.  Used only by the thread that looks */
    int fd;
    char *now;   /* the path of that file now; NULL: it has none */
    char *leads; /* where the name leads now; NULL: nowhere, or fd was just found by it */
};

struct rsys_parts {
    struct part *parts;
    size_t count, count_max;
    bool hides; /* at least one part is hidden */

    pthread_mutex_t mutex; /* protects all below, and now and leads of each part */
    uint64_t looked_ms;
    bool looking; /* a thread is looking, without the mutex */
};

static void lock_parts(struct rsys_parts *parts)
{
    CHECK(pthread_mutex_lock(&parts->mutex) == 0);
}

static void unlock_parts(struct rsys_parts *parts)
{
    CHECK(pthread_mutex_unlock(&parts->mutex) == 0);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int rsys_fd_where(int fd, char *ret, size_t size)
{
    char link[RSYS_FD_PATH_SIZE];
    rsys_fd_path(fd, link);
    ssize_t length = readlink(link, ret, size);
    if (length < 0) {
        return -errno;
    }
    if ((size_t)length >= size) {
        return -ENAMETOOLONG;
    }
    ret[length] = '\0';
    return 0;
}

bool rsys_is_below(const char *inner, const char *outer)
{
    size_t length = strlen(outer);
    if (length == 1) {
        return true;
    }
    return strncmp(inner, outer, length) == 0 && (inner[length] == '\0' || inner[length] == '/');
}

/* ---- following a name ------------------------------------------------------------------------ */

/* Appends one name to at, an absolute path without symbolic links that is never "".  ".." removes
 * the last name.  False: the path would become too long. */
static bool path_add(char at[PATH_MAX], const char *name, size_t length)
{
    size_t have = at[1] == '\0' ? 0 : strlen(at);
    if (length == 2 && memcmp(name, "..", 2) == 0) {
        char *slash = strrchr(at, '/');
        slash[slash == at ? 1 : 0] = '\0';
    } else if (length > 0 && (length != 1 || name[0] != '.')) {
        if (have + 1 + length >= PATH_MAX) {
            return false;
        }
        at[have] = '/';
        memcpy(at + have + 1, name, length);
        at[have + 1 + length] = '\0';
    }
    return true;
}

/* Adds the place that consists of at and the rest of the name. */
static void place_add(struct part *part, const char *at, const char *rest)
{
    char text[PATH_MAX];
    (void)snprintf(text, sizeof(text), "%s", at);
    while (rest[0] != '\0') {
        size_t length = strcspn(rest, "/");
        if (!path_add(text, rest, length)) {
            return; /* nothing can be there by that name */
        }
        rest += length + (rest[length] == '/' ? 1 : 0);
    }
    for (size_t i = 0; i < part->place_count; i++) {
        if (strcmp(part->places[i], text) == 0) {
            return;
        }
    }
    CHECK(part->place_count < PLACES_MAX);
    part->places[part->place_count++] = mem_strdup(text);
}

/* Replaces the link at the end of at: rest becomes the link's target followed by the old rest.
 * False: not a link, or too long. */
static bool path_follow(char at[PATH_MAX], char rest[PATH_MAX])
{
    char text[2 * PATH_MAX];
    ssize_t length = readlink(at, text, PATH_MAX);
    if (length <= 0 || (size_t)length + 1 + strlen(rest) >= PATH_MAX) {
        return false;
    }
    (void)snprintf(text + length, sizeof(text) - (size_t)length, "/%s", rest);
    memcpy(rest, text, strlen(text) + 1);
    if (rest[0] == '/') {
        memcpy(at, "/", 2);
    } else {
        (void)path_add(at, "..", 2);
    }
    return true;
}

/* Follows the name as the kernel would, and notes every place on its way. */
static void places_find(struct part *part)
{
    char at[PATH_MAX] = "/", rest[PATH_MAX];
    int links = 0;
    (void)snprintf(rest, sizeof(rest), "%s", part->path);
    for (;;) {
        struct stat about;
        const char *name = rest + strspn(rest, "/");
        size_t length = strcspn(name, "/");
        if (length == 0 || !path_add(at, name, length)) {
            break;
        }
        memmove(rest, name + length, strlen(name + length) + 1);
        if (lstat(at, &about) != 0) {
            break; /* from here on there is nothing yet */
        }
        if (S_ISLNK(about.st_mode)) {
            place_add(part, at, rest);
            if (++links == LINKS_MAX || !path_follow(at, rest)) {
                return;
            }
        }
    }
    place_add(part, at, rest);
}

/* ---- where a part is now --------------------------------------------------------------------- */

static char *where_is(int fd)
{
    char buffer[PATH_MAX];
    return fd >= 0 && rsys_fd_where(fd, buffer, sizeof(buffer)) == 0 ? mem_strdup(buffer) : NULL;
}

static bool is_removed(int fd)
{
    struct stat about;
    return fstat(fd, &about) != 0 || about.st_nlink == 0;
}

/* Finds out where the part is now.  Called without the mutex, by one thread at a time. */
static void part_look(struct rsys_parts *parts, struct part *part)
{
    int fd = open(part->path, O_PATH | O_CLOEXEC);
    if (part->fd >= 0 && is_removed(part->fd)) {
        close(part->fd);
        part->fd = -1;
    }
    if (part->fd < 0) {
        part->fd = fd;
        fd = -1;
    }
    char *now = where_is(part->fd), *leads = where_is(fd);
    lock_parts(parts);
    char *old_now = part->now, *old_leads = part->leads;
    part->now = now;
    part->leads = leads;
    unlock_parts(parts);
    mem_free(old_now);
    mem_free(old_leads);
    if (fd >= 0) {
        close(fd);
    }
}

/* Looks at all parts again when KNOWN_MS have passed.  Returns 0; with cached, -EAGAIN when a look
 * is due, because that could block. */
static int look_again(struct rsys_parts *parts, bool cached)
{
    lock_parts(parts);
    bool due = !parts->looking && now_ms() - parts->looked_ms >= KNOWN_MS;
    parts->looking = parts->looking || (due && !cached);
    unlock_parts(parts);
    if (!due || cached) {
        return due ? -EAGAIN : 0;
    }
    for (size_t i = 0; i < parts->count; i++) {
        part_look(parts, &parts->parts[i]);
    }
    lock_parts(parts);
    parts->looked_ms = now_ms();
    parts->looking = false;
    unlock_parts(parts);
    return 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Judges a change of path by one place of the part; place may be NULL (always allowed).  Returns 0,
 * -ENOENT, -EACCES or -EROFS. */
static int judge_by(const struct part *part, const char *place, const char *path, bool named,
                    enum rsys_change change)
{
    if (place == NULL) {
        return 0;
    }
    if (rsys_is_below(path, place)) {
        if (part->hidden) {
            return change != RSYS_CHANGE_NOTHING && named ? -EACCES : -ENOENT;
        }
        return change != RSYS_CHANGE_NOTHING ? -EROFS : 0;
    }
    return change == RSYS_CHANGE_PLACE && rsys_is_below(place, path) ? -EBUSY : 0;
}

static int part_judge(const struct part *part, const char *path, bool named,
                      enum rsys_change change)
{
    int code = judge_by(part, part->now, path, named, change);
    code = code != 0 ? code : judge_by(part, part->leads, path, named, change);
    for (size_t i = 0; i < part->place_count && code == 0; i++) {
        code = judge_by(part, part->places[i], path, named, change);
    }
    return code;
}

int rsys_parts_judge(struct rsys_parts *parts, int fd, const char *name, enum rsys_change change,
                     bool cached)
{
    char path[PATH_MAX + RSYS_NAME_MAX + 2];
    if (parts->count == 0 || (change == RSYS_CHANGE_NOTHING && !parts->hides)) {
        return 0;
    }
    int code = look_again(parts, cached);
    if (code == 0) {
        code = rsys_fd_where(fd, path, PATH_MAX);
    }
    if (code != 0) {
        return code;
    }
    if (name != NULL) {
        size_t length = strcmp(path, "/") == 0 ? 0 : strlen(path);
        (void)snprintf(path + length, sizeof(path) - length, "/%s", name);
    }
    lock_parts(parts);
    for (size_t i = 0; i < parts->count && code == 0; i++) {
        code = part_judge(&parts->parts[i], path, name != NULL, change);
    }
    unlock_parts(parts);
    return code;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct rsys_parts *rsys_parts_create(size_t count_max)
{
    struct rsys_parts *parts = mem_zalloc(sizeof(*parts));
    CHECK(pthread_mutex_init(&parts->mutex, NULL) == 0);
    parts->parts = mem_zalloc((count_max > 0 ? count_max : 1) * sizeof(*parts->parts));
    parts->count_max = count_max;
    parts->looked_ms = now_ms();
    return parts;
}

void rsys_parts_add(struct rsys_parts *parts, const char *path, bool hidden)
{
    CHECK(parts->count < parts->count_max);
    struct part *part = &parts->parts[parts->count++];
    *part = (struct part){.path = mem_strdup(path), .fd = -1, .hidden = hidden};
    parts->hides |= hidden;
    places_find(part);
    part_look(parts, part);
}

void rsys_parts_destroy(struct rsys_parts *parts)
{
    if (parts == NULL) {
        return;
    }
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->parts[i];
        if (part->fd >= 0) {
            close(part->fd);
        }
        for (size_t j = 0; j < part->place_count; j++) {
            mem_free(part->places[j]);
        }
        mem_free(part->now);
        mem_free(part->leads);
        mem_free((void *)(uintptr_t)part->path);
    }
    mem_free(parts->parts);
    CHECK(pthread_mutex_destroy(&parts->mutex) == 0);
    mem_free(parts);
}
