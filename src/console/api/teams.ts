import { type InfiniteData, keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';

import {
  type ActionName,
  actionQuery,
  type InputOf,
  invoke,
  onCallQuery,
  pagedQuery,
  type ResultOf,
  searchedQuery,
  topicKey,
  updateRows,
} from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { homeQuery, pagingProblemsQuery } from '#console/api/home.ts';

type OnCallTimeline = ResultOf<'get_on_call_timeline'>;
export type ScheduleOverTime = OnCallTimeline['schedules'][number];

type TimelineInput = Omit<InputOf<'get_on_call_timeline'>, 'cursor'>;
type TimelinePages = InfiniteData<OnCallTimeline, string | null>;

const timelineKey = (orgId: string) => [...topicKey(orgId, 'teams'), 'get_on_call_timeline'] as const;

/** Query of who is on call in every schedule over a period, loaded page by page. */
export const onCallTimelineQuery = (orgId: string, input: TimelineInput) =>
  pagedQuery(orgId, 'teams', 'get_on_call_timeline', input);

/** Updates the timelines after these teams have changed: those on the screen fetch only these teams' schedules. */
async function refreshTimelines(queryClient: QueryClient, orgId: string, teamIds: readonly string[]): Promise<void> {
  const timelines = queryClient.getQueryCache().findAll({ queryKey: timelineKey(orgId) });
  await Promise.all(
    timelines.map(async (timeline) => {
      const { queryKey } = timeline;
      const input = queryKey[timelineKey(orgId).length] as TimelineInput;
      const isWhole = [input.teamIds, input.scheduleIds, input.userId].every((filter) => filter === undefined);
      if (!isWhole) return await queryClient.invalidateQueries({ queryKey, exact: true });
      await updateRows<TimelinePages, OnCallTimeline>(
        queryClient,
        timeline,
        () => invoke(orgId, 'get_on_call_timeline', { ...input, teamIds: [...teamIds] }),
        (shown, changed) => (hasSameSchedules(shown, changed, teamIds) ? withChanged(shown, changed) : null),
      );
    }),
  );
}

/** Whether the changed answer has the same schedules of these teams as the list, so that it can replace them. */
function hasSameSchedules({ pages }: TimelinePages, changed: OnCallTimeline, teamIds: readonly string[]): boolean {
  const shown = pages.flatMap(({ schedules }) => schedules).filter(({ teamId }) => teamIds.includes(teamId));
  const current = new Set(changed.schedules.map(({ scheduleId }) => scheduleId));
  return (
    changed.nextCursor === null &&
    shown.length === current.size &&
    shown.every(({ scheduleId }) => current.has(scheduleId))
  );
}

function withChanged(data: TimelinePages, { schedules, people, teamCount, at }: OnCallTimeline): TimelinePages {
  const current = new Map(schedules.map((schedule) => [schedule.scheduleId, schedule]));
  return {
    ...data,
    pages: data.pages.map((page) => ({
      ...page,
      at,
      teamCount,
      people: [...new Map([...page.people, ...people].map((person) => [person.userId, person])).values()],
      schedules: page.schedules.map((schedule) => current.get(schedule.scheduleId) ?? schedule),
    })),
  };
}

/** Query of teams to choose from, by name or by their ids. */
export const teamNamesQuery = (orgId: string, search: InputOf<'search_team_names'>) =>
  actionQuery(orgId, 'teams', 'search_team_names', search);

/** Updates the cached data after these teams, or their parts, have changed. */
export async function refreshTeams(queryClient: QueryClient, orgId: string, ids: readonly string[]): Promise<void> {
  // Queries that depend on all teams.
  for (const query of [homeQuery(orgId), pagingProblemsQuery(orgId)]) {
    void queryClient.invalidateQueries({ queryKey: query.queryKey });
  }
  for (const id of ids) void queryClient.invalidateQueries({ queryKey: onCallQuery(orgId, id).queryKey });
  void refreshTimelines(queryClient, orgId, ids);
  await refreshTeamPages(queryClient, orgId);
}

export type FoundTeam = ResultOf<'search_teams'>['teams'][number];
export type TeamDetails = ResultOf<'get_team'>;
export type TeamMember = TeamDetails['members'][number];
export type Readiness = TeamMember['readiness'];
export type PersonWithoutTeam = ResultOf<'search_people_without_team'>['people'][number];
export type PolicyInUse = ResultOf<'search_escalation_policies'>['policies'][number];
export type PolicyDetails = ResultOf<'get_escalation_policy'>;
export type SimulatedStep = PolicyDetails['now'][number];
export type Simulation = ResultOf<'simulate_escalation'>;
export type StepInput = InputOf<'preview_escalation'>['steps'][number];

const searchFor = (text: string) => (text === '' ? {} : { text });

export const teamSearchQuery = (orgId: string, text: string) =>
  searchedQuery(orgId, 'teams', 'search_teams', searchFor(text));
export const withoutTeamQuery = (orgId: string, text: string) =>
  searchedQuery(orgId, 'teams', 'search_people_without_team', searchFor(text));
export const policySearchQuery = (orgId: string, text: string) =>
  searchedQuery(orgId, 'teams', 'search_escalation_policies', searchFor(text));

export const teamQuery = (orgId: string, teamId: string) => actionQuery(orgId, 'teams', 'get_team', { teamId });
/** Returns those of these people who are no members of a team; none while that is not known. */
export function strangersOf(userIds: readonly string[], team: TeamDetails | undefined): readonly string[] {
  if (team === undefined || team.memberCount > team.members.length) return [];
  return userIds.filter((userId) => !team.members.some((member) => member.userId === userId));
}

/** Makes people members of a team, in their order. Whoever has become one meanwhile stays as they are. */
export async function addToTeam(orgId: string, teamId: string, userIds: readonly string[]): Promise<void> {
  for (const userId of userIds) {
    await invoke(orgId, 'add_team_member', { teamId, userId }).catch((error: unknown) => {
      if (!isApiError(error, 409)) throw error;
    });
  }
}

export const policyQuery = (orgId: string, policyId: string) =>
  actionQuery(orgId, 'teams', 'get_escalation_policy', { policyId });

/** Query of the people whom unsaved steps would page now. */
export const previewQuery = (orgId: string, input: InputOf<'preview_escalation'>) =>
  queryOptions({ ...actionQuery(orgId, 'teams', 'preview_escalation', input), placeholderData: keepPreviousData });

export const simulationQuery = (orgId: string, input: InputOf<'simulate_escalation'>) =>
  queryOptions({ ...actionQuery(orgId, 'teams', 'simulate_escalation', input), placeholderData: keepPreviousData });

const READ_AGAIN: readonly ActionName[] = [
  'search_teams',
  'search_team_names',
  'search_people_without_team',
  'search_escalation_policies',
  'get_team',
  'get_escalation_policy',
  'preview_escalation',
  'simulate_escalation',
];

/** Refreshes the queries of teams after a change to teams or their parts. Only what is on the screen is fetched. */
async function refreshTeamPages(queryClient: QueryClient, orgId: string): Promise<void> {
  await queryClient.invalidateQueries({
    queryKey: topicKey(orgId, 'teams'),
    predicate: ({ queryKey }) => READ_AGAIN.some((action) => action === queryKey[3]),
  });
}
