import type { InferKyselyDB } from '@mikro-orm/postgresql';

import type { Column } from '#storage/postgres/columns.ts';
import { AuditHeadEntity, AuditLinkEntity, AuditLogEntity } from '#storage/postgres/entities/audit.ts';
import {
  ApiKeyEntity,
  ConnectionEntity,
  IngestKeyEntity,
  OAuthRecordEntity,
} from '#storage/postgres/entities/credentials.ts';
import {
  ExceptionGroupCountsEntity,
  ExceptionGroupEntity,
  GroupDecisionEntity,
  SetAsideEventsEntity,
} from '#storage/postgres/entities/exceptions.ts';
import {
  IncidentEntity,
  IncidentMemberEntity,
  IncidentNoteEntity,
  IncidentStepEntity,
  IncidentTimelineEntity,
} from '#storage/postgres/entities/incidents.ts';
import {
  ConfirmedNumberEntity,
  EndedCallEntity,
  InboundMessageEntity,
  NotificationEntity,
  PhoneCodeEntity,
  PushSubscriptionEntity,
  ReplyPinEntity,
} from '#storage/postgres/entities/messages.ts';
import {
  AlertRuleEntity,
  CalendarFeedEntity,
  OwnCalendarEntity,
  PolicyEntity,
  RuleMemoryEntity,
  ScheduleEntity,
  ScheduleOverrideEntity,
  TeamEntity,
  TeamMemberEntity,
} from '#storage/postgres/entities/oncall.ts';
import { MembershipEntity, OrganizationEntity, UserEntity } from '#storage/postgres/entities/people.ts';
import {
  AgentSettingsEntity,
  AgentWriteEntity,
  IncidentLeaseEntity,
  ProposalEntity,
  ResponderEntity,
} from '#storage/postgres/entities/responders.ts';
import {
  ArtifactBundleEntity,
  DeployEntity,
  ReleaseEntity,
  SourceMapEntity,
  SourceMapPlaceEntity,
  UploadChunkEntity,
} from '#storage/postgres/entities/releases.ts';
import {
  BillingPeriodEntity,
  DashboardEntity,
  IngestRefusalEntity,
  MetricTypeEntity,
  SeriesDayEntity,
  ServiceCapabilityEntity,
  ServiceEntity,
} from '#storage/postgres/entities/services.ts';
import {
  EventAttachmentEntity,
  EventFeedbackEntity,
  ReleaseSessionsEntity,
  SentItemEntity,
} from '#storage/postgres/entities/sent.ts';
import {
  AuthenticatorAppEntity,
  InvitationEntity,
  PasskeyChallengeEntity,
  PasskeyEntity,
  PasswordResetEntity,
  PendingSignInEntity,
  RecoveryCodeEntity,
  SecondFactorLockEntity,
  SessionEntity,
  SignInLimitEntity,
} from '#storage/postgres/entities/sign_in.ts';
import {
  DurableJobEntity,
  InstallationEntity,
  LeaseEntity,
  LimitBucketEntity,
  MigratedByEntity,
  OutboxEntity,
  RestorationEntity,
  SpooledDataEntity,
  WorkMemberEntity,
} from '#storage/postgres/entities/work.ts';

/** Every table: the only declaration of its columns. */
export const ENTITIES = [
  OrganizationEntity,
  UserEntity,
  MembershipEntity,
  SessionEntity,
  InvitationEntity,
  PasswordResetEntity,
  SignInLimitEntity,
  PasskeyEntity,
  AuthenticatorAppEntity,
  RecoveryCodeEntity,
  PendingSignInEntity,
  PasskeyChallengeEntity,
  SecondFactorLockEntity,
  ApiKeyEntity,
  IngestKeyEntity,
  ConnectionEntity,
  OAuthRecordEntity,
  ServiceEntity,
  ServiceCapabilityEntity,
  BillingPeriodEntity,
  DashboardEntity,
  IngestRefusalEntity,
  MetricTypeEntity,
  SeriesDayEntity,
  ExceptionGroupEntity,
  ExceptionGroupCountsEntity,
  GroupDecisionEntity,
  SetAsideEventsEntity,
  SentItemEntity,
  ReleaseSessionsEntity,
  EventAttachmentEntity,
  EventFeedbackEntity,
  ReleaseEntity,
  DeployEntity,
  UploadChunkEntity,
  ArtifactBundleEntity,
  SourceMapEntity,
  SourceMapPlaceEntity,
  TeamEntity,
  TeamMemberEntity,
  ScheduleEntity,
  ScheduleOverrideEntity,
  CalendarFeedEntity,
  OwnCalendarEntity,
  PolicyEntity,
  AlertRuleEntity,
  RuleMemoryEntity,
  IncidentEntity,
  IncidentStepEntity,
  IncidentTimelineEntity,
  IncidentMemberEntity,
  IncidentNoteEntity,
  AgentSettingsEntity,
  ResponderEntity,
  AgentWriteEntity,
  IncidentLeaseEntity,
  ProposalEntity,
  NotificationEntity,
  InboundMessageEntity,
  EndedCallEntity,
  PushSubscriptionEntity,
  ConfirmedNumberEntity,
  PhoneCodeEntity,
  ReplyPinEntity,
  AuditLogEntity,
  AuditLinkEntity,
  AuditHeadEntity,
  OutboxEntity,
  LeaseEntity,
  WorkMemberEntity,
  LimitBucketEntity,
  DurableJobEntity,
  SpooledDataEntity,
  MigratedByEntity,
  InstallationEntity,
  RestorationEntity,
];

type Inferred = InferKyselyDB<(typeof ENTITIES)[number]>;

/** The tables by name with their columns, as queries see them. */
export type Tables = { [T in keyof Inferred]: { [C in keyof Inferred[T]]: Column<Inferred[T][C]> } };
