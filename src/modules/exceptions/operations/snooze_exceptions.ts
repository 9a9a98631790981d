import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Timestamp } from '#actions/fields.ts';
import { snoozeFaults } from '#modules/exceptions/decide/snooze.ts';
import { SNOOZE_COUNT_MAX } from '#modules/exceptions/decide/snooze_limits.ts';
import { ChangedGroupView, changeGroupStatuses } from '#modules/exceptions/operations/change_group_statuses.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';

const GROUPS_MAX = 200;

const Count = Type.Integer({ minimum: 1, maximum: SNOOZE_COUNT_MAX });

export const snoozeExceptions = defineAction({
  name: 'snooze_exceptions',
  consoleOnly: true,
  summary:
    'Ignore exception groups, all or none, until a time, until they have had that many more events, or until more events ' +
    'have concerned that many users, whichever comes first. Then they are unresolved again, and whoever snoozed them is ' +
    'told by mail. undo_exception_statuses undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
      until: Type.Optional(Timestamp),
      events: Type.Optional(Count),
      users: Type.Optional(Count),
    },
    STRICT,
  ),
  result: Type.Object({ changed: Type.Array(ChangedGroupView), resolvedIncidentIds: Type.Array(IdText) }),
  example: { groupIds: [EXAMPLE_IDS.groupId], until: '2027-02-10T08:00:00.000Z', events: 100, users: 10 },
  async handle({ groupIds, until, events = null, users = null }, context) {
    const snooze = { until: until === undefined ? null : Temporal.Instant.from(until), events, users };
    const faults = snoozeFaults(snooze, context.now);
    if (faults.length > 0) throw invalidInput(faults);
    return await changeGroupStatuses(
      new Map(groupIds.map((groupId) => [groupId, { status: 'ignored', snooze }])),
      context,
    );
  },
});
