import { Alert, Skeleton } from '@mantine/core';
import { memo, useMemo } from 'react';

import { type ChartQuery, measureOfResult, seriesOf, stepText } from '#console/api/charts.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import type { ChartMarker, ChartSeries } from '#console/components/time_chart/chart_series.ts';
import { Sparkline } from '#console/components/time_chart/sparkline.tsx';
import { TimeChart } from '#console/components/time_chart/time_chart.tsx';
import { type AnsweredChart, keyOfQuery } from '#console/pages/dashboards/use_chart_batch.ts';
import { titleOf } from '#modules/dashboards/decide/layout_changes.ts';
import type { ChartLook, Widget } from '#modules/dashboards/decide/widget.ts';
import { AGGREGATION_NOUNS } from '#modules/metrics/decide/aggregation.ts';
import { type Measure, measureOf, quantityText, type Unit } from '#modules/metrics/decide/quantity.ts';
import { spacingSeconds } from '#modules/metrics/decide/spacing.ts';
import classes from '#console/pages/dashboards/dashboards.module.css';

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

const loadOthers = () => import('#console/pages/dashboards/other_widgets.tsx');
const ExceptionsWidget = lazyPart(() => loadOthers().then((m) => m.ExceptionsWidget));
const IncidentsWidget = lazyPart(() => loadOthers().then((m) => m.IncidentsWidget));
const MonitorsWidget = lazyPart(() => loadOthers().then((m) => m.MonitorsWidget));
const OnCallWidget = lazyPart(() => loadOthers().then((m) => m.OnCallWidget));
const TableOfSeries = lazyPart(() => loadOthers().then((m) => m.TableOfSeries));
const TextWidget = lazyPart(() => loadOthers().then((m) => m.TextWidget));
const UnknownWidget = lazyPart(() => loadOthers().then((m) => m.UnknownWidget));
const Heatmap = lazyPart(() => import('#console/components/time_chart/heatmap.tsx').then((m) => m.Heatmap));
const Gauge = lazyPart(() => import('#console/pages/dashboards/gauge.tsx').then((m) => m.Gauge));

export function WidgetContent(props: WidgetContentProps) {
  const { widget, dashboardServiceId, queries, answers, group, markers, onRange } = props;
  const queryAnswers = useMemo(() => queries.map((query) => answers.get(keyOfQuery(query))), [queries, answers]);
  const { kind } = widget;
  const title = titleOf(widget);
  switch (kind) {
    case 'series':
    case 'number':
    case 'heatmap':
    case 'table': {
      if (queries.length === 0) {
        return (
          <p className={`${classes.empty} dimmed small`}>
            {widget.queries.length === 0
              ? 'No metric is chosen yet. Edit the widget to choose one.'
              : 'No service is chosen yet. Choose one above.'}
          </p>
        );
      }
      const shown = { title, queries, answers: queryAnswers, unit: widget.unit };
      if (kind === 'number') return <NumberWidget {...shown} threshold={widget.threshold} />;
      if (kind === 'table') {
        return <TableWidget {...shown} leadsTo={widget.leadsTo} serviceId={dashboardServiceId} />;
      }
      if (kind === 'heatmap') return <HeatmapWidget {...shown} group={group} markers={markers} onRange={onRange} />;
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

interface MetricWidgetProps {
  readonly title: string;
  readonly queries: readonly ChartQuery[];
  /** Answers, one for each query; undefined until it has arrived. */
  readonly answers: readonly (AnsweredChart | undefined)[];
  /** Unit that somebody has chosen; null for the one that names tell. */
  readonly unit: Unit | null;
}

interface SeriesWidgetProps extends MetricWidgetProps {
  readonly group: string;
  readonly look: ChartLook;
  readonly threshold: number | null;
  readonly markers: readonly ChartMarker[];
  onRange(from: number, to: number): void;
}

/** Widget of lines over time. */
const SeriesWidget = memo(function SeriesWidget(props: SeriesWidgetProps) {
  const { title, queries, answers, unit, group, look, threshold, markers, onRange } = props;
  const series = useAllSeries(queries, answers);
  const [first] = answers;
  if (first === undefined) return <Skeleton height="100%" />;
  return (
    <div className={`${classes.chart} stack`}>
      <Faults answers={answers} queries={queries} />
      <TimeChart
        label={title}
        series={series}
        from={first.from}
        to={first.to}
        stepMs={(first.result.stepSeconds || 60) * 1_000}
        measure={commonMeasure(queries, answers, unit)}
        markers={markers}
        onRange={onRange}
        group={group}
        look={look}
        threshold={threshold === null ? undefined : { value: threshold }}
      />
    </div>
  );
}, isSameWidget);

/** Widget of a histogram over time. */
const HeatmapWidget = memo(function HeatmapWidget(props: Omit<SeriesWidgetProps, 'look' | 'threshold'>) {
  const { title, queries, answers, unit, group, markers, onRange } = props;
  const [first] = answers;
  if (first === undefined) return <Skeleton height="100%" />;
  const name =
    queries[0]?.metricName
      .split('{', 1)[0]
      ?.trim()
      .replace(/_bucket$/, '') ?? '';
  return (
    <div className={`${classes.chart} stack`}>
      <Faults answers={answers} queries={queries} />
      <Heatmap
        label={title}
        result={first.result}
        from={first.from}
        to={first.to}
        measure={unit === null ? measureOf(name, 'avg', first.result.unit) : { unit, factor: 1 }}
        markers={markers}
        onRange={onRange}
        group={group}
        whileLoading={<Skeleton height="100%" />}
      />
    </div>
  );
}, isSameWidget);

interface NumberWidgetProps extends MetricWidgetProps {
  readonly threshold: number | null;
}

/** Widget of the newest value, large, above its past. */
const NumberWidget = memo(function NumberWidget({ title, queries, answers, unit, threshold }: NumberWidgetProps) {
  const [query] = queries;
  const [answer] = answers;
  if (answer === undefined || query === undefined) return <Skeleton height="100%" />;
  const [series] = answer.result.series;
  const value = series?.values.at(-1);
  const isOpen = series !== undefined && series.moreThan.includes(series.values.length - 1);
  const measure = commonMeasure(queries, answers, unit);
  const { aggregation, isRate, stepSeconds } = answer.result;
  const isPerStep = !isRate && (aggregation === 'sum' || aggregation === 'count');
  return (
    <div className={`${classes.number} stack apart`}>
      <Faults answers={answers} queries={queries} />
      <div className={`${classes.figure} ellipsis numbers`}>
        {isOpen && <span className={`${classes.per} dimmed small regular`}>more than </span>}
        {value === undefined ? 'No data' : quantityText(value, measure)}
        {series !== undefined && value !== undefined && isPerStep && (
          <span className={`${classes.per} dimmed small regular`}>
            {' '}
            {stepText(spacingSeconds(series.steps, stepSeconds))}
          </span>
        )}
      </div>
      {series !== undefined && value !== undefined && threshold !== null && (
        <Gauge
          label={title}
          value={value}
          threshold={threshold}
          highest={series.values.reduce((a, b) => Math.max(a, b))}
          measure={measure}
        />
      )}
      {series !== undefined && (
        <Sparkline
          steps={series.steps}
          values={series.values}
          length={(answer.to - answer.from) / 1_000 / (stepSeconds || 1)}
          label={`The course of ${title}`}
          isWide
        />
      )}
    </div>
  );
}, isSameWidget);

interface TableWidgetProps extends MetricWidgetProps {
  readonly leadsTo: string | null;
  readonly serviceId: string | null;
}

/** Widget of the newest value of each line, the greatest first. */
const TableWidget = memo(function TableWidget(props: TableWidgetProps) {
  const { title, queries, answers, unit, leadsTo, serviceId } = props;
  const series = useAllSeries(queries, answers);
  if (answers[0] === undefined) return <Skeleton height="100%" />;
  const parts = answers.flatMap(
    (answer, index) =>
      answer?.result.series.map(({ value, isOther }) => ({ label: queries[index]?.splitBy, value, isOther })) ?? [],
  );
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={`Table: ${title}`}>
      <Faults answers={answers} queries={queries} />
      <TableOfSeries
        series={series}
        parts={parts}
        measure={commonMeasure(queries, answers, unit)}
        leadsTo={leadsTo}
        serviceId={serviceId}
      />
    </div>
  );
}, isSameWidget);

/** Returns the lines of all queries; if a metric is queried twice, its lines have their aggregation in their names. */
function useAllSeries(queries: readonly ChartQuery[], answers: readonly (AnsweredChart | undefined)[]): ChartSeries[] {
  return useMemo(() => {
    const names = new Set<string>();
    return answers.flatMap((answer, index) => {
      const query = queries[index];
      if (answer === undefined || query === undefined) return [];
      return seriesOf(answer.result, query.metricName, query).map((line) => {
        const of = `${AGGREGATION_NOUNS[answer.result.aggregation]} of ${query.metricName}`;
        const name = names.has(line.name) ? `${line.name} (${of})` : line.name;
        names.add(name);
        return { ...line, name };
      });
    });
  }, [queries, answers]);
}

/** Returns the measure of the first query: a widget has one axis. */
function commonMeasure(
  [query]: readonly ChartQuery[],
  [answer]: readonly (AnsweredChart | undefined)[],
  unit: Unit | null,
): Measure {
  if (unit !== null) return { unit, factor: 1, ...(answer?.result.isRate === true && { isRate: true }) };
  return query === undefined || answer === undefined ? measureOf('', 'avg') : measureOfResult(query, answer.result);
}

function Faults({ answers, queries }: Pick<MetricWidgetProps, 'answers' | 'queries'>) {
  const faults = answers.flatMap((answer, index) => {
    const name = queries[index]?.metricName ?? '';
    if (answer === undefined) return [];
    const { fault, nearest } = answer.result;
    if (fault !== null) return [`${name}: ${fault}.`];
    return nearest.length > 0 ? [`Nothing has arrived as ${name}. Did you mean ${nearest.join(' or ')}?`] : [];
  });
  return faults.map((fault) => (
    <Alert key={fault} color="red" variant="light" p="xs" role="alert">
      {fault}
    </Alert>
  ));
}

/**
 * Whether a widget is unchanged. Its answers and queries are new lists of the same items each time another widget is
 * answered, or moved.
 */
function isSameWidget(before: MetricWidgetProps, next: MetricWidgetProps): boolean {
  const { answers: a, queries: q, ...others } = before;
  const { answers: b, queries: r, ...nextOthers } = next;
  return (
    (Object.keys(others) as (keyof typeof others)[]).every((name) => others[name] === nextOthers[name]) &&
    a.length === b.length &&
    a.every((answer, index) => answer === b[index]) &&
    q.every((query, index) => {
      const other = r[index];
      return query === other || (other !== undefined && keyOfQuery(query) === keyOfQuery(other));
    })
  );
}
