import { useCallback, useEffect, useRef, useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { type ChartQuery, type ChartResult, periodOf } from '#console/api/charts.ts';
import { pixelsWithin } from '#console/components/pixels_within.ts';
import type { TimeRange } from '#console/components/text/time_range.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { isOfMetrics, type VariableValues, type Widget, withVariables } from '#modules/dashboards/decide/widget.ts';
import { CHART_QUERIES_MAX } from '#modules/metrics/decide/limits.ts';

/** Answer to one query, with its period. */
export interface AnsweredChart {
  readonly result: ChartResult;
  readonly from: number;
  readonly to: number;
}

interface ChartBatch {
  /** Answers by the key of the query; an answer stays until its successor has arrived. */
  readonly answers: ReadonlyMap<string, AnsweredChart>;
  readonly error: unknown;
  /** Fetches the charts in view again. */
  refresh(): void;
}

export const keyOfQuery = (query: ChartQuery): string => JSON.stringify(query);

/**
 * Fetches the charts in view, all in one request. Charts that come into view later are fetched by themselves; answers
 * for the same period are not fetched again until the next refresh.
 */
export function useChartBatch(
  range: TimeRange,
  wanted: readonly ChartQuery[],
  refreshSeconds: number | null,
): ChartBatch {
  const { orgId } = useOrganization().org;
  const [answers, setAnswers] = useState<ReadonlyMap<string, AnsweredChart>>(new Map());
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const asked = useRef({ round: '', keys: new Set<string>() });
  const rangeKey = JSON.stringify([orgId, range]);
  const wantedKeys = JSON.stringify(wanted.map(keyOfQuery));

  useEffect(() => {
    const current = `${rangeKey} ${round}`;
    if (asked.current.round !== current) asked.current = { round: current, keys: new Set() };
    const { keys } = asked.current;
    const missing = wanted.filter((query) => !keys.has(keyOfQuery(query)));
    if (missing.length === 0) return;
    for (const query of missing) keys.add(keyOfQuery(query));
    const ask = async (queries: readonly ChartQuery[]): Promise<void> => {
      const answer = await invoke(orgId, 'query_metrics', { ...periodOf(range), queries: [...queries] });
      if (asked.current.round !== current) return;
      const period = { from: Date.parse(answer.from), to: Date.parse(answer.to) };
      setError(null);
      setAnswers((before) => {
        const next = new Map(before);
        for (const [index, result] of answer.results.entries()) {
          const query = queries[index];
          if (query !== undefined) next.set(keyOfQuery(query), { result, ...period });
        }
        return next;
      });
    };
    for (let first = 0; first < missing.length; first += CHART_QUERIES_MAX) {
      const queries = missing.slice(first, first + CHART_QUERIES_MAX);
      ask(queries).catch((failed: unknown) => {
        if (asked.current.round !== current) return;
        for (const query of queries) keys.delete(keyOfQuery(query));
        setError(failed);
      });
    }
    // The keys stand for the other values.
  }, [orgId, rangeKey, round, wantedKeys]);

  const refresh = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (refreshSeconds === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh();
    }, refreshSeconds * 1_000);
    return () => clearInterval(timer);
  }, [refreshSeconds, refresh]);
  return { answers, error, refresh };
}

/** Width of a number's chart in pixels: it shows its past small. */
const NUMBER_PIXELS = 100;

/** Returns the queries of a widget; a query without a service is left out if the dashboard has none either. */
export function chartQueriesOf(
  widget: Widget,
  dashboardServiceId: string | null,
  width: number,
  variables: VariableValues = {},
): ChartQuery[] {
  if (!isOfMetrics(widget.kind)) return [];
  const isWide = widget.kind === 'series' || widget.kind === 'heatmap';
  const pixels = isWide ? pixelsWithin(width) : NUMBER_PIXELS;
  return widget.queries.flatMap(({ serviceId, metricName, aggregation, isRate, splitBy, top }): ChartQuery[] => {
    const service = serviceId ?? dashboardServiceId;
    if (service === null) return [];
    const split = splitBy === null || widget.kind === 'number' ? {} : { splitBy, top };
    const asked = withVariables(metricName, variables);
    if (widget.kind === 'heatmap') return [{ serviceId: service, metricName: asked, isHeatmap: true, pixels }];
    const shown = aggregation === null ? {} : { aggregation, ...(isRate && { isRate }) };
    return [{ serviceId: service, metricName: asked, ...shown, pixels, ...split }];
  });
}
