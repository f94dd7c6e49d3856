/* pcontrol/knobs.h - the table of pcontrol's knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_KNOBS_H
#define PCONTROL_KNOBS_H

extern const struct knob_table pcontrol_knobs;

#endif
