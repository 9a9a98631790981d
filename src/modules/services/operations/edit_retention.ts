import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { STRICT } from '#actions/fields.ts';
import { RETENTION_COLUMNS, setRetention } from '#modules/services/operations/set_retention.ts';
import { ServiceView } from '#modules/services/view.ts';

/** Does what `set_retention` does, but refuses to overwrite a change made since the editor read it. */
export const editRetention = defineAction({
  name: 'edit_retention',
  consoleOnly: true,
  summary:
    'Set how many days the data of a capability is kept, unless somebody else has set it since it was read. Older data is hidden at once and removed within an hour.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: Type.Object(
    {
      ...setRetention.input.properties,
      basedOn: Type.Integer({ description: 'the days that were read' }),
    },
    STRICT,
  ),
  result: ServiceView,
  conflict: 'somebody has set it to something else since it was read',
  example: { ...setRetention.example, basedOn: 90 },
  async handle({ basedOn, ...input }, context) {
    const { stores, caller } = context;
    const service = await stores.services.lock(caller.orgId, input.serviceId);
    const current = service[RETENTION_COLUMNS[input.capability]];
    changesSince({ days: basedOn }, { days: current }, { days: input.retentionDays }, 'how long this data is kept');
    return await setRetention.handle(input, context, undefined);
  },
});
