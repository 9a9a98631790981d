import { Button, SegmentedControl, Skeleton, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';

import type { ResultOf } from '#console/api/actions.ts';
import { metricListQuery } from '#console/api/charts.ts';
import { IconSearch } from '#console/icons.ts';
import { spacingSeconds } from '#modules/metrics/decide/spacing.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { coarseDurationText } from '#console/components/text/time_text.ts';
import { Sparkline } from '#console/components/time_chart/sparkline.tsx';
import { useNow } from '#console/components/text/timestamp.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import classes from '#console/pages/explore/explore.module.css';
import { type ChosenMetric, isSelector } from '#console/pages/explore/explore_queries.ts';
import type { ExploreSearch } from '#console/pages/explore/explore_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { QUANTILES, quantileName } from '#modules/metrics/decide/aggregation.ts';
import { measureOf, measureOfRate, quantityText } from '#modules/metrics/decide/quantity.ts';

type MetricEntry = ResultOf<'describe_metrics'>['metrics'][number];

/** Time that a pointer rests before what is under it is prefetched, in milliseconds. */
const REST_MS = 60;
const PREVIEW_SECONDS = 3_600;

interface MetricListProps {
  readonly serviceId: string;
  readonly search: ExploreSearch;
  onSearch(change: Pick<ExploreSearch, 'q' | 'order'>): void;
  onChoose(chosen: ChosenMetric): void;
  /** Called when the pointer or the focus rests on a metric, or it is being pressed. */
  onIntend(chosen: ChosenMetric): void;
}

/** List of the metrics of a service with their last hour, page by page. */
export function MetricList({ serviceId, search, onSearch, onChoose, onIntend }: MetricListProps) {
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState(search.q ?? '');
  const text = useDebounced(typed.trim());
  const sort: 'name' | 'series' = search.order ?? 'name';
  const wanted = { serviceId, sort, ...(text !== '' && !isSelector(text) && { text: text.slice(0, 200) }) };
  const list = useInfiniteQuery(metricListQuery(orgId, wanted));
  const { error, refetch } = list;
  // The list still shown while the next one loads says nothing about the next one.
  const isOfOther = list.isPlaceholderData && list.data.pages[0]?.total === 0;
  const data = isOfOther ? undefined : list.data;
  const metrics = data?.pages.flatMap((page) => page.metrics) ?? [];
  const { total = 0, nearest = [] } = data?.pages[0] ?? {};
  /** Whether Enter was pressed: the first metric is opened, now or when the list for the typed text has arrived. */
  const isAwaited = useRef(false);
  const words = typed.trim();
  const isOfWords = words === text && data !== undefined && !list.isPlaceholderData;
  const chooseAwaited = (): void => {
    if (!isAwaited.current || !(isOfWords || isSelector(words))) return;
    isAwaited.current = false;
    const [first] = metrics;
    if (isSelector(words)) onChoose({ metric: words });
    else if (first !== undefined && words !== '') onChoose(chosenOf(first));
  };
  const onAnswered = useEffectEvent(chooseAwaited);
  useEffect(() => {
    if (isOfWords) onAnswered();
  }, [isOfWords]);
  return (
    <>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          isAwaited.current = true;
          chooseAwaited();
        }}
      >
        <TextInput
          aria-label="Search metrics"
          placeholder="Search metrics"
          leftSection={<IconSearch size={16} />}
          value={typed}
          onChange={(event) => {
            const { value } = event.currentTarget;
            isAwaited.current = false;
            setTyped(value);
            onSearch({ q: value.trim() === '' ? undefined : value.trim() });
          }}
        />
        {isSelector(text) && (
          <Button type="submit" mt="xs" variant="light" fullWidth>
            Show exactly this
          </Button>
        )}
      </form>
      <div className="row spaced apart">
        <span className="dimmed small numbers">
          {data === undefined ? ' ' : `${total.toLocaleString('en')} ${total === 1 ? 'metric' : 'metrics'}`}
        </span>
        <SegmentedControl
          size="xs"
          aria-label="Order"
          data={[
            { value: 'name', label: 'By name' },
            { value: 'series', label: 'Most series' },
          ]}
          value={sort}
          onChange={(value) => onSearch({ order: value === 'series' ? 'series' : undefined })}
        />
      </div>
      {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeletons />}
      {data !== undefined && total === 0 && (
        <p className={`${classes.none} dimmed small`}>
          {text === '' ? 'This service has sent no metrics yet.' : 'No metric matches these words.'}
          {nearest.length > 0 && (
            <>
              {' '}
              Did you mean{' '}
              {nearest.map((name, index) => (
                <span key={name}>
                  {index > 0 && ' or '}
                  <TextButton onClick={() => onChoose({ metric: name })}>{name}</TextButton>
                </span>
              ))}
              ?
            </>
          )}
        </p>
      )}
      <ul className={`${classes.metrics} plain-list`} aria-busy={list.isPlaceholderData}>
        {metrics.map((metric) => (
          <MetricRow
            key={`${metric.metricName} ${metric.isHistogram}`}
            metric={metric}
            isChosen={metric.metricName === search.metric}
            onChoose={onChoose}
            onIntend={onIntend}
          />
        ))}
      </ul>
      <LoadMore list={list} />
    </>
  );
}

interface MetricRowProps {
  readonly metric: MetricEntry;
  readonly isChosen: boolean;
  onChoose(chosen: ChosenMetric): void;
  onIntend(chosen: ChosenMetric): void;
}

/** Returns what is shown first of a metric. */
function chosenOf({ metricName: metric, isHistogram }: MetricEntry): ChosenMetric {
  return isHistogram ? { metric, quantile: '0.95' } : { metric };
}

/** Whether it is a unit, and not a number of things: UCUM writes 1 for those, or their name in braces, such as {request}. */
const isUnit = (unitName: string): boolean => unitName !== '1' && unitName !== 'ratio' && !unitName.startsWith('{');

function MetricRow({ metric, isChosen, onChoose, onIntend }: MetricRowProps) {
  const { metricName, aggregation, seriesCount, lastAt, lastValue, stepSeconds, preview, unitName } = metric;
  const now = useNow(60);
  const resting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const intend = (): void => onIntend(chosenOf(metric));
  const rest = (): void => {
    clearTimeout(resting.current);
    resting.current = setTimeout(intend, REST_MS);
  };
  const leave = (): void => clearTimeout(resting.current);
  const { isHistogram } = metric;
  const seconds = aggregation === 'sum' ? spacingSeconds(preview?.steps ?? [], stepSeconds) : null;
  const value =
    lastValue === null
      ? null
      : seconds === null
        ? quantityText(lastValue, measureOf(metricName, aggregation, unitName))
        : quantityText(lastValue / seconds, measureOfRate(metricName, unitName));
  const age = now - Date.parse(lastAt);
  const what = metric.type ?? metric.kind;
  return (
    <li data-row={metricName}>
      <button
        type="button"
        data-row-link
        className={`${classes.metric} row`}
        aria-current={isChosen || undefined}
        onClick={() => onChoose(chosenOf(metric))}
        onPointerEnter={rest}
        onPointerDown={intend}
        onPointerLeave={leave}
        onFocus={rest}
        onBlur={leave}
      >
        <span className="grow">
          <bdi className={`${classes.metricName} ellipsis small strong`} title={metricName}>
            {metricName}
          </bdi>
          <span className={`${classes.facts} dimmed tiny numbers`}>
            {seriesCount === 1 ? '1 series' : `${seriesCount.toLocaleString('en')} series`}
            {what !== null && `, ${what}`}
            {unitName !== null && isUnit(unitName) && ` in ${unitName}`}
            {age > 3_600_000 && `, no data for ${coarseDurationText(age)}`}
          </span>
        </span>
        {preview === null && value !== null && (
          <span className={`${classes.preview} stack rigid`}>
            <span className="tiny numbers">{value}</span>
          </span>
        )}
        {preview !== null && preview.values.length > 0 && (
          <span className={`${classes.preview} stack rigid`}>
            <Sparkline
              steps={preview.steps}
              values={preview.values}
              length={PREVIEW_SECONDS / stepSeconds}
              label="The last hour"
            />
            <span className="tiny numbers">{value}</span>
          </span>
        )}
      </button>
      {isHistogram && (
        <span className={`${classes.quantiles} wraps tiny`} role="group" aria-label={`Of ${metricName}`}>
          {QUANTILES.map((quantile) => (
            <TextButton key={quantile} onClick={() => onChoose({ metric: metricName, quantile })}>
              {quantileName(quantile)}
            </TextButton>
          ))}
          <TextButton onClick={() => onChoose({ metric: `${metricName}_count` })}>count</TextButton>
          <TextButton onClick={() => onChoose({ metric: `${metricName}_sum` })}>sum</TextButton>
        </span>
      )}
    </li>
  );
}

function Skeletons() {
  return Array.from({ length: 8 }, (_, index) => <Skeleton key={index} height={52} mb={1} />);
}
