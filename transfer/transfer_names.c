/* transfer/transfer_names.c - see transfer_names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transfer/transfer_names.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

static bool is_plain(const char *name, size_t length)
{
    return length > 0 && length <= TRANSFER_NAME_MAX && !(length == 1 && name[0] == '.') &&
           !(length == 2 && name[0] == '.' && name[1] == '.');
}

bool transfer_name_is_plain(const char *name)
{
    size_t length = strcspn(name, "/");
    return name[length] == '\0' && is_plain(name, length);
}

bool transfer_path_is_safe(const char *path)
{
    if (strlen(path) > TRANSFER_PATH_MAX) {
        return false;
    }
    for (unsigned depth = 0; depth < TRANSFER_DEPTH_MAX; depth++) {
        size_t length = strcspn(path, "/");
        if (!is_plain(path, length)) {
            return false;
        }
        if (path[length] == '\0') {
            return true;
        }
        path += length + 1;
    }
    return false;
}

bool transfer_link_is_safe(const char *path, const char *target)
{
    unsigned up_max = 0; /* directories between the top one and the link */
    bool is_below = false;
    for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
        up_max += is_below ? 1 : 0;
        is_below = true;
    }
    if (!is_below || target[0] == '\0' || target[0] == '/' || strlen(target) > TRANSFER_PATH_MAX) {
        return false;
    }
    bool goes_down = false;
    while (*target != '\0') {
        size_t length = strcspn(target, "/");
        bool up = length == 2 && target[0] == '.' && target[1] == '.';
        bool stays = length == 0 || (length == 1 && target[0] == '.');
        if (up && (goes_down || up_max-- == 0)) {
            return false;
        }
        goes_down = goes_down || (!up && !stays);
        target += length + (target[length] == '/' ? 1 : 0);
    }
    return true;
}

bool transfer_is_url(const char *text)
{
    const char *colon = strstr(text, "://");
    return colon != NULL && colon != text && memchr(text, '/', (size_t)(colon - text)) == NULL;
}

const char *transfer_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *transfer_path_clean(const char *path)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            strbuf_fini(&text);
            return NULL;
        }
        if (length > 0 && !(length == 1 && path[0] == '.')) {
            if (text.length > 0) {
                strbuf_putc(&text, '/');
            }
            strbuf_append(&text, path, length);
        }
        path += length + (path[length] == '/' ? 1 : 0);
    }
    if (text.length == 0) {
        strbuf_fini(&text);
        return NULL;
    }
    return strbuf_take(&text);
}

const char *transfer_path_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    if (strncmp(path, directory, length) != 0) {
        return NULL;
    }
    return path[length] == '\0' ? path + length : path[length] == '/' ? path + length + 1 : NULL;
}

char *transfer_list_next(const char **at, char separator)
{
    if (*at == NULL) {
        return NULL;
    }
    const char *end = strchr(*at, separator);
    const char *from = *at;
    const char *to = end != NULL ? end : from + strlen(from);
    *at = end != NULL ? end + 1 : NULL;
    while (from < to && text_is_gap(*from)) {
        from++;
    }
    while (to > from && text_is_gap(to[-1])) {
        to--;
    }
    return mem_strndup(from, (size_t)(to - from));
}
