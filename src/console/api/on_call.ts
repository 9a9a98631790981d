import { type InfiniteData, type QueryClient } from '@tanstack/react-query';

import { type InputOf, invoke, pagedQuery, type ResultOf, topicKey, updateRows } from '#console/api/actions.ts';

export type OnCallTimeline = ResultOf<'get_on_call_timeline'>;
export type ScheduleOverTime = OnCallTimeline['schedules'][number];

type TimelineInput = Omit<InputOf<'get_on_call_timeline'>, 'cursor'>;
type TimelinePages = InfiniteData<OnCallTimeline, string | null>;

const timelineKey = (orgId: string) => [...topicKey(orgId, 'teams'), 'get_on_call_timeline'] as const;

/** Query of who is on call in every schedule over a period, loaded page by page. */
export const onCallTimelineQuery = (orgId: string, input: TimelineInput) =>
  pagedQuery(orgId, 'teams', 'get_on_call_timeline', input);

/** Updates the timelines after these teams have changed: those on the screen fetch only these teams' schedules. */
export async function refreshTimelines(
  queryClient: QueryClient,
  orgId: string,
  teamIds: readonly string[],
): Promise<void> {
  const timelines = queryClient.getQueryCache().findAll({ queryKey: timelineKey(orgId) });
  await Promise.all(
    timelines.map(async (timeline) => {
      const { queryKey } = timeline;
      const input = queryKey[timelineKey(orgId).length] as TimelineInput;
      const isWhole = input.teamIds === undefined && input.scheduleIds === undefined;
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
