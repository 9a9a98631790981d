import { Button } from '@mantine/core';
import { IconCheck, IconFilterOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import type { Incident } from '#console/api/actions.ts';
import { Blank } from '#console/parts/blank.tsx';
import { Moment } from '#console/parts/moment.tsx';
import { Name } from '#console/parts/name.tsx';
import type { IncidentTab } from '#console/rooms/incidents/incident_filter.ts';

interface NoIncidentsProps {
  readonly tab: IncidentTab;
  readonly isFiltered: boolean;
  /** All there are, whatever is shown. */
  readonly incidents: readonly Incident[];
  readonly onClear: () => void;
}

export function NoIncidents({ tab, isFiltered, incidents, onClear }: NoIncidentsProps) {
  if (isFiltered) {
    return (
      <Blank
        icon={<IconFilterOff size={24} />}
        title="Nothing matches"
        actions={
          <Button variant="default" onClick={onClear}>
            Clear the filters
          </Button>
        }
      >
        No incident here has this service and these words.
      </Blank>
    );
  }
  return (
    <Blank icon={<IconCheck size={24} />} title={tab === 'resolved' ? 'Nothing was resolved yet' : 'All quiet'} isCalm>
      <LastResolved incidents={incidents} />
    </Blank>
  );
}

export function LastResolved({ incidents }: { readonly incidents: readonly Incident[] }) {
  const [last] = incidents
    .filter(({ resolvedAt }) => resolvedAt !== null)
    .toSorted((a, b) => (a.resolvedAt ?? '').localeCompare(b.resolvedAt ?? '') * -1);
  if (last?.resolvedAt == null)
    return 'There was no incident yet. When a rule fires, it shows here and pages whoever is on call.';
  const { incidentId, title, resolvedAt } = last;
  return (
    <>
      Last resolved <Moment at={resolvedAt} />:{' '}
      <Link to="/incidents/$incidentId" params={{ incidentId }}>
        <Name>{title}</Name>
      </Link>
    </>
  );
}
