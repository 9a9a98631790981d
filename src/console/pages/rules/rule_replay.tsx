import { SegmentedControl, Skeleton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { isApiError } from '#console/api/http.ts';
import { actionQuery } from '#console/api/actions.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { durationText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import type { ChartBand, ChartSeries } from '#console/components/time_chart/chart_series.ts';
import { TimeChart } from '#console/components/time_chart/time_chart.tsx';
import { ofValuesText, type Replay, RuleCost, useReplay } from '#console/pages/rules/rule_cost.tsx';
import { settingsOfKind } from '#console/pages/rules/settings/setting_values.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { AGGREGATION_NOUNS } from '#modules/metrics/decide/aggregation.ts';
import { measureOf } from '#modules/metrics/decide/quantity.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import {
  type ReplayedIncident,
  replayRule,
  type RuleHistory,
  windowForInterval,
} from '#modules/rules/decide/replay.ts';
import type { RuleSettings } from '#modules/rules/decide/rule_settings.ts';
import classes from '#console/pages/rules/rule_replay.module.css';

const DAYS = [1, 7, 14, 30] as const;
/** Pause in typing and dragging, in milliseconds, after which the server is asked. */
const SETTLED_MS = 400;

interface RuleReplayProps {
  readonly title?: string;
  readonly serviceId: string;
  readonly ruleId?: string | undefined;
  /** Condition of the rule; its threshold is NaN while there is none. */
  readonly rule: MetricThreshold;
  readonly settings: RuleSettings;
  readonly escalationPolicyId: string | null;
  /** Called with a new threshold; makes the threshold a slider. */
  readonly onThreshold?: (threshold: number) => void;
}

/**
 * Replay of a metric rule: its measurements, and the incidents it would have opened. It runs the server's own
 * evaluation in the browser, so that it follows the threshold while it is dragged; their cost is requested once the
 * threshold rests.
 */
export function RuleReplay(props: RuleReplayProps) {
  const {
    title = 'What it would have done',
    serviceId,
    ruleId,
    rule,
    settings,
    escalationPolicyId,
    onThreshold,
  } = props;
  const { orgId } = useOrganization().org;
  const [days, setDays] = useState<number>(7);
  const { metricName, aggregation, windowMinutes } = rule;
  const { comparator, threshold } = rule;
  const { shortWindowMinutes, trafficAtLeast, byLabel } = settings;
  const [wanted] = useDebouncedValue({ serviceId, metricName, aggregation, windowMinutes, days }, SETTLED_MS);
  const [condition] = useDebouncedValue(
    { comparator, settings: { shortWindowMinutes, trafficAtLeast, byLabel } },
    SETTLED_MS,
  );
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...actionQuery(orgId, 'rules', 'read_rule_history', { ...wanted, ...condition }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const history = useMemo(() => data && historyOf(data), [data]);
  const whose = byLabel === null ? '' : `, the worst ${byLabel} of ${data?.valueCount ?? 0}`;
  const series = useMemo(
    () =>
      history === undefined
        ? []
        : [seriesOfHistory(history, `${AGGREGATION_NOUNS[aggregation]} over ${windowMinutes} min${whose}`)],
    [history, aggregation, windowMinutes, whose],
  );
  const hasThreshold = Number.isFinite(threshold);
  const ofAll = useMemo(
    () =>
      history === undefined || byLabel !== null || !Number.isFinite(threshold)
        ? []
        : replayRule({ comparator, threshold, windowMinutes, settings }, history),
    [history, byLabel, comparator, threshold, windowMinutes, settings],
  );
  const isStale = isPlaceholderData || wanted.metricName !== metricName || wanted.windowMinutes !== windowMinutes;
  const asked = {
    ...wanted,
    ...(ruleId !== undefined && { ruleId }),
    comparator,
    threshold,
    escalationPolicyId,
    settings: settingsOfKind('metric_threshold', settings),
  };
  // What each value of a label has measured stays on the server.
  const byValue = useReplay(asked, {
    isWanted: byLabel !== null && hasThreshold && data !== undefined,
    isSettled: !isStale,
  });
  const incidents = byLabel === null ? ofAll : byValue.incidents;
  return (
    <section className={`${classes.replay} panel`} aria-label={title}>
      <div className={`${classes.head} row wraps spaced apart`}>
        <h2 className="grow">{title}</h2>
        {ruleId !== undefined && (
          <Link to="/explore" search={{ service: serviceId, metric: metricName, agg: aggregation }}>
            In Metrics
          </Link>
        )}
        <SegmentedControl
          size="xs"
          aria-label="Days"
          value={String(days)}
          onChange={(value) => setDays(Number(value))}
          data={DAYS.map((value) => ({ value: String(value), label: value === 1 ? '1 day' : `${value} days` }))}
        />
      </div>
      <div className={classes.chart} aria-busy={isStale && data !== undefined}>
        {error !== null && data === undefined && (
          <ErrorAlert
            error={error}
            title="The chart could not be shown"
            // The same request would fail again.
            {...(!isApiError(error, 400) && { onRetry: () => void refetch() })}
          />
        )}
        {data === undefined && error === null && <Skeleton height="100%" radius="md" />}
        {history !== undefined && (
          <TimeChart
            label={metricName}
            series={series}
            from={history.firstMs}
            to={lastMsOf(history)}
            stepMs={history.stepMs}
            measure={measureOf(metricName, aggregation)}
            threshold={hasThreshold ? { comparator, value: threshold } : undefined}
            onThreshold={hasThreshold ? onThreshold : undefined}
            bands={bandsOf(incidents, lastMsOf(history))}
          />
        )}
      </div>
      {byLabel !== null && data?.valueCount === 0 && data.values.some((value) => value !== null) && (
        <p role="status">
          No series has the label {isolateBidi(byLabel)}, so all of them share one incident: choose a label that they
          have.
        </p>
      )}
      {history !== undefined && (
        <Outcome
          history={history}
          incidents={incidents}
          labelled={byLabel === null ? null : { label: byLabel, ...byValue }}
          hasThreshold={hasThreshold}
          days={wanted.days}
          windowMinutes={wanted.windowMinutes}
        >
          {hasThreshold && <RuleCost input={asked} isSettled={!isStale} hasIncidents={incidents.length > 0} />}
        </Outcome>
      )}
    </section>
  );
}

function historyOf({
  firstAt,
  stepSeconds,
  values,
  moreThan,
}: {
  readonly firstAt: string;
  readonly stepSeconds: number;
  readonly values: readonly (number | null)[];
  readonly moreThan: readonly number[];
}): RuleHistory {
  return { firstMs: Date.parse(firstAt), stepMs: stepSeconds * 1_000, values, moreThan: new Set(moreThan) };
}

function lastMsOf({ firstMs, stepMs, values }: RuleHistory): number {
  return firstMs + (values.length - 1) * stepMs;
}

interface OutcomeProps {
  readonly history: RuleHistory;
  readonly incidents: readonly ReplayedIncident[];
  readonly labelled: ({ readonly label: string } & Replay) | null;
  readonly hasThreshold: boolean;
  readonly days: number;
  readonly windowMinutes: number;
  readonly children: React.ReactNode;
}

function Outcome({ history, incidents, labelled, hasThreshold, days, windowMinutes, children }: OutcomeProps) {
  const enoughMinutes = useMemo(() => windowForInterval(windowMinutes, history), [windowMinutes, history]);
  const measured = history.values.reduce<number>((count, value) => (value === null ? count : count + 1), 0);
  const coveredDays = Math.round((history.values.length * history.stepMs) / 86_400_000);
  const openMs = incidents.reduce((sum, { openedAt, closedAt }) => sum + (closedAt ?? lastMsOf(history)) - openedAt, 0);
  if (measured === 0) return <p className={classes.text}>No data of this metric in this time.</p>;
  if (!hasThreshold) return <p className={classes.text}>Enter a threshold to see when it would have fired.</p>;
  const count = labelled?.count ?? incidents.length;
  const last = incidents.at(-1);
  if (labelled?.count === null) return <p className={classes.text}>Counting incidents …</p>;
  return (
    <div className={classes.text} aria-live="polite">
      {enoughMinutes !== null && (
        <p>
          This window is shorter than the interval at which the metric is sent, so that some checks find no data. A
          window of {enoughMinutes} min always holds a sample.
        </p>
      )}
      <p>
        {count === 0 ? (
          <>
            It would have opened <b>no incident</b>
          </>
        ) : (
          <>
            It would have opened{' '}
            <b className="numbers">
              {count.toLocaleString()} {count === 1 ? 'incident' : 'incidents'}
            </b>
            {labelled !== null && <>, {ofValuesText(labelled.label, labelled.values)}</>}, open for{' '}
            {durationText(openMs)} in all
            {last !== undefined && (
              <>
                , {count === 1 ? 'from' : 'the last from'}{' '}
                <Timestamp at={new Date(last.openedAt).toISOString()} format="date_time" />
              </>
            )}
          </>
        )}
        {coveredDays < days && history.values.length * history.stepMs < days * 86_400_000 - 3_600_000
          ? `, as far back as this service keeps its metrics.`
          : '.'}
      </p>
      {children}
    </div>
  );
}

/** Greatest width of a chart in pixels; of more values, only the least and the greatest of each column are drawn. */
const COLUMNS_MAX = 1_000;
const BANDS_MAX = 300;

/** Returns the values as a line of at most two points a column. */
function seriesOfHistory({ firstMs, stepMs, values }: RuleHistory, name: string): ChartSeries {
  const perColumn = Math.max(1, Math.ceil(values.length / COLUMNS_MAX));
  const kept: number[] = [];
  for (let start = 0; start < values.length; start += perColumn) {
    const least = extremeOf(values, start, perColumn, (a, b) => a < b);
    const greatest = extremeOf(values, start, perColumn, (a, b) => a > b);
    if (least === null || greatest === null) continue;
    kept.push(Math.min(least, greatest));
    if (least !== greatest) kept.push(Math.max(least, greatest));
  }
  return {
    name,
    times: kept.map((index) => firstMs + index * stepMs),
    values: kept.map((index) => values[index] ?? 0),
  };
}

function extremeOf(
  values: readonly (number | null)[],
  start: number,
  length: number,
  isBetter: (a: number, b: number) => boolean,
): number | null {
  let nearest: number | null = null;
  for (let index = start; index < Math.min(start + length, values.length); index += 1) {
    const value = values[index] ?? null;
    if (value === null) continue;
    const best = nearest === null ? null : (values[nearest] ?? null);
    if (best === null || isBetter(value, best)) nearest = index;
  }
  return nearest;
}

/** Returns the bands of times when incidents were open. Bands too close to tell apart in a chart are merged. */
function bandsOf(incidents: readonly ReplayedIncident[], nowMs: number): ChartBand[] {
  const [first] = incidents;
  if (first === undefined) return [];
  const least = incidents.length > BANDS_MAX ? (nowMs - first.openedAt) / BANDS_MAX : 0;
  const bands: { from: number; to: number; tone: 'red' }[] = [];
  for (const { openedAt, closedAt } of incidents) {
    const last = bands.at(-1);
    const to = closedAt ?? nowMs;
    if (last !== undefined && openedAt - last.to < least) last.to = to;
    else bands.push({ from: openedAt, to, tone: 'red' });
  }
  return bands;
}
