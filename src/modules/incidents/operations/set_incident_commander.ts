import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { AppError, notFound } from '#kernel/errors.ts';

/** Names who leads the response. Nobody is paged by it, and anybody may still answer. */
export const setIncidentCommander = defineAction({
  name: 'set_incident_commander',
  consoleOnly: true,
  summary: 'Say who leads the response to an open incident, or that nobody does. It pages nobody.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      incidentId: IdText,
      userId: nullable(Type.String({ description: 'a member of the organization; null for nobody' })),
      seen: nullable(
        Type.String({ description: 'who led it as the caller saw it: somebody else since is a conflict' }),
      ),
    },
    STRICT,
  ),
  result: IncidentView,
  conflict: 'the incident is resolved, or somebody else leads it by now',
  example: { incidentId: EXAMPLE_IDS.incidentId, userId: EXAMPLE_IDS.otherUserId, seen: null },
  async handle({ incidentId, userId, seen }, context) {
    const { stores, caller, now } = context;
    const incident = await lockIncident(incidentId, context);
    const person = userId === null ? null : (await stores.people.listPeople(caller.orgId, [userId])).get(userId);
    if (person === undefined) throw notFound('userId', 'user');
    if (incident.status === 'resolved') {
      throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
    }
    const next = person === null ? null : person.userId;
    if (incident.commanderId !== next) {
      if (incident.commanderId !== seen) {
        throw new AppError('conflict', 'somebody else leads this incident by now; look who it is');
      }
      await stores.incidentResponse.setCommander(incident.id, next, now);
      const by = toIncidentActor(caller.actor, caller.via);
      const facts = { by, userId: next, before: incident.commanderId };
      await stores.timeline.record(incident.id, 'commander_changed', facts, now);
      context.record({
        target: incident.id,
        before: { commanderId: incident.commanderId },
        after: { commanderId: next },
      });
    }
    const after = await stores.incidents.get(caller.orgId, incident.id, now);
    return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
  },
});
