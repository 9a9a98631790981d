import { Alert } from '@mantine/core';
import { IconBell, IconBellOff, IconBellRinging, IconMoonStars } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import type { HomeData } from '#console/api/home.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useNow } from '#console/components/text/use_now.ts';
import classes from '#console/pages/home/home.module.css';
import { READINESS_REASONS } from '#modules/contacts/decide/readiness_words.ts';

const NEXT_SHOWN_MAX = 3;

type OwnShift = HomeData['ownShifts'][number];

/** Card on whether the person is on call now, until when, and their next shifts. */
export function MyOnCall({ home: { ownShifts, scheduleCount, readiness } }: { readonly home: HomeData }) {
  const now = new Date(useNow(5)).toISOString();
  const running = ownShifts.filter(({ since, until }) => since <= now && (until === null || now < until));
  const next = ownShifts.filter(({ since }) => since > now).slice(0, NEXT_SHOWN_MAX);
  const isOnCall = running.length > 0;
  const problem = <Unreached isOnCall={isOnCall} readiness={readiness} />;
  if (scheduleCount === 0) return problem;
  const Icon = isOnCall ? IconBellRinging : next.length === 0 ? IconMoonStars : IconBell;
  return (
    <>
      {problem}
      <section className={classes.call} data-on-call={isOnCall ? '' : undefined} aria-label="Your on-call status">
        <span className={classes.callIcon} aria-hidden>
          <Icon size={22} stroke={1.75} />
        </span>
        <div className={classes.callText}>
          <div className={classes.callTitle}>{isOnCall ? 'You are on call' : 'You are not on call'}</div>
          <div className={classes.sub}>
            {running.map((shift) => (
              <Running key={`${shift.scheduleId} ${shift.since}`} shift={shift} />
            ))}
            {!isOnCall && next.length === 0 && 'You have no shift in the next 90 days.'}
          </div>
        </div>
        {next.length > 0 && <NextShifts shifts={next} />}
      </section>
    </>
  );
}

/**
 * Warning of what keeps a page from the person, and where to fix it: red if nothing wakes them or they cannot answer.
 */
function Unreached({
  isOnCall,
  readiness: { answer, reasons },
}: { readonly isOnCall: boolean } & Pick<HomeData, 'readiness'>) {
  const cannotAnswer = isOnCall && reasons.includes('cannot_answer');
  if (answer !== 'no' && !cannotAnswer) return null;
  const what = answer === 'no' ? 'no page would wake you' : 'you could not answer a page';
  return (
    <Alert
      color="red"
      mb="md"
      icon={<IconBellOff size={20} />}
      title={isOnCall ? `You are on call, and ${what}` : `${what[0]?.toUpperCase()}${what.slice(1)}`}
    >
      {reasons.map((reason) => (
        <div key={reason}>{READINESS_REASONS[reason].you}</div>
      ))}
      {answer === 'no' && <Link to="/me">Add a phone number, or let this device receive push</Link>}
    </Alert>
  );
}

function Running({ shift: { teamName, scheduleName, until } }: { readonly shift: OwnShift }) {
  return (
    <div>
      <Name>{teamName}</Name>, <Name>{scheduleName}</Name>
      {until === null ? (
        ', until further notice'
      ) : (
        <>
          , until <Timestamp at={until} format="date_time" /> (<Timestamp at={until} />)
        </>
      )}
    </div>
  );
}

function NextShifts({ shifts }: { readonly shifts: readonly OwnShift[] }) {
  return (
    <div className={classes.next}>
      <div className={classes.nextTitle}>{shifts.length === 1 ? 'Your next shift' : 'Your next shifts'}</div>
      <ul className={classes.nextList}>
        {shifts.map(({ scheduleId, teamName, scheduleName, since }) => (
          <li key={`${scheduleId} ${since}`}>
            <Timestamp at={since} format="date_time" /> <span className="dimmed">(</span>
            <Timestamp at={since} />
            <span className="dimmed">)</span> <Name>{`${isolateBidi(teamName)}, ${isolateBidi(scheduleName)}`}</Name>
          </li>
        ))}
      </ul>
    </div>
  );
}
