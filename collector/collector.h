/* collector/collector.h - describes the collector to base/daemon/daemon_run.h, which runs it as a
 * daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

extern const struct daemon collector_daemon;

#endif
