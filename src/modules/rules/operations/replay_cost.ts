import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText } from '#actions/fields.ts';
import type { PagingRun } from '#modules/incidents/decide/replay_paging.ts';
import { escalationCost } from '#modules/policies/decide/escalation_cost.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { inSlices } from '#kernel/cooperative_task.ts';
import { namesPerson } from '#modules/schedules/decide/own_shifts.ts';
import { readPolicySettings } from '#modules/policies/read_setting.ts';
import type { PolicyOfTeam } from '#modules/rules/store/rule_search.ts';

const PEOPLE_MAX = 50;

export const CostView = Type.Object({
  pages: Type.Integer({ description: 'messages that would have been sent' }),
  nights: Type.Integer({ description: 'nights, from 23:00 to 07:00, in which they would have woken somebody' }),
  people: Type.Array(
    Type.Object({
      userId: IdText,
      name: Type.String(),
      timeZone: Type.String({ description: 'of a schedule that they are in, UTC for somebody in none' }),
      pages: Type.Integer(),
      nights: Type.Integer(),
    }),
    { description: 'who is paged most first, at most 50' },
  ),
  peopleCount: Type.Integer(),
});

export async function readPolicy(
  policyId: string,
  { caller: { orgId }, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<PolicyOfTeam> {
  const [policy] = await stores.ruleSearch.listPolicies(orgId, [asId('policy', policyId)]);
  if (policy === undefined) throw notFound('escalationPolicyId', 'escalation policy');
  return policy;
}

type CostOf = (runs: readonly PagingRun[]) => Promise<Static<typeof CostView>>;

/** Computes the cost of paging for people, with the policy, the contacts and the rotations of today. */
export async function readCostOf(policy: PolicyOfTeam, severity: string, context: ActionContext): Promise<CostOf> {
  const { now } = context;
  const settings = await readPolicySettings([policy], now, context);
  const { people: settingsPeople } = settings;
  const { schedules } = settings.teamOf(policy.teamId);
  const zoneOf = (userId: Id<'user'>): string => {
    const shown = schedules.find(({ layered }) => namesPerson(layered, userId)) ?? schedules[0];
    return shown?.schedule.timezone ?? 'UTC';
  };
  const setting = settings.settingOf(policy, severity);
  return async (runs) => {
    const lives = runs.map(({ from, until }) => ({
      openedAt: from.epochMilliseconds,
      closedAt: until && until.epochMilliseconds,
    }));
    const {
      pages,
      nights,
      people: paged,
    } = await inSlices(escalationCost(setting, lives, zoneOf, now.epochMilliseconds));
    return {
      pages,
      nights,
      people: paged.slice(0, PEOPLE_MAX).map((person) => ({
        ...person,
        name: settingsPeople.get(person.userId)?.name ?? '',
        timeZone: zoneOf(person.userId),
      })),
      peopleCount: paged.length,
    };
  };
}
