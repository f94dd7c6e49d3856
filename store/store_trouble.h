/* store/store_trouble.h - what went wrong with a store's file and its disk, and how it is said.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_TROUBLE_H
#define STORE_STORE_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log;
struct loop;
struct os;
struct store_db;
struct store_trouble;

/* Watches the store at path, in which an earlier life of the daemon has set `set_aside` rows aside.
 * go_on(arg) is called when a batch that waits for room is to be tried again. */
struct store_trouble *store_trouble_create(struct loop *loop, struct os *os, struct log *log,
                                           const char *path, struct store_db *db, size_t set_aside,
                                           void (*go_on)(void *arg), void *arg);
void store_trouble_destroy(struct store_trouble *trouble);

/* These four have the contracts of store_problem(), store_on_problem(), store_damaged_rows() and
 * store_note_damage(). */
const char *store_trouble_text(const struct store_trouble *trouble);
void store_trouble_on_change(struct store_trouble *trouble, void (*changed)(void *arg), void *arg);
size_t store_trouble_rows(const struct store_trouble *trouble);
void store_trouble_note(struct store_trouble *trouble, const char *table, const char *key,
                        const char *why);
/* Logs the damaged rows that the thread which uses the file has found.  Call it only while that
 * thread has no job. */
void store_trouble_tell(struct store_trouble *trouble);
/* Says why the check of all rows has failed; NULL: it has not. */
void store_trouble_set_unreadable(struct store_trouble *trouble, const char *why);

/* Returns whether the code, a negative errno, means that the disk is full or takes no writes. */
bool store_trouble_is_of_disk(int code);
/* These two have the contracts of store_keep_reserve() and store_full(). */
void store_trouble_keep_reserve(struct store_trouble *trouble, int64_t bytes);
int store_trouble_full(const struct store_trouble *trouble);
/* Gives the reserve to the commits, on the thread that uses the file.  Returns whether there was
 * one. */
bool store_trouble_use_reserve(struct store_trouble *trouble);
bool store_trouble_has_used_reserve(const struct store_trouble *trouble);
/* The disk has refused a write with `code`: from now on there is room only when a try shows it. */
void store_trouble_refused(struct store_trouble *trouble, int code, const char *why);
/* Makes the first batch wait for room, until go_on() is called. */
void store_trouble_hold_up(struct store_trouble *trouble);
bool store_trouble_holds_up(const struct store_trouble *trouble);

#endif
