import type { HomeSchedule } from '#console/api/home.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { personStyle } from '#console/components/text/person/person_style.ts';
import { dateFormat } from '#console/components/text/formats.ts';
import { dateTimeText } from '#console/components/text/time_text.ts';
import classes from '#console/pages/home/day_bar.module.css';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Part of the day during which the same people are on call, or nobody. */
interface DayPart {
  /** Names; null if nobody is on call. */
  readonly name: string | null;
  readonly userIds: readonly string[];
  readonly source: 'rotation' | 'override' | null;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Share of the 24 hours, from 0 to 1. */
  readonly share: number;
}

/** Returns the 24 hours from `startMs` in parts, without a gap: where nobody is on call, a part says so. */
function dayParts(shifts: HomeSchedule['shifts'], startMs: number): DayPart[] {
  const endMs = startMs + DAY_MS;
  const parts: DayPart[] = [];
  const add = (part: Omit<DayPart, 'share'>): void => {
    if (part.untilMs > part.fromMs) parts.push({ ...part, share: (part.untilMs - part.fromMs) / DAY_MS });
  };
  const nobody = { name: null, userIds: [], source: null };
  let atMs = startMs;
  for (const { userIds, name, since, until, source } of shifts) {
    const fromMs = Math.max(Date.parse(since), atMs);
    const untilMs = Math.min(until === null ? endMs : Date.parse(until), endMs);
    if (untilMs <= fromMs) continue;
    add({ ...nobody, fromMs: atMs, untilMs: fromMs });
    add({ name, userIds, source, fromMs, untilMs });
    atMs = untilMs;
  }
  add({ ...nobody, fromMs: atMs, untilMs: endMs });
  return parts;
}

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
