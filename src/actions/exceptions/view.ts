import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { LEVELS } from '#core/exceptions/event.ts';
import type { Temporal } from '#kernel/time.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { GroupCounts, GroupScope } from '#storage/clickhouse/exception_reader.ts';
import type { ExceptionGroupRow } from '#storage/postgres/exception_group_store.ts';

export const GroupStatusName = Type.Enum(['unresolved', 'resolved', 'ignored']);

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

/** What of a group is its own, rather than counted over its events. */
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

/** The events of the group that are still to be seen. */
export function scopeOf(group: ExceptionGroupRow, now: Temporal.Instant): GroupScope {
  return {
    serviceId: group.serviceId,
    groupId: group.id,
    keptSince: now.subtract({ hours: 24 * group.retentionDays }),
  };
}

/** The groups with what is counted over their events. */
export async function readGroupViews(
  groups: readonly ExceptionGroupRow[],
  { exceptions, now }: Pick<ActionContext, 'exceptions' | 'now'>,
): Promise<Static<typeof ExceptionGroupView>[]> {
  const counts = await exceptions.countByGroup(groups.map((group) => scopeOf(group, now)));
  return groups.map((group) => toExceptionGroupView(group, counts.get(group.id)));
}
