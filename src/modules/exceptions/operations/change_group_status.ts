import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ActivityFacts } from '#modules/exceptions/decide/activity.ts';
import { type Fix, type KnownRelease, RELEASE_TRUST, type ReleaseTrust } from '#modules/exceptions/decide/fix.ts';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import type { Snooze } from '#modules/exceptions/decide/snooze.ts';
import { GroupStatusName, toGroupFields } from '#modules/exceptions/operations/view.ts';
import { recordActivity } from '#modules/exceptions/assignees.ts';
import type { ExceptionGroupRow } from '#modules/exceptions/store/exception_group_store.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { endStormMembers, resolve } from '#modules/incidents/change_status.ts';
import type { ReleaseTotals } from '#modules/releases/store/release_reader.ts';

const RELEASES_MAX = 1_000;

/** A group before and after a person's decision. */
interface ChangedGroup {
  readonly before: ExceptionGroupRow;
  readonly after: ExceptionGroupRow;
  /** Incidents that were resolved, because people have dealt with the group. */
  readonly resolvedIncidentIds: readonly Id<'incident'>[];
}

/** A person's decision about a group; with the release of its fix, or the end of a snooze, if they name one. */
interface GroupDecision {
  readonly status: GroupStatus;
  readonly fix?: Fix;
  readonly snooze?: Snooze;
}

/** A decision with the releases of the group's service, as they were known before the group was locked. */
interface InformedDecision extends GroupDecision {
  readonly knownReleases: readonly KnownRelease[];
}

/** Decides about a group, resolves what it opened if it is dealt with, and records both for the audit log. */
export async function changeGroupStatus(
  groupId: string,
  decision: InformedDecision,
  context: ActionContext,
): Promise<ChangedGroup> {
  const { caller, stores, now, record } = context;
  const { fix, snooze, ...rest } = decision;
  const userId = caller.actor.kind === 'user' ? caller.actor.userId : null;
  const { before, after } = await stores.exceptionGroups.setStatus(
    caller.orgId,
    groupId,
    { ...rest, ...(fix && { fix }), ...(snooze && { snooze: { ...snooze, userId } }) },
    now,
  );
  const isDealtWith = after.status !== 'unresolved' && after.status !== before.status;
  const resolvedIncidentIds: Id<'incident'>[] = [];
  if (isDealtWith) {
    const merged = await stores.groupMerges.list([after.id]);
    for (const id of [after.id, ...merged.map((part) => part.groupId)]) {
      resolvedIncidentIds.push(...(await resolveIncidentsOf(id, after.status, context)));
    }
  }
  const details = {
    ...(fix !== undefined && { fixed: { kind: fix.kind, release: fix.release } }),
    ...(snooze !== undefined && { snoozed: toSnoozeFields(snooze) }),
  };
  record({ target: after.id, before: toGroupFields(before), after: { ...toGroupFields(after), ...details } });
  if (before !== after) await recordActivity(context, after.id, factsOf(before.status, decision));
  return { before, after, resolvedIncidentIds };
}

function factsOf(before: GroupStatus, { status: after, fix, snooze }: GroupDecision): ActivityFacts {
  if (snooze !== undefined) return { kind: 'snoozed', ...toSnoozeFields(snooze) };
  if (fix === undefined) return { kind: 'status', before, after };
  return { kind: 'status', before, after, fixedIn: { release: fix.release, isNext: fix.kind === 'next_release' } };
}

function toSnoozeFields({ until, events, users }: Snooze) {
  return { until: toTimestampOrNull(until), events, users };
}

/** Resolves the incidents of a group on which the caller holds the lock. */
async function resolveIncidentsOf(
  groupId: Id<'group'>,
  groupStatus: string,
  context: ActionContext,
): Promise<Id<'incident'>[]> {
  const { caller, stores, record } = context;
  const by = toIncidentActor(caller.actor, caller.via);
  const resolved = await stores.incidents.lockOpenOf(groupId);
  for (const incident of resolved) await resolve(context, incident, by, { groupStatus });
  const storms = await stores.incidents.lockAll(await stores.storms.listOfGroup(groupId));
  for (const storm of storms.values()) {
    if (await endStormMembers(context, storm, { groupId }, by, { groupStatus })) resolved.push(storm);
  }
  for (const { id, status } of resolved) record({ target: id, before: { status }, after: { status: 'resolved' } });
  return resolved.map(({ id }) => id);
}

export const ChangedGroupView = Type.Object({
  groupId: IdText,
  before: GroupStatusName,
  status: GroupStatusName,
  changedAt: Timestamp,
});

/** Changes several groups as `changeGroupStatus` does one, locked in one order. Returns which were changed. */
export async function changeGroupStatuses(
  wanted: ReadonlyMap<string, GroupDecision>,
  context: ActionContext,
): Promise<{ changed: Static<typeof ChangedGroupView>[]; resolvedIncidentIds: string[] }> {
  const { caller, stores } = context;
  const changed: Static<typeof ChangedGroupView>[] = [];
  const resolvedIncidentIds: string[] = [];
  const isResolved = ([, { status, fix }]: [string, GroupDecision]): boolean =>
    status === 'resolved' && fix === undefined;
  const resolved = [...wanted].filter(isResolved).map(([groupId]) => groupId);
  const releases = resolved.length === 0 ? null : await knownReleasesOfGroups(resolved, context);
  await stores.exceptionGroups.lockInOrder(caller.orgId, [...wanted.keys()]);
  for (const [groupId, decision] of wanted) {
    const knownReleases = releases?.get(groupId) ?? [];
    const { before, after, ...result } = await changeGroupStatus(groupId, { ...decision, knownReleases }, context);
    resolvedIncidentIds.push(...result.resolvedIncidentIds);
    if (before === after) continue;
    const changedAt = toTimestamp(after.statusChangedAt);
    changed.push({ groupId, before: before.status, status: after.status, changedAt });
  }
  return { changed, resolvedIncidentIds };
}

/** Lists releases that events within the retention, deploys or builds named; once for each that named it. */
export async function listKnownReleases(
  serviceId: Id<'service'>,
  { caller, stores, releases, now }: ActionContext,
): Promise<KnownRelease[]> {
  const { retentionExceptions } = await stores.services.get(caller.orgId, serviceId);
  const [seen, deployed] = await Promise.all([
    releases.list(serviceId, now.subtract({ hours: 24 * retentionExceptions }), RELEASES_MAX),
    stores.releases.list(caller.orgId, [serviceId], { limit: RELEASES_MAX, offset: 0 }),
  ]);
  // Clients that name no user cannot be told apart: where others do, they are no several.
  const areNamed = seen.some(({ users }) => users > 1);
  const trustOf = ({ events, users }: Pick<ReleaseTotals, 'events' | 'users'>): ReleaseTrust => {
    if (users > 1 || (users === 0 && events > 1 && !areNamed)) return RELEASE_TRUST.confirmed;
    return events > 1 ? RELEASE_TRUST.oneClient : RELEASE_TRUST.oneEvent;
  };
  return [
    ...seen.map((totals) => ({
      release: totals.release,
      since: totals.firstSeenAt.epochMilliseconds,
      trust: trustOf(totals),
    })),
    ...deployed.map(({ version, createdAt }) => ({
      release: version,
      since: createdAt.epochMilliseconds,
      trust: RELEASE_TRUST.confirmed,
    })),
  ];
}

/** Lists the known releases of each service that has one of these groups. Read before groups are locked. */
async function knownReleasesOfGroups(
  groupIds: readonly string[],
  context: ActionContext,
): Promise<Map<string, readonly KnownRelease[]>> {
  const services = await context.stores.exceptionGroups.findServices(context.caller.orgId, groupIds);
  const releasesByService = new Map<Id<'service'>, readonly KnownRelease[]>();
  for (const serviceId of new Set(services.values()))
    releasesByService.set(serviceId, await listKnownReleases(serviceId, context));
  return new Map([...services].map(([groupId, serviceId]) => [groupId, releasesByService.get(serviceId) ?? []]));
}
