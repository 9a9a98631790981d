import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { Bullet, Step, Steps } from '#console/components/forms/steps.tsx';
import { useTeamName } from '#console/components/forms/team_picker.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { ChannelIcon } from '#console/components/text/channel.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { countdownText, durationText, fullText } from '#console/components/text/time_text.ts';
import { Timestamp, useNow } from '#console/components/text/timestamp.tsx';
import { IconCheck, IconMinus, IconPlayerSkipForward } from '#console/icons.ts';
import { useLinks } from '#console/pages/incidents/linked_incidents.tsx';
import { handedOverText, untilText, whoText } from '#console/pages/incidents/escalation_text.ts';
import { useMemberNames } from '#console/pages/incidents/member_names.tsx';
import { useUndoAnswers } from './answer_incidents.ts';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import classes from '#console/pages/incidents/escalation_card.module.css';

type Escalation = IncidentWithLog['escalation'];
type PolicyStep = Escalation['steps'][number];

/** Card of the steps as they were when the incident opened, the outcome of each, and the time until the next one. */
export function EscalationCard({ incident }: { readonly incident: IncidentWithLog }) {
  const { may, session } = useOrganization();
  const { incidentId, escalation, status, triggeredAt, acknowledgements = [] } = incident;
  const hasAcknowledged = acknowledgements.some(({ userId }) => userId === session.user.userId);
  const team = useTeamName(escalation.teamId) ?? null;
  const mayChange = may('oncall:edit') && status !== 'resolved';
  const next = escalation.steps.find(({ index }) => index === escalation.nextStep);
  const earlier = escalation.stepCount - escalation.steps.length;
  return (
    <Card
      title="Escalation"
      {...(mayChange && {
        action: (
          <Group gap="xs">
            {next !== undefined && <EscalateNow incidentId={incidentId} step={next} team={team} />}
            {(status === 'acknowledged' || hasAcknowledged) && <UndoAcknowledgement incidentId={incidentId} />}
          </Group>
        ),
      })}
    >
      <Progress incident={incident} team={team} />
      {acknowledgements.length > 0 && status === 'triggered' && (
        <p className={`${classes.note} dimmed small`}>
          {acknowledgements.length} {acknowledgements.length === 1 ? 'person has' : 'people have'} acknowledged
          {hasAcknowledged && ', you among them'}; others still must.
        </p>
      )}
      {earlier > 0 && (
        <p className={`${classes.note} dimmed small`}>
          {earlier.toLocaleString()} earlier {earlier === 1 ? 'step is' : 'steps are'} in the timeline.
        </p>
      )}
      {escalation.steps.length > 0 && (
        <Steps className={classes.steps}>
          {escalation.steps.map((step, place) => {
            const before = place === 0 ? triggeredAt : (escalation.steps[place - 1]?.countsFrom ?? null);
            const begins = step.countsFrom === before ? null : beginText(incident, step);
            return (
              <StepItem
                key={step.index}
                step={step}
                isNext={step.index === escalation.nextStep}
                begins={begins}
                team={team}
              />
            );
          })}
        </Steps>
      )}
    </Card>
  );
}

/** Button that undoes an acknowledgement made by mistake: the escalation continues. */
function UndoAcknowledgement({ incidentId }: { readonly incidentId: string }) {
  const undoing = useUndoAnswers();
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => undoing.mutate({ answer: 'acknowledge', incidentIds: [incidentId] })}
      loading={undoing.isPending}
    >
      Unacknowledge
    </Button>
  );
}

interface StepItemProps {
  readonly step: PolicyStep;
  readonly isNext: boolean;
  /** Text on why steps begin with this one, and not at the trigger; null if they do not begin here. */
  readonly begins: string | null;
  /** Team whose schedules are used; null if it was deleted. */
  readonly team: string | null;
}

function StepItem({ step, isNext, begins, team }: StepItemProps) {
  const { index, state, afterMinutes, channels, countsFrom } = step;
  return (
    <Step>
      <Bullet tone={isNext ? 'due' : TONES[state]}>{bulletOf(step)}</Bullet>
      <div>
        {begins !== null && (
          <div className={`${classes.reassigned} dimmed strong`}>
            {begins}
            {countsFrom !== null && (
              <>
                {' '}
                <Timestamp at={countsFrom} format="clock" />
              </>
            )}
          </div>
        )}
        <span className="hidden-text">Step {index + 1}: </span>
        {afterMinutes === 0 ? 'Immediately' : `After ${durationText(afterMinutes * 60_000)}`}
        <span className={classes.channels}>
          {channels.map((channel) => (
            <span
              key={channel}
              title={CHANNEL_DECLARATIONS[channel].name}
              role="img"
              aria-label={CHANNEL_DECLARATIONS[channel].name}
            >
              <ChannelIcon channel={channel} size={16} />
            </span>
          ))}
        </span>
        <Who step={step} team={team} />
        <div className="dimmed">
          <Outcome step={step} />
        </div>
      </div>
    </Step>
  );
}

const TONES = { fired: 'blue', skipped: 'red', cancelled: 'dashed', pending: 'plain' } as const satisfies Record<
  PolicyStep['state'],
  string
>;

function bulletOf({ state, index }: PolicyStep) {
  switch (state) {
    case 'fired':
      return <IconCheck size={13} stroke={2.5} />;
    case 'skipped':
      return <IconPlayerSkipForward size={13} stroke={2} />;
    case 'cancelled':
      return <IconMinus size={13} stroke={2} />;
    case 'pending':
      return index + 1;
  }
}

const PERSON_WORDS: Record<PolicyStep['people'][number]['status'], string> = {
  delivered: 'reached',
  sent: 'sent',
  queued: 'on its way',
  failed: 'not reached',
  cancelled: 'cancelled',
  skipped: 'no channel enabled',
};

/** People whom the step paged or, before it fires, would page. */
function Who({ step, team }: Pick<StepItemProps, 'step' | 'team'>) {
  const { people } = step;
  const nameOf = useMemberNames();
  if (people.length > 0) {
    return (
      <div className="dimmed">
        {people.map(({ userId, status, isSimulated }, index) => (
          <span key={userId}>
            {index > 0 && ', '}
            <Person userId={userId}>{nameOf(userId)}</Person> ({isSimulated ? 'only simulated' : PERSON_WORDS[status]})
          </span>
        ))}
      </div>
    );
  }
  return <div className="dimmed">{whoText(step, team, nameOf)}</div>;
}

/** Outcome of a step; null while it waits. */
function Outcome({ step: { state, settledAt, reason, isBroughtForward, dueAt } }: Pick<StepItemProps, 'step'>) {
  const at = <Timestamp at={settledAt ?? dueAt ?? ''} format="clock" />;
  const early = reason === 'escalated' ? ', by hand' : isBroughtForward ? ', early' : '';
  switch (state) {
    case 'pending':
      if (reason === 'escalated') return 'Fires immediately: somebody escalated it';
      return isBroughtForward ? 'Fires immediately: the previous step did not reach everybody' : null;
    case 'fired':
      return (
        <>
          Fired at {at}
          {early}
        </>
      );
    case 'skipped':
      return (
        <>
          Skipped at {at}
          {early}
          {reason !== null && `: ${reasonOf(reason)}`}
        </>
      );
    case 'cancelled':
      return reason === null
        ? 'Did not fire'
        : `Did not fire: the incident was ${reason === 'reassigned' ? 'handed over' : reason} first`;
  }
}

/**
 * Returns the meaning of the time from which steps count. Only first steps can have waited; later ones came with a
 * change.
 */
function beginText({ escalation, timeline }: IncidentWithLog, { countsFrom, index }: PolicyStep): string {
  const isNow = (event: string): boolean => timeline.some((entry) => entry.event === event && entry.at === countsFrom);
  if (isNow('repaged')) return 'Acknowledged and forgotten: paged again at';
  const repeats = timeline.some(({ event }) => event === 'repeats') && !isNow('reassigned');
  if (index > 0) return repeats ? 'Nobody answered: begins again at' : 'Handed over at';
  if (countsFrom === null) return 'Once the incident that pages for both has ended';
  if (isNow('pages_itself')) return 'The incident that paged for both ended at';
  if (isNow('maintenance_ended')) return 'The maintenance was ended at';
  return escalation.waitsFor === 'maintenance' ? 'The maintenance ends at' : 'The maintenance ended at';
}

function Progress({ incident, team }: { readonly incident: IncidentWithLog; readonly team: string | null }) {
  const { state, nextStepAt, waitsFor } = incident.escalation;
  const nameOf = useMemberNames();
  if (state === 'running' && waitsFor === 'incident') return <WaitsForParent incident={incident} />;
  const until = untilText(incident.escalation, team, nameOf);
  if (state === 'running' && nextStepAt !== null && until !== null) {
    const handedOver = handedOverText(incident, team, nameOf);
    return (
      <>
        {handedOver !== null && <p className={`${classes.note} small`}>{handedOver}</p>}
        <div className={classes.count}>
          <Clock to={nextStepAt} />
          <span className="dimmed">{until}</span>
        </div>
      </>
    );
  }
  return <p className={`${classes.note} dimmed small`}>{noteOf(incident)}</p>;
}

function WaitsForParent({ incident: { incidentId } }: { readonly incident: IncidentWithLog }) {
  const parent = useLinks(incidentId)?.parent ?? null;
  return (
    <p className={`${classes.note} dimmed small`}>
      {parent === null ? (
        'Another incident'
      ) : (
        <Link to="/incidents/$incidentId" params={{ incidentId: parent.incidentId }}>
          <Name>{`#${parent.number} ${parent.title}`}</Name>
        </Link>
      )}{' '}
      pages for both. This one pages by itself if that one ends first.
    </p>
  );
}

function noteOf({ status, kind, escalation: { state, steps } }: IncidentWithLog): string {
  if (status === 'resolved') return 'Resolved. Nobody else will be paged.';
  switch (state) {
    case 'paused':
      return 'Paused: somebody acknowledged it. No further step fires.';
    case 'finished':
      return steps.every((step) => step.state === 'skipped')
        ? 'All steps were skipped. Nobody else will be paged.'
        : 'No steps are left and nobody has answered. Nobody else will be paged.';
    case 'none':
      return kind === 'manual'
        ? 'Nobody is paged: no escalation policy with steps was chosen.'
        : kind === 'alert'
          ? 'Nobody is paged: no route of its alert pages by an escalation policy with steps.'
          : 'Nobody is paged: when the incident opened, its rule had no escalation policy with steps.';
    case 'running':
      return 'The next step is too far ahead to ever fire by itself.';
  }
}

function Clock({ to }: { readonly to: string }) {
  const left = Date.parse(to) - useNow();
  return (
    <time className={`${classes.big} nowrap numbers`} dateTime={to} title={fullText(to)} role="timer">
      {countdownText(left)}
    </time>
  );
}

type NextStep = IncidentWithLog['escalation']['steps'][number];

interface EscalateNowProps {
  readonly incidentId: string;
  readonly step: NextStep;
  readonly team: string | null;
}

/** Button that pages the next step before its time, after asking once: pages cannot be called back. */
function EscalateNow({ incidentId, step, team }: EscalateNowProps) {
  const nameOf = useMemberNames();
  const [isAsking, setIsAsking] = useState(false);
  const escalating = useIncidentChange('escalate_incident', incidentId);
  useShortcut('e', () => setIsAsking(true));
  const channels = step.channels.map((channel) => CHANNEL_DECLARATIONS[channel].name).join(', ');
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsAsking(true)}>
        Escalate now
      </Button>
      {isAsking && (
        <Confirm
          title="Page before its time?"
          button="Escalate now"
          isHarmless
          saving={escalating}
          onClose={() => {
            setIsAsking(false);
            escalating.reset();
          }}
          onConfirm={() =>
            escalating.mutate(
              { incidentId, stepIndex: step.index },
              {
                onSuccess() {
                  setIsAsking(false);
                  showSuccess(`It pages ${whoText(step, team, nameOf)} now.`);
                },
              },
            )
          }
        >
          {capital(whoText(step, team, nameOf))} will be paged at once, by {channels}.
        </Confirm>
      )}
    </>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
