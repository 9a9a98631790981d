import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef } from 'react';

import { Name } from '#console/components/text/name.tsx';
import { useNow } from '#console/components/text/timestamp.tsx';
import { NowAndNext } from '#console/pages/oncall/now_and_next.tsx';
import classes from '#console/pages/oncall/timeline.module.css';
import { viewerZone } from '#console/pages/oncall/span_text.ts';
import type { TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import { TimelineDays } from '#console/pages/oncall/timeline_days.tsx';
import { TimelineRow } from '#console/pages/oncall/timeline_row.tsx';
import {
  type Selection,
  selectionsOf,
  type ShownSchedule,
  type ShownTimeline,
} from '#console/pages/oncall/use_timeline.ts';

interface TimelineProps {
  readonly timeline: ShownTimeline;
  readonly range: TimelineRange;
  /** Whether the rows are of another time, while this one is loading. */
  readonly isStale: boolean;
  readonly onOpen: (selection: Selection) => void;
  /** Called with time of a schedule marked with the mouse; absent if the person may not change anything. */
  readonly onMark?: ((selection: Selection) => void) | undefined;
  readonly onMove: (by: 1 | -1) => void;
}

/**
 * Timeline of all schedules. The arrows move along the shifts of a row and to the rows above and below, and over the
 * edge to the time before and after; Enter opens a shift.
 */
export function Timeline({ timeline, range, isStale, onOpen, onMark, onMove }: TimelineProps) {
  const now = useNow(30);
  const grid = useRef<HTMLDivElement>(null);
  /** Row, and which end of it, to focus once the next time has been loaded. */
  const focusNext = useRef<{ readonly scheduleId: string; readonly isLast: boolean } | null>(null);
  useEffect(() => {
    const wanted = focusNext.current;
    if (wanted === null || isStale) return;
    focusNext.current = null;
    const buttons = buttonsOf(grid.current, wanted.scheduleId);
    (wanted.isLast ? buttons.at(-1) : buttons[0])?.focus();
  }, [range, isStale]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const button = (event.target as HTMLElement).closest<HTMLElement>('[data-since]');
    const row = button?.closest<HTMLElement>('[data-schedule]');
    if (event.ctrlKey || event.metaKey || event.altKey || !button || !row) return;
    const scheduleId = row.dataset['schedule'] ?? '';
    const buttons = buttonsOf(grid.current, scheduleId);
    const index = buttons.indexOf(button);
    const move = (by: 1 | -1): void => {
      const next = buttons[index + by];
      if (next !== undefined) return next.focus();
      focusNext.current = { scheduleId, isLast: by === -1 };
      onMove(by);
    };
    const moves: Readonly<Record<string, () => void>> = {
      ArrowRight: () => move(1),
      ArrowLeft: () => move(-1),
      ArrowUp: () => focusRow(grid.current, row, button, -1),
      ArrowDown: () => focusRow(grid.current, row, button, 1),
      Home: () => buttons[0]?.focus(),
      End: () => buttons.at(-1)?.focus(),
      PageUp: () => onMove(-1),
      PageDown: () => onMove(1),
    };
    const go = moves[event.key];
    if (go === undefined) return;
    event.preventDefault();
    go();
  };

  return (
    <div
      className="surface"
      aria-busy={isStale}
      ref={grid}
      onKeyDown={onKeyDown}
      role="group"
      aria-label="Timeline of all schedules"
    >
      <div className={classes.top} aria-hidden>
        <div />
        <TimelineDays range={range} now={now} />
      </div>
      {timeline.schedules.map((schedule, index) => {
        const isNewTeam = schedule.teamId !== timeline.schedules[index - 1]?.teamId;
        const selections = selectionsOf(schedule, range.from, range.to);
        return (
          <div key={schedule.scheduleId}>
            {isNewTeam && (
              <div className={`${classes.team} dimmed tiny`}>
                <Name>{schedule.teamName}</Name>
              </div>
            )}
            <div className={classes.row} data-schedule={schedule.scheduleId}>
              <Head schedule={schedule} timeline={timeline} />
              <TimelineRow
                schedule={schedule}
                selections={selections}
                range={range}
                now={now}
                nameOf={timeline.nameOf}
                onOpen={onOpen}
                onMark={onMark}
              />
            </div>
          </div>
        );
      })}
    </div>
  );
}

function Head({ schedule, timeline }: { readonly schedule: ShownSchedule; readonly timeline: ShownTimeline }) {
  const { scheduleId, name, timezone } = schedule;
  return (
    <div className={`${classes.head} stack shrinks`}>
      <div className={`${classes.names} spaced apart`}>
        <Link
          to="/oncall/schedules/$scheduleId"
          params={{ scheduleId }}
          className={`${classes.name} ellipsis small shrinks`}
        >
          <Name>{name}</Name>
        </Link>
        {timezone !== viewerZone() && <span className={`${classes.zone} ellipsis dimmed tiny rigid`}>{timezone}</span>}
      </div>
      <div className="dimmed tiny">
        <NowAndNext schedule={schedule} nameOf={timeline.nameOf} />
      </div>
    </div>
  );
}

function buttonsOf(grid: HTMLElement | null, scheduleId: string): HTMLElement[] {
  return [...(grid?.querySelectorAll<HTMLElement>(`[data-schedule="${CSS.escape(scheduleId)}"] [data-since]`) ?? [])];
}

/** Focuses the button of the row above or below at the same time. */
function focusRow(grid: HTMLElement | null, row: HTMLElement, button: HTMLElement, by: 1 | -1): void {
  const rows = [...(grid?.querySelectorAll<HTMLElement>('[data-schedule]') ?? [])];
  const next = rows[rows.indexOf(row) + by];
  const since = Number(button.dataset['since']);
  const buttons = [...(next?.querySelectorAll<HTMLElement>('[data-since]') ?? [])];
  const nearest = buttons.findLast((other) => Number(other.dataset['since']) <= since) ?? buttons[0];
  nearest?.focus();
  nearest?.scrollIntoView({ block: 'nearest' });
}
