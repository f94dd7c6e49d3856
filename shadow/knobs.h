/* shadow/knobs.h - the table of the shadow's configuration knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_KNOBS_H
#define SHADOW_KNOBS_H

#include "base/knob.h"

extern const struct knob_table shadow_knobs;

#endif
