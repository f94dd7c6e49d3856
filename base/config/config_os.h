/* base/config/config_os.h - the callbacks of struct config_source that read this machine's files
 * and environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_OS_H
#define BASE_CONFIG_CONFIG_OS_H

#include "base/config/config.h"

struct os;

/* Returns callbacks that read through os; os must live as long as the callbacks are used. */
struct config_source config_source_os(struct os *os);

#endif
