import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, StrictObject, Timestamp } from '#actions/fields.ts';
import { IncidentFilterFields, toIncidentFilter } from '#modules/incidents/operations/search_incidents.ts';
import { type IncidentStatus, toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { acknowledge, unacknowledge } from '#modules/incidents/acknowledge.ts';
import { resolve, toAudited } from '#modules/incidents/change_status.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';

/** Number of incidents that one call answers, so that it holds no lock for long. */
const SLICE = 50;

const ANSWERS = { acknowledge, resolve, unacknowledge } as const;

/** The statuses that an answer changes, in the order in which they are answered. */
const CHANGES: Record<keyof typeof ANSWERS, readonly IncidentStatus[]> = {
  acknowledge: ['triggered'],
  resolve: ['triggered', 'acknowledged'],
  unacknowledge: ['acknowledged'],
};

const Matching = StrictObject(
  {
    ...IncidentFilterFields,
    statuses: Type.Array(Type.Enum(['triggered', 'acknowledged']), { minItems: 1, maxItems: 2 }),
    triggeredUntil: Timestamp,
  },
  { description: 'only incidents that already existed and matched at this time; later ones are left alone' },
);

export const answerIncidents = defineOperation({
  name: 'answer_incidents',
  summary: `Acknowledge or resolve many incidents, or undo that they were acknowledged: up to ${SLICE} in a call. Call it again while \`left\` is not 0.`,
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    answer: Type.Enum(['acknowledge', 'resolve', 'unacknowledge']),
    incidentIds: Type.Optional(Type.Array(IdText, { minItems: 1, maxItems: SLICE, description: 'no others' })),
    matching: Type.Optional(Matching),
  }),
  result: Type.Object({
    changed: Type.Array(Type.Object({ incidentId: IdText, number: Type.Integer() })),
    unchanged: Type.Integer({ description: 'already had that status, or no longer exist' }),
    refused: Type.Array(Type.Object({ incidentId: IdText, number: Type.Integer(), reason: Type.String() })),
    left: Type.Integer({ description: 'how many more match' }),
  }),
  example: {
    answer: 'acknowledge',
    // Unknown ids are left out.
    incidentIds: ['incident_01kdwm4a1b2c3d4e5f6g7h8j9m'],
    matching: {
      statuses: ['triggered'],
      serviceId: EXAMPLE_IDS.serviceId,
      severity: 'error',
      ownedBy: EXAMPLE_IDS.teamId,
      text: 'latency',
      triggeredUntil: '2027-02-03T02:04:15.000Z',
    },
  },
  async handle({ answer, incidentIds, matching }, context) {
    if (incidentIds === undefined && matching === undefined) {
      throw invalidInput([{ path: 'incidentIds', message: 'must be given, or matching' }]);
    }
    const { ids, left } =
      matching === undefined
        ? { ids: incidentIds ?? [], left: 0 }
        : await findSlice(matching, incidentIds, CHANGES[answer], context);
    const answered = await answerAll(ids, answer, context);
    // What others must acknowledge as well stays triggered: it must not be asked for again and again.
    return { ...answered, left: answered.changed.length === 0 ? 0 : left };
  },
});

async function findSlice(
  { statuses, triggeredUntil, ...filter }: Static<typeof Matching>,
  incidentIds: readonly string[] | undefined,
  changing: readonly IncidentStatus[],
  context: ActionContext,
): Promise<{ ids: string[]; left: number }> {
  const { caller, stores, now } = context;
  if (filter.serviceId !== undefined) await stores.services.get(caller.orgId, filter.serviceId);
  const wanted = changing.filter((status) => statuses.some((named) => named === status));
  const matchingFilter = await toIncidentFilter(filter, context);
  const selection = { ...matchingFilter, incidentIds, triggeredUntil: Temporal.Instant.from(triggeredUntil) };
  const places = await stores.incidentSearch.listPlaces(
    caller.orgId,
    selection,
    wanted,
    { after: null, limit: SLICE },
    now,
  );
  if (places.length < SLICE) return { ids: places.map(({ id }) => id), left: 0 };
  const counts = await stores.incidentSearch.countByStatus(caller.orgId, selection, now);
  const matching = wanted.reduce((sum, status) => sum + counts[status], 0);
  return { ids: places.map(({ id }) => id), left: Math.max(0, matching - places.length) };
}

async function answerAll(ids: readonly string[], answer: keyof typeof ANSWERS, context: ActionContext) {
  const { stores, caller, record } = context;
  const by = toIncidentActor(caller.actor, caller.via);
  const incidents = await stores.incidents.findAll(caller.orgId, ids);
  const locked = await stores.incidents.lockAll([...incidents.keys()]);
  const changed: { incidentId: string; number: number }[] = [];
  const refused: { incidentId: string; number: number; reason: string }[] = [];
  for (const incident of locked.values()) {
    const named = { incidentId: incident.id, number: incident.number };
    try {
      if (!(await ANSWERS[answer](context, incident, by))) continue;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
      refused.push({ ...named, reason: error.message });
      continue;
    }
    changed.push(named);
  }
  const answered = await stores.incidents.findAll(
    caller.orgId,
    changed.map(({ incidentId }) => incidentId),
  );
  for (const [id, after] of answered) {
    const before = locked.get(id);
    if (before !== undefined) record({ target: after.id, before: toAudited(before), after: toAudited(after) });
  }
  return { changed, unchanged: ids.length - changed.length - refused.length, refused };
}
