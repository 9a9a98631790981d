import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

import { serviceSearchQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import type { DashboardStart } from '#console/pages/dashboards/dashboard_start.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const SERVICES = 20;
const SHOWN_MAX = 5;

/** Templates shown while there is no dashboard: one for each of the first services, made of what it sends. */
export function DashboardTemplates({ onChoose }: { readonly onChoose: (start: DashboardStart) => void }) {
  const { orgId } = useOrganization().org;
  const { data } = useInfiniteQuery(serviceSearchQuery(orgId, { limit: SERVICES }));
  const services = data?.pages
    .flatMap((page) => page.services)
    .filter(({ capabilities }) => capabilities.includes('metrics'));
  if (services === undefined || services.length === 0) return null;
  return (
    <div style={{ marginTop: '1.25rem' }}>
      <Card
        title="From what a service sends"
        about="Charts of its most telling metrics, its incidents, and who is on call."
        rows={services.slice(0, SHOWN_MAX).map(({ serviceId, name }) => (
          <Row key={serviceId} title={<Name>{name}</Name>}>
            <Button
              variant="default"
              onClick={() => onChoose({ serviceId, name })}
              aria-label={`Use what ${name} sends`}
            >
              Use
            </Button>
          </Row>
        ))}
      />
    </div>
  );
}
