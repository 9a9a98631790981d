import { dateFormat } from '#console/components/text/time_text.ts';
import classes from '#console/pages/oncall/timeline_days.module.css';
import { marksOf, type TimelineRange } from '#console/pages/oncall/timeline_range.ts';

interface TimelineDaysProps {
  readonly range: TimelineRange;
  readonly now: number;
}

const DAY_NUMBER = dateFormat({ day: 'numeric' });
const WEEKDAY = dateFormat({ weekday: 'short' });
const WEEKDAY_LETTER = dateFormat({ weekday: 'narrow' });
const WEEK = dateFormat({ day: 'numeric', month: 'short' });
const DAYS_IN_FULL = 14;
/** A part of a week at an end of the range has no room for its date. */
const LABELLED_MS = 5 * 86_400_000;

/** Days above the rows of a timeline, or the weeks of a long one. */
export function TimelineDays({ range, now }: TimelineDaysProps) {
  const marks = marksOf(range);
  const areWeeks = marks.length < range.days.length;
  const isDense = !areWeeks && marks.length > DAYS_IN_FULL;
  const widths = marks.map(({ start, end }) => `minmax(0, ${end - start}fr)`).join(' ');
  return (
    <div className={classes.days} data-dense={isDense ? '' : undefined} style={{ gridTemplateColumns: widths }}>
      {marks.map(({ start, end }) => (
        <div
          key={start}
          className={`${classes.day} dimmed tiny nowrap numbers`}
          data-today={now >= start && now < end ? '' : undefined}
        >
          {areWeeks ? (
            <b>{end - start > LABELLED_MS && WEEK.format(start)}</b>
          ) : (
            <>
              <span>{(isDense ? WEEKDAY_LETTER : WEEKDAY).format(start)}</span> <b>{DAY_NUMBER.format(start)}</b>
            </>
          )}
        </div>
      ))}
    </div>
  );
}
