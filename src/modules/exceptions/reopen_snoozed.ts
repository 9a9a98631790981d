import { snoozeEndOf, type SnoozeEnd, type SnoozeProgress } from '#modules/exceptions/decide/snooze.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { DueSnooze } from '#modules/exceptions/store/group_snooze_store.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import { sendExceptionNotice } from '#storage/queue/jobs.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';

interface SnoozeRuntime extends UnitOfWorkRuntime {
  readonly exceptions: Pick<ExceptionReader, 'countByGroup'>;
}

/** Snoozes that one run looks at; each with counts costs a query of the event store. */
const BATCH = 50;

/**
 * Reopens groups whose snooze has ended, once each, and tells who snoozed them. The stored snooze and the events say
 * whether it has, so nothing is missed while no process runs, and a second process finds the group open already. One that
 * fails leaves the others.
 */
export async function reopenSnoozed(runtime: SnoozeRuntime): Promise<void> {
  const now = runtime.clock.now();
  const due = await storesOf(runtime.db.session()).groupSnoozes.listDue(now, BATCH);
  const faults: unknown[] = [];
  for (const snooze of due) {
    try {
      const progress = await countSince(runtime, snooze);
      const end = snoozeEndOf(snooze, progress ?? { events: 0, users: 0 }, now);
      if (end === null) await storesOf(runtime.db.session()).groupSnoozes.saveChecked(snooze, now);
      else await reopen(runtime, snooze, end, progress);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, 'failed to look at snoozes');
}

/** Counts the events since the group was snoozed; null where only a time ends the snooze. */
async function countSince(
  { db, exceptions }: SnoozeRuntime,
  { groupId, serviceId, decidedAt, events, users }: DueSnooze,
): Promise<SnoozeProgress | null> {
  if (events === null && users === null) return null;
  const merged = await storesOf(db.session()).groupMerges.list([groupId]);
  const mergedIds = merged.map((part) => part.groupId);
  const counts = await exceptions.countByGroup([{ groupId, serviceId, mergedIds, keptSince: decidedAt }]);
  return counts.get(groupId) ?? { events: 0, users: 0 };
}

async function reopen(
  runtime: SnoozeRuntime,
  snooze: DueSnooze,
  because: SnoozeEnd,
  progress: SnoozeProgress | null,
): Promise<void> {
  const { orgId, groupId, userId } = snooze;
  await inUnitOfWork(runtime, async (unit) => {
    const { stores, now } = unit;
    if (!(await stores.groupSnoozes.reopen(snooze, now))) return;
    const facts = { because, events: progress?.events ?? null, users: progress?.users ?? null };
    const activityId = await stores.groupActivity.add(
      { orgId, groupId, actor: { system: true, via: 'rule' }, facts: { kind: 'snooze_ended', ...facts } },
      now,
    );
    await recordSystemChange(unit, {
      orgId,
      action: 'snooze_exceptions',
      via: 'system',
      target: groupId,
      before: { status: 'ignored', until: toTimestampOrNull(snooze.until), events: snooze.events, users: snooze.users },
      after: { status: 'unresolved', ...facts },
    });
    if (userId !== null) unit.enqueue(sendExceptionNotice, { orgId, groupId, activityId, userId });
  });
}
