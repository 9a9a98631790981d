import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { ChangedGroupView, changeGroupStatuses } from '#modules/exceptions/operations/change_group_statuses.ts';
import { GroupStatusName } from '#modules/exceptions/operations/view.ts';
import { STRICT, IdText } from '#actions/fields.ts';

const GROUPS_MAX = 200;

/** Sets the statuses of a selection of groups; called with the earlier statuses, it undoes that. */
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
      changes: Type.Array(Type.Object({ groupId: IdText, status: GroupStatusName }, STRICT), {
        minItems: 1,
        maxItems: GROUPS_MAX,
      }),
    },
    STRICT,
  ),
  result: Type.Object({
    changed: Type.Array(ChangedGroupView, { description: 'without those that had the status already' }),
    resolvedIncidentIds: Type.Array(IdText),
  }),
  example: { changes: [{ groupId: EXAMPLE_IDS.groupId, status: 'resolved' }] },
  async handle({ changes }, context) {
    return await changeGroupStatuses(new Map(changes.map(({ groupId, status }) => [groupId, { status }])), context);
  },
});
