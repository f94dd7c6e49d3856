/* cli/listing.h - asking for ads and writing listings: the part of listing_plan.h that does I/O.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include <stddef.h>

#include "cli/cli.h"
#include "cli/listing_plan.h"
#include "cli/terminal_plan.h"
#include "wire/verbs.h"

#define LISTING_TEXT_MAX ((size_t)4 << 30) /* bytes of one listing */

struct ad;
struct ad_context;
struct err;
struct strbuf;
struct wire;

/* Now, in the local time zone: what expressions and dates of a listing are evaluated with. */
struct ad_context listing_context(struct cli *cli);
extern const struct ad_context listing_zone; /* the caller's time zone alone, to parse in */

/* What standard output is.  No colour without a terminal, where TERM is dumb or NO_COLOR is set;
 * wide: lines are not cut. */
struct terminal listing_terminal(struct cli *cli, bool wide);

/* QUERY of that type with the listing's constraint and limit; projection NULL (or a style other
 * than LISTING_TABLE): all attributes; more: further arguments, may be NULL; relay_to as in
 * cli_call().  Release the reply in any case. */
int listing_query(struct cli *cli, struct wire *wire, const char *relay_to, const char *type,
                  const struct listing *listing, const char *const *projection,
                  const struct ad *more, struct cli_reply *reply, struct err *err);

/* The same of the caller's own pool or schedd, for ads that are not kept: each gets them as they
 * come (cli_call_each()).  args (may be NULL) gets what the last part said, NULL or the caller's.
 */
int listing_query_each(struct cli *cli, struct wire *wire, const char *type,
                       const struct listing *listing, const struct ad *more, cli_ads_f each,
                       void *arg, struct ad **args, struct err *err);

/* Prints in the listing's style, which is not LISTING_TABLE, to standard output. */
int listing_show(struct cli *cli, const struct listing *listing, const struct ad *const *ads,
                 size_t count);

/* Writes out to standard output and empties it: for printers that emit.  arg is a struct
 * listing_output, whose status is that of listing_write() from then on. */
struct listing_output {
    const struct cli *cli;
    int status; /* CLI_OK to begin with */
};
void listing_write_some(void *arg, struct strbuf *out);

/* Writes out to standard output and releases it.  Exit status: CLI_FAILED with a message when that
 * is not possible. */
int listing_write(const struct cli *cli, struct strbuf *out);

/* Those of ads[0..*count) that meet the listing's constraints, at most as many as its limit: for
 * lists that were not asked for by QUERY.  They come first, in their order; *count becomes
 * their number, the others lie behind. */
int listing_select(struct cli *cli, const struct listing *listing, const struct ad **ads,
                   size_t *count, struct err *err);

/* -print-format FILE (or -pr): 1, 0 (argv[*at] is no such option), or -errno with what is wrong. */
int listing_print_format(struct cli *cli, struct listing *listing, int *at, struct err *err);

/* Appends the ads of a file, "-" for standard input, in any form; the caller's. */
int listing_read_file(struct cli *cli, const char *path, struct vec *ads, struct err *err);

/* For jobs: turns "12", "12.3" and names of owners into constraints, all of them into one that any
 * may meet.  -EINVAL: none of these. */
int listing_jobs(struct listing *listing, char *const *words, size_t count, struct err *err);

#endif
