import { Type } from 'typebox';

import { defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { PersonColorNumber } from '#modules/accounts/view.ts';
import { crashFreePercent } from '#modules/exceptions/decide/sessions.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';

/** Number of hours that counts by the hour go back. */
const HOURS = 24;
const HOUR_MS = 3_600_000;

const HOURLY = Type.Array(Type.Integer({ minimum: 0 }), {
  description: `of each of the last ${HOURS} hours, the current one last`,
});

/** Returns the start of the first of these hours. */
function firstHour(now: Temporal.Instant): Temporal.Instant {
  return now.round({ smallestUnit: 'hour', roundingMode: 'floor' }).subtract({ hours: HOURS - 1 });
}

/** Returns one count for each hour, 0 for those without any. */
function toHourly(counts: ReadonlyMap<number, number> | undefined, from: Temporal.Instant): number[] {
  return Array.from({ length: HOURS }, (_, hour) => counts?.get(from.epochMilliseconds + hour * HOUR_MS) ?? 0);
}

export const getServiceActivity = defineOperation({
  name: 'get_service_activity',
  summary:
    'Show how many metric points and exceptions a service sent in each of the last 24 hours, and what was refused.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({
    from: Timestamp,
    points: HOURLY,
    events: HOURLY,
    refused: Type.Integer({ minimum: 0, description: 'points, events and requests in these hours' }),
  }),
  async handle({ serviceId }, { caller, stores, now, metrics, exceptions }) {
    const { id } = await stores.services.get(caller.orgId, serviceId);
    const from = firstHour(now);
    const [points, events] = await Promise.all([metrics.countByHour([id], from), exceptions.countByHour([id], from)]);
    const refused = await stores.ingestRefusals.countOfServices([id], now.subtract({ hours: HOURS }));
    return {
      from: toTimestamp(from),
      points: toHourly(points.get(id), from),
      events: toHourly(events.get(id), from),
      refused: refused.get(id) ?? 0,
    };
  },
});

const SERVICES_MAX = 200;
const COUNT = Type.Integer({ minimum: 0 });

/** Returns the data that the list of services shows besides their names, for the rows on the screen. */
export const getServiceHealth = defineOperation({
  name: 'get_service_health',
  summary: 'Show what these services sent, what of it was refused, and how many rules watch them.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({
    serviceIds: Type.Array(IdText, { maxItems: SERVICES_MAX, description: 'one that is not there is left out' }),
  }),
  result: Type.Object({
    from: Timestamp,
    services: Type.Array(
      Type.Object({
        serviceId: IdText,
        lastPointAt: nullable(Timestamp),
        events: HOURLY,
        refused: Type.Integer({ minimum: 0, description: `points, events and requests in the last ${HOURS} hours` }),
        rules: COUNT,
        pagingRules: Type.Integer({ minimum: 0, description: 'enabled, with an escalation policy' }),
      }),
    ),
  }),
  example: { serviceIds: ['service_01k9z8e4rnf7ktv2x5m6w0abqe'] },
  async handle({ serviceIds }, { caller, stores, now, metrics, exceptions }) {
    const wanted = { text: undefined, serviceIds: [...serviceIds] };
    const page = await stores.services.search(caller.orgId, wanted, { after: null, limit: SERVICES_MAX });
    const ids = page.map(({ id }) => id);
    const from = firstHour(now);
    const [events, lastPoints] = await Promise.all([exceptions.countByHour(ids, from), metrics.lastPoints(ids)]);
    const refused = await stores.ingestRefusals.countOfServices(ids, now.subtract({ hours: HOURS }));
    const rules = await stores.alertRules.countOfServices(caller.orgId, ids);
    return {
      from: toTimestamp(from),
      services: ids.map((id) => ({
        serviceId: id,
        lastPointAt: toTimestampOrNull(lastPoints.get(id) ?? null),
        events: toHourly(events.get(id), from),
        refused: refused.get(id) ?? 0,
        rules: rules.get(id)?.rules ?? 0,
        pagingRules: rules.get(id)?.paging ?? 0,
      })),
    };
  },
});

/** Teams in one answer; a service seldom pages more than two. */
const TEAMS_MAX = 10;

export const getServiceOnCall = defineOperation({
  name: 'get_service_on_call',
  summary: `Tell who is on call now for a service: in the team that owns it, and in those that its rules and routes page, at most ${TEAMS_MAX}.`,
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({
    teams: Type.Array(
      Type.Object({
        teamId: IdText,
        name: Type.String(),
        isOwner: Type.Boolean(),
        policies: Type.Array(Type.Object({ policyId: IdText, name: Type.String() }), {
          description: 'by which the service pages',
        }),
        scheduleCount: Type.Integer({ minimum: 0 }),
        onCall: Type.Array(
          Type.Object({
            userId: IdText,
            name: Type.String(),
            color: nullable(PersonColorNumber),
            mayAnswer: Type.Boolean({ description: 'whether their role lets them acknowledge' }),
          }),
          { description: 'each person once' },
        ),
      }),
      { description: 'the owner first' },
    ),
  }),
  async handle({ serviceId }, { caller: { orgId }, stores, now }) {
    const service = await stores.services.get(orgId, serviceId);
    const rules = await stores.alertRules.listOfService(orgId, service.id, LIST_LIMIT);
    const routes = await stores.alertRoutes.list(service.id);
    const policyIds = [
      ...rules.flatMap(({ enabled, escalationPolicyId }) => (enabled ? (escalationPolicyId ?? []) : [])),
      ...routes.flatMap(({ policyId }) => policyId ?? []),
    ];
    const policies = await stores.policies.listAll(orgId, [...new Set(policyIds)]);
    const policiesOf = Map.groupBy(policies, ({ teamId }) => teamId);
    const owner = service.teamId === null ? [] : [service.teamId];
    const teamIds = [...new Set([...owner, ...policiesOf.keys()])].slice(0, TEAMS_MAX);
    const teams = new Map((await stores.teams.findAll(orgId, teamIds)).map((team) => [team.id, team]));
    const onCallOf = await stores.onCall.ofTeams(orgId, teamIds, now);
    const onDuty = (teamId: Id<'team'>) => peopleOnCall(onCallOf(teamId).schedules.map(({ onCall }) => onCall));
    const members = await stores.people.listReachable(orgId, teamIds.flatMap(onDuty));
    return {
      teams: teamIds.flatMap((teamId) => {
        const team = teams.get(teamId);
        if (team === undefined) return [];
        const { schedules, people } = onCallOf(teamId);
        return [
          {
            teamId,
            name: team.name,
            isOwner: teamId === service.teamId,
            policies: (policiesOf.get(teamId) ?? []).map(({ id, name }) => ({ policyId: id, name })),
            scheduleCount: schedules.length,
            onCall: onDuty(teamId).map((userId) => ({
              userId,
              name: people.get(userId)?.name ?? '',
              color: people.get(userId)?.color ?? null,
              mayAnswer: mayAnswer(members.get(userId)?.role ?? 'viewer'),
            })),
          },
        ];
      }),
    };
  },
});

const DAYS = 14;
const RELEASES_MAX = 20;

export const listReleaseHealth = defineOperation({
  name: 'list_release_health',
  summary: `Show how the sessions of a service's releases ended in the last ${DAYS} days.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({
    releases: Type.Array(
      Type.Object({
        release: Type.String(),
        sessions: COUNT,
        errored: COUNT,
        crashed: COUNT,
        abnormal: COUNT,
        crashFreePercent: nullable(Type.Number({ description: 'of its sessions' })),
      }),
      { description: `the ${RELEASES_MAX} with most sessions` },
    ),
    total: COUNT,
  }),
  async handle({ serviceId }, { caller, stores, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const page = await stores.sentItems.listReleases(service.id, now.subtract({ hours: 24 * DAYS }), RELEASES_MAX);
    return {
      releases: page.map(({ total: _, ...counts }) => ({ ...counts, crashFreePercent: crashFreePercent(counts) })),
      total: page[0]?.total ?? 0,
    };
  },
});
