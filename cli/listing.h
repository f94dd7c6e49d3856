/* cli/listing.h - queries ads and writes listings: the I/O for listing_plan.h.
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

#define LISTING_TEXT_MAX ((size_t)4 << 30) /* largest listing in bytes */

struct ad;
struct ad_context;
struct err;
struct strbuf;
struct wire;

/* The current time in the local time zone, for evaluating expressions and printing dates of a
 * listing. */
struct ad_context listing_context(struct cli *cli);
/* a context with only the local time zone, for parsing times */
extern const struct ad_context listing_zone;

/* Describes standard output.  No colours when it is not a terminal, TERM is dumb or NO_COLOR is
 * set.  wide: lines are not cut. */
struct terminal listing_terminal(struct cli *cli, bool wide);

/* Queries ads of the given type with the listing's constraint and limit.  projection lists the
 * wanted attributes (NULL, or a style other than LISTING_TABLE: all); more: further arguments, or
 * NULL; relay_to: the uplink to which the collector relays the query, or NULL.  Returns 0 or
 * -errno.  Release the reply in any case. */
int listing_query(struct cli *cli, struct wire *wire, const char *relay_to, const char *type,
                  const struct listing *listing, const char *const *projection,
                  const struct ad *more, struct cli_reply *reply, struct err *err);

/* Queries ads of the given type with the listing's constraint and limit, and gives them to `each`
 * as they come, without keeping them (cli_call_each()).  more: further arguments, or NULL.
 * *args (args may be NULL) becomes the arguments of the reply's last part, owned by the caller, or
 * NULL.  Returns 0 or -errno. */
int listing_query_each(struct cli *cli, struct wire *wire, const char *type,
                       const struct listing *listing, const struct ad *more, cli_ads_f each,
                       void *arg, struct ad **args, struct err *err);

/* Prints the ads to standard output in the listing's style, which must not be LISTING_TABLE.
 * Returns an exit status. */
int listing_show(struct cli *cli, const struct listing *listing, const struct ad *const *ads,
                 size_t count);

/* A target for printers that emit text in parts: listing_write_some() with a struct listing_output
 * as arg writes the text to standard output and empties the buffer; status is the result of all
 * writes. */
struct listing_output {
    const struct cli *cli;
    int status; /* exit status; the caller sets it to CLI_OK first */
};
void listing_write_some(void *arg, struct strbuf *out);

/* Writes the text of out to standard output and releases out.  Returns an exit status: CLI_FAILED,
 * with a message, when writing fails. */
int listing_write(const struct cli *cli, struct strbuf *out);

/* Applies the listing's constraints and limit to ads that did not come from a QUERY.  The selected
 * ads are moved to the front, in their order, and *count becomes their number; the other ads
 * follow.  Returns 0, or -errno if a constraint cannot be parsed. */
int listing_select(struct cli *cli, const struct listing *listing, const struct ad **ads,
                   size_t *count, struct err *err);

/* Parses -print-format FILE (or -pr) at argv[*at].  Returns 1; 0 when argv[*at] is another option;
 * or -errno with the reason in err. */
int listing_print_format(struct cli *cli, struct listing *listing, int *at, struct err *err);

/* Appends the ads of a file in any form, owned by the caller; path "-" is standard input.  Returns
 * 0, or -errno with the path in err. */
int listing_read_file(struct cli *cli, const char *path, struct vec *ads, struct err *err);

/* For jobs: turns words ("12", "12.3", owners) into one constraint that is true for a job that any
 * of the words means.  -EINVAL: a word is neither a job id nor an owner. */
int listing_jobs(struct listing *listing, char *const *words, size_t count, struct err *err);

#endif
