/* collector/knobs.h - the table of the collector's knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_KNOBS_H
#define COLLECTOR_KNOBS_H

#include "base/knob.h"

extern const struct knob_table collector_knobs;

#endif
