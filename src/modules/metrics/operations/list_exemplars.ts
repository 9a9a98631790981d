import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, MetricName, StrictObject, Timestamp } from '#actions/fields.ts';
import { parsePeriod } from '#modules/metrics/chart.ts';
import { EXEMPLAR_DAYS } from '#modules/metrics/decide/exemplar.ts';
import { expressionFaults, readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import { fromEpochMilliseconds, toTimestamp } from '#kernel/time.ts';

const EXEMPLARS_MAX = 100;
const EXEMPLARS = 60;

/** Lists single observations of a metric with their traces, for the dots of a chart. */
export const listExemplars = defineOperation({
  name: 'list_exemplars',
  summary: `Return single observations of a metric with the trace in which each was made, spread over a period: of each part of it the one with the greatest value. They are kept for ${EXEMPLAR_DAYS} days.`,
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    metricName: MetricName,
    from: Timestamp,
    to: Timestamp,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: EXEMPLARS_MAX, description: `${EXEMPLARS} when left out` }),
    ),
  }),
  result: Type.Object({
    exemplars: Type.Array(
      Type.Object({
        at: Timestamp,
        value: Type.Number(),
        traceId: Type.String(),
        spanId: Type.String({ description: 'empty where it was not sent' }),
        labels: Type.Record(Type.String(), Type.String()),
      }),
      { description: 'newest first' },
    ),
  }),
  validate: ({ metricName }) => (typeof metricName === 'string' ? expressionFaults(metricName) : []),
  example: {
    serviceId: 'service_01k9z8e4rnf7ktv2x5m6w0abqe',
    metricName: 'http_request_duration_ms{quantile="0.95"}',
    from: '2027-02-03T01:00:00.000Z',
    to: '2027-02-03T02:00:00.000Z',
    limit: 20,
  },
  async handle({ serviceId, metricName, limit = EXEMPLARS, ...period }, { stores, caller, metrics, now }) {
    const { from, to } = parsePeriod(period.from, period.to);
    const service = await stores.services.get(caller.orgId, serviceId);
    const keptMs = now.subtract({ hours: 24 * service.retentionMetrics }).epochMilliseconds;
    const asked = { fromMs: Math.max(from.epochMilliseconds, keptMs), toMs: to.epochMilliseconds };
    if (asked.fromMs >= asked.toMs) return { exemplars: [] };
    const exemplars = await metrics.exemplars.list(
      service.id,
      readCheckedExpression(metricName).sides[0],
      asked,
      limit,
    );
    return {
      exemplars: exemplars.map(({ at, value, traceId, spanId, labels }) => ({
        at: toTimestamp(fromEpochMilliseconds(at)),
        value,
        traceId,
        spanId,
        labels: Object.fromEntries(
          labels.flatMap((name, place) => (place % 2 === 0 ? [[name, labels[place + 1] ?? '']] : [])),
        ),
      })),
    };
  },
});
