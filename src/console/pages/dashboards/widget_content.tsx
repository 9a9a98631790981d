import { useMemo } from 'react';

import type { ChartQuery } from '#console/api/charts.ts';
import type { ChartMarker } from '#console/components/time_chart/chart_series.ts';
import classes from '#console/pages/dashboards/dashboards.module.css';
import { NumberWidget, SeriesWidget, TableWidget } from '#console/pages/dashboards/metric_widgets.tsx';
import {
  ExceptionsWidget,
  IncidentsWidget,
  MonitorsWidget,
  OnCallWidget,
  TextWidget,
  UnknownWidget,
} from '#console/pages/dashboards/other_widgets.tsx';
import { type AnsweredChart, keyOfQuery } from '#console/pages/dashboards/use_chart_batch.ts';
import { titleOf } from '#modules/dashboards/decide/merge_layouts.ts';
import type { Widget } from '#modules/dashboards/decide/widget.ts';

interface WidgetContentProps {
  readonly widget: Widget;
  readonly dashboardServiceId: string | null;
  readonly queries: readonly ChartQuery[];
  readonly answers: ReadonlyMap<string, AnsweredChart>;
  /** Group of charts that share their cursor. */
  readonly group: string;
  readonly markers: readonly ChartMarker[];
  onRange(from: number, to: number): void;
}

/** Content of a widget, by its kind. */
export function WidgetContent(props: WidgetContentProps) {
  const { widget, dashboardServiceId, queries, answers, group, markers, onRange } = props;
  const queryAnswers = useMemo(() => queries.map((query) => answers.get(keyOfQuery(query))), [queries, answers]);
  const { kind } = widget;
  const title = titleOf(widget);
  switch (kind) {
    case 'series':
    case 'number':
    case 'table': {
      if (queries.length === 0) {
        return (
          <p className={classes.empty}>
            {widget.queries.length === 0
              ? 'No metric is chosen yet. Edit the widget to choose one.'
              : 'No service is chosen yet. Edit the widget to choose one.'}
          </p>
        );
      }
      const shown = { title, queries, answers: queryAnswers };
      if (kind === 'number') return <NumberWidget {...shown} />;
      if (kind === 'table') return <TableWidget {...shown} />;
      return (
        <SeriesWidget
          {...shown}
          look={widget.look}
          threshold={widget.threshold}
          group={group}
          markers={markers}
          onRange={onRange}
        />
      );
    }
    case 'text':
      return <TextWidget text={widget.text} />;
    case 'incidents':
      return <IncidentsWidget serviceId={widget.serviceId ?? dashboardServiceId} />;
    case 'exceptions':
      return <ExceptionsWidget serviceId={widget.serviceId ?? dashboardServiceId} />;
    case 'monitors':
      return <MonitorsWidget serviceId={widget.serviceId ?? dashboardServiceId} />;
    case 'oncall':
      return <OnCallWidget teamId={widget.teamId} />;
    case null:
      return <UnknownWidget widget={widget} />;
  }
}
