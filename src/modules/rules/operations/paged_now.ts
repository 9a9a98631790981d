import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText } from '#actions/fields.ts';
import { contactsOf } from '#modules/contacts/decide/contact.ts';
import { peopleOnCall } from '#modules/schedules/decide/on_call.ts';
import { decideRecipients } from '#modules/policies/decide/recipients.ts';
import type { Id } from '#kernel/ids.ts';
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

/** Reads whom each of these policies would page now, by the policy's id; in a few queries, however many there are. */
export async function readPagedNow(
  policyIds: readonly Id<'policy'>[],
  { caller: { orgId }, stores, configuredChannels, now }: ActionContext,
): Promise<ReadonlyMap<Id<'policy'>, PagedNow>> {
  if (policyIds.length === 0) return new Map();
  const policies = await stores.ruleSearch.listPolicies(orgId, policyIds);
  const teamIds = [...new Set(policies.map(({ teamId }) => teamId))];
  const onCallOf = await stores.onCall.ofTeams(orgId, teamIds, now);
  const members = Map.groupBy(await stores.teams.listMembers(orgId, teamIds), ({ teamId }) => teamId);
  const onCall = new Map(
    teamIds.map((teamId) => [teamId, peopleOnCall(onCallOf(teamId).schedules.map((of) => of.onCall))]),
  );
  const userIds = [
    ...new Set([
      ...[...onCall.values()].flat(),
      ...policies.flatMap(({ steps }) => steps.flatMap(({ targetUserIds }) => targetUserIds)),
    ]),
  ];
  const people = await stores.people.listReachable(orgId, userIds);
  const subscribers = await stores.pushSubscriptions.listSubscribers(userIds);
  return new Map(
    policies.map((policy) => {
      const contacts = contactsOf([...people.values()], subscribers, members.get(policy.teamId) ?? []);
      return [policy.id, toPagedNow(policy, reachedBy(policy))] as const;

      function reachedBy({ teamId, steps }: PolicyOfTeam): Map<Id<'user'>, number> {
        const reached = new Map<Id<'user'>, number>();
        for (const step of steps.toSorted((a, b) => a.afterMinutes - b.afterMinutes)) {
          const { pages } = decideRecipients(step, onCall.get(teamId) ?? [], contacts, configuredChannels);
          for (const { kind, userId } of pages) {
            if (kind === 'notify' && !reached.has(userId)) reached.set(userId, step.afterMinutes);
          }
        }
        return reached;
      }
    }),
  );

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
