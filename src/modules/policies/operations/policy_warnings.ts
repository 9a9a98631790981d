import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { readAboutPolicies, readWarnings, WarningView, WARNING_EXAMPLE } from '#modules/teams/warnings.ts';
import { type PolicyRow, readPolicy } from '#modules/policies/store.ts';

/** A policy that was just changed. */
export const PolicyWithWarningsView = Type.Object({
  ...PolicyView.properties,
  warnings: Type.Array(WarningView, {
    description:
      'steps that would reach nobody now, people who are on call twice, and people who may not answer; none when all is well',
  }),
});

export const POLICY_WARNINGS_EXAMPLE = [WARNING_EXAMPLE];

const SHOWN: ReadonlySet<string> = new Set<Static<typeof WarningView>['kind']>([
  'policy_unreadable',
  'step_reaches_nobody',
  'on_call_twice',
  'cannot_answer',
]);

/** Adds the warnings of a policy: steps that cannot be read, or would reach nobody if they fired now. */
export async function withWarnings(
  stored: PolicyRow,
  context: ActionContext,
): Promise<Static<typeof PolicyWithWarningsView>> {
  const { stores, caller, now } = context;
  const policy = readPolicy(stored);
  const members = await stores.teams.listMembers(caller.orgId, [policy.teamId]);
  const onCall = await stores.onCall.ofTeam(caller.orgId, policy.teamId, now);
  const [warnings = []] = await readWarnings([{ members, policies: [policy], onCall }], context);
  const isAbout = await readAboutPolicies([policy], context);
  return {
    ...toPolicyView(policy),
    warnings: warnings.filter((warning) => isAbout(warning, policy) && SHOWN.has(warning.kind)),
  };
}
