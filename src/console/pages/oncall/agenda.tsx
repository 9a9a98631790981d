import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { Name } from '#console/components/text/name.tsx';
import { PersonDot } from '#console/components/text/person_dot.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { useNow } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/oncall/agenda.module.css';
import { NowAndNext } from '#console/pages/oncall/now_and_next.tsx';
import { spanText, viewerZone } from '#console/pages/oncall/span_text.ts';
import type { TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import {
  namesOf,
  type Selection,
  selectionsOf,
  type ShownSchedule,
  type ShownTimeline,
} from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface AgendaProps {
  readonly timeline: ShownTimeline;
  readonly range: TimelineRange;
  readonly isStale: boolean;
  readonly onOpen: (selection: Selection) => void;
  /** Whether the heading is left out, because the page names the schedule. */
  readonly isWithoutHead?: boolean;
}

const SHOWN_MAX = 6;

/** Timeline as lists, for small screens. */
export function Agenda({ timeline, range, isStale, onOpen, isWithoutHead = false }: AgendaProps) {
  const now = useNow(30);
  return (
    <div className={`${classes.agenda} stack`} aria-busy={isStale}>
      {timeline.schedules.map((schedule) => (
        <ScheduleAgenda
          key={schedule.scheduleId}
          schedule={schedule}
          nameOf={timeline.nameOf}
          selections={selectionsOf(schedule, range.from, range.to)}
          now={now}
          onOpen={onOpen}
          isWithoutHead={isWithoutHead}
        />
      ))}
    </div>
  );
}

interface ScheduleAgendaProps {
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
  readonly selections: readonly Selection[];
  readonly now: number;
  readonly onOpen: (selection: Selection) => void;
  readonly isWithoutHead: boolean;
}

function ScheduleAgenda({ schedule, nameOf, selections, now, onOpen, isWithoutHead }: ScheduleAgendaProps) {
  const { userId } = useOrganization().session.user;
  const [isWhole, setIsWhole] = useState(false);
  const { scheduleId, name, teamName, timezone } = schedule;
  const current = selections.findIndex(({ until }) => until === null || until > now);
  const first = Math.max(0, current);
  const shown = isWhole ? selections : selections.slice(first, first + SHOWN_MAX);
  return (
    <section
      className={`surface ${classes.schedule}`}
      data-bare={isWithoutHead ? '' : undefined}
      aria-label={`${name}, ${teamName}`}
    >
      <div className={classes.head}>
        {!isWithoutHead && (
          <Link to="/oncall/schedules/$scheduleId" params={{ scheduleId }} className={classes.name}>
            <Name>{name}</Name>
          </Link>
        )}
        <div className={`${classes.sub} dimmed small`}>
          {!isWithoutHead && (
            <>
              <Name>{teamName}</Name>:{' '}
            </>
          )}
          <NowAndNext schedule={schedule} nameOf={nameOf} />
          {timezone !== viewerZone() && <div>{timezone}</div>}
        </div>
      </div>
      <ul className="plain-list">
        {shown.map((selection) => {
          const { since, until, source, userId: person } = selection;
          return (
            <li key={since}>
              <button
                type="button"
                className={`${classes.shift} stack`}
                data-source={source}
                data-past={until !== null && until <= now ? '' : undefined}
                onClick={() => onOpen(selection)}
              >
                <span className={classes.who} data-mine={person === userId ? '' : undefined}>
                  {person !== null && <PersonDot userId={person} />}
                  <Name>{namesOf(selection, nameOf, userId)}</Name>
                  {source === 'override' && ' (override)'}
                </span>
                <span className="dimmed small numbers">{spanText(since, until)}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {shown.length < selections.length && (
        <div className={classes.more}>
          <TextButton onClick={() => setIsWhole(true)}>
            {first + shown.length < selections.length ? `Show all ${selections.length} shifts` : 'Show past shifts'}
          </TextButton>
        </div>
      )}
    </section>
  );
}
