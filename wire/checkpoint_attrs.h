/* wire/checkpoint_attrs.h - names of the attributes, events and files of checkpoints:
 * docs/protocol/checkpoint.md.
 *
 * One spelling for schedd, shadow, startd and starter.  Where HTCondor has a name, it is used here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_CHECKPOINT_ATTRS_H
#define WIRE_CHECKPOINT_ATTRS_H

/* Attributes of a job ad that `roost submit` sets. */
#define CKPT_WANTED      "WantCheckpoint"
#define CKPT_PERIODIC    "PeriodicCheckpoint"
#define CKPT_DESTINATION "CheckpointDestination"

/* Attributes of a job ad that the schedd sets.  Most of them are also in the manifest, the ad
 * that describes a checkpoint. */
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
/* true: no machine that can resume the checkpoint joined the pool in time, so any machine may run
 * the job, if need be from its beginning */
#define CKPT_ANYWHERE "CkptAnywhere"

/* Attributes that only a manifest has, the ad that describes a checkpoint. */
#define CKPT_IMAGE_SUM   "ImageChecksum"
#define CKPT_FILES_SUM   "FilesChecksum"
#define CKPT_SANDBOX     "CkptSandbox"
#define CKPT_SECONDS     "CkptSeconds"
#define CKPT_STOOD_STILL "CkptStoodStill"
#define CKPT_RUN_SECONDS "CkptRunSeconds"
/* Three attributes of a manifest: bytes of the stored image, bytes of the stored files (both
 * perhaps compressed), and bytes that were sent from the machine. */
#define CKPT_IMAGE_STORED "CkptImageStored"
#define CKPT_FILES_STORED "CkptFilesStored"
#define CKPT_SENT_BYTES   "CkptSent"
/* Two attributes of a checkpoint that was sent as a delta: the number of the checkpoint on which
 * the delta is based, and the checksum of the delta. */
#define CKPT_BASE      "CkptBase"
#define CKPT_DELTA_SUM "DeltaChecksum"
/* Attribute of a checkpoint whose files were sent as changes to an earlier checkpoint's files:
 * the checksum of the changes. */
#define CKPT_CHANGES_SUM "ChangesChecksum"

/* In the output of roost-ckpt: id of the image; for a delta also the id of the image on which it
 * is based. */
#define CKPT_IMAGE_ID "CkptImageId"
#define CKPT_BASE_ID  "CkptBaseId"

/* Attributes of a machine ad, which also has CKPT_FEATURES. */
#define CKPT_HAS           "HasCheckpointing"
#define CKPT_HAS_CHANGES   "HasIncrementalCheckpoints"
#define CKPT_SLOT_PLATFORM "CheckpointPlatform"
#define CKPT_SLOT_LAST     "LastPeriodicCheckpoint"

/* Values of the attribute Event in a request JOB_STATUS, with which a shadow tells its schedd that
 * a checkpoint was committed, or that a machine could not resume from one. */
#define CKPT_EVENT_TAKEN   "Checkpointed"
#define CKPT_EVENT_REFUSED "CheckpointRefused"

/* Attribute with ids of jobs, such as "12.3,12.4".  In the answer to SHADOW_HELLO: the jobs whose
 * checkpoints the shadow keeps.  In JOB_STOP: the jobs whose checkpoints the shadow removes. */
#define CKPT_JOBS "Checkpoints"

/* Names of the files in a checkpoint's directory. */
#define CKPT_NAME_IMAGE "image"
/* in place of "image": the changes since an earlier image, as received */
#define CKPT_NAME_DELTA "delta"
#define CKPT_NAME_FILES "files"
/* in place of "files": the changes since earlier files, as received */
#define CKPT_NAME_CHANGES  "changes"
#define CKPT_NAME_MANIFEST "manifest"

/* Environment variable of a job: the highest processor level, such as "x86-64-v2", whose
 * instructions its program may use. */
#define CKPT_ENV_CPU "ROOST_CKPT_CPU"
/* Environment variable of roost-ckpt when it runs a job: path of the file that says whether
 * roost-ckpt died or the job itself ended. */
#define CKPT_ENV_OUTCOME "ROOST_CKPT_OUTCOME"

#endif
