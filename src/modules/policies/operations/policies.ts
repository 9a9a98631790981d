import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { notFound } from '#kernel/errors.ts';
import { readSimulation, SimulationView } from '#modules/policies/operations/simulation_view.ts';
import type { PolicyRow } from '#modules/policies/store.ts';
import { PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { readTeams } from '#modules/teams/view.ts';
import { readAboutPolicies, readWarnings, WarningView } from '#modules/teams/warnings.ts';

/** A policy with what uses it, and what is wrong with it now. */
const PolicyInUseView = Type.Object({
  ...PolicyView.properties,
  teamName: Type.String(),
  ruleCount: Type.Integer({ description: 'how many alert rules page by it' }),
  rules: Type.Array(
    Type.Object({
      ruleId: IdText,
      name: Type.String(),
      enabled: Type.Boolean(),
      serviceId: IdText,
      serviceName: Type.String(),
    }),
    { description: 'the first ones, by service' },
  ),
  warnings: Type.Array(WarningView, { description: 'why a page by it might reach nobody' }),
});

/** Reads policies and their uses in a few queries, however many there are. */
async function readPoliciesInUse(
  policies: readonly PolicyRow[],
  rulesPerPolicy: number,
  context: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels' | 'now'>,
): Promise<Static<typeof PolicyInUseView>[]> {
  const { caller, stores } = context;
  const rows = await stores.teams.findAll(caller.orgId, [...new Set(policies.map(({ teamId }) => teamId))]);
  const teams = await readTeams(rows, context);
  const warnings = await readWarnings(teams, context);
  const teamOf = new Map(teams.map(({ team }, index) => [team.id, { team, warnings: warnings[index] ?? [] }]));
  const isAbout = await readAboutPolicies(policies, context);
  const policyIds = policies.map(({ id }) => id);
  const rules = Map.groupBy(
    await stores.alertRules.listOfPolicies(caller.orgId, policyIds, rulesPerPolicy),
    ({ policyId }) => policyId,
  );
  return policies.map((policy) => {
    const team = teamOf.get(policy.teamId);
    const namedRules = rules.get(policy.id) ?? [];
    return {
      ...toPolicyView(policy),
      teamName: team?.team.name ?? '',
      ruleCount: namedRules[0]?.ruleCount ?? 0,
      rules: namedRules.map(({ ruleId, name, enabled, serviceId, serviceName }) => {
        return { ruleId, name, enabled, serviceId, serviceName };
      }),
      warnings: (team?.warnings ?? []).filter((warning) => isAbout(warning, policy)),
    };
  });
}

/** Limit on the rules that one page shows. */
const RULES_SHOWN_MAX = 200;

export const getEscalationPolicy = defineOperation({
  name: 'get_escalation_policy',
  summary:
    'Show an escalation policy: whom its steps would page now, the rules that use it, and what is wrong with it.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ policyId: IdText }),
  result: Type.Object({ ...PolicyInUseView.properties, now: SimulationView }),
  async handle({ policyId }, context) {
    const { stores, caller, now } = context;
    const row = await stores.policies.get(caller.orgId, policyId);
    const [policy] = await readPoliciesInUse([row], RULES_SHOWN_MAX, context);
    if (policy === undefined) throw notFound('policyId', 'escalation policy');
    return { ...policy, now: await readSimulation(row, now, context) };
  },
});

const LIMIT = 50;
const LIMIT_MAX = 100;
/** Limit on the rules that one row of the list names. */
const LISTED_RULES_MAX = 3;

export const searchEscalationPolicies = defineOperation({
  name: 'search_escalation_policies',
  summary: 'Find escalation policies page by page, by name, with the rules that use them and what is wrong with them.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name'),
    teamId: Type.Optional(IdText),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({
    policies: Type.Array(PolicyInUseView),
    total: Type.Integer({ minimum: 0, description: 'policies that match, on all pages' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'wake',
    teamId: EXAMPLE_IDS.teamId,
    cursor: nameCursorOf({ name: 'Wake somebody', id: EXAMPLE_IDS.policyId }),
    limit: 20,
  },
  async handle({ text, teamId, cursor, limit = LIMIT }, context) {
    const { caller, stores } = context;
    const team = teamId === undefined ? undefined : await stores.teams.get(caller.orgId, teamId);
    const filter = { text: text?.trim(), teamId: team?.id };
    const page = await stores.policies.search(caller.orgId, filter, {
      after: cursor === undefined ? null : parseNameCursor('policy', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(page, limit, nameCursorOf);
    const total = await stores.policies.count(caller.orgId, filter);
    return { policies: await readPoliciesInUse(shown, LISTED_RULES_MAX, context), total, nextCursor };
  },
});
