import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { readSimulation, SimulationView } from '#modules/policies/operations/simulation_view.ts';
import { type RealIncident, replayPaging } from '#modules/incidents/decide/replay_paging.ts';
import { GROUP_MINUTES_MAX } from '#modules/rules/decide/rule_settings.ts';
import { staleAt } from '#modules/incidents/decide/stale.ts';
import type { Id } from '#kernel/ids.ts';
import { FAR_FUTURE, Temporal, toTimestamp } from '#kernel/time.ts';
import type { PolicyRow } from '#modules/policies/store.ts';

const OTHERS_MAX = 200;

/** Phases before the steps of a simulated incident, and after somebody has forgotten it. */
export const SIMULATED_PAGING = {
  quiet: nullable(
    Type.Object(
      { until: Timestamp, maintenance: Type.String() },
      { description: 'it is in maintenance: nobody is paged before then' },
    ),
  ),
  joined: nullable(
    Type.Object(
      { incidentId: IdText, number: Type.Integer(), title: Type.String() },
      { description: 'the incident that pages for both: the steps run only once that one ends first' },
    ),
  ),
  stale: nullable(
    Type.Object(
      { repageMinutes: Type.Integer(), acknowledgedAt: Timestamp, pagesAgainAt: Timestamp, steps: SimulationView },
      {
        description: 'if somebody acknowledges as soon as the first step fires, and forgets it; null: it stays silent',
      },
    ),
  ),
  steps: SimulationView,
};

const SimulatedPaging = Type.Object(SIMULATED_PAGING);

/** An incident that is simulated: of a rule, or of an alert of another tool. */
export interface SimulatedIncident {
  readonly serviceId: Id<'service'>;
  readonly ruleId: Id<'rule'> | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly severity: string;
  readonly groupMinutes: number;
  readonly repageMinutes: number | null;
}

/** Simulates whether and when an incident that opens then pages, by the decisions of the engine. */
export async function simulatePaging(
  incident: SimulatedIncident,
  policy: PolicyRow,
  triggeredAt: Temporal.Instant,
  context: ActionContext,
): Promise<Static<typeof SimulatedPaging>> {
  const { stores, caller } = context;
  const { serviceId, ruleId, repageMinutes } = incident;
  const opening = {
    ...incident,
    escalationPolicyId: policy.id,
    steps: policy.steps.length,
    openedAt: triggeredAt,
    closedAt: null,
  };
  const others = await stores.suppression.listDuring(
    serviceId,
    { from: triggeredAt.subtract({ minutes: GROUP_MINUTES_MAX }), to: triggeredAt, exceptRuleId: ruleId },
    OTHERS_MAX,
  );
  const [paging] = replayPaging([opening], {
    windows: await stores.maintenance.list(caller.orgId),
    // Later resolutions do not count: they are not known yet at the simulated time.
    others: others.filter(({ resolvedAt }) => isOpenAt(resolvedAt, triggeredAt)).map(unresolved),
    acknowledgedAfterMinutes: null,
    now: FAR_FUTURE,
  });
  const start = paging?.start ?? { kind: 'at_once' };
  const parent = start.kind === 'with_parent' ? others.find(({ id }) => id === start.parent?.id) : undefined;
  const from = start.kind === 'quiet' ? start.until : triggeredAt;
  const steps = await readSimulation(policy, from, context, opening.severity);
  return {
    quiet: start.kind === 'quiet' ? { until: toTimestamp(start.until), maintenance: start.window.name } : null,
    joined: parent === undefined ? null : { incidentId: parent.id, number: parent.number, title: parent.title },
    stale: await simulateStale(repageMinutes, policy, steps, context, opening.severity),
    steps,
  };
}

/** Simulates the time after a stale acknowledgement, when it pages again from the first step. */
async function simulateStale(
  repageMinutes: number | null,
  policy: PolicyRow,
  steps: Static<typeof SimulationView>,
  context: ActionContext,
  severity: string,
): Promise<Static<typeof SimulatedPaging>['stale']> {
  const first = steps.find(({ messageCount }) => messageCount > 0)?.firesAt ?? null;
  if (repageMinutes === null || first === null) return null;
  const acknowledgedAt = Temporal.Instant.from(first);
  const pagesAgainAt = staleAt(acknowledgedAt, { repageMinutes });
  if (pagesAgainAt === null) return null;
  return {
    repageMinutes,
    acknowledgedAt: toTimestamp(acknowledgedAt),
    pagesAgainAt: toTimestamp(pagesAgainAt),
    steps: await readSimulation(policy, pagesAgainAt, context, severity),
  };
}

function isOpenAt(resolvedAt: Temporal.Instant | null, at: Temporal.Instant): boolean {
  return resolvedAt === null || resolvedAt.epochMilliseconds > at.epochMilliseconds;
}

function unresolved(incident: RealIncident): RealIncident {
  return { ...incident, resolvedAt: null };
}
