/* wire/checkpoint_attrs.h - names of what is said of checkpoints: docs/protocol/checkpoint.md.
 *
 * One spelling for schedd, shadow, startd and starter; where HTCondor has a name it is that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_CHECKPOINT_ATTRS_H
#define WIRE_CHECKPOINT_ATTRS_H

/* of a job, by submit */
#define CKPT_WANTED      "WantCheckpoint"
#define CKPT_PERIODIC    "PeriodicCheckpoint"
#define CKPT_DESTINATION "CheckpointDestination"

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
/* As it is kept, packed perhaps; what left the machine for it. */
#define CKPT_IMAGE_STORED "CkptImageStored"
#define CKPT_FILES_STORED "CkptFilesStored"
#define CKPT_SENT_BYTES   "CkptSent"
/* Of one that came as what changed since another: that one's number; the sum of what came. */
#define CKPT_BASE      "CkptBase"
#define CKPT_DELTA_SUM "DeltaChecksum"
/* The same of files: the sum of what came in their place. */
#define CKPT_CHANGES_SUM "ChangesChecksum"

/* What roost-ckpt says of an image: which it is, and of which it has what changed. */
#define CKPT_IMAGE_ID "CkptImageId"
#define CKPT_BASE_ID  "CkptBaseId"

/* of a slot; CKPT_FEATURES, too */
#define CKPT_HAS           "HasCheckpointing"
#define CKPT_HAS_CHANGES   "HasIncrementalCheckpoints"
#define CKPT_SLOT_PLATFORM "CheckpointPlatform"
#define CKPT_SLOT_LAST     "LastPeriodicCheckpoint"

/* Event of JOB_STATUS */
#define CKPT_EVENT_TAKEN   "Checkpointed"
#define CKPT_EVENT_REFUSED "CheckpointRefused"

/* of SHADOW_HELLO's answer, and of JOB_STOP: "12.3,12.4" */
#define CKPT_JOBS "Checkpoints"

/* Files of a generation. */
#define CKPT_NAME_IMAGE    "image"
#define CKPT_NAME_DELTA    "delta" /* in the place of an image, while it comes */
#define CKPT_NAME_FILES    "files"
#define CKPT_NAME_CHANGES  "changes" /* in the place of files, while it comes */
#define CKPT_NAME_MANIFEST "manifest"

/* A variable of a job's environment: the level of processor that it is to do with. */
#define CKPT_ENV_CPU "ROOST_CKPT_CPU"
/* Of what it runs below: the file that tells that one's death from the job's. */
#define CKPT_ENV_OUTCOME "ROOST_CKPT_OUTCOME"

#endif
