/* negotiator/accountant.h - who has used how much: real and effective user priorities.
 *
 * Real priority P follows use with a half-life: P' = max(0.5, P b + use (1 - b)), b = 0.5^(dt /
 * PRIORITY_HALFLIFE), use in slots; effective = real times factor (DEFAULT_PRIO_FACTOR).  Lower is
 * better.  Kept in the store, one record a user. Source: HTCondor's manual, "User Priorities and
 * Negotiation".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_ACCOUNTANT_H
#define NEGOTIATOR_ACCOUNTANT_H

#include <stddef.h>
#include <stdint.h>

struct accountant;
struct arena;
struct err;
struct plan_user;
struct store;

#define ACCOUNTANT_PRIO_MIN 0.5

int accountant_create(struct store *store, struct accountant **ret, struct err *err);
void accountant_destroy(struct accountant *accountant);
/* The use of this moment: call begin, then once for each claimed slot, then end, which settles the
 * time since the last end. */
void accountant_begin(struct accountant *accountant);
void accountant_use(struct accountant *accountant, const char *user, double weight);
void accountant_end(struct accountant *accountant, int64_t now_s, int64_t halflife_s);
/* All users that are known, for a plan; in the arena.  NULL (and 0) when it is full. */
struct plan_user *accountant_users(const struct accountant *accountant, double default_factor,
                                   struct arena *arena, size_t *count);
/* Pure: the priority after dt_s seconds of `use` slots. */
double accountant_decay(double real, double use, double dt_s, double halflife_s);

#endif
