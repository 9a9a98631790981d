import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText } from '#actions/fields.ts';
import { PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { readTeams } from '#modules/teams/read_teams.ts';
import { readAboutPolicies, readWarnings, WarningView } from '#modules/teams/warnings.ts';
import type { PolicyRow } from '#modules/policies/store.ts';

/** A policy with what uses it, and what is wrong with it now. */
export const PolicyInUseView = Type.Object({
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
export async function readPoliciesInUse(
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
