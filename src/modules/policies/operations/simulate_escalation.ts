import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { SIMULATED_PAGING, simulatePaging } from '#modules/policies/operations/simulated_paging.ts';
import { conditionText } from '#modules/rules/decide/rule_kinds.ts';
import { RULE_STATUSES, ruleStatusOf } from '#modules/rules/decide/rule_status.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { notFound } from '#kernel/errors.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const RuleView = Type.Object({
  ruleId: IdText,
  name: Type.String(),
  status: Type.Enum([...RULE_STATUSES]),
  pages: Type.Boolean({ description: 'it has an escalation policy' }),
});

const SimulatedRuleView = Type.Object({
  ...RuleView.properties,
  condition: Type.String({ description: 'when it opens an incident, as a sentence' }),
  policy: nullable(Type.Object({ policyId: IdText, name: Type.String(), teamId: IdText, teamName: Type.String() })),
  ...SIMULATED_PAGING,
});

/** Shows whom a rule pages at a given time, with the schedules as they will be then, and people's current settings. */
export const simulateEscalation = defineAction({
  name: 'simulate_escalation',
  consoleOnly: true,
  summary: 'Show who would be paged, step by step, if a rule of a service opened an incident at a given time.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceId: IdText,
      ruleId: Type.Optional(Type.String({ description: 'the first rule that pages when left out' })),
      at: Type.Optional(Type.String({ maxLength: 40, description: 'RFC 3339; now when left out' })),
    },
    STRICT,
  ),
  result: Type.Object({
    at: Timestamp,
    service: Type.Object({ serviceId: IdText, name: Type.String() }),
    rules: Type.Array(RuleView, { description: `of the service, oldest first; at most ${LIST_LIMIT}` }),
    simulated: nullable(SimulatedRuleView),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId, ruleId: EXAMPLE_IDS.ruleId, at: '2027-02-06T02:00:00Z' },
  async handle({ serviceId, ruleId, at }, context) {
    const { stores, caller, now } = context;
    const triggeredAt = at === undefined ? now : unwrap(parseInstant(at, 'UTC', 'at'));
    const service = await stores.services.get(caller.orgId, serviceId);
    const rules = await stores.alertRules.listOfService(caller.orgId, service.id, LIST_LIMIT);
    const rule =
      ruleId === undefined
        ? (rules.find(({ escalationPolicyId }) => escalationPolicyId !== null) ?? rules[0])
        : (rules.find(({ id }) => id === ruleId) ?? (await findRule(service, ruleId, stores)));
    if (rule === undefined && ruleId !== undefined) throw notFound('ruleId', 'alert rule of this service');
    return {
      at: toTimestamp(triggeredAt),
      service: { serviceId: service.id, name: service.name },
      rules: rules.map((rule) => toRuleView(rule, service)),
      simulated: rule === undefined ? null : await simulate(rule, service, triggeredAt, context),
    };
  },
});

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
  const { stores, caller } = context;
  const view = { ...toRuleView(rule, service), condition: conditionText(rule) };
  if (rule.escalationPolicyId === null) {
    return { ...view, policy: null, quiet: null, joined: null, stale: null, steps: [] };
  }
  const policy = await stores.policies.get(caller.orgId, rule.escalationPolicyId);
  const team = await stores.teams.get(caller.orgId, policy.teamId);
  return {
    ...view,
    policy: { policyId: policy.id, name: policy.name, teamId: team.id, teamName: team.name },
    ...(await simulatePaging(rule, policy, triggeredAt, context)),
  };
}
