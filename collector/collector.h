/* collector/collector.h - the collector as a daemon, see base/daemon/daemon_run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

extern const struct daemon collector_daemon;

#endif
