import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { HomeData, HomeSchedule } from '#console/api/home.ts';
import { Card } from '#console/components/card.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { isolateBidi, withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { BarName, initialsOf, PersonDot, personStyle } from '#console/components/text/person_dot.tsx';
import { dateFormat, dateTimeText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/pages/home/home.module.css';

const RemoveOverride = lazyPart(() => import('#console/pages/home/remove_override.tsx').then((m) => m.RemoveOverride));
const TakeOver = lazyPart(() => import('#console/pages/home/take_over.tsx').then((m) => m.TakeOver));

/** Card of who is on call now and in the next 24 hours, with buttons to take over. */
export function WhoIsOnCall({ home: { at, schedules, scheduleCount } }: { readonly home: HomeData }) {
  const [takingOver, setTakingOver] = useState<HomeSchedule | null>(null);
  const [overridden, setOverridden] = useState<HomeSchedule | null>(null);
  if (schedules.length === 0) return null;
  const others = scheduleCount - schedules.length;
  return (
    <Card
      title="On call now"
      about="And in the next 24 hours."
      rows={schedules.map((schedule) => (
        <ScheduleRow
          key={schedule.scheduleId}
          schedule={schedule}
          at={at}
          onTakeOver={() => setTakingOver(schedule)}
          onRemoveOverride={() => setOverridden(schedule)}
        />
      ))}
    >
      <DayScale from={at} />
      {others > 0 && (
        <div className={`${classes.sub} dimmed small`}>
          <Link to="/oncall">
            And {others} more {others === 1 ? 'schedule' : 'schedules'}
          </Link>
        </div>
      )}
      {takingOver !== null && <TakeOver schedule={takingOver} onClose={() => setTakingOver(null)} />}
      {overridden?.overrideId != null && (
        <RemoveOverride schedule={overridden} overrideId={overridden.overrideId} onClose={() => setOverridden(null)} />
      )}
    </Card>
  );
}

interface ScheduleRowProps {
  readonly schedule: HomeSchedule;
  readonly at: string;
  readonly onTakeOver: () => void;
  readonly onRemoveOverride: () => void;
}

function ScheduleRow({ schedule, at, onTakeOver, onRemoveOverride }: ScheduleRowProps) {
  const { session, may } = useOrganization();
  const { userId } = session.user;
  const { name, teamName, color, onCall, others, until, source, overrideId, shifts } = schedule;
  const people = onCall === null ? [] : [onCall, ...others];
  const isMe = people.some((person) => person.userId === userId);
  const names = people.map((person) => (person.userId === userId ? 'You' : person.name)).join(', ');
  return (
    <li className={classes.schedule}>
      <div className={`${classes.scheduleHead} row wraps spaced`}>
        <div className={classes.scheduleText}>
          <div className="strong">
            {onCall !== null && <PersonDot userId={onCall.userId} color={color} />}
            {onCall === null ? 'Nobody' : <Name>{names}</Name>}
          </div>
          <div className={`${classes.sub} dimmed small`}>
            <bdi>{withoutBidiControls(teamName)}</bdi>, <bdi>{withoutBidiControls(name)}</bdi>
            {until !== null && (
              <>
                {', until '}
                <Timestamp at={until} format="date_time" />
              </>
            )}
            {source === 'override' && ', now by an override'}
          </div>
        </div>
        {may('oncall:edit') && (
          <div className={`${classes.scheduleButtons} wraps spaced`}>
            {overrideId !== null && (
              <Button size="xs" variant="default" onClick={onRemoveOverride} aria-label={`Remove override of ${name}`}>
                Remove override
              </Button>
            )}
            {!isMe && (
              <Button size="xs" variant="default" onClick={onTakeOver} aria-label={`Take over ${name}`}>
                Take over
              </Button>
            )}
          </div>
        )}
      </div>
      <DayBar shifts={shifts} from={at} userId={userId} />
    </li>
  );
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Part of the day during which the same people are on call, or nobody. */
interface DayPart {
  /** Names; null if nobody is on call. */
  readonly name: string | null;
  readonly userIds: readonly string[];
  readonly color: number | null;
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
  const nobody = { name: null, userIds: [], color: null, source: null };
  let atMs = startMs;
  for (const { userIds, name, color, since, until, source } of shifts) {
    const fromMs = Math.max(Date.parse(since), atMs);
    const untilMs = Math.min(until === null ? endMs : Date.parse(until), endMs);
    if (untilMs <= fromMs) continue;
    add({ ...nobody, fromMs: atMs, untilMs: fromMs });
    add({ name, userIds, color, source, fromMs, untilMs });
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
function DayBar({ shifts, from, userId }: DayBarProps) {
  const parts = dayParts(shifts, Date.parse(from));
  const isMine = (part: (typeof parts)[number]): boolean => part.userIds.includes(userId);
  const nameOf = (part: (typeof parts)[number]): string =>
    part.name === null ? 'Nobody' : isMine(part) && part.userIds.length === 1 ? 'You' : isolateBidi(part.name);
  const causeOf = ({ source }: (typeof parts)[number]): string => (source === 'override' ? ', by an override' : '');
  const text = parts
    .map((part) => `${nameOf(part)} until ${dateTimeText(part.untilMs)}${causeOf(part)}`)
    .join(', then ');
  return (
    <div className={classes.bar} role="img" aria-label={`Next 24 hours: ${text}`}>
      {parts.map((part) => (
        <span
          key={part.fromMs}
          className={classes.part}
          data-kind={part.name === null ? 'nobody' : isMine(part) ? 'me' : part.source}
          data-override={part.source === 'override' || undefined}
          style={{ flexGrow: part.share, ...personStyle(part.color) }}
          title={`${nameOf(part)}${causeOf(part)}, ${dateTimeText(part.fromMs)} to ${dateTimeText(part.untilMs)}`}
        >
          <BarName
            name={nameOf(part)}
            short={part.name === null ? '–' : nameOf(part) === 'You' ? 'You' : initialsOf(part.name)}
          />
        </span>
      ))}
    </div>
  );
}

const HOUR = dateFormat({ hour: '2-digit', minute: '2-digit' });
const TICKS = [0, 6, 12, 18, 24];

/** Hours below the bars. */
function DayScale({ from }: { readonly from: string }) {
  return (
    <div className={`${classes.scale} apart dimmed tiny numbers`} aria-hidden>
      {TICKS.map((hours) => (
        <span key={hours}>{hours === 0 ? 'now' : HOUR.format(new Date(Date.parse(from) + hours * 3_600_000))}</span>
      ))}
    </div>
  );
}
