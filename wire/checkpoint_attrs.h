/* wire/checkpoint_attrs.h - names of the attributes, events and files of checkpoints:
 * docs/protocol/checkpoint.md.
 *
 * One spelling for schedd, shadow, startd and starter.  Where HTCondor has a name, it is used here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_CHECKPOINT_ATTRS_H
#define WIRE_CHECKPOINT_ATTRS_H

/* Attributes of a job ad, set by submit. */
#define CKPT_WANTED      "WantCheckpoint"
#define CKPT_PERIODIC    "PeriodicCheckpoint"
#define CKPT_DESTINATION "CheckpointDestination"

/* Attributes of a job ad, set by the schedd.  Most of them are in manifests, too. */
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
/* true: no machine fits the checkpoint; any machine may run the job */
#define CKPT_ANYWHERE "CkptAnywhere"

/* Attributes that only a manifest has. */
#define CKPT_IMAGE_SUM   "ImageChecksum"
#define CKPT_FILES_SUM   "FilesChecksum"
#define CKPT_SANDBOX     "CkptSandbox"
#define CKPT_SECONDS     "CkptSeconds"
#define CKPT_STOOD_STILL "CkptStoodStill"
#define CKPT_RUN_SECONDS "CkptRunSeconds"
/* Bytes of the image and of the files as stored, perhaps compressed; bytes that left the
 * machine. */
#define CKPT_IMAGE_STORED "CkptImageStored"
#define CKPT_FILES_STORED "CkptFilesStored"
#define CKPT_SENT_BYTES   "CkptSent"
/* Of a checkpoint that was sent as a delta: the number of the checkpoint on which the delta is
 * based, and the checksum of the delta. */
#define CKPT_BASE      "CkptBase"
#define CKPT_DELTA_SUM "DeltaChecksum"
/* Of files that were sent as changes to an earlier checkpoint's files: the checksum of the
 * changes. */
#define CKPT_CHANGES_SUM "ChangesChecksum"

/* Output of roost-ckpt for an image: its id, and for a delta also the id of the image it is based
 * on. */
#define CKPT_IMAGE_ID "CkptImageId"
#define CKPT_BASE_ID  "CkptBaseId"

/* Attributes of a slot.  CKPT_FEATURES is one of them, too. */
#define CKPT_HAS           "HasCheckpointing"
#define CKPT_HAS_CHANGES   "HasIncrementalCheckpoints"
#define CKPT_SLOT_PLATFORM "CheckpointPlatform"
#define CKPT_SLOT_LAST     "LastPeriodicCheckpoint"

/* Values of the attribute Event of JOB_STATUS. */
#define CKPT_EVENT_TAKEN   "Checkpointed"
#define CKPT_EVENT_REFUSED "CheckpointRefused"

/* Attribute of the answer to SHADOW_HELLO, and of JOB_STOP: ids of jobs, such as "12.3,12.4". */
#define CKPT_JOBS "Checkpoints"

/* Names of the files in a checkpoint's directory. */
#define CKPT_NAME_IMAGE    "image"
#define CKPT_NAME_DELTA    "delta" /* arrives in place of "image" */
#define CKPT_NAME_FILES    "files"
#define CKPT_NAME_CHANGES  "changes" /* arrives in place of "files" */
#define CKPT_NAME_MANIFEST "manifest"

/* Environment variable of a job: the processor level that its program may use at most. */
#define CKPT_ENV_CPU "ROOST_CKPT_CPU"
/* Environment variable of roost-ckpt, below which the job runs: path of the file that says whether
 * roost-ckpt died or the job itself ended. */
#define CKPT_ENV_OUTCOME "ROOST_CKPT_OUTCOME"

#endif
