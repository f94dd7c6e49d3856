/* startd/machine/opsys_plan.h - what the machine's system is called, in HTCondor's words.
 *
 * Pure: from the text of /etc/os-release (os-release(5)) to OpSysName, OpSysShortName,
 * OpSysLongName, OpSysMajorVer, OpSysVer and OpSysAndVer, which requirements of jobs name:
 * OpSysAndVer == "Debian12".  As HTCondor does, the name and the version are looked for in the long
 * name; a system without a version there (Debian's testing) is asked for VERSION_ID, and has no
 * version otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_OPSYS_PLAN_H
#define STARTD_MACHINE_OPSYS_PLAN_H

struct ad;

/* Sets what text tells; text may be anything, and where it says nothing the name is "LINUX". */
void opsys_plan_name(const char *text, struct ad *ad);

#endif
