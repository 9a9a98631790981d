import { Button, Checkbox } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Incident } from '#console/api/actions.ts';
import { incidentQuery } from '#console/api/queries.ts';
import { withoutDirections } from '#console/parts/isolated.ts';
import { Moment } from '#console/parts/moment.tsx';
import { Name } from '#console/parts/name.tsx';
import { useNow } from '#console/parts/now.ts';
import { IncidentStatus } from '#console/parts/status.tsx';
import { countdownText } from '#console/parts/time_text.ts';
import { stepText } from '#console/rooms/incidents/escalation.ts';
import classes from '#console/rooms/incidents/incident_row.module.css';
import { settlerName, useNames } from '#console/rooms/incidents/people.ts';
import { OUTCOME_WORDS, whoWasReached } from '#console/rooms/incidents/reached.ts';
import { useHere } from '#console/shell/organization.tsx';

interface IncidentRowProps {
  readonly incident: Incident;
  readonly serviceName: string;
  readonly isSelected?: boolean;
  /** Absent: it cannot be selected. */
  readonly onSelect?: (isSelected: boolean) => void;
  /** Absent: the person may not answer incidents. */
  readonly onAcknowledge?: () => void;
  /** Beside other things, where columns have no room. */
  readonly isShort?: boolean;
}

export function IncidentRow(props: IncidentRowProps) {
  const { incident, serviceName, isSelected, onSelect, onAcknowledge, isShort = false } = props;
  const { incidentId, number, title, status, occurrences, triggeredAt } = incident;
  const { ref, inViewport } = useInViewport<HTMLLIElement>();
  return (
    <li className={`${classes.row} ${isShort ? classes.isShort : ''}`} data-row={incidentId} ref={ref}>
      <div className={classes.check}>
        {onSelect !== undefined && (
          <Checkbox
            checked={isSelected}
            onChange={(event) => onSelect(event.currentTarget.checked)}
            aria-label={`Select incident ${number}: ${title}`}
          />
        )}
      </div>
      <div>
        <IncidentStatus status={status} />
      </div>
      <div className={classes.what}>
        <Link to="/incidents/$incidentId" params={{ incidentId }} className={classes.title} data-row-link title={title}>
          <bdi>{withoutDirections(title)}</bdi>
        </Link>
        <div className={classes.sub}>
          <Name>{serviceName}</Name> · #{number}
          {occurrences > 1 && ` · ${occurrences} times`}
          <span className={classes.phoneOnly}>
            {' · '}
            <Standing incident={incident} isShown={inViewport} />
          </span>
        </div>
      </div>
      <div className={`${classes.aside} ${classes.deskOnly}`}>
        <Reach incident={incident} isShown={inViewport} />
      </div>
      <div className={`${classes.aside} ${classes.deskOnly}`}>
        <Step incident={incident} />
      </div>
      <div className={classes.age}>
        <Moment at={triggeredAt} as="age" />
      </div>
      <div className={classes.quick}>
        {status === 'triggered' && onAcknowledge !== undefined && (
          <Button size="sm" variant="default" onClick={onAcknowledge} aria-label={`Acknowledge incident ${number}`}>
            Acknowledge
          </Button>
        )}
      </div>
    </li>
  );
}

interface StandingProps {
  readonly incident: Incident;
  readonly isShown: boolean;
}

/** Both columns in one line, where there is no room for columns. */
function Standing({ incident, isShown }: StandingProps) {
  return (
    <>
      <Step incident={incident} />
      <Reach incident={incident} isShown={isShown} before=" · " />
    </>
  );
}

/** Who has it, or whom its pages have reached. That is asked for only of rows that somebody sees. */
function Reach({ incident, isShown, before = '' }: StandingProps & { readonly before?: string }) {
  const { incidentId, status, acknowledgedBy, resolvedBy } = incident;
  const nameOf = useNames();
  const isWaiting = status === 'triggered';
  const { data } = useQuery({
    ...incidentQuery(useHere().org.orgId, incidentId),
    enabled: isShown && isWaiting,
    staleTime: 30_000,
  });
  if (!isWaiting) {
    const by = status === 'resolved' ? resolvedBy : acknowledgedBy;
    return by === null ? null : `${before}by ${settlerName(by, nameOf)}`;
  }
  if (data === undefined) return null;
  const [first, ...others] = whoWasReached(data.notifications);
  if (first === undefined) return `${before}nobody reached yet`;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${before}${OUTCOME_WORDS[first.outcome]} ${nameOf(first.userId)}${more}`;
}

function Step({ incident }: { readonly incident: Incident }) {
  const { nextStepAt } = incident.escalation;
  if (incident.status === 'resolved') return null;
  const text = stepText(incident);
  if (nextStepAt === null) return text;
  return (
    <>
      {text}{' '}
      <span className={classes.countdown}>
        <Countdown to={nextStepAt} />
      </span>
    </>
  );
}

export function Countdown({ to }: { readonly to: string }) {
  const now = useNow();
  const left = Date.parse(to) - now;
  return (
    <time dateTime={to} title={new Date(to).toLocaleString()}>
      {left <= 0 ? 'now' : `in ${countdownText(left)}`}
    </time>
  );
}
