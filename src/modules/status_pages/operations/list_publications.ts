import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { PublicationView, toPublicationView } from '#modules/status_pages/view.ts';

export const listPublications = defineAction({
  name: 'list_publications',
  consoleOnly: true,
  summary: 'List where an incident was published, with the updates that readers see.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: Type.Object({ publications: Type.Array(PublicationView) }),
  example: { incidentId: IDS.incidentId },
  async handle({ incidentId }, { caller, stores, now }) {
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const rows = await stores.publications.listOfIncident(caller.orgId, incident.id);
    const updates = await stores.publications.listUpdates(rows.map(({ id }) => id));
    return { publications: rows.map((row) => toPublicationView(row, updates)) };
  },
});
