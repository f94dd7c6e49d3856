/* submit/spool_plan.c - see spool_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/spool_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"

const char *const spool_plan_attributes[] = {
    "Iwd",
    "Cmd",
    "In",
    "Out",
    "Err",
    "UserLog",
    "TransferInput",
    "TransferOutputRemaps",
    "ShouldTransferFiles",
    NULL,
};

static char *kept_name(const char *name)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "SUBMIT_%s", name);
    return strbuf_take(&text);
}

static void keep_paths(struct ad *ad)
{
    for (size_t i = 0; spool_plan_attributes[i] != NULL; i++) {
        if (ad_has(ad, spool_plan_attributes[i])) {
            char *kept = kept_name(spool_plan_attributes[i]);
            (void)ad_copy_attr(ad, kept, ad, spool_plan_attributes[i]); /* it is there */
            mem_free(kept);
        }
    }
}

static void print_expr(const struct ad_expr *expr, struct strbuf *out)
{
    strbuf_init(out, 0);
    ad_expr_print(expr, AD_OLD, out);
}

bool spool_plan_waits_for_fetch(const struct ad *job)
{
    const struct ad_expr *expr = ad_lookup(job, "LeaveJobInQueue");
    struct ad_expr *ours = NULL;
    struct strbuf said, wanted;
    if (expr == NULL || ad_expr_parse(SPOOL_LEAVE, strlen(SPOOL_LEAVE), AD_OLD, &ours, NULL) != 0) {
        return false;
    }
    print_expr(expr, &said);
    print_expr(ours, &wanted);
    bool same = strcmp(strbuf_text(&said), strbuf_text(&wanted)) == 0;
    strbuf_fini(&said);
    strbuf_fini(&wanted);
    ad_expr_destroy(ours);
    return same;
}

void spool_plan_keep(struct ad *cluster)
{
    const struct ad_expr *leave = ad_lookup(cluster, "LeaveJobInQueue");
    bool stays = ad_bool_or(cluster, "LeaveJobInQueue", false);
    keep_paths(cluster);
    if (leave == NULL || (ad_expr_is_literal(leave) && !stays)) {
        int rc = ad_set_expr(cluster, "LeaveJobInQueue", SPOOL_LEAVE, NULL);
        CHECK(rc == 0);
    }
}

/* ---- where things lie ------------------------------------------------------------------------ */

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Returns path as an absolute path, starting from iwd, without slashes at the end; owned by the
 * caller. */
static char *absolute_path(const char *iwd, const char *path)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    if (path[0] != '/') {
        strbuf_printf(&text, "%s/", iwd);
    }
    strbuf_puts(&text, path);
    char *whole = strbuf_take(&text);
    size_t length = strlen(whole);
    while (length > 1 && whole[length - 1] == '/') {
        whole[--length] = '\0';
    }
    return whole;
}

/* FNV-1a; for two files of a cluster, the chance of the same hash is 2^-64. */
static uint64_t hash_path(const char *text)
{
    uint64_t value = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++) {
        value = (value ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return value;
}

static bool is_nothing(const char *path)
{
    return path[0] == '\0' || strcmp(path, "/dev/null") == 0;
}

/* Appends the place in this part of the sandbox ("in" or "log") of a file whose path the job gives
 * as `path`. */
static int put_place(const char *directory, const char *part, const char *iwd, const char *path,
                     struct strbuf *out, struct err *err)
{
    char *whole = absolute_path(iwd, path);
    const char *name = last_name(whole);
    int rc = 0;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        rc = err_set(
            err, -EINVAL,
            "'%.200s' cannot be spooled: a path must end with the name of a file or directory",
            path);
    }
    strbuf_printf(out, "%s/%s/%016" PRIx64 "/%s", directory, part, hash_path(whole), name);
    mem_free(whole);
    return rc;
}

static int set_place(struct ad *own, const char *name, const char *directory, const char *part,
                     const char *iwd, struct err *err)
{
    struct strbuf place;
    const char *path = ad_string_or(own, name, "");
    if (is_nothing(path)) {
        return 0;
    }
    strbuf_init(&place, 0);
    int rc = put_place(directory, part, iwd, path, &place, err);
    ad_set_string(own, name, strbuf_text(&place));
    strbuf_fini(&place);
    return rc;
}

/* Returns the next item of a comma-separated list, without the blanks around it; NULL at the end.
 * Owned by the caller. */
static char *next_item(const char **at)
{
    while (**at != '\0') {
        const char *begin = *at;
        size_t length = strcspn(begin, ",");
        *at = begin + length + (begin[length] == ',' ? 1 : 0);
        while (length > 0 && strchr(" \t", begin[0]) != NULL) {
            begin++;
            length--;
        }
        while (length > 0 && strchr(" \t", begin[length - 1]) != NULL) {
            length--;
        }
        if (length > 0) {
            return mem_strndup(begin, length);
        }
    }
    return NULL;
}

static bool is_url(const char *item)
{
    return strstr(item, "://") != NULL;
}

static int rewrite_inputs(struct ad *own, const char *directory, const char *iwd, struct err *err)
{
    const char *at = ad_string_or(own, "TransferInput", "");
    struct strbuf list;
    char *item;
    int rc = 0;
    strbuf_init(&list, 0);
    strbuf_puts(&list, "");
    while (rc == 0 && (item = next_item(&at)) != NULL) {
        bool contents = item[strlen(item) - 1] == '/';
        strbuf_puts(&list, list.length > 0 ? "," : "");
        if (is_url(item)) {
            strbuf_puts(&list, item);
        } else {
            rc = put_place(directory, "in", iwd, item, &list, err);
            strbuf_puts(&list, contents ? "/" : "");
        }
        mem_free(item);
    }
    if (ad_has(own, "TransferInput") || list.length > 0) {
        ad_set_string(own, "TransferInput", strbuf_text(&list));
    }
    strbuf_fini(&list);
    return rc;
}

static void rewrite_streams(struct ad *own)
{
    const char *out = ad_string_or(own, "Out", ""), *error = ad_string_or(own, "Err", "");
    bool same = strcmp(out, error) == 0, has_out = !is_nothing(out), has_error = !is_nothing(error);
    if (has_out) {
        ad_set_string(own, "Out", "_condor_stdout");
    }
    if (has_error) {
        ad_set_string(own, "Err", same ? "_condor_stdout" : "_condor_stderr");
    }
}

/* Keeps only the remaps to a URL.  Other outputs come back with the names that they have in the
 * sandbox, and get their new names when they are fetched. */
static void rewrite_remaps(struct ad *own)
{
    const char *at = ad_string_or(own, "TransferOutputRemaps", "");
    struct strbuf kept;
    if (at[0] == '\0') {
        return;
    }
    strbuf_init(&kept, 0);
    while (*at != '\0') {
        size_t length = strcspn(at, ";");
        char *item = mem_strndup(at, length);
        const char *equals = strchr(item, '=');
        if (equals != NULL && is_url(equals + 1 + strspn(equals + 1, " \t"))) {
            strbuf_printf(&kept, "%s%s", kept.length > 0 ? ";" : "", item);
        }
        mem_free(item);
        at += length + (at[length] == ';' ? 1 : 0);
    }
    ad_set_string(own, "TransferOutputRemaps", strbuf_text(&kept));
    strbuf_fini(&kept);
}

static int rewrite_paths(struct ad *own, const char *directory, int64_t proc, struct err *err)
{
    char *iwd = mem_strdup(ad_string_or(own, "Iwd", "/"));
    struct strbuf place;
    int rc = 0;
    if (text_equal_nocase(ad_string_or(own, "ShouldTransferFiles", ""), "NO")) {
        rc = err_set(err, -EINVAL, "a job with should_transfer_files = NO cannot be spooled");
    } else if (ad_bool_or(own, "PreserveRelativePaths", false)) {
        rc = err_set(err, -EINVAL, "a job with preserve_relative_paths cannot be spooled");
    } else if (ad_bool_or(own, "WantRemoteSyscalls", false)) {
        rc = err_set(err, -EINVAL,
                     "a job of the standard universe cannot be spooled: it works on the files of "
                     "the machine where it is submitted, where they are");
    }
    if (rc == 0 && ad_bool_or(own, "TransferExecutable", true)) {
        rc = set_place(own, "Cmd", directory, "in", iwd, err);
    }
    rc = rc != 0 ? rc : set_place(own, "In", directory, "in", iwd, err);
    rc = rc != 0 ? rc : set_place(own, "UserLog", directory, "log", iwd, err);
    rc = rc != 0 ? rc : rewrite_inputs(own, directory, iwd, err);
    rewrite_streams(own);
    rewrite_remaps(own);
    ad_set_string(own, "ShouldTransferFiles", "YES");
    strbuf_init(&place, 0);
    strbuf_printf(&place, "%s/out/%" PRId64, directory, proc);
    ad_set_string(own, "Iwd", strbuf_text(&place));
    strbuf_fini(&place);
    mem_free(iwd);
    return rc;
}

int spool_plan_rewrite(struct ad *own, const struct ad *cluster, const char *directory,
                       int64_t proc, struct err *err)
{
    keep_paths(own); /* of what it shares the cluster's ad has it */
    ad_chain(own, cluster);
    int rc = rewrite_paths(own, directory, proc, err);
    ad_chain(own, NULL);
    return rc;
}

/* ---- at the submitter's ---------------------------------------------------------------------- */

void spool_item_destroy(void *arg)
{
    struct spool_item *item = arg;
    mem_free(item->local);
    mem_free(item->name);
    mem_free(item);
}

/* Returns the part of path below the cluster's sandbox; NULL: path is not in it. */
static const char *below_sandbox(const struct ad *job, const char *path)
{
    struct strbuf mark;
    strbuf_init(&mark, 0);
    strbuf_printf(&mark, "/sandbox/%" PRId64 "/", ad_int_or(job, "ClusterId", 0));
    const char *found = NULL;
    for (const char *at = path; (at = strstr(at, strbuf_text(&mark))) != NULL; at++) {
        found = at + mark.length;
    }
    strbuf_fini(&mark);
    return found;
}

static void add_item(struct vec *items, char *local, const char *name)
{
    struct spool_item *item = mem_zalloc(sizeof(*item));
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == '/') {
        length--;
    }
    item->local = local;
    item->name = mem_strndup(name, length);
    vec_push(items, item);
}

static void add_file(const struct ad *job, const char *iwd, const char *attribute,
                     struct vec *items)
{
    char *kept = kept_name(attribute);
    const char *local = ad_string_or(job, kept, ""), *name = ad_string_or(job, attribute, "");
    name = below_sandbox(job, name);
    if (name != NULL && !is_nothing(local)) {
        add_item(items, absolute_path(iwd, local), name);
    }
    mem_free(kept);
}

static int add_inputs(const struct ad *job, const char *iwd, struct vec *items, struct err *err)
{
    const char *locals = ad_string_or(job, "SUBMIT_TransferInput", "");
    const char *names = ad_string_or(job, "TransferInput", "");
    char *local, *name;
    int rc = 0;
    while (rc == 0 && (local = next_item(&locals)) != NULL) {
        name = next_item(&names);
        const char *place = name != NULL ? below_sandbox(job, name) : NULL;
        if (place != NULL) {
            add_item(items, absolute_path(iwd, local), place);
        } else if (name == NULL || !is_url(name)) {
            rc = err_set(err, -EINVAL,
                         "TransferInput was changed after the submit; '%.100s' is not among the "
                         "spooled files",
                         local);
        }
        mem_free(local);
        mem_free(name);
    }
    return rc;
}

int spool_plan_items(const struct ad *job, struct vec *items, struct err *err)
{
    const char *iwd = ad_string_or(job, SPOOL_MARK, "");
    const char *out = below_sandbox(job, ad_string_or(job, "Iwd", ""));
    const char *log = below_sandbox(job, ad_string_or(job, "UserLog", ""));
    if (iwd[0] != '/' || out == NULL) {
        return err_set(err, -EINVAL, "job %lld.%lld was not submitted with -spool",
                       (long long)ad_int_or(job, "ClusterId", 0),
                       (long long)ad_int_or(job, "ProcId", 0));
    }
    add_item(items, NULL, out);
    if (log != NULL && strrchr(log, '/') != NULL) {
        char *directory = mem_strndup(log, (size_t)(strrchr(log, '/') - log));
        add_item(items, NULL, directory);
        mem_free(directory);
    }
    add_file(job, iwd, "Cmd", items);
    add_file(job, iwd, "In", items);
    return add_inputs(job, iwd, items, err);
}

/* Finds the new name in "a = b ; c = d", where a backslash makes the next character a plain one.
 * Returns it, owned by the caller; NULL: name is not listed. */
static char *find_remap(const char *remaps, const char *name)
{
    while (*remaps != '\0') {
        struct strbuf parts[2];
        size_t part = 0;
        strbuf_init(&parts[0], 0);
        strbuf_init(&parts[1], 0);
        for (; *remaps != '\0' && *remaps != ';'; remaps++) {
            if (*remaps == '=' && part == 0) {
                part = 1;
            } else {
                remaps += *remaps == '\\' && remaps[1] != '\0' ? 1 : 0;
                strbuf_putc(&parts[part], *remaps);
            }
        }
        remaps += *remaps == ';' ? 1 : 0;
        char *ends[2];
        for (size_t i = 0; i < 2; i++) {
            const char *at = strbuf_text(&parts[i]);
            ends[i] = next_item(&at);
            strbuf_fini(&parts[i]);
        }
        bool found = part == 1 && ends[0] != NULL && ends[1] != NULL && strcmp(ends[0], name) == 0;
        mem_free(ends[0]);
        if (found) {
            return ends[1];
        }
        mem_free(ends[1]);
    }
    return NULL;
}

/* As find_remap(), also for a name in a directory that is remapped. */
static char *remapped_below(const char *remaps, const char *name)
{
    char *found = find_remap(remaps, name);
    for (size_t length = strlen(name); found == NULL && length > 0; length--) {
        if (name[length - 1] == '/') {
            char *directory = mem_strndup(name, length - 1);
            char *other = find_remap(remaps, directory);
            mem_free(directory);
            if (other != NULL) {
                struct strbuf path;
                strbuf_init(&path, 0);
                strbuf_printf(&path, "%s/%s", other, name + length);
                mem_free(other);
                found = strbuf_take(&path);
            }
        }
    }
    return found;
}

char *spool_plan_destination(const struct ad *job, const char *name)
{
    const char *iwd = ad_string_or(job, SPOOL_MARK, "");
    const char *path = name;
    char *other = NULL;
    if (iwd[0] != '/') {
        return NULL;
    }
    if (strcmp(name, "_condor_stdout") == 0) {
        path = ad_string_or(job, "SUBMIT_Out", "");
    } else if (strcmp(name, "_condor_stderr") == 0) {
        path = ad_string_or(job, "SUBMIT_Err", "");
    } else if (name[0] == '\0') {
        path = ad_string_or(job, "SUBMIT_UserLog", "");
    } else {
        other = remapped_below(ad_string_or(job, "SUBMIT_TransferOutputRemaps", ""), name);
        path = other != NULL ? other : name;
    }
    char *whole = is_nothing(path) || is_url(path) ? NULL : absolute_path(iwd, path);
    mem_free(other);
    return whole;
}
