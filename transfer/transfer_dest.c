/* transfer/transfer_dest.c - see transfer_dest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transfer/transfer_dest.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "transfer/transfer_names.h"

static char *join_path(const char *directory, const char *name)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, directory);
    if (text.length > 0 && directory[text.length - 1] != '/' && name[0] != '\0') {
        strbuf_putc(&text, '/');
    }
    strbuf_puts(&text, name);
    return strbuf_take(&text);
}

static bool keeps_paths(const struct ad *job)
{
    return ad_bool_or(job, "PreserveRelativePaths", false);
}

static bool ends_with_slash(const char *path)
{
    size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/';
}

/* Returns the name in the sandbox of an entry of TransferOutput; owned by the caller; NULL:
 * none. */
static char *entry_name(const char *item)
{
    return transfer_path_clean(item[0] == '/' ? transfer_last_name(item) : item);
}

/* Finds where `name` goes by this entry: *ret is the path relative to Iwd, owned by the caller; its
 * first *below bytes were named by the job's owner.  Returns false when the entry does not cover
 * name. */
static bool goes_by(const struct ad *job, const char *item, const char *name, bool exactly,
                    char **ret, size_t *below)
{
    char *entry = entry_name(item);
    const char *rest = entry != NULL ? transfer_path_below(name, entry) : NULL;
    bool contents = ends_with_slash(item);
    bool fits = entry != NULL && rest != NULL && (exactly ? rest[0] == '\0' : rest[0] != '\0');
    if (fits) {
        const char *known = keeps_paths(job) ? entry : contents ? "" : transfer_last_name(entry);
        *ret = join_path(known, rest);
        *below = strlen(known);
    }
    mem_free(entry);
    return fits;
}

bool transfer_dest_find(const struct ad *job, const char *name, char **ret, size_t *below)
{
    if (!ad_has(job, "TransferOutput")) {
        *ret = mem_strdup(name);
        *below = strlen(name);
        return transfer_name_is_plain(name);
    }
    bool found = false;
    for (int exactly = 1; exactly >= 0 && !found; exactly--) {
        const char *at = ad_string_or(job, "TransferOutput", "");
        char *item = NULL;
        while (!found && (item = transfer_list_next(&at, ',')) != NULL) {
            found = goes_by(job, item, name, exactly != 0, ret, below);
            mem_free(item);
        }
    }
    return found;
}

/* Returns the new name that TransferOutputRemaps ("a = b; c = d") gives to exactly this name; NULL:
 * none.  Owned by the caller. */
static char *remap_of(const struct ad *job, const char *name, size_t length)
{
    const char *at = ad_string_or(job, "TransferOutputRemaps", "");
    char *item = NULL;
    char *found = NULL;
    while (found == NULL && (item = transfer_list_next(&at, ';')) != NULL) {
        const char *sides = item;
        char *old = strchr(item, '=') != NULL ? transfer_list_next(&sides, '=') : NULL;
        char *clean = old != NULL ? transfer_path_clean(old) : NULL;
        if (clean != NULL && strlen(clean) == length && strncmp(clean, name, length) == 0) {
            found = transfer_list_next(&sides, ';'); /* blanks off: there is no other item */
        }
        mem_free(clean);
        mem_free(old);
        mem_free(item);
    }
    return found;
}

char *transfer_dest_remap(const struct ad *job, const char *name, const char **rest)
{
    for (size_t length = strlen(name); length > 0;) {
        char *found = remap_of(job, name, length);
        if (found != NULL) {
            *rest = name[length] == '/' ? name + length + 1 : name + length;
            return found;
        }
        do {
            length--;
        } while (length > 0 && name[length] != '/');
    }
    return NULL;
}

/* Joins a URL and a path: "s3://b/x" and "data/1" give "s3://b/x/data/1"; a query stays at the
 * end. */
static char *join_url(const char *url, const char *rest)
{
    struct strbuf text;
    size_t length = strcspn(url, "?#");
    strbuf_init(&text, 0);
    strbuf_append(&text, url, length);
    if (rest[0] != '\0' && length > 0 && url[length - 1] != '/') {
        strbuf_putc(&text, '/');
    }
    strbuf_puts(&text, rest);
    strbuf_puts(&text, url + length);
    return strbuf_take(&text);
}

char *transfer_dest_url(const struct ad *job, const char *name, const char *stream)
{
    const char *all = ad_string_or(job, "OutputDestination", "");
    char *dest = NULL, *url = NULL;
    size_t below = 0;
    if (stream != NULL) {
        return transfer_is_url(all) ? join_url(all, stream) : NULL;
    }
    if (!transfer_dest_find(job, name, &dest, &below)) {
        return NULL;
    }
    const char *rest = "";
    char *new_name = transfer_dest_remap(job, dest, &rest);
    new_name = new_name != NULL ? new_name : transfer_dest_remap(job, name, &rest);
    if (new_name != NULL && transfer_is_url(new_name)) {
        bool into = rest[0] == '\0' && ends_with_slash(new_name);
        url = join_url(new_name, into ? transfer_last_name(dest) : rest);
    } else if (transfer_is_url(all) && (new_name == NULL || strcmp(new_name, "/dev/null") != 0)) {
        url = join_url(all, new_name != NULL && new_name[0] != '/' ? new_name : dest);
    }
    mem_free(new_name);
    mem_free(dest);
    return url;
}
