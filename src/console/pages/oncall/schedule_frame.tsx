import { Skeleton, Stack } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { IconCalendarOff } from '#console/icons.ts';
import { monthOf, type TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import { type ShownSchedule, type ShownTimeline, useTimeline } from '#console/pages/oncall/use_timeline.ts';

interface ScheduleFrameProps {
  readonly scheduleId: string;
  readonly title: (name: string) => string;
  readonly lead?: (schedule: ShownSchedule) => ReactNode;
  readonly actions?: (schedule: ShownSchedule, timeline: ShownTimeline) => ReactNode;
  readonly children: (schedule: ShownSchedule, timeline: ShownTimeline, range: TimelineRange) => ReactNode;
}

const DAYS_SHOWN = 28;

/** Page about one schedule over the next four weeks. */
export function ScheduleFrame({ scheduleId, title, lead, actions, children }: ScheduleFrameProps) {
  const range = useNextDays();
  const { timeline, query } = useTimeline(range, { scheduleId });
  const schedule = timeline?.schedules.find((schedule) => schedule.scheduleId === scheduleId);
  const back = <Back to="/oncall">On-call</Back>;
  if (schedule !== undefined && timeline !== null) {
    return (
      <Page
        title={title(schedule.name)}
        above={back}
        permission="oncall:edit"
        lead={lead?.(schedule)}
        actions={actions?.(schedule, timeline)}
      >
        {children(schedule, timeline, range)}
      </Page>
    );
  }
  return (
    <Page title="Schedule" above={back}>
      {query.error !== null && <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />}
      {query.error === null && timeline !== null && !query.isPlaceholderData && (
        <EmptyState icon={<IconCalendarOff size={24} />} title="Schedule not found">
          It was deleted, or it belongs to another organization.
        </EmptyState>
      )}
      {query.error === null && (timeline === null || query.isPlaceholderData) && (
        <Stack>
          <Skeleton height={180} radius="lg" />
          <Skeleton height={180} radius="lg" />
        </Stack>
      )}
    </Page>
  );
}

/** Returns the range of the days shown, from the beginning of today. */
function useNextDays(): TimelineRange {
  const [today] = useState(() => new Date(serverNow()));
  return useMemo(() => {
    const [year, month] = [today.getFullYear(), today.getMonth()];
    const start = new Date(year, month, today.getDate()).getTime();
    const end = new Date(year, month, today.getDate() + DAYS_SHOWN).getTime();
    const days = [0, 1].flatMap((later) => monthOf(new Date(year, month + later, 1)).days);
    return { from: start, to: end, days: days.filter((day) => day.start >= start && day.end <= end) };
  }, [today]);
}
