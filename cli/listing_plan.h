/* cli/listing_plan.h - the options that every listing shares, and what they print.
 *
 * -l, --json, -jsonl, -af[:FLAGS] ATTR..., -format FMT ATTR, -attributes A,B, -constraint EXPR,
 * -limit N: as HTCondor's tools take them, words may be shortened and have one dash or two.  Pure,
 * so that the layouts are tested with ads in and text out; cli/listing.h asks and writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_LISTING_PLAN_H
#define CLI_LISTING_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct ad;
struct ad_context;
struct err;
struct print_format;
struct strbuf;

enum listing_style {
    LISTING_TABLE,
    LISTING_LONG,
    LISTING_JSON,
    LISTING_XML,
    LISTING_AUTO,
    LISTING_FORMAT,
    LISTING_JSON_LINES,
    LISTING_CUSTOM, /* -print-format */
};

struct listing {
    enum listing_style style;
    /* -af: */
    bool headings, job_id, labels, quoted, unevaluated, gap;
    bool comma, tab, newline, elapsed, dates;
    bool has_auto, has_format;   /* both: items are printed in their order */
    struct print_format *custom; /* of LISTING_CUSTOM; owned */
    struct ad *target;           /* -target: what TARGET is in expressions; NULL: none; owned */
    struct vec items;            /* of -af and -format, private to listing_plan.c */
    struct vec attributes;       /* of -attributes: names */
    struct vec constraints;      /* texts: all must be true */
    int64_t limit;               /* 0: none */
    /* Called when much has been printed, to write it and empty out; NULL: all of it stays in out.
     */
    void (*emit)(void *arg, struct strbuf *out);
    void *emit_arg;
};

void listing_fini(struct listing *listing); /* one that is zeroed is empty */

/* Is arg the option -word or --word, or a beginning of it with at least min letters? */
bool listing_is(const char *arg, const char *word, size_t min);

/* Looks at argv[*at].  1: it was an option of ours, *at is at the last argument it took; 0: it was
 * not; -EINVAL with what is wrong.  Times without a zone are of the context's (NULL: UTC). */
int listing_plan_option(struct listing *listing, int argc, char *const *argv, int *at,
                        const struct ad_context *context, struct err *err);

void listing_also(struct listing *listing, const char *constraint); /* one more; copied */
/* A constraint as who is asked is to read it, who may live in another zone: times in text that name
 * no zone are the context's.  0 and *ret (mem_free), or -EINVAL. */
int listing_plan_zoned(const char *text, const struct ad_context *context, char **ret,
                       struct err *err);
/* Both, as one expression for a query; owned by the caller (mem_free), NULL: all ads. */
char *listing_plan_constraint(const struct listing *listing);

/* Adds the names of the attributes that the style prints to names (char *, copies).  False: it may
 * need others, too, for example those that an expression refers to. */
bool listing_plan_names(const struct listing *listing, struct vec *names);

/* Every style but LISTING_TABLE. */
void listing_plan_print(const struct listing *listing, const struct ad *const *ads, size_t count,
                        const struct ad_context *context, struct strbuf *out);

#endif
