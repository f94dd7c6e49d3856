/* startd/machine/opsys_plan.h - the name and version of the machine's operating system, in
 * HTCondor's words.
 *
 * Pure.  Turns the text of /etc/os-release (os-release(5)) into OpSysName, OpSysShortName,
 * OpSysLongName, OpSysMajorVer, OpSysVer and OpSysAndVer, which jobs' requirements use: OpSysAndVer
 * == "Debian12".  Name and version are looked for in the long name, as HTCondor does.  If that has
 * no version (Debian's testing), VERSION_ID is used; without that there is no version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_OPSYS_PLAN_H
#define STARTD_MACHINE_OPSYS_PLAN_H

struct ad;

/* Sets OpSysName and the other attributes in ad. text may be anything; if it contains no name, the
 * name is "LINUX". */
void opsys_plan_name(const char *text, struct ad *ad);

#endif
