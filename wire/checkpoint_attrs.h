/* wire/checkpoint_attrs.h - names of what is said of checkpoints: docs/protocol/checkpoint.md.
 *
 * One spelling for schedd, shadow, startd and starter; where HTCondor has a name it is that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_CHECKPOINT_ATTRS_H
#define WIRE_CHECKPOINT_ATTRS_H

/* of a job, by submit */
#define CKPT_WANTED   "WantCheckpoint"
#define CKPT_PERIODIC "PeriodicCheckpoint"

/* of a job, by the schedd; most of them in manifests, too */
#define CKPT_SEQUENCE    "CkptSequence"
#define CKPT_PREVIOUS    "CkptPrevious"
#define CKPT_NUMBER      "NumCkpts"
#define CKPT_LAST_TIME   "LastCkptTime"
#define CKPT_IMAGE_BYTES "CkptImageSize"
#define CKPT_FILES_BYTES "CkptFilesSize"
#define CKPT_ARCH        "CkptArch"
#define CKPT_OPSYS       "CkptOpSys"
#define CKPT_PLATFORM    "LastCheckpointPlatform"
#define CKPT_FEATURES    "CkptFeatures"
#define CKPT_REFUSED     "LastCkptRefused"
#define CKPT_ANYWHERE    "CkptAnywhere" /* no machine like that came: any will do */

/* of manifests only */
#define CKPT_IMAGE_SUM   "ImageChecksum"
#define CKPT_FILES_SUM   "FilesChecksum"
#define CKPT_SANDBOX     "CkptSandbox"
#define CKPT_SECONDS     "CkptSeconds"
#define CKPT_STOOD_STILL "CkptStoodStill"
#define CKPT_RUN_SECONDS "CkptRunSeconds"

/* of a slot; CKPT_FEATURES, too */
#define CKPT_HAS           "HasCheckpointing"
#define CKPT_SLOT_PLATFORM "CheckpointPlatform"
#define CKPT_SLOT_LAST     "LastPeriodicCheckpoint"

/* Event of JOB_STATUS */
#define CKPT_EVENT_TAKEN   "Checkpointed"
#define CKPT_EVENT_REFUSED "CheckpointRefused"

/* of SHADOW_HELLO's answer, and of JOB_STOP: "12.3,12.4" */
#define CKPT_JOBS "Checkpoints"

/* Files of a generation. */
#define CKPT_NAME_IMAGE "image"
#define CKPT_NAME_FILES "files"

#endif
