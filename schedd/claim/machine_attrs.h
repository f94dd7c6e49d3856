/* schedd/claim/machine_attrs.h - what a job wants to know of its slots: kept in its ad, told in its
 * log.
 *
 * JobMachineAttrs (and SYSTEM_JOB_MACHINE_ATTRS of the site): when a slot gets the job, each
 * attribute of the slot becomes MachineAttr<name>0 of the job; those of earlier slots move on to
 * 1, 2, up to JobMachineAttrsHistoryLength of them in all.  UserLogExecuteEventAttrs: told in the
 * event 001.  The slot's ad is kept for that only where a job asks for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_MACHINE_ATTRS_H
#define SCHEDD_CLAIM_MACHINE_ATTRS_H

struct ad;
struct job;
struct schedd;

/* Attributes of its cluster or of the job changed, or are new. */
void machine_attrs_look_at(struct schedd *schedd, const struct job *job);
/* A slot has the job; slot: its ad, NULL when it is not known. */
void machine_attrs_note(const struct schedd *schedd, struct job *job, const struct ad *slot);
/* Into props what the job wants to be told when it begins. */
void machine_attrs_tell(const struct job *job, const struct ad *slot, struct ad *props);

#endif
