import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import type { SeenGroup } from '#modules/exceptions/store/group_occurrences.ts';
import { storesOf } from '#modules/stores.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import type { World } from '#test/kit/world.ts';

/** Groups and stores events as the worker does; the groups, in the order of the events. */
export async function groupAndStore(
  w: World,
  serviceId: Id<'service'>,
  events: readonly ExceptionEvent[],
): Promise<SeenGroup[]> {
  const groups = await w.context.db.transaction((session) =>
    storesOf(session).exceptionGroups.upsertSeen(
      events.map((event) => ({
        orgId: w.orgId,
        serviceId,
        grouping: groupEvent(event),
        occurrence: toOccurrence(event),
      })),
      w.clock.now(),
      Infinity,
    ),
  );
  const grouped = groups.map((group, index) => ({ serviceId, groupId: group!.groupId, event: events[index]! }));
  await new ExceptionWriter(w.context.clickhouse).insert(grouped, newId('job'));
  return groups.map((group) => group!);
}

/** Returns the group whose title begins so. */
export async function groupNamed(w: World, serviceId: Id<'service'>, beginning: string): Promise<Id<'group'>> {
  const sql = 'select id from exception_groups where service_id = $1 and starts_with(title, $2)';
  const [group] = await w.context.db.sql.rows<{ id: Id<'group'> }>(sql, [serviceId, beginning]);
  if (group === undefined) throw new Error(`no group is called ${beginning}`);
  return group.id;
}

/** An event that happens at the world's time, or `ago` before it. */
export function eventAt(
  w: World,
  overrides: Partial<ExceptionEvent> & { ago?: Temporal.DurationLike } = {},
): ExceptionEvent {
  const { ago = { seconds: 0 }, ...fields } = overrides;
  return exceptionEvent(w.clock.now().subtract(ago), fields);
}

export function withMessage(message: string): Partial<ExceptionEvent> {
  return { exceptions: [], message };
}
