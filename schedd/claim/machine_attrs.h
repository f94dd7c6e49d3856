/* schedd/claim/machine_attrs.h - copies attributes of a job's slots into the job's ad and event
 * log.
 *
 * JobMachineAttrs of the job, and SYSTEM_JOB_MACHINE_ATTRS of the site, name attributes of slots.
 * When a slot gets the job, each of them becomes MachineAttr<name>0 in the job's ad.  The values of
 * earlier slots move on to MachineAttr<name>1 and so on; JobMachineAttrsHistoryLength values are
 * kept.  UserLogExecuteEventAttrs names attributes that are shown in the event 001.  A claim keeps
 * the slot's ad for this only if some job asks for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_MACHINE_ATTRS_H
#define SCHEDD_CLAIM_MACHINE_ATTRS_H

struct ad;
struct job;
struct schedd;

/* To be called when a job is new, or attributes of it or of its cluster changed: if the job needs
 * attributes of its slot, makes claims keep the ads of slots from now on. */
void machine_attrs_look_at(struct schedd *schedd, const struct job *job);
/* Copies attributes of the slot into the job's ad, when the slot gets the job.  slot: the slot's
 * ad; NULL (unknown): nothing changes. */
void machine_attrs_note(const struct schedd *schedd, struct job *job, const struct ad *slot);
/* Copies into props those attributes of the slot that the job's UserLogExecuteEventAttrs names.
 * props: the slot's attributes that the job's event 001 shows. */
void machine_attrs_tell(const struct job *job, const struct ad *slot, struct ad *props);

#endif
