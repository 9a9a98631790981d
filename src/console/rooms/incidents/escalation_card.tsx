import { IconCheck } from '@tabler/icons-react';

import type { Incident } from '#console/api/actions.ts';
import { Card } from '#console/parts/card.tsx';
import { CHANNEL_NAMES, ChannelIcon } from '#console/parts/channel.tsx';
import { useNow } from '#console/parts/now.ts';
import { countdownText, durationText } from '#console/parts/time_text.ts';
import { usePolicy } from '#console/rooms/incidents/escalation.ts';
import classes from '#console/rooms/incidents/escalation_card.module.css';
import { useNames } from '#console/rooms/incidents/people.ts';

/** Who is paged next, and when, while nobody answers. */
export function EscalationCard({ incident }: { readonly incident: Incident }) {
  const { escalation, escalationPolicyId } = incident;
  const found = usePolicy(escalationPolicyId);
  const nameOf = useNames();
  const firedBefore = escalation.state === 'finished' ? Number.POSITIVE_INFINITY : (escalation.nextStep ?? 0);
  return (
    <Card title="Escalation">
      <Standing incident={incident} stepsInAll={found?.policy.steps.length ?? null} />
      {found !== null && (
        <ol className={classes.steps}>
          {found.policy.steps.map(({ afterMinutes, channels, targetUserIds, useSchedule }, index) => {
            const state = escalation.state === 'paused' ? 'open' : index < firedBefore ? 'done' : 'open';
            const who = [...targetUserIds.map(nameOf), ...(useSchedule ? [`on call in ${found.team.name}`] : [])];
            return (
              // Steps have no ids; their order is what they are.
              // eslint-disable-next-line react/no-array-index-key
              <li key={index} className={classes.step} data-state={index === escalation.nextStep ? 'next' : state}>
                <span className={classes.bullet} aria-hidden>
                  {state === 'done' ? <IconCheck size={13} stroke={2.5} /> : index + 1}
                </span>
                <div>
                  {afterMinutes === 0 ? 'At once' : `After ${durationText(afterMinutes * 60_000)}`}
                  <span className={classes.channels}>
                    {channels.map((channel) => (
                      <span key={channel} title={CHANNEL_NAMES[channel]} role="img" aria-label={CHANNEL_NAMES[channel]}>
                        <ChannelIcon channel={channel} size={16} />
                      </span>
                    ))}
                  </span>
                  <div className={classes.who}>{who.length === 0 ? 'nobody' : who.join(', ')}</div>
                </div>
              </li>
            );
          })}
        </ol>
      )}
    </Card>
  );
}

function Standing({ incident, stepsInAll }: { readonly incident: Incident; readonly stepsInAll: number | null }) {
  const { state, nextStep, nextStepAt } = incident.escalation;
  if (state === 'running' && nextStepAt !== null && nextStep !== null) {
    const of = stepsInAll === null || stepsInAll <= nextStep ? '' : ` of ${stepsInAll}`;
    return (
      <div className={classes.count}>
        <Clock to={nextStepAt} />
        <span className={classes.who}>
          until step {nextStep + 1}
          {of}
        </span>
      </div>
    );
  }
  return <p className={classes.note}>{noteOf(incident)}</p>;
}

function noteOf({ status, escalation, escalationPolicyId }: Incident): string {
  if (status === 'resolved') return 'It is resolved; nobody is paged any more.';
  switch (escalation.state) {
    case 'paused':
      return 'Paused: somebody has it. No further step fires.';
    case 'finished':
      return 'Every step has fired, and nobody has answered. Nobody else will be paged.';
    case 'none':
      return escalationPolicyId === null
        ? 'Nobody is paged: the rule has no escalation policy.'
        : 'Nobody is paged: its escalation policy was deleted.';
    case 'running':
      return 'The next step is about to fire.';
  }
}

function Clock({ to }: { readonly to: string }) {
  const left = Date.parse(to) - useNow();
  return (
    <time className={classes.big} dateTime={to} title={new Date(to).toLocaleString()} role="timer">
      {countdownText(left)}
    </time>
  );
}
