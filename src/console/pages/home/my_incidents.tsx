import { IconCheck } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { FoundIncident } from '#console/api/actions.ts';
import { incidentCountsQuery, incidentSearchQuery } from '#console/api/incidents.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import classes from '#console/pages/home/home.module.css';
import { IncidentRow } from '#console/pages/incidents/incident_row.tsx';
import { LastResolved } from '#console/pages/incidents/no_incidents.tsx';
import { useAnswerIncidents } from '#console/pages/incidents/answer_incidents.ts';
import { focusedRowId, useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { MY_INCIDENTS, MY_INCIDENTS_SHOWN_MAX } from '#modules/pages/decide/home_reads.ts';

export const myIncidentsQuery = (orgId: string) => incidentSearchQuery(orgId, MY_INCIDENTS);

/** Card of incidents that nobody has acknowledged, and those that the person has. */
export function MyIncidents() {
  const { org, session, may } = useOrganization();
  const { data, error, refetch } = useInfiniteQuery(myIncidentsQuery(org.orgId));
  const { data: counts } = useQuery(incidentCountsQuery(org.orgId));
  const answering = useAnswerIncidents();
  const answer = (kind: 'acknowledge' | 'resolve', incidentId: string | null): void => {
    if (incidentId !== null && may('oncall:edit')) answering.mutate({ answer: kind, incidentIds: [incidentId] });
  };
  useShortcut('a', () => answer('acknowledge', focusedRowId()));
  useShortcut('r', () => answer('resolve', focusedRowId()));
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;

  const isMine = ({ status, acknowledgedBy }: FoundIncident) =>
    status === 'triggered' || (status === 'acknowledged' && acknowledgedBy?.userId === session.user.userId);
  const open = counts === undefined ? 0 : counts.triggered + counts.acknowledged;
  const mine = data.pages.flatMap(({ incidents }) => incidents).filter(isMine);
  return (
    <Card
      title="Your open incidents"
      about="Incidents that nobody has acknowledged, and those that you have."
      action={
        open > 0 && (
          <Link to="/incidents" className="plain-link">
            All {open.toLocaleString()} open
          </Link>
        )
      }
    >
      {mine.length === 0 ? (
        <EmptyState icon={<IconCheck size={24} />} title="All quiet" isCalm>
          <LastResolved />
        </EmptyState>
      ) : (
        <ul className={classes.list} aria-label="Your open incidents">
          {mine.slice(0, MY_INCIDENTS_SHOWN_MAX).map((incident) => (
            <IncidentRow
              key={incident.incidentId}
              isShort
              incident={incident}
              {...(may('oncall:edit') && { onAcknowledge: () => answer('acknowledge', incident.incidentId) })}
            />
          ))}
        </ul>
      )}
      {mine.length > MY_INCIDENTS_SHOWN_MAX && <Link to="/incidents">Show more</Link>}
    </Card>
  );
}
