import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

import type { Incident } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { actionQuery } from '#console/api/queries.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import type { ChartMarker } from '#console/components/time_chart/chart_series.ts';
import { BEFORE_MINUTES } from '#console/pages/incidents/metric_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import { measureOf } from '#modules/metrics/decide/quantity.ts';

const TimeChart = lazyPart(() => import('#console/components/time_chart/time_chart.tsx').then((m) => m.TimeChart));

/** Measurement in the details of an incident; see `src/modules/rules/apply_metric_rule.ts`. */
export interface Measurement extends MetricThreshold {
  readonly value: number | null;
  readonly isMoreThan?: boolean;
}

interface MetricChartProps {
  readonly incident: Incident;
  readonly measured: Measurement;
}

/** Chart of the metric from 30 minutes before the incident until now, with the threshold. */
export function MetricChart({ incident, measured }: MetricChartProps) {
  const { org } = useOrganization();
  // Loads the file while the data is loading, not afterwards.
  useEffect(() => TimeChart.preload(), []);
  const { metricName, aggregation, comparator, threshold } = measured;
  const { triggeredAt, resolvedAt } = incident;
  const minutes = Math.ceil((serverNow() - Date.parse(triggeredAt)) / 60_000) + BEFORE_MINUTES;
  // Rounded up, so that a page that stays open does not ask for a new window every minute.
  const windowMinutes = Math.min(Math.ceil(minutes / 15) * 15, WINDOW_MINUTES_MAX);
  const { data, error } = useQuery({
    ...actionQuery(org.orgId, 'services', 'query_metric', {
      serviceId: incident.serviceId,
      metricName,
      aggregation,
      windowMinutes,
    }),
    refetchInterval: incident.status === 'resolved' ? false : 30_000,
  });
  const series = useMemo(
    () => [
      {
        name: metricName,
        times: data?.points.map(({ at }) => Date.parse(at)) ?? [],
        values: data?.points.map(({ value }) => value) ?? [],
      },
    ],
    [data, metricName],
  );
  const markers = useMemo(
    (): ChartMarker[] => [
      { at: Date.parse(triggeredAt), label: 'Triggered', tone: 'red' },
      ...(resolvedAt === null ? [] : [{ at: Date.parse(resolvedAt), label: 'Resolved', tone: 'green' } as const]),
    ],
    [triggeredAt, resolvedAt],
  );
  if (error !== null) return <ErrorAlert error={error} title="The metric could not be loaded" />;
  if (data === undefined) return <Skeleton height="100%" />;
  return (
    <TimeChart
      label={metricName}
      series={series}
      from={Date.parse(data.from)}
      to={Date.parse(data.to)}
      stepMs={data.stepSeconds * 1_000}
      measure={measureOf(metricName, aggregation)}
      threshold={{ comparator, value: threshold }}
      markers={markers}
      whileLoading={<Skeleton height="100%" />}
    />
  );
}
