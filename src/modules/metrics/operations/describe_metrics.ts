import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, MetricName, nullable, Timestamp } from '#actions/fields.ts';
import { searchInput } from '#actions/list_page.ts';
import { StrictObject } from '#kernel/action.ts';
import { toTimestamp } from '#kernel/time.ts';
import { readChart } from '#modules/metrics/chart.ts';
import { AGGREGATIONS, usualAggregation } from '#modules/metrics/decide/aggregation.ts';
import { LABEL_VALUES_MAX } from '#modules/metrics/decide/limits.ts';
import { announcedOf, familiesOf, METRIC_TYPES, unitNameOf } from '#modules/metrics/decide/metric_type.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import { selectorOfName, selectorText } from '#modules/metrics/decide/selector_text.ts';
import { parseExpression } from '#modules/metrics/decide/selector.ts';
import type { MetricEntry } from '#modules/metrics/store/metric_catalog.ts';
import { nearestNames } from '#modules/metrics/unmet_selectors.ts';
import type { ServicePlace, ServiceWithCapabilities } from '#modules/services/store/service_store.ts';
import { ServiceView, toServiceView } from '#modules/services/view.ts';

const LIMIT = 25;
const LIMIT_MAX = 50;
const OFFSET_MAX = 10_000;
const WORDS_MAX = 5;
/** Limit on the series of a preview, as more take too long for a list: beyond it only the newest value is looked up. */
const PREVIEW_SERIES_MAX = 2_000;
const PREVIEW = { minutes: 60, pixels: 60 } as const;
const NEWEST = { minutes: 5, pixels: 20 } as const;
/** Quantile of a histogram that a list shows. */
const SHOWN_QUANTILE = '0.95';
const CONCURRENT = 4;

const MetricEntryView = Type.Object({
  metricName: Type.String({ description: 'of a histogram: without the suffixes of its series' }),
  isHistogram: Type.Boolean({
    description: 'it stands for the series of a histogram, and `quantile` in a selector asks for its quantiles',
  }),
  kind: nullable(Type.Enum([...POINT_KINDS])),
  type: nullable(
    Type.Enum([...METRIC_TYPES], { description: 'what its sender says it is, or the histogram that it is a part of' }),
  ),
  unit: nullable(Type.String({ description: 'as its sender says; null where only its name may tell' })),
  unitName: nullable(Type.String({ description: 'name of the unit: `bytes` for `By`' })),
  aggregation: Type.Enum([...AGGREGATIONS], {
    description: 'what the preview shows: sum of a counter, the 0.95 quantile of a histogram, else avg',
  }),
  seriesCount: Type.Integer({ description: 'series with points in the hour before the newest' }),
  lastAt: Timestamp,
  lastValue: nullable(
    Type.Number({
      description:
        'of the preview, of the last minutes for a metric of too many series; null without points in that time',
    }),
  ),
  stepSeconds: Type.Number(),
  preview: nullable(
    Type.Object(
      { steps: Type.Array(Type.Number()), values: Type.Array(Type.Number()) },
      { description: 'the last hour; null for a metric of too many series' },
    ),
  ),
});

export const describeMetrics = defineOperation({
  name: 'describe_metrics',
  summary: 'List the metrics of a service page by page, each with its kind, its number of series and its last hour.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    text: searchInput('words that the name holds'),
    sort: Type.Optional(Type.Enum(['name', 'series'], { description: 'name when left out; series: most first' })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: OFFSET_MAX })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `${LIMIT} when left out` })),
    isBrief: Type.Optional(Type.Boolean({ description: 'leaves the values out: preview and lastValue are null' })),
  }),
  result: Type.Object({
    metrics: Type.Array(MetricEntryView),
    total: Type.Integer(),
    nextOffset: nullable(Type.Integer()),
    nearest: Type.Array(Type.String(), { description: 'names that may have been meant, where nothing was found' }),
  }),
  example: { text: 'http duration', sort: 'name', offset: 25, limit: 25, isBrief: false },
  async handle({ serviceId, text = '', sort = 'name', offset = 0, limit = LIMIT, isBrief = false }, context) {
    const { caller, stores, metrics, now } = context;
    const service = await stores.services.get(caller.orgId, serviceId);
    const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
    const words = text
      .split(/\s+/)
      .filter((word) => word !== '')
      .slice(0, WORDS_MAX);
    const page = await metrics.catalog.search(service.id, keptSince, { words, sort, offset, limit });
    const types = await stores.metricTypes.listNamed(
      service.id,
      page.metrics.flatMap(({ name }) => familiesOf(name)),
    );
    const shown: Static<typeof MetricEntryView>[] = [];
    for (let first = 0; first < page.metrics.length; first += CONCURRENT) {
      const some = page.metrics.slice(first, first + CONCURRENT);
      shown.push(
        ...(await Promise.all(
          some.map((entry) => describe(service.id, entry, announcedOf(types, entry.name), isBrief ? null : context)),
        )),
      );
    }
    const isMisspelt = page.total === 0 && words.length > 0 && offset === 0;
    return {
      metrics: shown,
      total: page.total,
      nextOffset: offset + shown.length < page.total && shown.length > 0 ? offset + shown.length : null,
      nearest: isMisspelt ? nearestNames(words.join('_'), await metrics.listNames(service.id, keptSince)) : [],
    };
  },
});

/** Services that are asked at a time for the first with metrics, and how often: of more, those that come later are not looked at. */
const SERVICES_ASKED = 200;
const SERVICE_PAGES_MAX = 10;

/** Finds what the explorer opens with. */
export const findServiceWithMetrics = defineOperation({
  name: 'find_service_with_metrics',
  summary: `Find the service whose metrics to show first: of the first ${SERVICES_ASKED * SERVICE_PAGES_MAX} by name the first that has sent some, else the first with the capability, else the first.`,
  permission: 'services:view',
  effect: 'read',
  result: Type.Object({ service: nullable(ServiceView) }),
  async handle(_input, { caller, stores, metrics }) {
    const all = { text: undefined, serviceIds: undefined };
    let fallback: ServiceWithCapabilities | null = null;
    let after: ServicePlace | null = null;
    for (let pages = 0; pages < SERVICE_PAGES_MAX; pages += 1) {
      const page: ServiceWithCapabilities[] = await stores.services.search(caller.orgId, all, {
        after,
        limit: SERVICES_ASKED,
      });
      const sending = await metrics.lastPoints(page.map(({ id }) => id));
      const first = page.find(({ id }) => sending.has(id));
      if (first !== undefined) return { service: toServiceView(first) };
      const isEnabled = ({ capabilities }: ServiceWithCapabilities): boolean => capabilities.includes('metrics');
      if (fallback === null || !isEnabled(fallback)) fallback = page.find(isEnabled) ?? fallback ?? page[0] ?? null;
      after = page.at(-1) ?? null;
      if (after === null || page.length < SERVICES_ASKED) break;
    }
    return { service: fallback === null ? null : toServiceView(fallback) };
  },
});

async function describe(
  serviceId: string,
  { name, isHistogram, lastAt, seriesCount, kind }: MetricEntry,
  announced: Pick<Static<typeof MetricEntryView>, 'type' | 'unit'>,
  /** Context in which the values are read; null leaves them out. */
  context: ActionContext | null,
): Promise<Static<typeof MetricEntryView>> {
  const aggregation = usualAggregation(kind);
  const shown = {
    metricName: name,
    isHistogram,
    kind,
    ...announced,
    ...(isHistogram && { type: 'histogram' as const }),
    unitName: unitNameOf(announced.unit, name),
    aggregation,
    seriesCount,
    lastAt: toTimestamp(lastAt),
  };
  if (context === null) return { ...shown, lastValue: null, stepSeconds: 0, preview: null };
  const isLarge = seriesCount > PREVIEW_SERIES_MAX;
  const { minutes, pixels } = isLarge ? NEWEST : PREVIEW;
  const period = { from: context.now.subtract({ minutes }), to: context.now };
  const chart = await readChart(
    {
      serviceId,
      metricName: isHistogram
        ? selectorText(name, [{ label: 'quantile', operator: '=', value: SHOWN_QUANTILE }])
        : selectorOfName(name),
      aggregation,
      splitBy: null,
      top: 1,
      offsetDays: 0,
      pixels,
    },
    period,
    context,
    // The metric's name is known, so the names are not looked up.
    new Map([[serviceId, Promise.resolve([name])]]),
  );
  const { steps = [], values = [] } = chart.series[0] ?? {};
  return {
    ...shown,
    lastValue: values.at(-1) ?? null,
    stepSeconds: chart.stepSeconds,
    preview: isLarge ? null : { steps, values },
  };
}

const VALUES = 10;

/** Lists the labels by which the explorer splits and filters. */
export const describeLabels = defineOperation({
  name: 'describe_labels',
  summary: 'List the labels of a metric with their most frequent values, and how many series bear each.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    metricName: MetricName,
    label: Type.Optional(Type.String({ maxLength: 200, description: 'only this one' })),
    labelText: searchInput('part of the names of the labels'),
    text: searchInput('part of the values'),
    valuesMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LABEL_VALUES_MAX, description: `of each label; ${VALUES} when left out` }),
    ),
  }),
  result: Type.Object({
    kind: nullable(Type.Enum([...POINT_KINDS], { description: 'of its newest point; null without points' })),
    seriesCount: Type.Integer({ description: 'series of the last day that the selector means' }),
    labelCount: Type.Integer({ description: 'labels that match, those not listed too' }),
    labels: Type.Array(
      Type.Object({
        label: Type.String(),
        valueCount: Type.Integer(),
        seriesCount: Type.Integer({ description: 'series that bear the label' }),
        values: Type.Array(Type.Object({ value: Type.String(), seriesCount: Type.Integer() }), {
          description: 'the most frequent first; valueCount says how many there are',
        }),
      }),
      { description: 'by name, at most 100' },
    ),
  }),
  example: {
    metricName: 'http_request_duration_ms{route="/pay"}',
    label: 'status',
    labelText: 'stat',
    text: '5',
    valuesMax: 20,
  },
  async handle(
    { serviceId, metricName, label = null, labelText = '', text = '', valuesMax = VALUES },
    { caller, stores, metrics, now },
  ) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const [selector] = parseExpression(metricName).sides;
    const since = now.subtract({ hours: 24 * Math.min(service.retentionMetrics, 1) });
    const wanted = { since, label, labelText, text, valuesMax };
    const labels = await metrics.catalog.describeLabels(service.id, { selector, ...wanted });
    const question = labels.seriesCount > 0 ? null : quantileQuestionOf(selector);
    if (question === null) {
      const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
      return { kind: await metrics.findKind({ serviceId: service.id, selector, keptSince }), ...labels };
    }
    // The quantile of a histogram has the same labels as its counts.
    const counts = { name: `${selector.name}_count`, matchers: question.buckets.matchers };
    const counted = await metrics.catalog.describeLabels(service.id, { selector: counts, ...wanted });
    if (counted.seriesCount > 0) return { kind: null, ...counted };
    const buckets = { selector: question.buckets, areBuckets: true, ...wanted };
    return { kind: null, ...(await metrics.catalog.describeLabels(service.id, buckets)) };
  },
});
