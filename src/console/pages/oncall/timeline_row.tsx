import { memo, type PointerEvent, useRef, useState } from 'react';

import { isolateBidi } from '#console/components/text/bidi.ts';
import { BarName, initialsOf } from '#console/components/text/person_dot.tsx';
import { spanText } from '#console/pages/oncall/span_text.ts';
import { placeOf, type TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import classes from '#console/pages/oncall/timeline_row.module.css';
import { TimelineTrack } from '#console/pages/oncall/timeline_track.tsx';
import { namesOf, type Selection, type ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface TimelineRowProps {
  readonly schedule: ShownSchedule;
  readonly selections: readonly Selection[];
  readonly range: TimelineRange;
  readonly now: number;
  readonly nameOf: (userId: string | null) => string;
  readonly onOpen: (selection: Selection) => void;
  readonly onMark: ((selection: Selection) => void) | undefined;
}

/** Distance from which a movement of the mouse is a drag; a shorter one is a click. */
const DRAG_PX = 8;
const HALF_HOUR_MS = 30 * 60_000;

/** Row of the shifts and gaps of one schedule as buttons, above their drawing. Dragging marks a time. */
export const TimelineRow = memo(function TimelineRow(props: TimelineRowProps) {
  const { schedule, selections, range, now, nameOf, onOpen, onMark } = props;
  const { userId } = useOrganization().session.user;
  const { marked, ...marking } = useMarking(schedule.scheduleId, range, onMark);
  const shown = marked === null ? selections : [...selections, marked];
  const current = selections.findIndex(({ since, until }) => since <= now && (until === null || now < until));
  return (
    <div className={classes.row} {...marking}>
      <TimelineTrack
        range={range}
        selections={shown}
        userId={userId}
        now={now}
        shownUntil={schedule.shownUntil === null ? undefined : Date.parse(schedule.shownUntil)}
      >
        {selections.map((selection, index) => {
          const { since, until, source, userId: person } = selection;
          const left = placeOf(since, range);
          const shownName = namesOf(selection, nameOf, userId);
          const isSeveral = (selection.others?.length ?? 0) > 0;
          const label = labelOf(selection, shownName, schedule.name);
          return (
            <button
              key={since}
              type="button"
              className={classes.shift}
              data-since={since}
              data-source={source}
              data-past={until !== null && until <= now ? '' : undefined}
              tabIndex={index === Math.max(0, current) ? 0 : -1}
              style={{ left: `${left}%`, width: `${placeOf(until ?? range.to, range) - left}%` }}
              title={label}
              onClick={() => onOpen(selection)}
            >
              <span className="hidden-text">{label}</span>
              <BarName
                name={shownName}
                short={person === null ? '–' : person === userId && !isSeveral ? shownName : initialsOf(shownName)}
                {...(source === 'override' && { mark: '⇄ ' })}
              />
            </button>
          );
        })}
      </TimelineTrack>
    </div>
  );
});

function labelOf({ since, until, source }: Selection, name: string, scheduleName: string): string {
  const cause = source === 'override' ? ', by an override' : '';
  return `${isolateBidi(name)}${cause}, ${spanText(since, until)}, ${isolateBidi(scheduleName)}`;
}

/** Handles marking a time by dragging with a mouse or a pen: a finger scrolls instead. */
function useMarking(scheduleId: string, range: TimelineRange, onMark: TimelineRowProps['onMark']) {
  const [marked, setMarked] = useState<Selection | null>(null);
  const start = useRef<{ readonly x: number; readonly left: number; readonly width: number } | null>(null);
  const read = ({ clientX }: PointerEvent): Selection | null => {
    if (start.current === null || Math.abs(clientX - start.current.x) < DRAG_PX) return null;
    const { x, left, width } = start.current;
    const timeAt = (position: number): number => {
      const share = Math.min(1, Math.max(0, (position - left) / width));
      const time = range.from + share * (range.to - range.from);
      return Math.round(time / HALF_HOUR_MS) * HALF_HOUR_MS;
    };
    const [since, until] = [timeAt(Math.min(x, clientX)), timeAt(Math.max(x, clientX))];
    return since < until ? { scheduleId, userId: null, source: 'marked', since, until } : null;
  };
  const stop = (): void => {
    start.current = null;
    setMarked(null);
  };
  return {
    marked,
    onPointerDown(event: PointerEvent<HTMLElement>): void {
      if (onMark === undefined || event.button !== 0 || event.pointerType === 'touch') return;
      const { left, width } = event.currentTarget.getBoundingClientRect();
      start.current = { x: event.clientX, left, width };
    },
    onPointerMove(event: PointerEvent<HTMLElement>): void {
      if (start.current === null) return;
      const next = read(event);
      // From here on, releasing the button is not a click on a shift.
      if (next !== null && marked === null) event.currentTarget.setPointerCapture(event.pointerId);
      setMarked(next);
    },
    onPointerUp(event: PointerEvent<HTMLElement>): void {
      const done = read(event);
      stop();
      if (done !== null) onMark?.(done);
    },
    onPointerCancel: stop,
  };
}
