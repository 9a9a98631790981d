import type { Exemplar } from '#modules/metrics/decide/exemplar.ts';
import { exemplarName, isWithinHistogram } from '#modules/metrics/decide/exemplar.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { insertRows, LOOKED_AT } from '#storage/clickhouse/insert_rows.ts';
import { selectorParameters, seriesConditions } from './metric_query.ts';
import { RowBinary, uuidBytes } from '#storage/clickhouse/row_binary.ts';

export interface ServiceExemplar {
  readonly serviceId: Id<'service'>;
  readonly exemplar: Exemplar;
}

const COLUMNS = 'service_id, metric, at, trace_id, span_id, value, tags';

/** Exemplars of metrics. The caller has checked that the service is the organization's. */
export class ExemplarStore extends ClickHouseStore {
  /** The same exemplars under the same token count once, and so do equal ones. */
  async insert(exemplars: readonly ServiceExemplar[], token: string): Promise<void> {
    if (exemplars.length === 0) return;
    const rows = new RowBinary();
    for (const { serviceId, exemplar } of exemplars) writeRow(rows, serviceId, exemplar);
    await insertRows(this.client, `metric_exemplars (${COLUMNS})`, rows.bytes(), { token, acknowledged: 'at_once' });
  }

  /**
   * Lists exemplars of the series that a selector names, newest first: spread over the period, with the greatest value
   * of each of its `parts` first.
   */
  async list(
    serviceId: Id<'service'>,
    selector: MetricSelector,
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
    parts: number,
  ): Promise<Exemplar[]> {
    const matchers = selector.matchers.filter(({ label }) => !isWithinHistogram(label));
    const wanted = { ...selector, name: exemplarName(selector.name), matchers };
    const partMs = Math.max(1, Math.ceil((toMs - fromMs) / parts));
    const rows = await this.rows<Row>(
      `SELECT metric, toUnixTimestamp64Milli(at) AS ms, trace_id, span_id, value, any(tags) AS labels FROM metric_exemplars
          WHERE ${seriesConditions(wanted)}
            AND at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
          GROUP BY metric, at, trace_id, span_id, value
          ORDER BY value DESC, ms DESC
          LIMIT 1 BY intDiv(ms - {from:Int64}, {part:Int64})
          LIMIT {most:UInt32}`,
      { ...selectorParameters(serviceId, wanted), from: fromMs, to: toMs, part: partMs, most: parts },
      { ...LOOKED_AT, max_execution_time: SECONDS_MAX },
    );
    return rows
      .map(([name, ms, traceId, spanId, value, labels]) => {
        return { name, at: Number(ms), traceId, spanId, value, labels: Object.entries(labels).flat() };
      })
      .toSorted((a, b) => b.at - a.at);
  }
}

type Row = [name: string, ms: string, traceId: string, spanId: string, value: number, labels: Record<string, string>];

const SECONDS_MAX = 10;

function writeRow(rows: RowBinary, serviceId: Id<'service'>, exemplar: Exemplar): void {
  const { name, labels, at, value, traceId, spanId } = exemplar;
  rows.uuid(uuidBytes(uuidOf(serviceId)));
  rows.text(name);
  rows.int64(at);
  rows.text(traceId);
  rows.text(spanId);
  rows.float64(value);
  rows.varint(labels.length / 2);
  for (const text of labels) rows.text(text);
}
