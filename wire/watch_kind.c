/* wire/watch_kind.c - see watch_kind.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/watch_kind.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_expr.h"
#include "classad/ad_project.h"
#include "wire/wire.h"

#define PROJECTION_MAX 1000 /* attribute names */

/* ---- what is asked for ----------------------------------------------------------------------- */

/* Appends each piece with its length, so that different lists of pieces give different texts. */
static void name_add(struct strbuf *name, const char *piece)
{
    strbuf_printf(name, "%zu:%s", strlen(piece), piece);
}

static int projection_read(struct watch_kind *kind, const struct ad *args, struct strbuf *name,
                           struct err *err)
{
    struct ad_value list;
    if (ad_eval_attr(args, NULL, "Projection", NULL, &list) < 0) {
        return 0;
    }
    int rc = 0;
    struct vec names = {0};
    size_t count = ad_value_count(&list);
    if (list.type != AD_TYPE_LIST || count > PROJECTION_MAX) {
        rc = err_set(err, -EINVAL, "Projection is not a list of at most %d names", PROJECTION_MAX);
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type != AD_TYPE_STRING) {
            rc = err_set(err, -EINVAL, "Projection: element %zu is not a string", i);
        } else {
            char *attr = mem_strndup(item.string.text, item.string.length);
            name_add(name, attr);
            vec_push(&names, attr);
        }
        ad_value_fini(&item);
    }
    if (rc == 0 && count > 0) {
        kind->projection = ad_projection_create((const char *const *)names.items, names.count);
    }
    vec_fini(&names, mem_free);
    ad_value_fini(&list);
    return rc;
}

static int kind_read(struct watch_kind *kind, const struct ad *args, const struct wire_peer *peer,
                     struct strbuf *name, struct err *err)
{
    const char *constraint = NULL;
    kind->type = mem_strdup(ad_string_or(args, "Type", ""));
    kind->with_secrets = ad_bool_or(args, "Private", false);
    if (kind->type[0] == '\0') {
        return err_set(err, -EINVAL, "WATCH: Type is missing");
    }
    if (kind->with_secrets && (peer->scopes & SCOPE_NEGOTIATOR) == 0) {
        return err_set(err, -EACCES, "token is too weak: claim ids need the scope NEGOTIATOR");
    }
    if ((peer->scopes & ~(uint32_t)SCOPE_ADVERTISE) == 0 && strcmp(kind->type, "Revocation") != 0) {
        return err_set(
            err, -EACCES,
            "token is too weak: with ADVERTISE alone, only ads of type Revocation may be watched");
    }
    name_add(name, kind->type);
    strbuf_puts(name, kind->with_secrets ? "private " : "public ");
    if (ad_get_string(args, "Constraint", &constraint) == 0) {
        name_add(name, constraint);
        int rc = ad_expr_parse(constraint, strlen(constraint), AD_NEW, &kind->constraint, err);
        if (rc < 0) {
            return err_prefix(err, rc, "Constraint");
        }
    }
    strbuf_puts(name, " of ");
    return projection_read(kind, args, name, err);
}

int watch_kind_create(const struct ad *args, const struct wire_peer *peer, struct watch_kind **ret,
                      struct err *err)
{
    struct watch_kind *kind = mem_zalloc(sizeof(*kind));
    struct strbuf name;
    strbuf_init(&name, 0);
    int rc = kind_read(kind, args, peer, &name, err);
    if (rc == 0) {
        kind->name = strbuf_take(&name);
        rc = kind->name != NULL ? 0 : err_set(err, -EINVAL, "WATCH: its arguments are too long");
    }
    strbuf_fini(&name);
    if (rc < 0) {
        watch_kind_destroy(kind);
        return rc;
    }
    *ret = kind;
    return 0;
}

void watch_kind_destroy(struct watch_kind *kind)
{
    if (kind == NULL) {
        return;
    }
    ad_expr_destroy(kind->constraint);
    ad_projection_destroy(kind->projection);
    mem_free(kind->name);
    mem_free(kind->type);
    mem_free(kind);
}

size_t watch_kind_bytes(const struct watch_kind *kind)
{
    size_t name = strlen(kind->name); /* the projection is in it */
    return sizeof *kind + 3 * name +
           (kind->constraint != NULL ? ad_expr_bytes(kind->constraint) : 0);
}

/* ---- how an ad looks ------------------------------------------------------------------------- */

bool watch_kind_is_too_costly(const struct watch_kind *kind)
{
    return kind->work.over > WATCH_KIND_OVER_MAX;
}

bool watch_kind_wants(struct watch_kind *kind, const struct ad *ad,
                      const struct ad_context *context)
{
    if (kind->constraint == NULL) {
        return true;
    }
    if (watch_kind_is_too_costly(kind)) {
        return false;
    }
    struct ad_context counted = *context;
    counted.work = &kind->work;
    kind->work.steps_max = WATCH_KIND_STEPS_MAX;
    uint64_t before = kind->work.steps;
    bool wanted = ad_eval_bool(kind->constraint, ad, NULL, &counted) == AD_TRUE;
    kind->judged++;
    kind->judging += kind->work.steps - before;
    return wanted;
}

bool watch_kind_is_slow(const struct watch_kind *kind)
{
    return kind->judging > WATCH_KIND_SLOW * kind->judged;
}

void watch_kind_encode(const struct watch_kind *kind, const struct ad *ad, struct strbuf *out)
{
    size_t begin = wire_ad_begin(out);
    if (kind->projection == NULL) {
        ad_encode(ad, true, out); /* no secret is in it */
    } else {
        (void)ad_project(kind->projection, ad, true, false, out);
    }
    wire_ad_end(out, begin);
}
