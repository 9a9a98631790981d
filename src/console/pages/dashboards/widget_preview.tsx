import { Skeleton } from '@mantine/core';
import { useDebouncedValue, useElementSize } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';

import { chartsQuery } from '#console/api/charts.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import type { TimeRange } from '#console/components/text/time_range.ts';
import classes from '#console/pages/dashboards/dashboards.module.css';
import layout from '#console/pages/rules/rule_editor.module.css';
import { chartQueriesOf, keyOfQuery } from '#console/pages/dashboards/use_chart_batch.ts';
import { WidgetContent } from '#console/pages/dashboards/widget_content.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import {
  isOfMetrics,
  readWidget,
  type VariableValues,
  type WidgetFacts,
  writeWidget,
} from '#modules/dashboards/decide/widget.ts';

/** Pause after a change, in milliseconds, after which the chart is asked for. */
const SETTLED_MS = 400;
const RANGE: TimeRange = { kind: 'last', minutes: 60 };

interface WidgetPreviewProps {
  readonly facts: WidgetFacts;
  /** Service of what names none. */
  readonly serviceId: string | null;
  readonly variables: VariableValues;
}

/** Shows a widget as it will look, its metrics over the last hour. */
export function WidgetPreview({ facts, serviceId, variables }: WidgetPreviewProps) {
  const { orgId } = useOrganization().org;
  const { ref, width } = useElementSize();
  const [settled] = useDebouncedValue(facts, SETTLED_MS);
  const widget = readWidget(writeWidget({}, 'preview', { ...settled, leadsTo: null }), 'preview');
  const queries = chartQueriesOf(widget, serviceId, width, variables);
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
    <section className={layout.side} style={{ top: '4rem' }} aria-label="Preview">
      <p className="dimmed small" style={{ margin: 0 }}>
        {isOfMetrics(widget.kind) ? 'Preview: the last hour' : 'Preview'}
      </p>
      <div className="stack" style={{ height: '16rem' }} ref={ref}>
        {error !== null ? (
          <ErrorAlert title="There is no preview" error={error} />
        ) : isOfMetrics(widget.kind) && queries.length === 0 ? (
          <p className={`${classes.empty} dimmed small`}>Choose a metric, and its last hour shows here.</p>
        ) : isOfMetrics(widget.kind) && data === undefined ? (
          <Skeleton height="100%" />
        ) : (
          <WidgetContent
            widget={widget}
            dashboardServiceId={serviceId}
            queries={queries}
            answers={answers}
            group="preview"
            markers={[]}
            onRange={() => {}}
          />
        )}
      </div>
    </section>
  );
}
