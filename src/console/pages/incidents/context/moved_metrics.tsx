import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { measureOf, quantityText } from '#modules/metrics/decide/quantity.ts';

/** Card of the metrics of the service that left their usual range when the incident opened; nothing if none did. */
export function MovedMetrics({ incident: { incidentId, serviceId } }: { readonly incident: IncidentWithLog }) {
  const { orgId } = useOrganization().org;
  // The card stands at the end of the page: whoever answers and leaves does not wait for it.
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const { data } = useQuery({
    ...actionQuery(orgId, 'incidents', 'list_moved_metrics', { incidentId }),
    staleTime: Infinity,
    enabled: inViewport,
  });
  if (data === undefined) return <div ref={ref} />;
  if (data.metrics.length === 0) return null;
  const { metrics, lookedAt, total } = data;
  return (
    <Card
      title="Metrics that moved"
      about={`Around the trigger they left the range of the hour before.${lookedAt < total ? ` ${lookedAt} of ${total.toLocaleString()} metrics were compared.` : ''}`}
      rows={metrics.map(({ metricName, aggregation, before, after }) => {
        const measure = measureOf(metricName, aggregation);
        return (
          <Row
            key={metricName}
            title={
              <Link to="/explore" search={{ service: serviceId, metric: metricName }}>
                <Name>{metricName}</Name>
              </Link>
            }
            sub={`From ${quantityText(before, measure)} to ${quantityText(after, measure)}.`}
          />
        );
      })}
    />
  );
}
