import type { HomeSchedule } from '#console/api/home.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { personStyle } from '#console/components/text/person/person_style.ts';
import { dateFormat } from '#console/components/text/formats.ts';
import { dateTimeText } from '#console/components/text/time_text.ts';
import classes from '#console/pages/home/day_bar.module.css';
import { dayParts } from '#console/pages/home/day_parts.ts';

interface DayBarProps {
  readonly shifts: HomeSchedule['shifts'];
  /** Beginning of the 24 hours. */
  readonly from: string;
  readonly userId: string;
}

/** Bar of who is on call in a schedule in the next 24 hours. */
export function DayBar({ shifts, from, userId }: DayBarProps) {
  const parts = dayParts(shifts, Date.parse(from));
  const isMine = (part: (typeof parts)[number]): boolean => part.userIds.includes(userId);
  const nameOf = (part: (typeof parts)[number]): string =>
    part.name === null ? 'Nobody' : isMine(part) && part.userIds.length === 1 ? 'You' : isolateBidi(part.name);
  const text = parts.map((part) => `${nameOf(part)} until ${dateTimeText(part.untilMs)}`).join(', then ');
  return (
    <div className={classes.bar} role="img" aria-label={`Next 24 hours: ${text}`}>
      {parts.map((part) => (
        <span
          key={part.fromMs}
          className={classes.part}
          data-kind={part.name === null ? 'nobody' : isMine(part) ? 'me' : part.source}
          style={{ flexGrow: part.share, ...personStyle(part.userIds[0] ?? null) }}
          title={`${nameOf(part)}, ${dateTimeText(part.fromMs)} to ${dateTimeText(part.untilMs)}`}
        >
          <bdi>{nameOf(part)}</bdi>
        </span>
      ))}
    </div>
  );
}

const HOUR = dateFormat({ hour: 'numeric', minute: '2-digit' });
const TICKS = [0, 6, 12, 18, 24];

/** Hours below the bars. */
export function DayScale({ from }: { readonly from: string }) {
  return (
    <div className={classes.scale} aria-hidden>
      {TICKS.map((hours) => (
        <span key={hours}>{hours === 0 ? 'now' : HOUR.format(new Date(Date.parse(from) + hours * 3_600_000))}</span>
      ))}
    </div>
  );
}
