import { type InfiniteData, infiniteQueryOptions, type QueryClient } from '@tanstack/react-query';

import { type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';

export type OnCallTimeline = ResultOf<'get_on_call_timeline'>;
export type ScheduleOverTime = OnCallTimeline['schedules'][number];

type TimelineInput = Omit<InputOf<'get_on_call_timeline'>, 'cursor'>;
type TimelinePages = InfiniteData<OnCallTimeline, string | null>;

const timelineKey = (orgId: string) => [...topicKey(orgId, 'teams'), 'get_on_call_timeline'] as const;

/** Who is on call in every schedule over some time, loaded page by page. */
export const onCallTimelineQuery = (orgId: string, input: TimelineInput) =>
  infiniteQueryOptions({
    queryKey: [...timelineKey(orgId), input],
    queryFn: ({ pageParam, signal }) =>
      invoke(orgId, 'get_on_call_timeline', { ...input, ...(pageParam !== null && { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Updates the timelines after these teams have changed: those on the screen fetch only the schedules of these teams. */
export async function refreshTimelines(
  queryClient: QueryClient,
  orgId: string,
  teamIds: readonly string[],
): Promise<void> {
  const timelines = queryClient.getQueryCache().findAll({ queryKey: timelineKey(orgId) });
  await Promise.all(
    timelines.map(async (timeline) => {
      const { queryKey, state } = timeline;
      const input = queryKey[timelineKey(orgId).length] as TimelineInput;
      const pages = state.data as TimelinePages | undefined;
      const isWhole = input.teamIds === undefined && input.scheduleIds === undefined;
      if (!isWhole || pages === undefined || !timeline.isActive())
        return await queryClient.invalidateQueries({ queryKey });
      const changed = await invoke(orgId, 'get_on_call_timeline', { ...input, teamIds: [...teamIds] });
      const isSame = hasSameSchedules(pages, changed, teamIds);
      if (!isSame) return await queryClient.invalidateQueries({ queryKey });
      queryClient.setQueryData<TimelinePages>(queryKey, (shown) => shown && withChanged(shown, changed));
    }),
  );
}

/** Whether these teams have the schedules that are shown of them, so that they can take their places. */
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
