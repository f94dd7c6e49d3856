/* schedd/knobs.h - what can be configured of the schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_KNOBS_H
#define SCHEDD_KNOBS_H

#include "base/knob.h"

extern const struct knob_table schedd_knobs;

#endif
