import type { Id } from '#kernel/ids.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';
import { sendDeactivationNotice } from '#storage/queue/jobs.ts';

/** Schedule or policy that pages somebody. */
interface PagedBy {
  readonly teamId: Id<'team'>;
  readonly name: string;
}

/** Lists what pages a person now or later: schedules, with overrides, and policies that name them or their team. */
export async function listPagedBy(
  stores: Pick<Stores, 'schedules' | 'policies' | 'teams'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
): Promise<readonly PagedBy[]> {
  const schedules = await stores.schedules.listNaming(orgId, userId, { after: now });
  const policies = await stores.policies.listNaming(orgId, userId);
  const teams = new Set((await stores.teams.listPlacesOf(orgId, userId)).map(({ teamId }) => teamId));
  const byTeam = teams.size === 0 ? [] : await stores.policies.listNamingAny(orgId, [...teams]);
  const ofMembers = byTeam.filter(({ steps }) =>
    steps.some(({ members }) => members !== undefined && teams.has(members.teamId)),
  );
  return [...new Map([...schedules, ...policies, ...ofMembers].map((row) => [row.id, row] as const)).values()];
}

/**
 * Tells owners, admins and teams by mail that somebody is paged whose role may not answer any more, where no person has
 * changed it who would read a warning: an identity provider has. A null role before stands for no membership.
 */
export async function tellOfLoweredRole(
  { stores, now, enqueue }: Pick<UnitOfWork, 'stores' | 'now' | 'enqueue'>,
  orgId: Id<'org'>,
  { userId, before, after }: { readonly userId: Id<'user'>; readonly before: Role | null; readonly after: Role },
): Promise<void> {
  if (mayAnswer(after) || (before !== null && !mayAnswer(before))) return;
  if ((await listPagedBy(stores, orgId, userId, now)).length === 0) return;
  enqueue(sendDeactivationNotice, { orgId, userId, noticeId: `role${now.epochMilliseconds}` });
}
