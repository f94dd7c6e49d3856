/* collector/collector.h - the description of the collector for daemon_run(), its main function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

extern const struct daemon collector_daemon;

#endif
