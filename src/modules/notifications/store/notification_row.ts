import { type Expression, type RawBuilder, sql } from 'kysely';

import type { Temporal } from '#kernel/time.ts';
import { allBut, columns, type Row } from '#storage/postgres/store.ts';
import { NotificationEntity } from '#storage/postgres/entities/messages.ts';

/** An entry of the notification log as it is read. */
export type NotificationRow = Omit<Row<typeof NotificationEntity>, 'dueAt' | 'leaseUntil'>;

/** Columns of a notification in `notifications as n`. */
export const NOTIFICATION = columns(NotificationEntity, 'n', allBut(NotificationEntity, 'dueAt', 'leaseUntil'));

/**
 * Whether a message is due. No message waits for ten minutes: a time further ahead was set by a clock that was set back
 * since.
 */
export function isMessageDue(
  dueAt: Expression<Temporal.Instant | null>,
  now: Temporal.Instant | Expression<Temporal.Instant>,
): RawBuilder<boolean> {
  return sql<boolean>`(${dueAt} <= ${now} or ${dueAt} > ${now}::timestamptz + interval '10 minutes')`;
}
