import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { CONTEXT_FIELDS, readReleases, readStoredContext } from '#modules/incidents/context.ts';

export const getIncidentContext = defineAction({
  name: 'get_incident_context',
  consoleOnly: true,
  summary:
    'What else is known around an incident: similar ones and how they ended, what was changed and released shortly ' +
    'before, new exceptions and other incidents at the same time.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: Type.Object(CONTEXT_FIELDS),
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    const { caller, stores, now } = context;
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const [stored, releases] = await Promise.all([
      readStoredContext(incident, context),
      readReleases(incident, context),
    ]);
    return { ...stored, ...releases };
  },
});
