import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText } from '#actions/fields.ts';
import { simulateEscalation } from '#modules/policies/decide/simulate_escalation.ts';
import type { Id } from '#kernel/ids.ts';
import { readPolicySettings } from '#modules/policies/read_setting.ts';
import type { PolicyOfTeam } from '#modules/rules/store/rule_search.ts';

const PEOPLE_SHOWN_MAX = 20;

export const PagedNowView = Type.Object({
  policyId: IdText,
  policyName: Type.String(),
  teamId: IdText,
  teamName: Type.String(),
  people: Type.Array(
    Type.Object({
      userId: IdText,
      name: Type.String(),
      afterMinutes: Type.Number({ description: 'after the trigger, of the first step that reaches them' }),
    }),
    { description: 'whom an incident would page that triggered now and that nobody answered; at most 20' },
  ),
  peopleCount: Type.Integer(),
});

type PagedNow = Static<typeof PagedNowView>;

/** Returns whom a policy would page now for an incident of this severity; null for a policy that nobody asked for. */
type PagedNowOf = (policyId: Id<'policy'>, severity: string) => PagedNow | null;

/** Reads whom each of these policies would page now, in a few queries, however many there are. */
export async function readPagedNow(policyIds: readonly Id<'policy'>[], context: ActionContext): Promise<PagedNowOf> {
  if (policyIds.length === 0) return () => null;
  const { caller, stores, now } = context;
  const policies = await stores.ruleSearch.listPolicies(caller.orgId, policyIds);
  const settings = await readPolicySettings(policies, now, context);
  const { people } = settings;
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const answers = new Map<string, PagedNow | null>();
  return (policyId, severity) => {
    const key = `${policyId} ${severity}`;
    const policy = byId.get(policyId);
    const answer = answers.get(key) ?? (policy === undefined ? null : toPagedNow(policy, reachedBy(policy, severity)));
    answers.set(key, answer);
    return answer;
  };

  function reachedBy(policy: PolicyOfTeam, severity: string): Map<Id<'user'>, number> {
    const reached = new Map<Id<'user'>, number>();
    for (const { step, pages } of simulateEscalation(settings.settingOf(policy, severity), now)) {
      for (const { kind, userId } of pages) {
        if (kind === 'notify' && !reached.has(userId)) reached.set(userId, step.afterMinutes);
      }
    }
    return reached;
  }

  function toPagedNow(policy: PolicyOfTeam, reached: ReadonlyMap<Id<'user'>, number>): PagedNow {
    return {
      policyId: policy.id,
      policyName: policy.name,
      teamId: policy.teamId,
      teamName: policy.teamName,
      people: [...reached].slice(0, PEOPLE_SHOWN_MAX).map(([userId, afterMinutes]) => ({
        userId,
        name: people.get(userId)?.name ?? '',
        afterMinutes,
      })),
      peopleCount: reached.size,
    };
  }
}
