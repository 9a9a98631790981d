import { Skeleton } from '@mantine/core';
import { IconBell, IconBellRinging, IconMoonStars } from '@tabler/icons-react';

import { Timestamp } from '#console/components/timestamp.tsx';
import { Name, named } from '#console/components/name.tsx';
import classes from '#console/pages/home/home.module.css';
import { type ScheduleOnCall, useOnCall } from '#console/pages/home/use_on_call.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Whether the person is on call now, and when that changes. */
export function MyOnCall() {
  const { userId } = useOrganization().session.user;
  const found = useOnCall();
  if (found === null) return <Skeleton height={76} radius="lg" mb="lg" />;
  const now = found.schedules.filter(({ onCall }) => onCall?.userId === userId);
  const [next] = found.schedules
    .filter((schedule) => schedule.next?.userId === userId)
    .sort((a, b) => (a.next?.at ?? '').localeCompare(b.next?.at ?? ''));
  const isOnCall = now.length > 0;
  if (found.schedules.length === 0) return null;
  const Icon = isOnCall ? IconBellRinging : next === undefined ? IconMoonStars : IconBell;
  return (
    <section className={classes.call} data-on-call={isOnCall ? '' : undefined} aria-label="Your on-call status">
      <span className={classes.callIcon} aria-hidden>
        <Icon size={22} stroke={1.75} />
      </span>
      <div className={classes.callText}>
        <div className={classes.callTitle}>{isOnCall ? 'You are on call' : 'You are not on call'}</div>
        <div className={classes.sub}>
          {isOnCall && <Shifts schedules={now} />}
          {!isOnCall && next?.next && (
            <>
              Your next shift in <Name>{next.name}</Name> starts <Timestamp at={next.next.at} format="date_time" /> (
              <Timestamp at={next.next.at} />)
            </>
          )}
          {!isOnCall && next === undefined && 'You are not next in any schedule.'}
        </div>
      </div>
    </section>
  );
}

function Shifts({ schedules }: { readonly schedules: readonly ScheduleOnCall[] }) {
  return schedules.map(({ scheduleId, name, until, next }) => (
    <div key={scheduleId}>
      <Name>{name}</Name>
      {until === null ? ', until further notice' : ', until '}
      {until !== null && <Timestamp at={until} format="date_time" />}
      {next !== null && named`, then ${next.name}`}
    </div>
  ));
}
