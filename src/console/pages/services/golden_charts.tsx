import { Skeleton } from '@mantine/core';
import { useElementSize, useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import {
  type ChartQuery,
  chartMarksQuery,
  chartsQuery,
  markersOf,
  measureOfResult,
  seriesOf,
} from '#console/api/charts.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { pixelsWithin } from '#console/components/pixels_within.ts';
import type { TimeRange } from '#console/components/text/time_range.ts';
import { Name } from '#console/components/text/name.tsx';
import { TimeChart } from '#console/components/time_chart/time_chart.tsx';
import classes from '#console/pages/services/overview_cards.module.css';
import { useOrganization } from '#console/shell/organization.tsx';
import { mostUsefulMetrics, queryOfMetric } from '#modules/dashboards/decide/template.ts';

const LOOKED_AT = 50;
const CHARTS = 4;
const CHARTS_ON_PHONE = 2;
const RANGE: TimeRange = { kind: 'last', minutes: 180 };

/** Card of the most telling metrics that a service sends: errors, latency, traffic, and what it uses. */
export function GoldenCharts({ serviceId }: { readonly serviceId: string }) {
  const { org, may } = useOrganization();
  const { ref, width } = useElementSize();
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const { data: listed, error } = useQuery({
    queryKey: [...topicKey(org.orgId, 'metrics'), 'describe_metrics', 'golden', serviceId],
    queryFn: ({ signal }) => invoke(org.orgId, 'describe_metrics', { serviceId, limit: LOOKED_AT }, signal),
    staleTime: 60_000,
  });
  const chosen = listed && mostUsefulMetrics(listed.metrics, isPhone ? CHARTS_ON_PHONE : CHARTS);
  const pixels = pixelsWithin(isPhone ? width : width / 2);
  const queries = (chosen ?? []).map((metric): ChartQuery => {
    const { metricName, aggregation, isRate } = queryOfMetric(metric);
    return { serviceId, metricName, aggregation, ...(isRate && { isRate }), pixels };
  });
  const charts = useQuery({ ...chartsQuery(org.orgId, RANGE, queries), enabled: queries.length > 0 && width > 0 });
  const period = charts.data && { from: Date.parse(charts.data.from), to: Date.parse(charts.data.to) };
  const marks = useQuery({
    ...chartMarksQuery(org.orgId, period === undefined ? [] : [serviceId], period?.from ?? 0, period?.to ?? 1),
    enabled: period !== undefined && may('oncall:view'),
  });
  const markers = useMemo(() => markersOf(marks.data), [marks.data]);
  if (chosen?.length === 0) return null;
  const failed = error ?? charts.error;
  return (
    <Card
      title="What it sends"
      about="Its most telling metrics of the last three hours, with deploys and incidents."
      action={
        <Link to="/explore" search={{ service: serviceId }}>
          {listed === undefined || listed.total < 2 ? 'All metrics' : `All ${listed.total} metrics`}
        </Link>
      }
    >
      {failed !== null && <ErrorAlert error={failed} onRetry={() => void charts.refetch()} />}
      <div className={classes.charts} ref={ref}>
        {(chosen ?? Array.from({ length: isPhone ? CHARTS_ON_PHONE : CHARTS }, () => null)).map((metric, index) => {
          const query = queries[index];
          const result = charts.data?.results[index];
          if (metric === null || query === undefined) return <Skeleton key={index} height="13rem" />;
          const { metricName, isRate } = query;
          return (
            <figure key={metric.metricName} className="flush shrinks">
              <figcaption className={`${classes.caption} small nowrap`}>
                <Link to="/explore" search={{ service: serviceId, metric: metricName }}>
                  <Name>{metric.isHistogram ? `${metric.metricName}, 95%` : metric.metricName}</Name>
                </Link>
                {isRate === true && <span className="dimmed">per second</span>}
              </figcaption>
              <div className={classes.plot}>
                {result === undefined || period === undefined ? (
                  <Skeleton height="100%" />
                ) : (
                  <TimeChart
                    label={metric.metricName}
                    series={seriesOf(result, metric.metricName, query)}
                    {...period}
                    stepMs={(result.stepSeconds || 60) * 1_000}
                    measure={measureOfResult(query, result)}
                    markers={markers}
                    group={serviceId}
                    hasLegend={false}
                  />
                )}
              </div>
            </figure>
          );
        })}
      </div>
    </Card>
  );
}
