/* factory/journal.h - the glideins that there are, and the sites that somebody paused, on disk
 * (SPOOL/factory.db).
 *
 * A glidein is in the journal before its site is asked for it, and leaves it when the site does not
 * have it any more.  So a factory that was killed in the middle knows whom to look for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_JOURNAL_H
#define FACTORY_JOURNAL_H

#include <stddef.h>

struct ad;
struct daemon_env;
struct err;
struct glidein;
struct journal;
struct store;

int journal_open(const struct daemon_env *env, const char *factory, struct journal **ret,
                 struct err *err);
void journal_close(struct journal *journal); /* NULL is allowed */
const struct store *journal_store(const struct journal *journal);
/* Calls `each` for each row; to be called before the first change. */
int journal_load(struct journal *journal, void (*each)(void *arg, const struct ad *row), void *arg,
                 struct err *err);
/* Writes the rows of glideins; done(arg), unless NULL, is called when they are durable. */
void journal_put(struct journal *journal, struct glidein *const *glideins, size_t count,
                 void (*done)(void *arg), void *arg);
void journal_delete(struct journal *journal, const struct glidein *glidein);

/* Calls `each` for the row of each site that is paused; to be called before the first change. */
int journal_load_pauses(struct journal *journal,
                        void (*each)(void *arg, const char *site, const struct ad *row), void *arg,
                        struct err *err);
/* Writes the row of a site; row NULL: deletes it.  done(arg), unless NULL, is called when that is
 * durable. */
void journal_put_pause(struct journal *journal, const char *site, const struct ad *row,
                       void (*done)(void *arg), void *arg);

#endif
