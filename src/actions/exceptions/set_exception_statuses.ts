import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { changeGroupStatus } from '#actions/exceptions/change_group_status.ts';
import { GroupStatusName } from '#actions/exceptions/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';

const GROUPS_MAX = 200;

/** What people do with a selection, and what undoes it. */
export const setExceptionStatuses = defineAction({
  name: 'set_exception_statuses',
  consoleOnly: true,
  summary:
    'Set the triage statuses of several exception groups, all or none, as set_exception_status does for one; the result ' +
    'says what each was before, and which incidents were resolved with them.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      changes: Type.Array(Type.Object({ groupId: IdText, status: GroupStatusName }, CLOSED), {
        minItems: 1,
        maxItems: GROUPS_MAX,
      }),
    },
    CLOSED,
  ),
  result: Type.Object({
    changed: Type.Array(Type.Object({ groupId: IdText, before: GroupStatusName, status: GroupStatusName }), {
      description: 'without those that had the status already',
    }),
    resolvedIncidentIds: Type.Array(IdText),
  }),
  example: { changes: [{ groupId: EXAMPLE_IDS.groupId, status: 'resolved' }] },
  async handle({ changes }, context) {
    const { caller, stores } = context;
    const wanted = new Map(changes.map(({ groupId, status }) => [groupId, status]));
    const changed = [];
    const resolvedIncidentIds: string[] = [];
    await stores.exceptionGroups.lockInOrder(caller.orgId, [...wanted.keys()]);
    for (const [groupId, status] of wanted) {
      const result = await changeGroupStatus(groupId, status, context);
      resolvedIncidentIds.push(...result.resolvedIncidentIds);
      if (result.before.status !== result.after.status) {
        changed.push({ groupId, before: result.before.status, status: result.after.status });
      }
    }
    return { changed, resolvedIncidentIds };
  },
});
