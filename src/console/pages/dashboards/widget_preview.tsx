import { Skeleton } from '@mantine/core';
import { useDebouncedValue, useElementSize } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';

import { chartsQuery } from '#console/api/charts.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import type { TimeRange } from '#console/components/text/time_range.ts';
import classes from '#console/pages/dashboards/dashboards.module.css';
import { chartQueriesOf, keyOfQuery } from '#console/pages/dashboards/use_chart_batch.ts';
import { WidgetContent } from '#console/pages/dashboards/widget_content.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { readWidget, type WidgetFacts, writeWidget } from '#modules/dashboards/decide/widget.ts';

/** Pause after a change, in milliseconds, after which the chart is asked for. */
const SETTLED_MS = 400;
const RANGE: TimeRange = { kind: 'last', minutes: 60 };

interface WidgetPreviewProps {
  readonly facts: WidgetFacts;
  readonly dashboardServiceId: string | null;
}

/** Shows a widget of metrics as it will look, over the last hour. */
export function WidgetPreview({ facts, dashboardServiceId }: WidgetPreviewProps) {
  const { orgId } = useOrganization().org;
  const { ref, width } = useElementSize();
  const [settled] = useDebouncedValue(facts, SETTLED_MS);
  const widget = readWidget(writeWidget({}, 'preview', { ...settled, leadsTo: null }), 'preview');
  const queries = chartQueriesOf(widget, dashboardServiceId, width);
  const { data, error } = useQuery({
    ...chartsQuery(orgId, RANGE, queries),
    enabled: queries.length > 0 && width > 0,
    retry: false,
  });
  const period = data && { from: Date.parse(data.from), to: Date.parse(data.to) };
  const answers = new Map(
    queries.flatMap((query, index) => {
      const result = data?.results[index];
      return result === undefined || period === undefined ? [] : [[keyOfQuery(query), { result, ...period }] as const];
    }),
  );
  return (
    <section className={`${classes.preview} stack`} ref={ref} aria-label="Preview of the last hour">
      {error !== null ? (
        <ErrorAlert title="There is no preview" error={error} />
      ) : queries.length === 0 ? (
        <p className={`${classes.empty} dimmed small`}>Choose a metric, and its last hour shows here.</p>
      ) : data === undefined ? (
        <Skeleton height="100%" />
      ) : (
        <WidgetContent
          widget={widget}
          dashboardServiceId={dashboardServiceId}
          queries={queries}
          answers={answers}
          group="preview"
          markers={[]}
          onRange={() => {}}
        />
      )}
    </section>
  );
}
