import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { BrowsedGroupView } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { IssueStateView, toIssueState } from '#modules/exceptions/operations/exception_issues.ts';
import { readGroupTotals, readGroupWork } from '#modules/exceptions/operations/group_work.ts';
import { TriageView } from '#modules/exceptions/operations/triage.ts';
import { GROUP_FIELDS, GroupStatusName, scopeOf, toGroupFields } from '#modules/exceptions/operations/view.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { countsOn, lastDays, startOfDays } from '#modules/exceptions/decide/group_counts.ts';
import { DeployDayView } from '#modules/releases/deploys.ts';
import { FIX_KINDS } from '#modules/exceptions/decide/fix.ts';
import { GROUPING_VERSION } from '#modules/exceptions/decide/grouping.ts';
import { textOfTemplate } from '#modules/exceptions/decide/message_templates.ts';
import { similarTo } from '#modules/exceptions/decide/similar_groups.ts';
import { trendOf } from '#modules/exceptions/decide/triage.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { trackerDeclarationOf } from '#modules/exceptions/decide/issue_tracker.ts';
import { newIssueUrlOf } from '#modules/exceptions/decide/issue_link.ts';
import { fromEpochMilliseconds, isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const DAYS_MAX = 90;
const WEEK = 7;
const NEW_HOURS = 24;
const HOUR_MS = 3_600_000;
const TAGS_SHOWN = { sample: 1_000, tags: 20, values: 5 };
const AKIN_MAX = 200;
const SIMILAR_MAX = 5;
const INCIDENTS_MAX = 5;
const LINES_SHOWN = 2;

const ValueCountView = Type.Object({ value: Type.String(), count: Type.Integer() });

/** Returns the page of one group, without its events. */
export const getExceptionOverview = defineOperation({
  name: 'get_exception_overview',
  summary:
    'Return what is known of an exception group as a whole: counts by day, environment, release and tag, why its events ' +
    'are one group, groups that are like it, and the incidents that it opened.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ groupId: IdText }),
  result: Type.Object({
    ...GROUP_FIELDS,
    serviceName: Type.String(),
    isWatched: Type.Boolean({ description: 'whether the caller is told when it comes back' }),
    issueUrl: nullable(Type.String({ description: 'its issue in a tracker' })),
    newIssueUrl: nullable(
      Type.String({ description: 'form for a new issue, filled in; null if its service has none' }),
    ),
    issueNumber: nullable(Type.String({ description: 'of an issue that was created here' })),
    issueState: nullable(IssueStateView),
    tracker: nullable(
      Type.Object(
        { title: Type.String(), project: Type.String() },
        { description: 'where its issue can be created; null if its service has no tracker' },
      ),
    ),
    hours: nullable(
      Type.Array(Type.Object({ at: Timestamp, count: Type.Integer() }), {
        description: 'the last 24 hours, oldest first, of a group that began within them; null for others',
      }),
    ),
    assigneeName: BrowsedGroupView.properties.assigneeName,
    assigneeColor: BrowsedGroupView.properties.assigneeColor,
    snoozed: BrowsedGroupView.properties.snoozed,
    pattern: nullable(Type.String()),
    isHandled: nullable(Type.Boolean()),
    firstRelease: nullable(Type.String({ description: 'of the first event that named one' })),
    isNew: Type.Boolean({ description: 'first seen within the last 24 hours' }),
    trend: nullable(
      Type.Object({
        direction: Type.Enum(['new', 'rising', 'steady', 'falling', 'quiet']),
        changePercent: nullable(Type.Integer()),
        last7Days: Type.Integer(),
      }),
    ),
    days: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), count: Type.Integer() }), {
      description: 'UTC days that are kept, at most 90, oldest first, today last',
    }),
    environments: Type.Array(ValueCountView),
    releases: Type.Array(
      Type.Object({
        release: Type.String(),
        events: Type.Integer(),
        users: Type.Integer(),
        firstSeenAt: Timestamp,
        lastSeenAt: Timestamp,
      }),
      { description: 'at most 100, the last seen first' },
    ),
    releasesTotal: Type.Integer(),
    tags: Type.Array(Type.Object({ key: Type.String(), values: Type.Array(ValueCountView) })),
    taggedEvents: Type.Integer({ description: 'over how many of its newest events tags were counted' }),
    grouping: Type.Object({
      ...TriageView.properties.grouping.properties,
      isCurrent: Type.Boolean({ description: 'whether new groups are made by the same version' }),
      furtherKeys: Type.Integer({ description: 'keys of other versions that bring events to it, too' }),
      template: nullable(
        Type.Object(
          { text: Type.String(), isPinned: Type.Boolean({ description: 'somebody split it off: it stays as it is' }) },
          { description: 'learnt from messages without a stack, <*> where they differ' },
        ),
      ),
    }),
    fix: nullable(
      Type.Object(
        { kind: Type.Enum([...FIX_KINDS]), release: Type.String() },
        { description: 'where people say that it is fixed: in this release, or in the next one after it' },
      ),
    ),
    regressedInRelease: nullable(Type.String({ description: 'of the event that last reopened it' })),
    deploys: Type.Array(DeployDayView, { description: 'UTC days of `days` on which its service was deployed' }),
    mergedInto: nullable(Type.Object({ groupId: IdText, title: Type.String() })),
    merged: Type.Array(
      Type.Object({
        groupId: IdText,
        title: Type.String(),
        because: Type.String(),
        lines: Type.Array(Type.String(), { description: `of what was hashed, the first ${LINES_SHOWN}` }),
        mergedAt: Timestamp,
      }),
      { description: 'other groups that are part of it: their events are its own' },
    ),
    similar: Type.Array(
      Type.Object({
        groupId: IdText,
        title: Type.String(),
        culprit: nullable(Type.String()),
        status: GroupStatusName,
        lastSeenAt: Timestamp,
        because: Type.String(),
      }),
    ),
    incidents: Type.Array(
      Type.Object({
        incidentId: IdText,
        number: Type.Integer(),
        title: Type.String(),
        status: Type.Enum([...INCIDENT_STATUSES]),
        triggeredAt: Timestamp,
        resolvedAt: nullable(Timestamp),
      }),
      { description: 'the newest 5' },
    ),
    incidentsTotal: Type.Integer(),
  }),
  async handle({ groupId }, context) {
    const { caller, stores, exceptions, now, baseUrl } = context;
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const isNew = isAtOrBefore(now.subtract({ hours: NEW_HOURS }), group.firstSeenAt);
    const days = lastDays(now, Math.min(DAYS_MAX, group.retentionDays));
    const [
      service,
      totalsOf,
      tags,
      akin,
      incidents,
      merged,
      taker,
      template,
      furtherKeys,
      fixes,
      regressedIn,
      deploys,
      workOf,
      isWatched,
      settings,
      hourly,
      issue,
      tracker,
    ] = await Promise.all([
      stores.services.get(caller.orgId, group.serviceId),
      readGroupTotals(context, [group]),
      exceptions.countTags(scopeOf(group, now), TAGS_SHOWN),
      stores.exceptionSearch.listAkin(group, AKIN_MAX),
      stores.exceptionSearch.listIncidents(caller.orgId, group.id, INCIDENTS_MAX),
      stores.groupMerges.list([group.id]),
      group.mergedIntoId === null ? null : stores.exceptionGroups.get(caller.orgId, group.mergedIntoId, now),
      stores.messageTemplates.findOfGroup(group.id),
      stores.groupKeys.countFurther(group.id),
      group.status === 'resolved' ? stores.groupReleases.listFixes([group.id]) : null,
      group.regressedAt === null ? null : stores.groupReleases.findRegression(group.id, group.regressedAt),
      stores.releases.listDeployDays(caller.orgId, [group.serviceId], startOfDays(days)),
      readGroupWork(context, [group]),
      caller.actor.kind === 'user' && stores.groupWatchers.has(group.id, caller.actor.userId),
      stores.exceptionSettings.find([group.serviceId]),
      isNew ? exceptions.lists.countByHour(scopeOf(group, now), now.subtract({ hours: NEW_HOURS })) : null,
      group.issueUrl === null ? null : stores.issueTrackers.findIssue(group.id),
      group.issueUrl === null ? stores.issueTrackers.findOfService(caller.orgId, group.serviceId) : null,
    ]);
    const totals = totalsOf(group);
    const fix = fixes?.get(group.id) ?? null;
    const counts = countsOn(totals.days, days);
    return {
      ...toGroupFields(group),
      eventCount: totals.events,
      userCount: totals.users,
      serviceName: service.name,
      ...workOf(group),
      isWatched,
      issueUrl: group.issueUrl,
      newIssueUrl: newIssueUrlOf(settings.get(group.serviceId)?.issueLink ?? null, {
        ...group,
        service: service.name,
        link: linkTo(baseUrl, `${PAGES.exceptions}/${group.id}`, caller.orgId),
      }),
      issueNumber: issue?.number ?? null,
      issueState: issue && toIssueState(issue),
      tracker: tracker && { title: trackerDeclarationOf(tracker.kind).title, project: tracker.project },
      hours: hourly && toHours(hourly, now),
      pattern: group.pattern,
      isHandled: totals.isHandled,
      firstRelease: group.firstRelease,
      isNew,
      trend: group.retentionDays < 2 * WEEK ? null : toTrendView(counts),
      days: days.map((date, index) => ({ date, count: counts[index] ?? 0 })),
      environments: [...totals.environments],
      releases: [...totals.releases],
      releasesTotal: totals.releasesTotal,
      tags: [...tags].map(([key, values]) => ({ key, values: [...values] })),
      taggedEvents: Math.min(TAGS_SHOWN.sample, totals.events),
      grouping: {
        version: group.groupingVersion,
        parts: group.groupingParts.map((part) => ({ ...part, lines: [...part.lines] })),
        isCurrent: group.groupingVersion === GROUPING_VERSION,
        furtherKeys,
        template: template && { text: textOfTemplate(template.tokens), isPinned: template.isPinned },
      },
      fix: fix && { kind: fix.kind, release: fix.release },
      regressedInRelease: regressedIn,
      deploys: deploys.map(({ serviceId: _, ...day }) => day),
      mergedInto: taker === null ? null : { groupId: taker.id, title: taker.title },
      merged: merged.map(({ groupId: partId, title, groupingParts, mergedAt }) => ({
        groupId: partId,
        title,
        because: groupingParts[0]?.because ?? '',
        lines: groupingParts.flatMap(({ lines }) => lines).slice(0, LINES_SHOWN),
        mergedAt: toTimestamp(mergedAt),
      })),
      similar: similarTo(group, akin, SIMILAR_MAX).map(({ group: other, because }) => ({
        groupId: other.id,
        title: other.title,
        culprit: other.culprit,
        status: other.status,
        lastSeenAt: toTimestamp(other.lastSeenAt),
        because,
      })),
      incidents: incidents.map(({ incidentId, number, title, status, triggeredAt, resolvedAt }) => ({
        incidentId,
        number,
        title,
        status,
        triggeredAt: toTimestamp(triggeredAt),
        resolvedAt: toTimestampOrNull(resolvedAt),
      })),
      incidentsTotal: incidents[0]?.total ?? 0,
    };
  },
});

/** Returns the counts of the hour of `now` and of those before it, empty ones among them. */
function toHours(counts: ReadonlyMap<number, number>, now: Temporal.Instant) {
  const last = Math.floor(now.epochMilliseconds / HOUR_MS) * HOUR_MS;
  return Array.from({ length: NEW_HOURS }, (_, index) => {
    const at = last - (NEW_HOURS - 1 - index) * HOUR_MS;
    return { at: toTimestamp(fromEpochMilliseconds(at)), count: counts.get(at) ?? 0 };
  });
}

/** Returns the trend of the last seven days against the seven before. */
function toTrendView(counts: readonly number[]) {
  const sum = (some: readonly number[]) => some.reduce((total, count) => total + count, 0);
  const last7Days = sum(counts.slice(-WEEK));
  return { ...trendOf(last7Days, sum(counts.slice(-2 * WEEK, -WEEK))), last7Days };
}
