import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { notFound } from '#kernel/errors.ts';
import { PolicyInUseView, readPoliciesInUse } from '#modules/policies/operations/policy_uses.ts';
import { readSimulation, SimulationView } from '#modules/policies/operations/simulation_view.ts';

/** Limit on the rules that one page shows. */
const RULES_SHOWN_MAX = 200;

export const getEscalationPolicy = defineAction({
  name: 'get_escalation_policy',
  consoleOnly: true,
  summary:
    'Show an escalation policy: whom its steps would page now, the rules that use it, and what is wrong with it.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ policyId: IdText }, STRICT),
  result: Type.Object({ ...PolicyInUseView.properties, now: SimulationView }),
  example: { policyId: EXAMPLE_IDS.policyId },
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

export const searchEscalationPolicies = defineAction({
  name: 'search_escalation_policies',
  consoleOnly: true,
  summary: 'Find escalation policies page by page, by name, with the rules that use them and what is wrong with them.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name'),
      teamId: Type.Optional(IdText),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({ policies: Type.Array(PolicyInUseView), nextCursor: nullable(Type.String()) }),
  example: {
    text: 'wake',
    teamId: EXAMPLE_IDS.teamId,
    cursor: nameCursorOf({ name: 'Wake somebody', id: EXAMPLE_IDS.policyId }),
    limit: 20,
  },
  async handle({ text, teamId, cursor, limit = LIMIT }, context) {
    const { caller, stores } = context;
    const team = teamId === undefined ? undefined : await stores.teams.get(caller.orgId, teamId);
    const page = await stores.policies.search(
      caller.orgId,
      { text: text?.trim(), teamId: team?.id },
      { after: cursor === undefined ? null : parseNameCursor('policy', cursor), limit: limit + 1 },
    );
    const { shown, nextCursor } = pageOf(page, limit, nameCursorOf);
    return {
      policies: await readPoliciesInUse(shown, LISTED_RULES_MAX, context),
      nextCursor,
    };
  },
});
