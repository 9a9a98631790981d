import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { GROUP_STATUSES } from '#modules/exceptions/decide/group_status.ts';
import type { Temporal } from '#kernel/time.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { GroupScope } from '#modules/exceptions/store/exception_counter.ts';
import type { GroupCounts } from '#modules/exceptions/store/exception_reader.ts';
import type {
  CountedGroupRow,
  ExceptionGroupRow,
  GroupPlace,
} from '#modules/exceptions/store/exception_group_store.ts';

export const GroupStatusName = Type.Enum([...GROUP_STATUSES]);

export const LevelName = Type.Enum([...LEVELS]);

export const GROUP_FIELDS = {
  groupId: IdText,
  serviceId: IdText,
  title: Type.String({ description: 'the type and the pattern of the messages' }),
  type: nullable(Type.String()),
  culprit: nullable(Type.String({ description: 'the place in the code, or the transaction, that it points to' })),
  severity: LevelName,
  status: GroupStatusName,
  statusChangedAt: Timestamp,
  assignedUserId: nullable(IdText),
  assignedTeamId: nullable(IdText),
  resolvedInRelease: nullable(Type.String({ description: 'the last release seen when it was resolved' })),
  regressedAt: nullable(Type.String({ format: 'date-time', description: 'when an event reopened it' })),
  eventCount: Type.Integer({ description: 'events within the retention window' }),
  userCount: Type.Integer({ description: 'distinct users among those events' }),
  firstSeenAt: Timestamp,
  lastSeenAt: Timestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const ExceptionGroupView = Type.Object(GROUP_FIELDS);

/** The fields of a group that hold what senders of events wrote. */
export const GROUP_UNTRUSTED_TEXT = ['title', 'type', 'culprit', 'resolvedInRelease'];

export const GROUP_EXAMPLE: Static<typeof ExceptionGroupView> = {
  groupId: IDS.groupId,
  serviceId: IDS.serviceId,
  title: 'PaymentError: card <*> was declined',
  type: 'PaymentError',
  culprit: 'pay in src/payment.ts',
  severity: 'error',
  status: 'unresolved',
  statusChangedAt: '2027-02-03T01:58:12.310Z',
  assignedUserId: IDS.userId,
  assignedTeamId: null,
  resolvedInRelease: null,
  regressedAt: null,
  eventCount: 37,
  userCount: 21,
  firstSeenAt: '2027-02-03T01:58:12.310Z',
  lastSeenAt: '2027-02-03T02:31:05.922Z',
  createdAt: '2027-02-03T01:58:12.514Z',
  updatedAt: '2027-02-03T01:58:12.514Z',
};

/** Returns the stored fields of a group, rather than those counted over its events. */
export function toGroupFields(group: ExceptionGroupRow) {
  return {
    groupId: group.id,
    serviceId: group.serviceId,
    title: group.title,
    type: group.type,
    culprit: group.culprit,
    severity: group.level,
    status: group.status,
    statusChangedAt: toTimestamp(group.statusChangedAt),
    assignedUserId: group.assignedUserId,
    assignedTeamId: group.assignedTeamId,
    resolvedInRelease: group.resolvedInRelease,
    regressedAt: toTimestampOrNull(group.regressedAt),
    firstSeenAt: toTimestamp(group.firstSeenAt),
    lastSeenAt: toTimestamp(group.lastSeenAt),
    createdAt: toTimestamp(group.createdAt),
    updatedAt: toTimestamp(group.updatedAt),
  };
}

export function toExceptionGroupView(
  group: ExceptionGroupRow,
  counts: GroupCounts | undefined,
): Static<typeof ExceptionGroupView> {
  return { ...toGroupFields(group), eventCount: counts?.events ?? 0, userCount: counts?.users ?? 0 };
}

export function toListedGroupView(
  { id: groupId, level: severity, retentionDays: _, events, users, ...group }: CountedGroupRow,
  counted: GroupCounts | undefined,
): Static<typeof ExceptionGroupView> {
  return {
    groupId,
    severity,
    ...group,
    eventCount: counted?.events ?? events ?? 0,
    userCount: counted?.users ?? users ?? 0,
  };
}

/** Returns the scope of the group's events that are still kept. */
export function scopeOf(group: GroupPlace, now: Temporal.Instant): GroupScope {
  return {
    serviceId: group.serviceId,
    groupId: group.id,
    keptSince: now.subtract({ hours: 24 * group.retentionDays }),
    mergedIds: group.mergedIds ?? [],
  };
}

/** Returns the scopes of many groups; those of services that keep events equally long share the instant. */
export function scopesOf(groups: readonly GroupPlace[], now: Temporal.Instant): GroupScope[] {
  const since = new Map<number, Temporal.Instant>();
  return groups.map(({ id, serviceId, retentionDays, mergedIds = [] }) => {
    const keptSince = since.get(retentionDays) ?? now.subtract({ hours: 24 * retentionDays });
    since.set(retentionDays, keptSince);
    return { serviceId, groupId: id, keptSince, mergedIds };
  });
}
