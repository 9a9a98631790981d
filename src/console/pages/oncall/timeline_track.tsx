import type { ReactNode } from 'react';

import { personStyle, usePersonColors } from '#console/components/text/person_dot.tsx';
import type { Selection } from '#console/pages/oncall/use_timeline.ts';
import { marksOf, placeOf, type TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import classes from '#console/pages/oncall/timeline_track.module.css';
import { personColor } from '#modules/schedules/decide/person_color.ts';

interface TimelineTrackProps {
  readonly range: TimelineRange;
  readonly selections: readonly Selection[];
  /** Person whose shifts are highlighted. */
  readonly userId: string;
  readonly now: number;
  /** End of the known shifts. */
  readonly shownUntil?: number | undefined;
  readonly children?: ReactNode;
}

/** Share of the range below which shifts have no room for a frame. */
const NARROW_SHARE = 0.008;

/** Drawing of one row of a timeline: days, shifts, gaps and the current time. Labels and buttons lie above it. */
export function TimelineTrack({ range, selections, userId, now, shownUntil, children }: TimelineTrackProps) {
  const colorOf = usePersonColors();
  const at = (time: number) => `${placeOf(time, range)}%`;
  const isNarrow = (since: number, until: number | null) =>
    until !== null && until - since < NARROW_SHARE * (range.to - range.from);
  const width = (since: number, until: number | null) =>
    `${placeOf(until ?? range.to, range) - placeOf(since, range)}%`;
  return (
    <div className={classes.track}>
      <svg className={classes.drawing} aria-hidden>
        {range.days.map(({ start, end }) =>
          isWeekend(start) ? (
            <rect key={start} className={classes.weekend} x={at(start)} y="0" width={width(start, end)} height="100%" />
          ) : null,
        )}
        {marksOf(range)
          .slice(1)
          .map(({ start }) => (
            <line key={start} className={classes.day} x1={at(start)} x2={at(start)} y1="0" y2="100%" />
          ))}
        {selections
          .flatMap((selection) => partsOf(selection, now))
          .map(({ source, since, until, userId: person }) => {
            const color = person === null ? undefined : colorOf(person);
            const mark = color === undefined ? 'none' : personColor(color).mark;
            return (
              <g key={since} style={personStyle(color)}>
                <rect
                  className={classes[source]}
                  data-past={until !== null && until <= now ? '' : undefined}
                  data-mine={person === userId ? '' : undefined}
                  data-narrow={isNarrow(since, until) ? '' : undefined}
                  x={at(since)}
                  y="12%"
                  width={width(since, until)}
                  height="76%"
                  rx="4"
                />
                {mark !== 'none' && (
                  <line
                    className={classes.mark}
                    strokeDasharray={mark === 'dotted' ? '3 3' : undefined}
                    x1={at(since)}
                    x2={at(until ?? range.to)}
                    y1="82%"
                    y2="82%"
                  />
                )}
              </g>
            );
          })}
        {shownUntil !== undefined && (
          <rect className={classes.unknown} x={at(shownUntil)} y="0" width={width(shownUntil, null)} height="100%" />
        )}
        {now >= range.from && now < range.to && (
          <line className={classes.now} x1={at(now)} x2={at(now)} y1="0" y2="100%" />
        )}
      </svg>
      {children}
    </div>
  );
}

/** Splits a gap at the current time: the part that is over cannot be filled any more, and is drawn differently. */
function partsOf(selection: Selection, now: number): readonly Selection[] {
  const { source, since, until } = selection;
  if (source !== 'gap' || now <= since || (until !== null && until <= now)) return [selection];
  return [
    { ...selection, until: now },
    { ...selection, since: now },
  ];
}

function isWeekend(start: number): boolean {
  const day = new Date(start).getDay();
  return day === 0 || day === 6;
}
