import { IconCheck } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { incidentSearchQuery } from '#console/api/incidents.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { NothingMatches } from '#console/components/lists/nothing_matches.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name } from '#console/components/text/name.tsx';
import type { IncidentTab } from '#console/pages/incidents/incident_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { LAST_RESOLVED } from '#modules/pages/decide/home_reads.ts';

interface NoIncidentsProps {
  readonly tab: IncidentTab;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

export function NoIncidents({ tab, isFiltered, onClear }: NoIncidentsProps) {
  if (isFiltered) {
    return <NothingMatches what="incident" onClear={onClear} />;
  }
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
  if (last?.resolvedAt == null)
    return 'There have been no incidents yet. When a rule fires, the incident shows here and pages the people on call.';
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
