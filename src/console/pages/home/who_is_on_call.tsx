import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { HomeData, HomeSchedule } from '#console/api/home.ts';
import { Card } from '#console/components/card.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { Name } from '#console/components/text/name.tsx';
import { PersonDot } from '#console/components/text/person/person_dot.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { DayBar, DayScale } from '#console/pages/home/day_bar.tsx';
import classes from '#console/pages/home/home.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

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
        <div className={classes.sub}>
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
  const { name, teamName, onCall, others, until, source, overrideId, shifts } = schedule;
  const people = onCall === null ? [] : [onCall, ...others];
  const isMe = people.some((person) => person.userId === userId);
  const names = people.map((person) => (person.userId === userId ? 'You' : person.name)).join(', ');
  return (
    <li className={classes.schedule}>
      <div className={classes.scheduleHead}>
        <div className={classes.scheduleText}>
          <div className={classes.who}>
            {onCall !== null && <PersonDot userId={onCall.userId} />}
            {onCall === null ? 'Nobody' : <Name>{names}</Name>}
          </div>
          <div className={classes.sub}>
            <Name>{teamName}</Name>, <Name>{name}</Name>
            {source === 'override' && ' (override)'}
            {until !== null && (
              <>
                {', until '}
                <Timestamp at={until} format="date_time" />
              </>
            )}
          </div>
        </div>
        {may('oncall:edit') && (
          <div className={classes.scheduleButtons}>
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
