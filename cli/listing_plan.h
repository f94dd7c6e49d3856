/* cli/listing_plan.h - the options that all listings share, and what they print.
 *
 * -l, --json, -jsonl, -af[:FLAGS] ATTR..., -format FMT ATTR, -attributes A,B, -constraint EXPR,
 * -limit N, as in HTCondor's tools; options may be shortened and have one dash or two.  Pure, so
 * tests can compare layouts; cli/listing.h does the I/O.
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
struct ad_lister;
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
    LISTING_CUSTOM, /* with the columns that a -print-format file describes */
};

/* How -af prints a value. */
enum listing_value {
    LISTING_BARE,
    LISTING_QUOTED,      /* -af:V: a string in quotes */
    LISTING_UNEVALUATED, /* -af:r or -af:o: the expression, not its value */
};

/* How -af prints a number, unless the value is unevaluated. */
enum listing_number {
    LISTING_NUMBER,
    LISTING_DATE,     /* -af:Y: the number is a time */
    LISTING_DURATION, /* -af:T: the number is a duration in seconds */
};

/* What -af prints between the values. */
struct listing_gaps {
    bool comma;
    bool tab;     /* -af:t: a tab instead of a space */
    bool newline; /* -af:n: a newline instead of a space or a tab */
    bool empty;   /* -af:g: an empty line after each ad */
};

struct listing_autoformat { /* the flags of -af */
    bool headings, job_id, labels;
    enum listing_value values;
    enum listing_number numbers;
    struct listing_gaps gaps;
};

struct listing {
    enum listing_style style;
    struct listing_autoformat autoformat;
    /* -af was given; -format was given; with both, items are printed in the order of arguments */
    bool has_auto, has_format;
    struct print_format *custom; /* columns of the -print-format file, for LISTING_CUSTOM; owned */
    /* value of -target: the TARGET of expressions; NULL: none; owned */
    struct ad *target;
    struct vec items;       /* arguments of -af and -format; only for listing_plan.c */
    struct vec attributes;  /* attribute names of -attributes */
    struct vec constraints; /* expressions that must all be true */
    int64_t limit;          /* largest number of ads; 0: no limit */
};

/* releases what listing owns; a zeroed struct is an empty listing */
void listing_fini(struct listing *listing);

/* True when arg is the option -word or --word, or a prefix of it with at least min letters. */
bool listing_is(const char *arg, const char *word, size_t min);

/* Parses argv[*at].  Returns 1 when it is an option of a listing (*at is then its last argument), 0
 * when it is not, -EINVAL with the reason in err.  Times without a zone are in the context's zone
 * (NULL: UTC). */
int listing_plan_option(struct listing *listing, int argc, char *const *argv, int *at,
                        const struct ad_context *context, struct err *err);

/* adds a copy of a constraint to the listing */
void listing_also(struct listing *listing, const char *constraint);
/* Prepares a constraint for a server that may be in another time zone: times without a zone get the
 * context's zone.  Returns 0 and sets *ret (mem_free()), or -EINVAL. */
int listing_plan_zoned(const char *text, const struct ad_context *context, char **ret,
                       struct err *err);
/* All constraints joined into one expression for a query; owned by the caller (mem_free()).  NULL:
 * all ads. */
char *listing_plan_constraint(const struct listing *listing);

/* Adds the names of the attributes that the style prints (char *, copies).  False: other attributes
 * may be needed too, such as those to which an expression refers. */
bool listing_plan_names(const struct listing *listing, struct vec *names);

/* Ads that are printed portion by portion, so that the caller can write each portion; only for
 * listing_plan.c. */
struct listing_print {
    const struct listing *listing;
    const struct ad *const *ads;
    size_t count;
    const struct ad_context *context;
    size_t next;              /* index of the next ad */
    struct ad_lister *lister; /* prints the long form and JSON; NULL in other styles */
};

/* Begins to print the ads in any style except LISTING_TABLE; all arguments must outlive print. */
void listing_plan_begin(struct listing_print *print, const struct listing *listing,
                        const struct ad *const *ads, size_t count,
                        const struct ad_context *context);
/* Appends the next ads to out, until out has about 256 KiB.  A style whose lines depend on all ads
 * is one portion.  Returns false after the last portion. */
bool listing_plan_more(struct listing_print *print, struct strbuf *out);
void listing_plan_end(struct listing_print *print);

/* Prints the ads in any style except LISTING_TABLE, in one portion. */
void listing_plan_print(const struct listing *listing, const struct ad *const *ads, size_t count,
                        const struct ad_context *context, struct strbuf *out);

#endif
