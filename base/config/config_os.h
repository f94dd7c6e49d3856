/* base/config/config_os.h - configuration read from the machine's files and environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_OS_H
#define BASE_CONFIG_CONFIG_OS_H

#include "base/config/config.h"

struct os;

struct config_source config_source_os(struct os *os);

#endif
