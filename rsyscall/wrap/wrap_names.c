/* rsyscall/wrap/wrap_names.c - finds where a name leads: see wrap.h.
 *
 * The server accepts only paths without "..", and answers with the first symbolic link on a path.
 * Before ".." leaves a directory, the directory is looked up, because it may be a link.  The
 * working directory is a text that we keep; if it is on this machine, it is the kernel's, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap.h"

static bool is_below(const char *path, const char *view)
{
    size_t length = strlen(view);
    if (length == 1) {
        return true;
    }
    return strncmp(path, view, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Decides whether the path is on this machine or below which root of the server it is. */
static int place_it(struct wrap_place *place)
{
    size_t best = 0;
    place->local = false;
    for (size_t i = 0; i < wrap_all.local_count; i++) {
        place->local = place->local || is_below(place->path, wrap_all.locals[i]);
    }
    for (size_t i = 0; i < wrap_all.root_count && !place->local; i++) {
        size_t length = strlen(wrap_all.roots[i].view);
        if (length > best && is_below(place->path, wrap_all.roots[i].view)) {
            best = length;
            place->handle = wrap_all.roots[i].number;
            place->skip = length == 1 ? 1 : length + 1;
        }
    }
    if (place->local || best > 0) {
        return 0;
    }
    return wrap_all.root_count == 0 ? -EIO : -ENOENT;
}

static struct rsys_at at_of(const struct wrap_place *place)
{
    size_t length = strlen(place->path);
    size_t skip = place->skip < length ? place->skip : length;
    return (struct rsys_at){place->handle, {place->path + skip, (uint16_t)(length - skip)}};
}

/* Removes the last name of place->path, for "..". -ENOTDIR: it did not lead to a directory. */
static int leave_last_name(struct wrap_place *place)
{
    struct rsys_attr attr;
    if (place->path[0] == '\0') {
        return 0; /* "/.." is "/" */
    }
    int code = place_it(place);
    if (code == 0 && !place->local) {
        code = wrap_follow(place, &attr);
        if (code == 0 && !S_ISDIR(attr.mode)) {
            code = -ENOTDIR;
        }
    }
    if (code < 0) {
        return code;
    }
    char *slash = strrchr(place->path, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return 0;
}

static int append_name(char *path, const char *name, size_t length)
{
    size_t have = strlen(path);
    if (length > RSYS_NAME_MAX || have + 1 + length >= WRAP_PATH_SIZE) {
        return -ENAMETOOLONG;
    }
    path[have] = '/';
    memcpy(path + have + 1, name, length);
    path[have + 1 + length] = '\0';
    return 0;
}

/* Resolves an absolute path into place->path. */
static int resolve_path(struct wrap_place *place, const char *text)
{
    int code = 0;
    place->path[0] = '\0';
    while (code == 0 && *text != '\0') {
        size_t length = strcspn(text, "/");
        if (length == 2 && text[0] == '.' && text[1] == '.') {
            code = leave_last_name(place);
            if (strcmp(place->path, "/") == 0) {
                place->path[0] = '\0';
            }
        } else if (length > 0 && !(length == 1 && text[0] == '.')) {
            code = append_name(place->path, text, length);
        }
        text += length + (text[length] == '/' ? 1 : 0);
    }
    if (code == 0 && place->path[0] == '\0') {
        memcpy(place->path, "/", 2);
    }
    return code != 0 ? code : place_it(place);
}

static int join_paths(char *to, const char *base, size_t base_length, const char *name)
{
    size_t length = strlen(name);
    if (base_length + 1 + length >= WRAP_PATH_SIZE) {
        return -ENAMETOOLONG;
    }
    memmove(to, base, base_length);
    to[base_length] = '/';
    memcpy(to + base_length + 1, name, length + 1);
    return 0;
}

/* Replaces the link, which is the first `bytes` bytes of the path below the root, by its target
 * `text`. */
static int substitute_link(struct wrap_place *place, uint64_t bytes, const struct rsys_text *text)
{
    char whole[WRAP_PATH_SIZE], says[WRAP_PATH_SIZE];
    size_t end = place->skip + bytes, length = strlen(place->path);
    if (++place->links > WRAP_LINKS_MAX) {
        return -ELOOP;
    }
    if (bytes == 0 || end > length || text->length == 0) {
        return -EIO; /* that is no answer */
    }
    size_t rest = length - end;
    if (text->length + rest >= sizeof says) {
        return -ENAMETOOLONG;
    }
    memcpy(says, text->data, text->length);
    memcpy(says + text->length, place->path + end, rest + 1);
    if (says[0] == '/') {
        return resolve_path(place, says);
    }
    while (end > 0 && place->path[end - 1] != '/') {
        end--;
    }
    int code = join_paths(whole, place->path, end, says);
    return code != 0 ? code : resolve_path(place, whole);
}

int wrap_call_at(struct wrap_place *place, struct rsys_request *request, struct rsys_reply *reply)
{
    for (;;) {
        if (place->local) {
            return WRAP_LOCAL;
        }
        request->at = at_of(place);
        int code = wrap_call(request, reply);
        if (code != -ELOOP || reply->text.length == 0 ||
            (place->nofollow && reply->value == request->at.path.length)) {
            return code;
        }
        code = substitute_link(place, reply->value, &reply->text);
        if (code != 0) {
            return code;
        }
    }
}

int wrap_call_both(struct wrap_place *at, struct wrap_place *to, struct rsys_request *request,
                   struct rsys_reply *reply)
{
    for (;;) {
        if (at->local != to->local) {
            return -EXDEV;
        }
        if (at->local) {
            return WRAP_LOCAL;
        }
        request->at = at_of(at);
        request->to = at_of(to);
        int code = wrap_call(request, reply);
        if (code != -ELOOP || reply->text.length == 0) {
            return code;
        }
        code = substitute_link(reply->how == 1 ? to : at, reply->value, &reply->text);
        if (code != 0) {
            return code;
        }
    }
}

int wrap_follow(struct wrap_place *place, struct rsys_attr *ret)
{
    for (;;) {
        struct rsys_request request = {.op = RSYS_STAT};
        struct rsys_reply reply;
        int code = wrap_call_at(place, &request, &reply);
        if (code != 0 || !S_ISLNK(reply.attr.mode)) {
            if (code == 0) {
                *ret = reply.attr;
            }
            return code;
        }
        request = (struct rsys_request){.op = RSYS_READLINK};
        code = wrap_call_at(place, &request, &reply);
        code = code != 0 ? code : substitute_link(place, request.at.path.length, &reply.text);
        if (code != 0) {
            return code;
        }
    }
}

int wrap_find(int dir, const char *name, struct wrap_place *ret)
{
    char text[WRAP_PATH_SIZE];
    struct wrap_record record;
    const char *base = wrap_all.cwd;
    ret->links = 0;
    ret->nofollow = false;
    ret->local = true;
    ret->path[0] = '\0';
    if (name == NULL || *name == '\0') {
        return name == NULL ? -EFAULT : -ENOENT;
    }
    if (*name == '/') {
        return resolve_path(ret, name);
    }
    if (dir != AT_FDCWD) {
        const struct wrap_file *file = wrap_file_of(dir);
        if (file == NULL) {
            return 0; /* below a directory of this machine */
        }
        if (!S_ISDIR(file->mode)) {
            return -ENOTDIR;
        }
        if (!wrap_record_read(dir, &record)) {
            return -EIO;
        }
        base = record.path;
    }
    int code = join_paths(text, base, strlen(base), name);
    return code != 0 ? code : resolve_path(ret, text);
}

static struct timespec time_of(const struct rsys_time *time)
{
    return (struct timespec){.tv_sec = time->s, .tv_nsec = time->ns};
}

void wrap_stat_of(const struct rsys_attr *attr, struct stat *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->st_dev = attr->dev;
    ret->st_ino = attr->ino;
    ret->st_mode = attr->mode;
    ret->st_nlink = attr->nlink;
    ret->st_uid = attr->uid;
    ret->st_gid = attr->gid;
    ret->st_rdev = makedev(attr->rdev_major, attr->rdev_minor);
    ret->st_size = (off_t)attr->size;
    ret->st_blksize = attr->blksize;
    ret->st_blocks = (blkcnt_t)attr->blocks;
    ret->st_atim = time_of(&attr->atime);
    ret->st_mtim = time_of(&attr->mtime);
    ret->st_ctim = time_of(&attr->ctime);
}
