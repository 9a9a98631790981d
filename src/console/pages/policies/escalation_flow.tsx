import type { ReactNode } from 'react';

import type { SimulatedStep } from '#console/api/teams.ts';
import { ChannelIcon, whyUnused } from '#console/components/text/channel.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Bullet, Step, Steps } from '#console/components/forms/steps.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/policies/escalation_flow.module.css';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';

interface EscalationFlowProps {
  /** Steps in the order in which they fire. */
  readonly steps: readonly SimulatedStep[];
  /** Whether to show the time at which each step fires, beside its delay. */
  readonly hasClock?: boolean;
}

/** List of the steps: when each fires, whom it pages and how, and why not. */
export function EscalationFlow({ steps, hasClock = false }: EscalationFlowProps) {
  return (
    <Steps className="small">
      {steps.map((step, index) => (
        <Step key={step.step}>
          <Bullet tone={TONES[stateOf(step)]}>{step.step + 1}</Bullet>
          <div className={classes.content}>
            <div className={classes.when}>
              <span className="hidden-text">Step {step.step + 1}: </span>
              {waitText(step.afterMinutes)}
              {step.round !== undefined && `, ${ordinal(step.round)} repetition`}
              {hasClock && step.firesAt !== null && (
                <span className="dimmed regular">
                  <Timestamp at={step.firesAt} format="date_time" />
                </span>
              )}
            </div>
            <StepDetails step={step} isLast={index === steps.length - 1} />
          </div>
        </Step>
      ))}
    </Steps>
  );
}

function ordinal(count: number): string {
  return `${count}${['th', 'st', 'nd', 'rd'][count] ?? 'th'}`;
}

export function waitText(afterMinutes: number): string {
  return afterMinutes === 0 ? 'Immediately' : `After ${durationText(afterMinutes * 60_000)}`;
}

const TONES = { reached: 'blue', partly: 'amber', nobody: 'red', never: 'dashed' } as const;

type State = keyof typeof TONES;

function stateOf({ firesAt, nobodyReached, people }: SimulatedStep): State {
  if (firesAt === null) return 'never';
  if (nobodyReached !== null) return 'nobody';
  return people.every(isPaged) ? 'reached' : 'partly';
}

function isPaged({ channels }: SimulatedStep['people'][number]): boolean {
  return channels.some(({ outcome }) => outcome === 'notify');
}

/** People whom a step pages and how; people it skips, with the reason. */
function StepDetails({ step, isLast }: { readonly step: SimulatedStep; readonly isLast: boolean }) {
  const { firesAt, broughtForwardBy, onCall, people, personCount, nobodyReached, unreachable } = step;
  if (firesAt === null) return <Note tone="gray">So far ahead that it never fires.</Note>;
  return (
    <>
      {broughtForwardBy !== null && (
        <Note tone="amber">
          Fires early, together with step {broughtForwardBy + 1}, because that step does not reach everybody.
        </Note>
      )}
      {onCall.map((schedule) => (
        <div key={schedule.scheduleId} className={classes.schedule}>
          <Name>{schedule.name}</Name>
          {step.turn === 'next' && ', next'}:{' '}
          {schedule.personName === null ? 'nobody' : <Name>{schedule.personName}</Name>}
          {schedule.source === 'override' && ' (override)'}
          {schedule.until !== null && (
            <>
              {' until '}
              <Timestamp at={schedule.until} format="date_time" />
            </>
          )}
        </div>
      ))}
      {people.length > 0 && (
        <ul className={`${classes.people} plain-list bordered`}>
          {people.map((person) => (
            <PagedPerson key={person.userId} person={person} />
          ))}
        </ul>
      )}
      {step.needsEverybody && <Note tone="gray">Everybody on this step must acknowledge.</Note>}
      {step.members?.inTurn && <Note tone="gray">One member of the team in turn.</Note>}
      {personCount > people.length && <Note tone="gray">And {personCount - people.length} more people.</Note>}
      {nobodyReached !== null && (
        <Note tone="red">
          Skipped: {reasonOf(nobodyReached)}. {isLast ? 'No step follows.' : 'The next step fires at once.'}
        </Note>
      )}
      {unreachable.length > 0 && (
        <Note tone="amber">
          Nothing reaches {unreachable.length === 1 ? 'one person' : `${unreachable.length} people`}
          {isLast ? ', and no step follows.' : ', so the next step fires at once.'}
        </Note>
      )}
    </>
  );
}

function PagedPerson({ person }: { readonly person: SimulatedStep['people'][number] }) {
  const { name, isOnCall, mayAnswer, channels } = person;
  const used = channels.filter(({ outcome }) => outcome === 'notify');
  const unused = channels.filter(({ outcome }) => outcome !== 'notify');
  const hasLeft = unused.some(({ reason }) => reason === 'left_organization');
  return (
    <li className={classes.person} data-paged={used.length > 0}>
      <span className={`${classes.name} strong shrinks`}>
        {name === null ? 'Somebody who has left' : <Name>{name}</Name>}
        {isOnCall && <span className="dimmed regular"> on call</span>}
        {!mayAnswer && <Status tone="red">cannot answer</Status>}
      </span>
      <span className={classes.how}>
        {used.map(({ channel, to, isSimulated }) => (
          <span key={channel} className={classes.channel}>
            <ChannelIcon channel={channel} size={15} /> {CHANNEL_DECLARATIONS[channel].name}
            {to !== null && <span className="dimmed nowrap numbers"> {to}</span>}
            {isSimulated && <Status tone="amber">simulated</Status>}
          </span>
        ))}
        {!hasLeft &&
          unused.map(({ channel, reason }) => (
            <span key={channel} className="dimmed">
              not by {CHANNEL_DECLARATIONS[channel].name}: {whyUnused(channel, reason ?? '')}
            </span>
          ))}
        {hasLeft && <span className="dimmed">has left the organization</span>}
      </span>
    </li>
  );
}

function Note({ tone, children }: { readonly tone: 'red' | 'amber' | 'gray'; readonly children: ReactNode }) {
  return <p className={`${classes.note} ${classes[tone]}`}>{children}</p>;
}
