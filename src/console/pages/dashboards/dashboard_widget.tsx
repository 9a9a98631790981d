import { createContext, memo, useContext } from 'react';

import type { ChartQuery } from '#console/api/charts.ts';
import type { ChartMarker } from '#console/components/time_chart/chart_series.ts';
import type { AnsweredChart } from '#console/pages/dashboards/use_chart_batch.ts';
import { WidgetContent } from '#console/pages/dashboards/widget_content.tsx';
import { type WidgetChanges, WidgetFrame } from '#console/pages/dashboards/widget_frame.tsx';
import { titleOf } from '#modules/dashboards/decide/merge_layouts.ts';
import type { Widget } from '#modules/dashboards/decide/widget.ts';

/** Data shared by all widgets of a dashboard. It changes with each answer, while frames and grid stay as they are. */
interface DashboardData {
  readonly dashboardId: string;
  readonly serviceId: string | null;
  readonly queriesById: ReadonlyMap<string, readonly ChartQuery[]>;
  readonly answers: ReadonlyMap<string, AnsweredChart>;
  readonly markers: readonly ChartMarker[];
  onRange(from: number, to: number): void;
}

export const DashboardDataContext = createContext<DashboardData | null>(null);

interface DashboardWidgetProps {
  readonly widget: Widget;
  readonly isEditing: boolean;
  readonly changes: WidgetChanges;
}

/** A widget in its frame. */
export const DashboardWidget = memo(function DashboardWidget({ widget, isEditing, changes }: DashboardWidgetProps) {
  return (
    <WidgetFrame id={widget.id} title={titleOf(widget)} isEditing={isEditing} changes={changes}>
      <BareWidget widget={widget} />
    </WidgetFrame>
  );
});

const NO_QUERIES: readonly ChartQuery[] = [];

/** Content of a widget, without a frame. */
export function BareWidget({ widget }: { readonly widget: Widget }) {
  const data = useContext(DashboardDataContext);
  if (data === null) throw new Error('a widget is shown on a dashboard');
  const { dashboardId, serviceId, queriesById, answers, markers, onRange } = data;
  return (
    <WidgetContent
      widget={widget}
      dashboardServiceId={serviceId}
      queries={queriesById.get(widget.id) ?? NO_QUERIES}
      answers={answers}
      group={dashboardId}
      markers={markers}
      onRange={onRange}
    />
  );
}
