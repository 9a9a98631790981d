import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, Temporal, toTimestamp } from '#kernel/time.ts';
import { PersonColorNumber } from '#modules/accounts/view.ts';
import { type LoadShift, loadOnPeople } from '#modules/load/decide/load_on_people.ts';

const COUNTS = {
  pages: Type.Number({ description: 'messages that were sent' }),
  nightPages: Type.Number({ description: 'from 23:00 to 07:00 in their zone' }),
  weekendPages: Type.Number({ description: 'on a Saturday or a Sunday in their zone' }),
  acknowledged: Type.Number({ description: 'incidents that they acknowledged' }),
  minutesToAcknowledge: nullable(Type.Number({ description: 'median from their first page; null for none' })),
  resolved: Type.Number({ description: 'incidents that they resolved' }),
  minutesToResolve: nullable(Type.Number({ description: 'median from the trigger; null for none' })),
  minutesAwake: Type.Number({
    description: 'after pages at night that wake: until the answer, at least 15 and at most 60 minutes each',
  }),
  shifts: Type.Number({ description: 'shifts in the schedules of the team' }),
  hoursOnCall: Type.Number({ description: 'in these shifts, as far as they lie in the month' }),
};

export const LOAD_INPUT = {
  teamId: IdText,
  month: Type.String({ pattern: String.raw`^20\d\d-(0[1-9]|1[0-2])$`, description: 'as 2026-11' }),
};

export const LoadView = Type.Object({
  teamId: IdText,
  teamName: Type.String(),
  month: Type.String(),
  timezone: Type.String({ description: 'zone of the month: that of the first schedule of the team, UTC without one' }),
  from: Timestamp,
  to: Timestamp,
  isComplete: Type.Boolean({ description: 'false when there was more than is counted' }),
  people: Type.Array(
    Type.Object({
      userId: IdText,
      name: Type.String(),
      color: nullable(PersonColorNumber),
      timezone: Type.String(),
      ...COUNTS,
    }),
    { description: 'the members, whoever was paged, and whoever held a shift; most pages first' },
  ),
  mean: Type.Object(COUNTS, { description: 'of these people, to compare with' }),
  rules: Type.Array(
    Type.Object({
      ruleId: IdText,
      name: Type.String(),
      incidents: Type.Integer(),
      pages: Type.Integer(),
      ignoredIncidents: Type.Integer({ description: 'that ended by themselves, and nobody acknowledged' }),
      ignoredPages: Type.Integer({ description: 'of those incidents: pages that nobody acted on' }),
    }),
    { description: 'rules that paged, most ignored pages first' },
  ),
});

/** Limits on what is counted of one month. */
const PAGES_MAX = 50_000;
const SHIFTS_MAX = 2_000;

/** Reads the load of a month on the people of a team. */
export async function readLoad(
  { teamId, month }: { readonly teamId: string; readonly month: string },
  { caller: { orgId }, stores, now, installation }: Pick<ActionContext, 'caller' | 'stores' | 'now' | 'installation'>,
): Promise<Static<typeof LoadView>> {
  const team = await stores.teams.get(orgId, teamId);
  const schedules = await stores.schedules.listOfTeams(orgId, [team.id]);
  const timezone = schedules[0]?.timezone ?? 'UTC';
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 });
  const from = first.toZonedDateTime(timezone).toInstant();
  const to = first.add({ months: 1 }).toZonedDateTime(timezone).toInstant();
  if (isAtOrBefore(now, from)) {
    throw invalidInput([{ path: 'month', message: 'has not begun: choose this month or an earlier one' }]);
  }
  const { simulatedIds } = installation;
  const pages = await stores.load.listPages({ orgId, teamId: team.id, simulatedIds }, { from, to }, PAGES_MAX + 1);
  const incidents = await stores.load.listIncidents([...new Set(pages.map(({ incidentId }) => incidentId))]);
  const held = await stores.onCall.overTime(orgId, schedules, { from, to, at: now, limit: SHIFTS_MAX });
  const end = isAtOrBefore(now, to) ? now : to;
  const shifts: LoadShift[] = [];
  const zones = new Map<string, string>();
  for (const { schedule, shifts: turns } of held.schedules) {
    for (const { userIds, since, until } of turns) {
      const sinceMs = Math.max(since.epochMilliseconds, from.epochMilliseconds);
      const untilMs = Math.min(until?.epochMilliseconds ?? Infinity, end.epochMilliseconds);
      for (const userId of userIds) {
        if (!zones.has(userId)) zones.set(userId, schedule.timezone);
        if (sinceMs < untilMs) shifts.push({ userId, sinceMs, untilMs });
      }
    }
    await nextTurn();
  }
  const members = await stores.teams.listMembers(orgId, [team.id]);
  const zoneOf = (userId: Id<'user'>): string => zones.get(userId) ?? timezone;
  const { people, mean, rules } = loadOnPeople({
    pages: pages.slice(0, PAGES_MAX),
    incidents,
    shifts,
    memberIds: members.map(({ userId }) => userId),
    zoneOf,
  });
  const names = await stores.people.listPeople(
    orgId,
    people.map(({ userId }) => userId),
  );
  const ruleNames = new Map(incidents.map(({ ruleId, ruleName }) => [ruleId, ruleName]));
  return {
    teamId: team.id,
    teamName: team.name,
    month,
    timezone,
    from: toTimestamp(from),
    to: toTimestamp(to),
    isComplete: pages.length <= PAGES_MAX && held.schedules.every((schedule) => schedule.shifts.length < SHIFTS_MAX),
    people: people.map((person) => ({
      name: names.get(person.userId)?.name ?? 'Somebody who has left',
      color: names.get(person.userId)?.color ?? null,
      timezone: zoneOf(person.userId),
      ...person,
    })),
    mean,
    rules: rules.map((rule) => ({ name: ruleNames.get(rule.ruleId) ?? '', ...rule })),
  };
}
