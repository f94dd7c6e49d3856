/* wire/remote_attrs.h - names of attributes and routes of remote system calls:
 * docs/protocol/rsyscall.md.
 *
 * One spelling for schedd, shadow, startd and starter.  Where HTCondor has a name, it is used here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_REMOTE_ATTRS_H
#define WIRE_REMOTE_ATTRS_H

/* Attributes of a job ad, set by submit. */
#define REMOTE_WANTED   "WantRemoteSyscalls"
#define REMOTE_ROOT     "RemoteRoot"
#define REMOTE_READONLY "RemoteReadonly"
#define REMOTE_WRITE    "RemoteWrite"
#define REMOTE_NETWORK  "AllowNetwork"
/* True: the job's program was linked with `roost-compile --remote` and makes remote calls
 * itself. */
#define REMOTE_WRAPPED "RemoteWrapped"

/* Attribute of a job ad, set by the schedd: when the job's first run began, in ms since 1970. */
#define REMOTE_BEGAN "RemoteBeganMs"

/* Attributes of a slot. */
#define REMOTE_HAS "HasRemoteSyscalls"
/* True: the machine can run programs that make remote calls themselves (REMOTE_WRAPPED), without
 * mounting the remote file system. */
#define REMOTE_HAS_WRAPPERS "HasRemoteWrappers"

/* Prefixes of routes, followed by the owner's name: shadow/OWNER is the owner's shadow, and
 * rsys/OWNER its server of remote system calls. */
#define REMOTE_SHADOW_PREFIX "shadow/"
#define REMOTE_ROUTE_PREFIX  "rsys/"

#endif
