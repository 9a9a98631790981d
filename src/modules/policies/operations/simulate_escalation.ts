import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { FAR_FUTURE, Temporal, toTimestamp } from '#kernel/time.ts';
import { leastSeverity, ROUTES_MAX, routeText } from '#modules/alerts/decide/route.ts';
import { SEVERITY_UNSAID } from '#modules/alerts/decide/alert_event.ts';
import { SOURCE_DEFAULTS } from '#modules/alerts/decide/source_settings.ts';
import type { AlertRouteRow } from '#modules/alerts/store/alert_route_store.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { type RealIncident, replayPaging } from '#modules/incidents/decide/replay_paging.ts';
import { staleAt } from '#modules/incidents/decide/escalation_state.ts';
import { labelsOf } from '#modules/maintenance/decide/maintenance.ts';
import { DOUBLE_DUTY_DAYS } from '#modules/contacts/decide/reachability.ts';
import { doubleOnCallFinder } from '#modules/policies/decide/double_duty.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';
import { readDetails } from '#modules/policies/decide/stored_steps.ts';
import { POLICY_DETAILS, POLICY_DETAILS_EXAMPLE, toPolicyDetails } from '#modules/policies/view.ts';
import { readSimulation, SimulationView } from '#modules/policies/operations/simulation_view.ts';
import { DetailedStepInput, withDefaults } from './create_escalation_policy.ts';
import type { PolicyRow } from '#modules/policies/store.ts';
import { conditionText, RULE_STATUSES, ruleStatusOf } from '#modules/rules/decide/rule_kinds.ts';
import { expectedSeverity, GROUP_MINUTES_MAX, settingsOf } from '#modules/rules/decide/rule_settings.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { doubleDutyText } from '#modules/teams/warnings.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const OTHERS_MAX = 200;

/** Phases before the steps of a simulated incident, and after somebody has forgotten it. */
const SIMULATED_PAGING = {
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
interface SimulatedIncident {
  readonly serviceId: Id<'service'>;
  readonly ruleId: Id<'rule'> | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly severity: string;
  readonly groupMinutes: number;
  readonly repageMinutes: number | null;
}

/** Simulates whether and when an incident that opens then pages, by the decisions of the engine. */
async function simulatePaging(
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

const RouteView = Type.Object({
  routeNumber: Type.Integer({ description: 'counted from 1; the last one takes what no other does' }),
  condition: Type.String({ description: 'which alerts take it' }),
  pages: Type.Boolean({ description: 'it has an escalation policy' }),
});

const RuleView = Type.Object({
  ruleId: IdText,
  name: Type.String(),
  status: Type.Enum([...RULE_STATUSES]),
  pages: Type.Boolean({ description: 'it has an escalation policy' }),
});

const SimulatedRuleView = Type.Object({
  ...RuleView.properties,
  ruleId: nullable(IdText),
  routeNumber: nullable(Type.Integer({ description: 'the route of the alert that opens the incident' })),
  condition: Type.String({ description: 'when it opens an incident, as a sentence' }),
  policy: nullable(Type.Object({ policyId: IdText, name: Type.String(), teamId: IdText, teamName: Type.String() })),
  ...SIMULATED_PAGING,
});

/** Shows whom a rule pages at a given time, with the schedules as they will be then, and people's current settings. */
export const simulateEscalation = defineOperation({
  name: 'simulate_escalation',
  summary:
    'Show who would be paged, step by step, if a rule or an alert of a service opened an incident at a given time; or by a policy alone.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    serviceId: Type.Optional(IdText),
    policyId: Type.Optional(
      Type.String({ description: 'in place of a service: an error that nothing holds back pages by this policy' }),
    ),
    ruleId: Type.Optional(Type.String({ description: 'the first rule that pages when left out' })),
    routeNumber: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ROUTES_MAX,
        description: 'in place of a rule: the route that an alert of another tool takes, counted from 1',
      }),
    ),
    at: Type.Optional(Type.String({ maxLength: 40, description: 'RFC 3339; now when left out' })),
  }),
  result: Type.Object({
    at: Timestamp,
    service: nullable(
      Type.Object({ serviceId: IdText, name: Type.String() }, { description: 'null for a policy alone' }),
    ),
    rules: Type.Array(RuleView, { description: `of the service, oldest first; at most ${LIST_LIMIT}` }),
    routes: Type.Array(RouteView, { description: 'of alerts of other tools' }),
    simulated: nullable(SimulatedRuleView),
  }),
  validate: ({ serviceId, policyId, ruleId, routeNumber }) => {
    if (policyId === undefined) {
      return serviceId === undefined
        ? [{ path: 'serviceId', message: 'must be given, or policyId to simulate a policy alone' }]
        : [];
    }
    const isAlone = serviceId === undefined && ruleId === undefined && routeNumber === undefined;
    return isAlone ? [] : [{ path: 'policyId', message: 'must be given without serviceId, ruleId and routeNumber' }];
  },
  example: { serviceId: EXAMPLE_IDS.serviceId, ruleId: EXAMPLE_IDS.ruleId, routeNumber: 1, at: '2027-02-06T02:00:00Z' },
  async handle({ serviceId, policyId, ruleId, routeNumber, at }, context) {
    const { stores, caller, now } = context;
    const triggeredAt = at === undefined ? now : unwrap(parseInstant(at, 'UTC', 'at'));
    if (serviceId === undefined) {
      const simulated = await simulatePolicy(policyId ?? '', triggeredAt, context);
      return { at: toTimestamp(triggeredAt), service: null, rules: [], routes: [], simulated };
    }
    const service = await stores.services.get(caller.orgId, serviceId);
    const rules = await stores.alertRules.listOfService(caller.orgId, service.id, LIST_LIMIT);
    const rule =
      ruleId === undefined
        ? (rules.find(({ escalationPolicyId }) => escalationPolicyId !== null) ?? rules[0])
        : (rules.find(({ id }) => id === ruleId) ?? (await findRule(service, ruleId, stores)));
    if (rule === undefined && ruleId !== undefined) throw notFound('ruleId', 'alert rule of this service');
    const routes = await stores.alertRoutes.list(service.id);
    const asked = routeNumber ?? (rule === undefined && routes.at(-1)?.policyId != null ? routes.length : null);
    return {
      at: toTimestamp(triggeredAt),
      service: { serviceId: service.id, name: service.name },
      rules: rules.map((listed) => toRuleView(listed, service)),
      routes: routes.map(toRouteView),
      simulated:
        asked !== null
          ? await simulateRoute(routes, asked, service, triggeredAt, context)
          : rule === undefined
            ? null
            : await simulate(rule, service, triggeredAt, context),
    };
  },
});

function toRouteView({ conditions, outcome, policyId }: AlertRouteRow, index: number): Static<typeof RouteView> {
  return { routeNumber: index + 1, condition: routeText(conditions), pages: outcome === 'page' && policyId !== null };
}

/** Simulates an alert that takes the route, with the settings of a source that nobody has changed. */
async function simulateRoute(
  routes: readonly AlertRouteRow[],
  routeNumber: number,
  { id: serviceId, capabilities }: ServiceWithCapabilities,
  triggeredAt: Temporal.Instant,
  context: ActionContext,
): Promise<Static<typeof SimulatedRuleView>> {
  const route = routes[routeNumber - 1];
  if (route === undefined) throw notFound('routeNumber', 'route of this service');
  const { condition, pages } = toRouteView(route, routeNumber - 1);
  const status = capabilities.includes('oncall') ? ('active' as const) : ('capability_disabled' as const);
  const view = { ruleId: null, routeNumber, name: `Alerts by route ${routeNumber}`, status, condition, pages };
  if (!pages || route.policyId === null) return { ...view, ...NOBODY };
  const { groupMinutes, repageMinutes } = SOURCE_DEFAULTS;
  const severity = leastSeverity(route.conditions) ?? SEVERITY_UNSAID;
  const incident = { serviceId, ruleId: null, labels: {}, severity, groupMinutes, repageMinutes };
  return { ...view, ...(await simulateBy(route.policyId, incident, triggeredAt, context)) };
}

/** Simulates an error that pages by the policy at once: no maintenance, and no other incident to join. */
async function simulatePolicy(
  policyId: string,
  triggeredAt: Temporal.Instant,
  context: ActionContext,
): Promise<Static<typeof SimulatedRuleView>> {
  const { stores, caller } = context;
  const policy = await stores.policies.get(caller.orgId, policyId);
  const team = await stores.teams.get(caller.orgId, policy.teamId);
  return {
    ruleId: null,
    routeNumber: null,
    name: policy.name,
    status: 'active',
    condition: 'An incident of the severity error opens.',
    pages: true,
    ...NOBODY,
    policy: { policyId: policy.id, name: policy.name, teamId: team.id, teamName: team.name },
    steps: await readSimulation(policy, triggeredAt, context),
  };
}

const NOBODY = { policy: null, quiet: null, joined: null, stale: null, steps: [] };

async function simulateBy(
  policyId: Id<'policy'>,
  incident: SimulatedIncident,
  triggeredAt: Temporal.Instant,
  context: ActionContext,
): Promise<Omit<Static<typeof SimulatedRuleView>, keyof Static<typeof RuleView> | 'routeNumber' | 'condition'>> {
  const { stores, caller } = context;
  const policy = await stores.policies.get(caller.orgId, policyId);
  const team = await stores.teams.get(caller.orgId, policy.teamId);
  return {
    policy: { policyId: policy.id, name: policy.name, teamId: team.id, teamName: team.name },
    ...(await simulatePaging(incident, policy, triggeredAt, context)),
  };
}

/** Finds a rule, also one beyond those that are listed. */
async function findRule(
  service: ServiceWithCapabilities,
  ruleId: string,
  stores: ActionContext['stores'],
): Promise<AlertRuleRow | undefined> {
  const rule = await stores.alertRules.get(service.orgId, ruleId);
  return rule.serviceId === service.id ? rule : undefined;
}

function toRuleView(rule: AlertRuleRow, { capabilities }: ServiceWithCapabilities): Static<typeof RuleView> {
  return {
    ruleId: rule.id,
    name: rule.name,
    status: ruleStatusOf(rule, capabilities),
    pages: rule.escalationPolicyId !== null,
  };
}

async function simulate(
  rule: AlertRuleRow,
  service: ServiceWithCapabilities,
  triggeredAt: Temporal.Instant,
  context: ActionContext,
): Promise<Static<typeof SimulatedRuleView>> {
  const view = { ...toRuleView(rule, service), routeNumber: null, condition: conditionText(rule) };
  if (rule.escalationPolicyId === null) return { ...view, ...NOBODY };
  const { groupMinutes, repageMinutes } = settingsOf(rule.settings);
  const severity = expectedSeverity(rule);
  const { serviceId, id: ruleId } = rule;
  const incident = { serviceId, ruleId, labels: labelsOf(rule), severity, groupMinutes, repageMinutes };
  return { ...view, ...(await simulateBy(rule.escalationPolicyId, incident, triggeredAt, context)) };
}

/** Previews a draft in the editor with the warnings that its policy would have. People who have left are included. */
export const previewEscalation = defineOperation({
  name: 'preview_escalation',
  summary: 'Show whom steps that are not saved yet would page at a given time.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    teamId: IdText,
    policyId: Type.Optional(Type.String({ description: 'the policy that is edited; absent for a new one' })),
    steps: Type.Array(DetailedStepInput, { maxItems: POLICY_STEPS_MAX }),
    ...POLICY_DETAILS,
    at: Type.Optional(Type.String({ maxLength: 40, description: 'RFC 3339; now when left out' })),
  }),
  result: Type.Object({
    steps: SimulationView,
    warnings: Type.Array(Type.String(), { description: 'who would be on call for two steps at once, and when' }),
  }),
  example: {
    policyId: EXAMPLE_IDS.policyId,
    steps: [{ afterMinutes: 0, channels: ['push', 'sms'], useSchedule: true }],
    ...POLICY_DETAILS_EXAMPLE,
    at: '2027-02-06T02:00:00Z',
  },
  async handle({ teamId, policyId, steps, repeat, hours, at }, context) {
    const triggeredAt = at === undefined ? context.now : unwrap(parseInstant(at, 'UTC', 'at'));
    const team = await context.stores.teams.get(context.caller.orgId, teamId);
    const stored = policyId === undefined ? null : await context.stores.policies.get(context.caller.orgId, policyId);
    const wanted = {
      id: stored?.id ?? asId('policy', ''),
      name: stored?.name ?? '',
      teamId: team.id,
      steps: steps.map(withDefaults),
      details: readDetails(toPolicyDetails({ repeat, hours })),
      lastTurn: stored?.lastTurn ?? null,
    };
    const { schedules, people } = await context.stores.onCall.ofTeam(context.caller.orgId, team.id, context.now);
    const range = { from: context.now, to: context.now.add({ hours: DOUBLE_DUTY_DAYS * 24 }) };
    const twice = doubleOnCallFinder(
      schedules.map(({ schedule, layered }) => ({ id: schedule.id, layered })),
      { ...range, isPresent: (userId) => people.has(userId) },
    )(wanted.steps);
    return {
      steps: await readSimulation(wanted, triggeredAt, context),
      warnings: twice.map((double) => doubleDutyText(double, schedules, (userId) => people.get(userId)?.name ?? '')),
    };
  },
});
