import { Alert, Button, Group, NativeSelect, Pill, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useMemo, useState } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import {
  baseOf,
  chartMarksQuery,
  chartsQuery,
  exemplarsQuery,
  keptIfSame,
  markersOf,
  measureOfResult,
  seriesOf,
  stepText,
} from '#console/api/charts.ts';
import { IconBellPlus, IconLayoutDashboard, IconTerminal2 } from '#console/icons.ts';
import { spacingSeconds } from '#modules/metrics/decide/spacing.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { Name } from '#console/components/text/name.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { TimeChart } from '#console/components/time_chart/time_chart.tsx';
import { betweenOf, type TimeRange } from '#console/components/text/time_range.ts';
import classes from '#console/pages/explore/explore.module.css';
import {
  type Comparison,
  COMPARISONS,
  isHeatmap,
  isHistogram,
  isSelector,
  metricNameOf,
  queriesOf,
} from '#console/pages/explore/explore_queries.ts';
import type { ExploreSearch } from '#console/pages/explore/explore_search.ts';
import { AggregationSelect } from '#console/pages/rules/aggregation_select.tsx';
import { LabelList, SelectorField } from '#console/pages/explore/label_list.tsx';
import { TraceList } from '#console/pages/explore/trace_list.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import {
  type Aggregation,
  aggregationName,
  askedOf,
  quantileChoices,
  quantileCondition,
  quantileName,
  shownOf,
} from '#modules/metrics/decide/aggregation.ts';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { measureOf, quantityText } from '#modules/metrics/decide/quantity.ts';

const AddToDashboard = lazyDialog(() =>
  import('#console/pages/explore/add_to_dashboard.tsx').then((m) => m.AddToDashboard),
);
const Heatmap = lazyPart(() => import('#console/components/time_chart/heatmap.tsx').then((m) => m.Heatmap));
const CopyCall = lazyDialog(() => import('#console/pages/explore/copy_call.tsx').then((m) => m.CopyCall));

interface MetricViewProps {
  readonly search: ExploreSearch;
  readonly range: TimeRange;
  readonly width: number;
  /** Called with a change of the search; `isStep` adds it to the browser's history. */
  onChange(change: Partial<ExploreSearch>, isStep?: boolean): void;
  onRange(range: TimeRange): void;
}

/** Chart of the chosen metric, with its settings and commands. */
export function MetricView({ search, range, width, onChange, onRange }: MetricViewProps) {
  const { org, may } = useOrganization();
  const { service = '', metric = '', where = [] } = search;
  const [open, setOpen] = useState<'dashboard' | 'call' | null>(null);
  const { data: entry } = useQuery({
    queryKey: [...topicKey(org.orgId, 'metrics'), 'describe_labels', service, metricNameOf(search)],
    queryFn: ({ signal }) =>
      invoke(org.orgId, 'describe_labels', { serviceId: service, metricName: metricNameOf(search) }, signal),
    placeholderData: keptIfSame(
      (key) => key.at(-2) === service && baseOf(String(key.at(-1))) === baseOf(metricNameOf(search)),
    ),
    retry: false,
  });
  const queries = queriesOf(search, width);
  const charts = useQuery(chartsQuery(org.orgId, range, queries));
  const { data, error, isPlaceholderData } = charts;
  const [first] = data?.results ?? [];
  const shown = search.agg ?? (first === undefined ? null : shownOf(first.aggregation, first.isRate));
  const { aggregation } = shown === null ? {} : askedOf(shown);
  const period = data === undefined ? null : { from: Date.parse(data.from), to: Date.parse(data.to) };
  const marks = useQuery({
    ...chartMarksQuery(org.orgId, period === null ? [] : [service], period?.from ?? 0, period?.to ?? 1),
    enabled: period !== null && may('oncall:view'),
  });
  const markers = useMemo(() => markersOf(marks.data), [marks.data]);
  const name = metric.split('{', 1)[0]?.trim() || metric;
  const series = useMemo(
    () =>
      data?.results.flatMap((result, index) => {
        const query = queries[index] ?? queries[0];
        return query === undefined ? [] : seriesOf(result, name, query, index > 0);
      }) ?? [],
    // The queries are those of the data.
    [data, name],
  );
  // A histogram that is named without its parts is shown by a quantile.
  const isFamily = first?.nearest.includes(`${metric}_bucket`) === true;
  const showQuantile = useEffectEvent(() => onChange({ where: [...where, quantileCondition()] }));
  useEffect(() => {
    if (isFamily) showQuantile();
  }, [isFamily]);
  const { data: exemplars } = useQuery({
    ...exemplarsQuery(org.orgId, { serviceId: service, metricName: metricNameOf(search) }, period),
    enabled: period !== null && first !== undefined && first.series.length > 0,
  });
  const traces = useMemo(
    () => ({
      dots: exemplars?.exemplars.map((exemplar) => ({ ...exemplar, at: Date.parse(exemplar.at) })) ?? [],
      isAtValue: showsObservations(metricNameOf(search), aggregation),
    }),
    [exemplars, search, aggregation],
  );
  const sentUnit = first?.unit ?? null;
  const measure =
    first === undefined
      ? measureOf(name, 'avg')
      : measureOfResult({ metricName: queries[0]?.metricName ?? name }, first);
  const hasCells = isHeatmap(search);
  const labels = entry?.labels ?? [];
  const kind = entry?.kind ?? null;
  const isRatio = divideExpression(metric).sides.length > 1;
  const quantile = where.find(({ label, operator }) => label === 'quantile' && operator === '=')?.value;
  // Of a summary, each quantile is a series, with a label that a histogram has not.
  const isOfBuckets = quantile !== undefined && labels.every(({ label }) => label !== 'quantile');
  const shownConditions = where.filter(({ label }) => label !== 'quantile' || !(hasCells || isOfBuckets));
  const perStep =
    first === undefined ? '' : stepText(spacingSeconds(first.series[0]?.steps ?? [], first.stepSeconds || 60));
  const steps =
    first?.rateSeconds != null
      ? `, each over ${durationText(first.rateSeconds * 1_000)}`
      : perStep !== '' && (aggregation === 'sum' || aggregation === 'count')
        ? ` ${perStep}`
        : '';
  return (
    <section className={`${classes.card} panel`} aria-label="Chart">
      <div className={`${classes.head} row wraps apart`}>
        <h2 className={`${classes.title} flush shrinks`}>
          <Name>{name}</Name>
        </h2>
        <Group gap="xs">
          {may('oncall:edit') && (
            <Button
              renderRoot={(props: object) => (
                <Link
                  to="/rules/new"
                  search={{ service, metric: metricNameOf(search), ...(aggregation && { aggregation }) }}
                  {...props}
                />
              )}
              variant="default"
              size="sm"
              leftSection={<IconBellPlus size={16} />}
            >
              Create a rule
            </Button>
          )}
          <Button variant="default" size="sm" leftSection={<IconTerminal2 size={16} />} onClick={() => setOpen('call')}>
            Copy as API request
          </Button>
          {may('dashboards:edit') && (
            <Button
              variant="default"
              size="sm"
              leftSection={<IconLayoutDashboard size={16} />}
              onClick={() => setOpen('dashboard')}
            >
              Add to a dashboard
            </Button>
          )}
        </Group>
      </div>
      <div className={classes.controls}>
        {isHistogram(search) && (
          <NativeSelect
            label="Drawn as"
            value={hasCells ? 'heatmap' : 'lines'}
            data={[
              { value: 'lines', label: 'Lines' },
              { value: 'heatmap', label: 'Heatmap' },
            ]}
            onChange={(event) => onChange({ heatmap: event.currentTarget.value === 'heatmap' ? true : undefined })}
          />
        )}
        {!hasCells && (
          <>
            {!isOfBuckets && (
              <AggregationSelect kind={kind} hasRate={!isRatio} shown={shown} onChange={(agg) => onChange({ agg })} />
            )}
            {quantile !== undefined && (
              <NativeSelect
                label="Quantile"
                value={quantile}
                data={quantileChoices(quantile)}
                onChange={(event) => {
                  const chosen = quantileCondition(event.currentTarget.value);
                  onChange({ where: where.map((matcher) => (matcher.label === 'quantile' ? chosen : matcher)) });
                }}
              />
            )}
            <NativeSelect
              label="Split by"
              value={search.split ?? ''}
              data={[{ value: '', label: 'Nothing' }, ...splitOptions(labels, search.split)]}
              onChange={(event) => onChange({ split: event.currentTarget.value || undefined })}
            />
            {search.split !== undefined && (
              <NativeSelect
                label="Values"
                value={String(search.top ?? 5)}
                data={['3', '5', '10', '20'].map((value) => ({ value, label: `Top ${value}` }))}
                onChange={(event) => onChange({ top: Number(event.currentTarget.value) })}
              />
            )}
            <NativeSelect
              label="Compare with"
              value={search.compare ?? ''}
              data={[
                { value: '', label: 'Nothing' },
                { value: 'day', label: 'Day before' },
                { value: 'week', label: 'Week before' },
              ]}
              onChange={(event) => {
                const { value } = event.currentTarget;
                onChange({ compare: value in COMPARISONS ? (value as Comparison) : undefined });
              }}
            />
          </>
        )}
      </div>
      {isSelector(metric) ? (
        <SelectorField key={metric} selector={metric} onChange={(next) => onChange({ metric: next }, true)} />
      ) : (
        shownConditions.length > 0 && (
          <Pill.Group className={classes.filters}>
            {shownConditions.map((condition) => (
              <Pill
                key={`${condition.label}${condition.operator}${condition.value}`}
                withRemoveButton
                removeButtonProps={{
                  'aria-label': `Remove the filter ${condition.label}`,
                  tabIndex: 0,
                  'aria-hidden': false,
                }}
                onRemove={() => {
                  const left = where.filter((other) => other !== condition);
                  onChange({ where: left.length > 0 ? left : undefined }, true);
                }}
              >
                {condition.label} {condition.operator} {condition.value === '' ? 'nothing' : condition.value}
              </Pill>
            ))}
          </Pill.Group>
        )
      )}
      {error !== null && <ErrorAlert error={error} onRetry={() => void charts.refetch()} />}
      {!isPlaceholderData && first?.fault != null && (
        <Alert color="red" variant="light" title="This could not be shown" role="alert">
          {first.fault}
        </Alert>
      )}
      {!isPlaceholderData && first?.fault === null && first.series.length === 0 && (
        <NoPoints
          nearest={first.nearest}
          name={name}
          onChoose={(next) => onChange({ metric: next, where: undefined }, true)}
        />
      )}
      <div className={`${classes.about} dimmed tiny`}>
        {hasCells
          ? `Observations by their size${first === undefined ? '' : `, ${stepText(first.stepSeconds)}`}`
          : isOfBuckets
            ? `${quantileName(quantile)} of the observations are at most this${perStep && `, ${perStep}`}`
            : shown === null
              ? ' '
              : `${aggregationName(shown, kind)}${steps}`}
        {first?.isReduced === true && '; the lowest and the highest value of each pixel are shown'}
      </div>
      <div className={classes.chart} aria-busy={isPlaceholderData}>
        {period === null ? (
          error === null && <Skeleton height="100%" />
        ) : hasCells ? (
          !isPlaceholderData &&
          first !== undefined && (
            <Heatmap
              label={name}
              result={first}
              from={period.from}
              to={period.to}
              measure={measureOf(name.replace(/_bucket$/, ''), 'avg', sentUnit)}
              markers={markers}
              onRange={(from, to) => onRange(betweenOf(from, to))}
              whileLoading={<Skeleton height="100%" />}
            />
          )
        ) : (
          <TimeChart
            label={name}
            series={series}
            from={period.from}
            to={period.to}
            stepMs={(first?.stepSeconds ?? 60) * 1_000}
            measure={measure}
            markers={markers}
            onRange={(from, to) => onRange(betweenOf(from, to))}
            traces={traces}
          />
        )}
      </div>
      <TraceList
        exemplars={exemplars?.exemplars ?? []}
        valueText={(value) => quantityText(value, measureOf(name, 'avg', sentUnit))}
      />
      <LabelList
        serviceId={service}
        search={search}
        labels={labels}
        labelCount={entry?.labelCount ?? 0}
        seriesCount={entry?.seriesCount ?? null}
        onSplit={(label) => onChange({ split: label }, true)}
        onFilter={
          isSelector(metric)
            ? null
            : (condition) =>
                onChange({ where: [...where.filter(({ label }) => label !== condition.label), condition] }, true)
        }
      />
      {open === 'dashboard' && <AddToDashboard search={search} shown={shown} onClose={() => setOpen(null)} />}
      {open === 'call' && (
        <CopyCall search={search} aggregation={aggregation} range={range} onClose={() => setOpen(null)} />
      )}
    </section>
  );
}

/** Whether the axis shows observed values, and not how often or how much in all. */
function showsObservations(metricName: string, aggregation: Aggregation | undefined): boolean {
  if (/\{.*\bquantile\s*=/.test(metricName)) return true;
  const isMany = /_(?:bucket|count|sum|total)$/.test(metricName.split('{', 1)[0]?.trim() ?? '');
  return !isMany && aggregation !== 'sum' && aggregation !== 'count';
}

function splitOptions(
  labels: readonly { readonly label: string; readonly valueCount: number }[],
  chosen: string | undefined,
) {
  const labelOptions = labels.map(({ label, valueCount }) => ({ value: label, label: `${label} (${valueCount})` }));
  const isMissing = chosen !== undefined && labels.every(({ label }) => label !== chosen);
  return isMissing ? [{ value: chosen, label: chosen }, ...labelOptions] : labelOptions;
}

interface NoPointsProps {
  readonly name: string;
  readonly nearest: readonly string[];
  onChoose(metric: string): void;
}

function NoPoints({ name, nearest, onChoose }: NoPointsProps) {
  if (nearest.length === 0)
    return <p className={`${classes.none} dimmed small`}>No points of {name} in this period.</p>;
  return (
    <p className={`${classes.none} dimmed small`}>
      This service has sent no metric called {name}. Did you mean{' '}
      {nearest.map((near, index) => (
        <span key={near}>
          {index > 0 && ' or '}
          <TextButton onClick={() => onChoose(near)}>{near}</TextButton>
        </span>
      ))}
      ?
    </p>
  );
}
