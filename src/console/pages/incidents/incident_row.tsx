import { Button, Checkbox } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { FoundIncident } from '#console/api/actions.ts';
import { incidentSearchQuery } from '#console/api/incidents.ts';
import { EmptyState, NothingMatches } from '#console/components/lists/empty_state.tsx';
import { IncidentStatus } from '#console/components/status.tsx';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { countdownText, fullText } from '#console/components/text/time_text.ts';
import { Timestamp, useNow } from '#console/components/text/timestamp.tsx';
import { IconCheck } from '#console/icons.ts';
import { stepText } from '#console/pages/incidents/escalation_text.ts';
import type { IncidentTab } from '#console/pages/incidents/incident_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { actorName } from '#modules/incidents/decide/incident_actor.ts';
import { LAST_RESOLVED } from '#modules/pages/decide/page_queries.ts';
import classes from '#console/pages/incidents/incident_row.module.css';

interface IncidentRowProps {
  readonly incident: FoundIncident;
  readonly isSelected?: boolean;
  /** Called on a selection; without it, the row cannot be selected. */
  readonly onSelect?: (isSelected: boolean) => void;
  /** Called to acknowledge; without it, the person may not answer incidents. */
  readonly onAcknowledge?: () => void;
  /** Position in a long list of which only the rows in sight are rendered. */
  readonly measured?: {
    readonly ref: (row: HTMLLIElement | null) => void;
    readonly index: number;
    readonly count: number;
  };
  /** Whether the row is short, for a narrow card without room for columns. */
  readonly isShort?: boolean;
}

export function IncidentRow(props: IncidentRowProps) {
  const { incident, isSelected, onSelect, onAcknowledge, measured, isShort = false } = props;
  const { incidentId, number, title, status, severity, serviceName, occurrences, triggeredAt } = incident;
  return (
    <li
      className={`${classes.row} ${isShort ? classes.isShort : ''}`}
      data-row={incidentId}
      {...(measured !== undefined && {
        ref: measured.ref,
        'data-index': measured.index,
        'aria-posinset': measured.index + 1,
        'aria-setsize': measured.count,
      })}
    >
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
      <div className={`${classes.what} shrinks`}>
        <Link
          to="/incidents/$incidentId"
          params={{ incidentId }}
          className={`${classes.title} row-link`}
          data-row-link
          title={title}
        >
          <bdi>{withoutBidiControls(title)}</bdi>
        </Link>
        <div className={`${classes.sub} ellipsis dimmed small`}>
          <Name>{serviceName}</Name> · #{number} · {severity}
          {occurrences > 1 && ` · ${occurrences} times`}
          <span className={classes.phoneOnly}>
            {' · '}
            <Step incident={incident} />
            <Reach incident={incident} before=" · " />
          </span>
        </div>
      </div>
      <div className={`${classes.aside} ${classes.deskOnly}`}>
        <Reach incident={incident} />
      </div>
      <div className={`${classes.aside} ${classes.deskOnly}`}>
        <Step incident={incident} />
      </div>
      <div className={`${classes.age} dimmed small nowrap to-right`}>
        <Timestamp at={triggeredAt} format="age" />
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

const OUTCOME_WORDS: Record<NonNullable<FoundIncident['reached']>['outcome'], string> = {
  delivered: 'reached',
  sent: 'sent to',
  on_its_way: 'on its way to',
  simulated: 'simulated, not sent to',
  failed: 'did not reach',
};

const FORMER_MEMBER = 'a former member';

/** Person who answered the incident or, before that, the people whom its pages have reached. */
function Reach({ incident, before = '' }: { readonly incident: FoundIncident; readonly before?: string }) {
  const { status, acknowledgedBy, resolvedBy, answeredByName, answeredByColor, reached, reachedCount } = incident;
  const { userId } = useOrganization().session.user;
  const nameOf = (id: string, name: string | null) => (id === userId ? 'you' : (name ?? FORMER_MEMBER));
  if (status !== 'triggered') {
    const by = status === 'resolved' ? resolvedBy : acknowledgedBy;
    if (by === null) return null;
    const name = actorName(by, (id) => nameOf(id, answeredByName));
    return (
      <>
        {before}by{' '}
        {by.userId === undefined ? (
          name
        ) : (
          <Person userId={by.userId} color={answeredByColor}>
            {name}
          </Person>
        )}
      </>
    );
  }
  if (reached === null) return `${before}nobody reached yet`;
  return (
    <>
      {before}
      {OUTCOME_WORDS[reached.outcome]}{' '}
      <Person userId={reached.userId} color={reached.color}>
        {nameOf(reached.userId, reached.name)}
      </Person>
      {reachedCount > 1 && ` and ${reachedCount - 1} more`}
    </>
  );
}

function Step({ incident }: { readonly incident: FoundIncident }) {
  const { nextStepAt } = incident.escalation;
  if (incident.status === 'resolved') return null;
  const text = stepText(incident);
  if (nextStepAt === null) return text;
  return (
    <>
      {text}{' '}
      <span className="nowrap">
        <Countdown to={nextStepAt} />
      </span>
    </>
  );
}

function Countdown({ to }: { readonly to: string }) {
  const now = useNow();
  const left = Date.parse(to) - now;
  return (
    <time dateTime={to} title={fullText(to)}>
      {left <= 0 ? 'now' : `in ${countdownText(left)}`}
    </time>
  );
}

interface NoIncidentsProps {
  readonly tab: IncidentTab;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

export function NoIncidents({ tab, isFiltered, onClear }: NoIncidentsProps) {
  if (isFiltered) return <NothingMatches what="incident" onClear={onClear} />;
  return (
    <EmptyState
      icon={<IconCheck size={24} />}
      title={tab === 'resolved' ? 'No incident has been resolved yet' : 'All quiet'}
      isCalm
    >
      <LastResolved />
    </EmptyState>
  );
}

export const lastResolvedQuery = (orgId: string) => incidentSearchQuery(orgId, LAST_RESOLVED);

export function LastResolved() {
  const { data } = useInfiniteQuery(lastResolvedQuery(useOrganization().org.orgId));
  if (data === undefined) return null;
  const last = data.pages[0]?.incidents[0];
  if (last?.resolvedAt == null) return 'When a rule fires, the incident shows here and pages the people on call.';
  const { incidentId, title, resolvedAt } = last;
  return (
    <>
      Last resolved <Timestamp at={resolvedAt} />:{' '}
      <Link to="/incidents/$incidentId" params={{ incidentId }}>
        <Name>{title}</Name>
      </Link>
    </>
  );
}
