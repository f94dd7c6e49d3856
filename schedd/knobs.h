/* schedd/knobs.h - the table of the schedd's configuration knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_KNOBS_H
#define SCHEDD_KNOBS_H

#include "base/knob.h"

extern const struct knob_table schedd_knobs;

#endif
