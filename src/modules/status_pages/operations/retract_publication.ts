import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';

export const retractPublication = defineAction({
  name: 'retract_publication',
  consoleOnly: true,
  summary:
    'Take a published incident off its status page with all its updates. What was mailed or fetched before stays where it is.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ publicationId: IdText }, STRICT),
  result: Type.Object({ publicationId: IdText, retracted: Type.Boolean() }),
  example: { publicationId: IDS.publicationId },
  async handle({ publicationId }, { caller, stores, record }) {
    const { id, pageId, incidentId, title } = await stores.publications.lock(caller.orgId, publicationId);
    await stores.publications.delete(id);
    record({ target: incidentId ?? id, before: { publicationId: id, statusPageId: pageId, title }, after: null });
    return { publicationId: id, retracted: true };
  },
});
