import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { digestOfGroup } from '#modules/exceptions/operations/digest.ts';
import { ORIGIN_FIELDS, ORIGINS_EXAMPLE, readOrigins } from '#modules/exceptions/operations/list_exception_origins.ts';
import { RecentEventView, toRecentEventView, EVENT_EXAMPLE } from '#modules/exceptions/operations/recent_event.ts';
import { readGroupTotals } from '#modules/exceptions/operations/group_work.ts';
import { toTriageView, TriageView, TRIAGE_EXAMPLE } from '#modules/exceptions/operations/triage.ts';
import {
  GROUP_FIELDS,
  scopeOf,
  toExceptionGroupView,
  GROUP_EXAMPLE,
  GROUP_UNTRUSTED_TEXT,
} from '#modules/exceptions/operations/view.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { countsOn, periodsAt } from '#modules/exceptions/decide/group_counts.ts';

const RECENT_EVENTS_MAX = 20;
const TAGS_SHOWN = { sample: 1_000, tags: 10, values: 5 };

export const getExceptionGroup = defineAction({
  name: 'get_exception_group',
  summary:
    'Return one exception group: the pattern of its messages, triage, counts of the last 7 UTC days and by release, ' +
    'the first bad release, the suspect deploy, and its newest events with their stacks.',
  guidance: 'Use it to find the cause.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ groupId: IdText }),
  result: Type.Object({
    ...GROUP_FIELDS,
    pattern: nullable(Type.String({ description: 'the template of its messages, <*> where they differ' })),
    triage: TriageView,
    dailyCounts: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), count: Type.Integer() }), {
      description: '7 UTC days, oldest first, today last',
    }),
    ...ORIGIN_FIELDS,
    recentEvents: Type.Array(RecentEventView, {
      description: 'newest first, at most 20; the first with local variables and modules',
    }),
  }),
  untrustedText: [
    ...GROUP_UNTRUSTED_TEXT,
    'pattern',
    'triage',
    'byRelease',
    'firstBadRelease',
    'suspectDeploy',
    'recentEvents',
  ],
  aliases: ['get_exception', 'get_error', 'get_issue', 'get_issue_details', 'compare_releases', 'get_stack_trace'],
  digest: digestOfGroup,
  example: { groupId: IDS.groupId },
  exampleResult: {
    ...GROUP_EXAMPLE,
    pattern: 'card <*> was declined',
    triage: TRIAGE_EXAMPLE,
    dailyCounts: ['28', '29', '30', '31', '01', '02', '03'].map((day) => ({
      date: `2027-0${Number(day) > 20 ? 1 : 2}-${day}`,
      count: day === '03' ? GROUP_EXAMPLE.eventCount : 0,
    })),
    ...ORIGINS_EXAMPLE,
    recentEvents: [EVENT_EXAMPLE],
  },
  async handle({ groupId }, context) {
    const { caller, stores, exceptions, sourceMaps, now } = context;
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const [scope, periods] = [scopeOf(group, now), periodsAt(now)];
    const [service, totalsOf, weeks, { events: stored, tags }, openIncidentId, origins] = await Promise.all([
      stores.services.get(caller.orgId, group.serviceId),
      readGroupTotals(context, [group]),
      exceptions.countWeeks(scope, periods),
      exceptions.readNewest(scope, { limit: RECENT_EVENTS_MAX, sampling: TAGS_SHOWN }),
      stores.exceptionGroups.findOpenIncidentId(caller.orgId, group.id),
      readOrigins(group, { caller, stores, exceptions, now }),
    ]);
    const { orgId, serviceId } = group;
    // Maps events that came before their source map.
    const mapped = await sourceMaps.mapEvents(
      stored.map((event) => ({ orgId, serviceId, event })),
      'reader',
    );
    const events = mapped.map(({ event }) => event);
    const { scmOwner: owner, scmRepo: name } = service;
    const repository = owner !== null && name !== null ? { owner, name } : null;
    const totals = totalsOf(group);
    const facts = { group, totals, weeks, tags, newest: events[0], repository, openIncidentId, now };
    return {
      ...toExceptionGroupView(group, totals),
      pattern: group.pattern,
      triage: toTriageView(facts),
      dailyCounts: countsOn(totals.days, periods.days).map((count, index) => ({
        date: periods.days[index] ?? '',
        count,
      })),
      ...origins,
      recentEvents: events.map((event, index) => toRecentEventView(event, repository, index === 0)),
    };
  },
});
