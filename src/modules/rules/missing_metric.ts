import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { nullable } from '#actions/fields.ts';
import { namesAlike, nearestToUnmet } from '#modules/metrics/unmet_selectors.ts';
import { metricOf } from '#modules/rules/decide/rule_kinds.ts';
import { quantileQuestionOf, SINGLE_VALUE_KINDS } from '#modules/metrics/decide/quantile.ts';
import { isUnavailable } from '#kernel/errors.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { LABEL_VALUES_MAX } from '#modules/metrics/decide/limits.ts';
import { readExpression } from '#modules/metrics/decide/expression.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const WithoutQuantilesView = nullable(
  Type.Object(
    { metricName: Type.String(), kind: Type.Enum([...SINGLE_VALUE_KINDS]) },
    {
      description:
        'the metric has arrived, and is a gauge or a counter: it has no quantiles, so that a rule on one of them cannot fire. null where that is not the reason',
    },
  ),
);

export const MissingMetricView = nullable(
  Type.Object(
    {
      metricName: Type.String(),
      nearestNames: Type.Array(Type.String(), { description: 'metrics that have arrived, the nearest name first' }),
      noQuantiles: WithoutQuantilesView,
      withoutCommon: Type.Optional(
        Type.String({
          description:
            'both sides of the ratio have arrived, and no value of this label, by which the rule opens incidents, is on both, so that it cannot fire',
        }),
      ),
    },
    {
      description:
        'no point of this metric, or none with these values of its labels, has arrived for the service yet, so that the rule cannot fire: a misspelt name, or one that is still to come. null otherwise, and while the metric store cannot be asked',
    },
  ),
);

type MissingMetric = Static<typeof MissingMetricView>;

/** Limit on the missing names for which near ones are searched; each is compared with up to 10,000. */
const COMPARED_MAX = 20;

/** Finds what is missing for each metric rule whose metric has never arrived within the retention. Never throws. */
export async function findMissingMetrics(
  { caller, metrics, now }: Pick<ActionContext, 'caller' | 'metrics' | 'now'>,
  service: ServiceWithCapabilities,
  rules: readonly Pick<AlertRuleRow, 'id' | 'kind' | 'config' | 'settings'>[],
): Promise<ReadonlyMap<string, NonNullable<MissingMetric>>> {
  const wanted = rules.flatMap((rule) => {
    const metric = metricOf(rule);
    if (metric === null) return [];
    const { sides, texts } = readExpression(metric);
    return sides.map((selector, side) => ({
      id: rule.id,
      metric: texts[side] ?? metric,
      name: selector.name,
      buckets: quantileQuestionOf(selector)?.buckets.name ?? null,
    }));
  });
  if (wanted.length === 0) return new Map();
  const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
  const names = await metrics.listNames(service.id, keptSince).catch((error: unknown) => {
    if (isUnavailable(error)) return null;
    throw error;
  });
  if (names === null) return new Map();
  const arrived = new Set(names);
  const quantiles = wanted.filter(
    ({ buckets, name }) => buckets !== null && !arrived.has(buckets) && arrived.has(name),
  );
  const without = await metrics.catalog.findWithoutQuantiles(
    service.id,
    quantiles.map(({ name }) => name),
  );
  /** Returns the metric that has to arrive for the rule: for a quantile the buckets, unless the metric is a summary. */
  const neededOf = ({ name, buckets }: (typeof wanted)[number]): string =>
    buckets === null || (arrived.has(name) && !without.has(name)) ? name : buckets;
  // Callers who may not list the metrics of a service learn only that this one is missing.
  const shown = caller.permissions.has('dashboards:view') ? names : [];
  const needing = wanted.map((rule) => ({ ...rule, needed: neededOf(rule) }));
  const missing = needing.filter(({ needed }) => !arrived.has(needed));
  const near = new Map<string, readonly string[]>();
  for (const needed of [...new Set(missing.map((metric) => metric.needed))].slice(0, COMPARED_MAX)) {
    await nextTurn();
    near.set(needed, namesAlike(needed, shown));
  }
  const unmet = await findUnmetSelectors(
    { caller, metrics },
    needing.flatMap(({ id, metric, needed }) =>
      arrived.has(needed) ? [{ id, serviceId: service.id, metricName: metric, since: keptSince }] : [],
    ),
  );
  const isKnown = new Set([...unmet.keys(), ...missing.map(({ id }) => id)]);
  const apart = await findApart(
    metrics,
    service.id,
    rules.filter(({ id }) => !isKnown.has(id)),
    keptSince,
  );
  return new Map([
    ...apart,
    ...unmet,
    // The first side of a ratio that is missing is shown.
    ...missing.toReversed().map(({ id, name, buckets, needed }): [string, NonNullable<MissingMetric>] => {
      const kind = buckets === null ? undefined : without.get(name);
      const noQuantiles = kind === undefined ? null : { metricName: name, kind };
      return [id, { metricName: needed, nearestNames: [...(near.get(needed) ?? [])], noQuantiles }];
    }),
  ]);
}

/** Returns the rules by label on a ratio whose sides have arrived and share no value of the label. At most 20 are looked at. */
async function findApart(
  { catalog }: Pick<ActionContext['metrics'], 'catalog'>,
  serviceId: Id<'service'>,
  rules: readonly Pick<AlertRuleRow, 'id' | 'kind' | 'config' | 'settings'>[],
  since: Temporal.Instant,
): Promise<Map<string, NonNullable<MissingMetric>>> {
  const apart = new Map<string, NonNullable<MissingMetric>>();
  const asked = rules.flatMap((rule) => {
    const metricName = metricOf(rule);
    const label = rule.settings?.byLabel ?? null;
    return metricName === null || label === null ? [] : [{ id: rule.id, metricName, label }];
  });
  try {
    for (const { id, metricName, label } of asked.slice(0, COMPARED_MAX)) {
      const { sides } = readExpression(metricName);
      if (sides.length < 2) continue;
      const described = await Promise.all(
        sides.map((selector) =>
          catalog.describeLabels(serviceId, { selector, since, label, text: '', valuesMax: LABEL_VALUES_MAX }),
        ),
      );
      const valuesOf = described.map(({ seriesCount, labels: [entry] }) => {
        const values = entry?.values.map(({ value }) => value) ?? [];
        return (entry?.seriesCount ?? 0) < seriesCount ? [...values, ''] : values;
      });
      // Quantiles are of other series, and what has more values is not known in full.
      const isWhole = valuesOf.every((values) => values.length > 0 && values.length <= LABEL_VALUES_MAX);
      const [own = [], divisor = []] = valuesOf;
      if (!isWhole || own.some((value) => divisor.includes(value))) continue;
      apart.set(id, { metricName, nearestNames: [], noQuantiles: null, withoutCommon: label });
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
  return apart;
}

interface AskedSelector {
  readonly id: string;
  readonly serviceId: Id<'service'>;
  readonly metricName: string;
  readonly since: Temporal.Instant;
}

/**
 * Returns rules whose metric has arrived and that no series has met since then: a value of a label that does not occur is
 * told like a misspelt name. At most 20 are looked at. Never throws.
 */
export async function findUnmetSelectors(
  { caller, metrics }: Pick<ActionContext, 'caller' | 'metrics'>,
  asked: readonly AskedSelector[],
): Promise<ReadonlyMap<string, NonNullable<MissingMetric>>> {
  const mayList = caller.permissions.has('dashboards:view');
  const unmet = new Map<string, NonNullable<MissingMetric>>();
  try {
    const sides = asked.flatMap((rule) =>
      readExpression(rule.metricName).texts.map((metricName) => ({ ...rule, metricName })),
    );
    for (const { id, serviceId, metricName, since } of sides.filter(isNarrowed).slice(0, COMPARED_MAX)) {
      if (unmet.has(id)) continue;
      const nearest = await nearestToUnmet(metrics.catalog, serviceId, metricName, since);
      if (nearest !== null) unmet.set(id, { metricName, nearestNames: mayList ? nearest : [], noQuantiles: null });
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
  return unmet;
}

function isNarrowed({ metricName }: AskedSelector): boolean {
  return metricName.includes('{');
}
