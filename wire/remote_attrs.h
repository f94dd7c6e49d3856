/* wire/remote_attrs.h - names of what is said of remote system calls: docs/protocol/rsyscall.md.
 *
 * One spelling for schedd, shadow, startd and starter; where HTCondor has a name it is that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_REMOTE_ATTRS_H
#define WIRE_REMOTE_ATTRS_H

/* of a job, by submit */
#define REMOTE_WANTED   "WantRemoteSyscalls"
#define REMOTE_ROOT     "RemoteRoot"
#define REMOTE_READONLY "RemoteReadonly"
#define REMOTE_WRITE    "RemoteWrite"
#define REMOTE_NETWORK  "AllowNetwork"
/* Its program was linked so that it can ask by itself (roost-compile --remote). */
#define REMOTE_WRAPPED "RemoteWrapped"

/* by the schedd: when the job's first run was begun, in ms since 1970 */
#define REMOTE_BEGAN "RemoteBeganMs"

/* of a slot */
#define REMOTE_HAS          "HasRemoteSyscalls"
#define REMOTE_HAS_WRAPPERS "HasRemoteWrappers" /* for such programs, without a file system */

/* Routes: that of a shadow is shadow/OWNER, and of what it serves remote system calls at
 * rsys/OWNER.
 */
#define REMOTE_SHADOW_PREFIX "shadow/"
#define REMOTE_ROUTE_PREFIX  "rsys/"

#endif
