import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT, Timestamp } from '#actions/fields.ts';
import { leastSeverity, ROUTES_MAX, routeText } from '#modules/alerts/decide/route.ts';
import { SEVERITY_UNSAID } from '#modules/alerts/decide/severity.ts';
import { SOURCE_DEFAULTS } from '#modules/alerts/decide/source_settings.ts';
import type { AlertRouteRow } from '#modules/alerts/store/alert_route_store.ts';
import { labelsOf } from '#modules/maintenance/decide/maintenance.ts';
import {
  SIMULATED_PAGING,
  type SimulatedIncident,
  simulatePaging,
} from '#modules/policies/operations/simulated_paging.ts';
import { conditionText, RULE_STATUSES, ruleStatusOf } from '#modules/rules/decide/rule_kinds.ts';
import { expectedSeverity, settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

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
export const simulateEscalation = defineAction({
  name: 'simulate_escalation',
  consoleOnly: true,
  summary:
    'Show who would be paged, step by step, if a rule or an alert of a service opened an incident at a given time.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceId: IdText,
      ruleId: Type.Optional(Type.String({ description: 'the first rule that pages when left out' })),
      routeNumber: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: ROUTES_MAX,
          description: 'in place of a rule: the route that an alert of another tool takes, counted from 1',
        }),
      ),
      at: Type.Optional(Type.String({ maxLength: 40, description: 'RFC 3339; now when left out' })),
    },
    STRICT,
  ),
  result: Type.Object({
    at: Timestamp,
    service: Type.Object({ serviceId: IdText, name: Type.String() }),
    rules: Type.Array(RuleView, { description: `of the service, oldest first; at most ${LIST_LIMIT}` }),
    routes: Type.Array(RouteView, { description: 'of alerts of other tools' }),
    simulated: nullable(SimulatedRuleView),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId, ruleId: EXAMPLE_IDS.ruleId, routeNumber: 1, at: '2027-02-06T02:00:00Z' },
  async handle({ serviceId, ruleId, routeNumber, at }, context) {
    const { stores, caller, now } = context;
    const triggeredAt = at === undefined ? now : unwrap(parseInstant(at, 'UTC', 'at'));
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
  return {
    routeNumber: index + 1,
    condition: routeText(conditions),
    pages: outcome === 'page' && policyId !== null,
  };
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
