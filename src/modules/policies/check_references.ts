import type { ActionContext } from '#actions/action_context.ts';
import { faultsOf } from '#modules/contacts/decide/parsed.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import { AppError, type Fault, invalidInput, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { findFaultsAmong, findFaultsOf } from '#modules/policies/decide/check_policy.ts';
import type { PolicyPlan } from '#modules/policies/decide/run.ts';
import { readPolicies } from '#modules/policies/read_run.ts';

type Context = Pick<ActionContext, 'caller' | 'stores'>;

/**
 * Checks what a policy says beyond the contract: throws `not_found` for schedules, teams and policies that the
 * organization does not have, and `invalid_input` for what cannot be. Locks the references between policies, so that
 * nothing that is named is deleted before the policy is stored.
 */
export async function checkPolicy(policy: PolicyPlan, context: Context): Promise<void> {
  const timezone = policy.details?.hours?.timezone;
  const zone = timezone === undefined ? [] : faultsOf(parseTimeZone(timezone, 'hours.timezone'));
  const faults = [...findFaultsOf(policy), ...zone];
  if (faults.length > 0) throw invalidInput(faults);
  if (!namesOthers(policy)) return;
  const { caller, stores } = context;
  await stores.policies.holdReferences(caller.orgId);
  await checkSchedules(policy, context);
  await checkTeams(policy, context);
  const find = await readPolicies(stores, caller.orgId, [], [policy]);
  const paths = [
    ...policy.steps.map(({ policyId }, index) => ({ path: `steps[${index}].policyId`, policyId })),
    ...(typeof policy.details?.hours?.outside === 'object'
      ? [{ path: 'hours.outside.policyId', policyId: policy.details.hours.outside.policyId }]
      : []),
  ];
  for (const { path, policyId } of paths) {
    if (policyId !== undefined && find(policyId) === undefined) throw notFound(path, 'escalation policy');
  }
  const among = findFaultsAmong(policy, find);
  if (among.length > 0) throw invalidInput(among);
}

function namesOthers({ steps, details }: PolicyPlan): boolean {
  return (
    typeof details?.hours?.outside === 'object' ||
    steps.some(
      ({ scheduleIds, members, policyId }) =>
        scheduleIds !== undefined || members !== undefined || policyId !== undefined,
    )
  );
}

async function checkSchedules({ teamId, steps }: PolicyPlan, { caller, stores }: Context): Promise<void> {
  if (steps.every(({ scheduleIds }) => scheduleIds === undefined)) return;
  const ofTeam = new Set((await stores.schedules.listOfTeams(caller.orgId, [teamId])).map(({ id }) => id));
  const faults: Fault[] = [];
  for (const [index, { scheduleIds = [] }] of steps.entries()) {
    for (const [place, scheduleId] of scheduleIds.entries()) {
      if (ofTeam.has(scheduleId)) continue;
      const path = `steps[${index}].scheduleIds[${place}]`;
      const schedule = await stores.schedules.find(caller.orgId, scheduleId);
      if (schedule === null) throw notFound(path, 'schedule');
      const message = `is the schedule "${schedule.name}" of another team; let the step go to a policy of that team`;
      faults.push({ path, message });
    }
  }
  if (faults.length > 0) throw invalidInput(faults);
}

async function checkTeams({ steps }: PolicyPlan, { caller, stores }: Context): Promise<void> {
  for (const [index, { members }] of steps.entries()) {
    if (members === undefined) continue;
    const path = `steps[${index}].members.teamId`;
    const [team] = await stores.teams.findAll(caller.orgId, [members.teamId]);
    if (team === undefined) throw notFound(path, 'team');
    if ((await stores.teams.listMembers(caller.orgId, [team.id])).length > 0) continue;
    throw invalidInput([{ path, message: `is the team "${team.name}", which has no members: add some first` }]);
  }
}

/** A thing that is about to be deleted, in words, and its ids: a team has policies. */
interface Deleted {
  readonly noun: string;
  readonly ids: readonly (Id<'schedule'> | Id<'team'> | Id<'policy'>)[];
  /** Team whose policies go with it. */
  readonly teamId?: Id<'team'>;
}

/**
 * Throws `conflict` when escalation policies that stay name what is to be deleted: whom they page must not change
 * unnoticed.
 */
export async function requireUnnamed({ noun, ids, teamId }: Deleted, { caller, stores }: Context): Promise<void> {
  await stores.policies.holdReferences(caller.orgId);
  const [first, ...others] = await stores.policies.listNamingAny(caller.orgId, ids, teamId ?? null);
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw new AppError(
    'conflict',
    `the escalation policy "${first.name}"${more} names this ${noun}: change its steps or its hours first, then delete it`,
  );
}
