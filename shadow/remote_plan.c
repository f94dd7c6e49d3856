/* shadow/remote_plan.c - see remote_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/remote_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "transfer/transfer_names.h"
#include "wire/remote_attrs.h"

#define NOTHING "/dev/null"

bool remote_plan_is_wanted(const struct ad *job)
{
    return ad_bool_or(job, REMOTE_WANTED, false);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Joins two parts to one path, without a '/' at its end unless it is only "/". */
static char *join_path(const char *above, const char *below)
{
    struct strbuf text;
    size_t length = strlen(above);
    while (length > 0 && above[length - 1] == '/') {
        length--;
    }
    while (below[0] == '/') {
        below++;
    }
    strbuf_init(&text, 0);
    strbuf_append(&text, above, length);
    strbuf_printf(&text, "/%s", below);
    char *path = strbuf_take(&text);
    length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        path[--length] = '\0';
    }
    return path;
}

static char *clean_path(const char *path)
{
    return join_path("", path);
}

/* Returns the path by which the job sees a file of this machine; NULL: the file is not below its
 * root.  Owned by the caller. */
static char *seen_as(const char *root, const char *path)
{
    char *from = clean_path(root), *whole = clean_path(path), *seen = NULL;
    size_t length = strlen(from);
    if (length == 1) {
        seen = mem_strdup(whole);
    } else if (strncmp(whole, from, length) == 0 &&
               (whole[length] == '/' || whole[length] == '\0')) {
        seen = clean_path(whole + length);
    }
    mem_free(from);
    mem_free(whole);
    return seen;
}

static const char *root_of(const struct ad *job)
{
    const char *root = ad_string_or(job, REMOTE_ROOT, "");
    return root[0] != '\0' ? root : "/";
}

/* ---- the offer ------------------------------------------------------------------------------- */

/* Adds a path that is hidden or read-only.  Takes over path. */
static int add_part(struct remote_offer *ret, char *path, bool hidden, struct err *err)
{
    vec_push(&ret->texts, path);
    if (path[0] != '/') {
        return err_set(err, -EINVAL, "'%.200s' is not an absolute path", path);
    }
    if (ret->offer.part_count == RSYS_PARTS_MAX) {
        return err_set(err, -E2BIG,
                       "more than %d files and directories would be hidden or read-only",
                       RSYS_PARTS_MAX);
    }
    ret->parts[ret->offer.part_count++] = (struct rsys_offer_part){.path = path, .hidden = hidden};
    return 0;
}

static char *of_home(const struct remote_site *site, const char *path)
{
    bool below = path[0] == '~' && (path[1] == '/' || path[1] == '\0');
    return below && site->home != NULL ? join_path(site->home, path + 1)
           : path[0] == '/'            ? clean_path(path)
                                       : mem_strdup(path);
}

static int add_list(struct remote_offer *ret, const struct remote_site *site,
                    const char *const *list, size_t count, bool hidden, struct err *err)
{
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        bool no_home = list[i] != NULL && list[i][0] == '~' && site->home == NULL;
        if (list[i] != NULL && list[i][0] != '\0' && !no_home) {
            result = add_part(ret, of_home(site, list[i]), hidden, err);
        }
    }
    return result;
}

/* Adds the paths of remote_readonly, which are as the job sees them. */
static int add_own(struct remote_offer *ret, const struct ad *job, struct err *err)
{
    const char *at = ad_string_or(job, REMOTE_READONLY, "");
    int result = 0;
    for (char *item; result == 0 && (item = transfer_list_next(&at, ',')) != NULL; mem_free(item)) {
        if (item[0] != '\0' && item[0] != '/') {
            result =
                err_set(err, -EINVAL, "remote_readonly: '%.200s' is not an absolute path", item);
        } else if (item[0] != '\0') {
            result = add_part(ret, join_path(root_of(job), item), false, err);
        }
    }
    return result;
}

/* ---- what may be changed --------------------------------------------------------------------- */

/* Returns the path on this machine of what the job sees as `name`, relative to its initial
 * directory; owned by the caller.  What is not below the job's root keeps its name, as in
 * remote_plan_ad(). */
static char *real_of(const struct ad *job, const char *name)
{
    char *whole =
        name[0] == '/' ? clean_path(name) : join_path(ad_string_or(job, "Iwd", "/"), name);
    char *seen = seen_as(root_of(job), whole);
    char *real = join_path(root_of(job), seen != NULL ? seen : whole);
    mem_free(seen);
    mem_free(whole);
    return real;
}

/* Adds a path that may be changed.  Takes over path. */
static int add_grant(struct remote_offer *ret, enum rsys_grant_kind kind, char *path,
                     struct err *err)
{
    vec_push(&ret->texts, path);
    if (ret->offer.grant_count == RSYS_GRANTS_MAX) {
        return err_set(err, -E2BIG, "more than %d files and directories may be written to",
                       RSYS_GRANTS_MAX);
    }
    struct rsys_offer_grant *grant = &ret->grants[ret->offer.grant_count++];
    grant->kind = kind;
    grant->path = path;
    return 0;
}

static int add_output(struct remote_offer *ret, const struct ad *job, const char *name,
                      struct err *err)
{
    bool is_file = name[0] != '\0' && strcmp(name, NOTHING) != 0 && strstr(name, "://") == NULL;
    return is_file ? add_grant(ret, RSYS_GRANT_OUTPUT, real_of(job, name), err) : 0;
}

/* Adds the places in "name = place; other = place" as outputs. */
static int add_remaps(struct remote_offer *ret, const struct ad *job, struct err *err)
{
    const char *at = ad_string_or(job, "TransferOutputRemaps", "");
    int result = 0;
    for (char *item; result == 0 && (item = transfer_list_next(&at, ';')) != NULL; mem_free(item)) {
        const char *equals = strchr(item, '=');
        if (equals != NULL) {
            result = add_output(ret, job, equals + 1 + strspn(equals + 1, " \t"), err);
        }
    }
    return result;
}

static int add_grants(struct remote_offer *ret, const struct ad *job, struct err *err)
{
    static const char *const OUTPUTS[] = {"Out", "Err"};
    static const char *const LISTS[] = {"TransferOutput", "TransferOutputFiles"};
    const char *at = ad_string_or(job, REMOTE_WRITE, "");
    int result = add_grant(ret, RSYS_GRANT_START, real_of(job, ""), err);
    for (char *item; result == 0 && (item = transfer_list_next(&at, ',')) != NULL; mem_free(item)) {
        if (item[0] != '\0' && item[0] != '/') {
            result = add_grant(ret, RSYS_GRANT_GIVEN, real_of(job, item), err);
        } else if (item[0] != '\0') {
            result = add_grant(ret, RSYS_GRANT_GIVEN, join_path(root_of(job), item), err);
        }
    }
    for (size_t i = 0; i < 2 && result == 0; i++) {
        result = add_output(ret, job, ad_string_or(job, OUTPUTS[i], ""), err);
        at = ad_string_or(job, LISTS[i], "");
        for (char *item; result == 0 && (item = transfer_list_next(&at, ',')) != NULL;
             mem_free(item)) {
            result = add_output(ret, job, item, err);
        }
    }
    return result != 0 ? result : add_remaps(ret, job, err);
}

static int add_roots(struct remote_offer *ret, const struct ad *job, const struct remote_site *site,
                     struct err *err)
{
    const char *root = ad_string_or(job, REMOTE_ROOT, "");
    if (site->root_count == 0 || site->root_count > RSYS_WITHIN_MAX) {
        return err_set(err, -E2BIG, "REMOTE_SYSCALL_ROOTS names no directories, or more than %d",
                       RSYS_WITHIN_MAX);
    }
    bool own = root[0] != '\0';
    for (size_t i = 0; i < (own ? 1 : site->root_count); i++) {
        char *path = own ? clean_path(root) : of_home(site, site->roots[i]);
        vec_push(&ret->texts, path);
        if (path[0] != '/' || (own && root[0] != '/')) {
            return err_set(err, -EINVAL, "'%.200s' is not an absolute path of a directory",
                           own ? root : path);
        }
        ret->roots[i] = (struct rsys_offer_root){.view = own ? "/" : path, .directory = path};
    }
    ret->offer.root_count = own ? 1 : site->root_count;
    return 0;
}

/* Notes the site's roots: a root that the job names must lie in one of them. */
static void add_within(struct remote_offer *ret, const struct ad *job,
                       const struct remote_site *site)
{
    if (ad_string_or(job, REMOTE_ROOT, "")[0] == '\0') {
        return;
    }
    const char **within = mem_zalloc(site->root_count * sizeof(*within));
    vec_push(&ret->texts, within);
    for (size_t i = 0; i < site->root_count; i++) {
        char *path = of_home(site, site->roots[i]);
        vec_push(&ret->texts, path);
        within[i] = path;
    }
    ret->offer.within = within;
    ret->offer.within_count = site->root_count;
}

int remote_plan_offer(const struct ad *job, const struct remote_site *site,
                      struct remote_offer *ret, struct err *err)
{
    *ret = (struct remote_offer){.offer = {.limits = RSYS_LIMITS_DEFAULT}};
    ret->offer.roots = ret->roots;
    ret->offer.parts = ret->parts;
    ret->offer.grants = ret->grants;
    ret->offer.guarded = true;
    ret->offer.home = site->home;
    ret->offer.began_ms = ad_int_or(job, REMOTE_BEGAN, site->now_ms);
    ret->offer.limits.bytes_max = (uint64_t)site->bytes_max;
    ret->offer.limits.files_max = (uint64_t)site->files_max;
    ret->offer.limits.lease_ms = site->lease_ms;
    int result = add_roots(ret, job, site, err);
    result =
        result != 0 ? result : add_list(ret, site, site->always, site->always_count, true, err);
    result =
        result != 0 ? result : add_list(ret, site, site->hidden, site->hidden_count, true, err);
    result = result != 0 ? result
                         : add_list(ret, site, site->readonly, site->readonly_count, false, err);
    result = result != 0 ? result : add_own(ret, job, err);
    result = result != 0 ? result : add_grants(ret, job, err);
    if (result != 0) {
        remote_offer_fini(ret);
        return result;
    }
    add_within(ret, job, site);
    return 0;
}

void remote_offer_fini(struct remote_offer *offer)
{
    vec_fini(&offer->texts, mem_free);
    *offer = (struct remote_offer){0};
}

/* ---- the ad ---------------------------------------------------------------------------------- */

static void set_path(struct ad *job, const char *attribute, const char *directory, const char *none)
{
    const char *name = ad_string_or(job, attribute, "");
    if (name[0] == '\0' || strcmp(name, NOTHING) == 0) {
        if (none != NULL) {
            ad_set_string(job, attribute, none);
        }
        return;
    }
    char *whole = name[0] == '/' ? clean_path(name) : join_path(directory, name);
    char *seen = seen_as(root_of(job), whole);
    ad_set_string(job, attribute, seen != NULL ? seen : whole);
    mem_free(seen);
    mem_free(whole);
}

void remote_plan_ad(struct ad *job)
{
    char *directory = mem_strdup(ad_string_or(job, "Iwd", "/"));
    set_path(job, "Cmd", directory, NULL);
    set_path(job, "In", directory, NOTHING);
    set_path(job, "Out", directory, NOTHING);
    set_path(job, "Err", directory, NOTHING);
    set_path(job, "Iwd", "/", "/");
    ad_set_string(job, "ShouldTransferFiles", "NO");
    mem_free(directory);
}
