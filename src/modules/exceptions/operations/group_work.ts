import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import { assigneeIdOf, findAssignees } from '#modules/exceptions/assignees.ts';
import type { ExceptionGroupRow } from '#modules/exceptions/store/exception_group_store.ts';
import { toTimestampOrNull } from '#kernel/time.ts';

/** End of a snooze: whichever comes first. */
export const SnoozeView = Type.Object({
  until: nullable(Timestamp),
  events: nullable(Type.Integer({ description: 'further events' })),
  users: nullable(Type.Integer({ description: 'users whom further events concern' })),
});

/** Name of who works on a group, and until when it is snoozed; null for nobody, and for a group that is not. */
export interface GroupWork {
  readonly assigneeName: string | null;
  readonly snoozed: Static<typeof SnoozeView> | null;
}

type Group = Pick<ExceptionGroupRow, 'id' | 'status' | 'assignedUserId' | 'assignedTeamId'>;

/** Reads who works on groups and which are snoozed. */
export async function readGroupWork(
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
  groups: readonly Group[],
): Promise<(group: Group) => GroupWork> {
  const assigneeIds = [...new Set(groups.flatMap((group) => assigneeIdOf(group) ?? []))];
  const ignored = groups.filter(({ status }) => status === 'ignored').map(({ id }) => id);
  const [assignees, snoozes] = await Promise.all([
    findAssignees(stores, caller.orgId, assigneeIds),
    stores.groupSnoozes.find(ignored),
  ]);
  return (group) => {
    const snooze = snoozes.get(group.id);
    const assigneeId = assigneeIdOf(group);
    return {
      assigneeName: assigneeId === null ? null : (assignees.get(assigneeId)?.name ?? null),
      snoozed:
        snooze === undefined
          ? null
          : { until: toTimestampOrNull(snooze.until), events: snooze.events, users: snooze.users },
    };
  };
}
