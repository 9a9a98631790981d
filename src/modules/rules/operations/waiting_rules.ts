import type { ActionContext } from '#actions/action_context.ts';
import { metricOf, RULE_KIND_NAMES, RULE_KINDS, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { isBehind } from '#modules/rules/decide/breach.ts';
import { quantileQuestionOf, type SingleValueKind } from '#modules/metrics/decide/quantile.ts';
import { storePoints } from '#storage/queue/jobs.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { readExpression } from '#modules/metrics/decide/expression.ts';
import type { WatchingRule } from '#modules/rules/store/rule_search.ts';

/** Reason why a rule can neither fire nor resolve now. */
export type Waiting =
  /** Points of its service wait to be stored. */
  | { readonly kind: 'behind'; readonly since: Temporal.Instant }
  /** No point of its metric has arrived within the retention. */
  | { readonly kind: 'never_arrived'; readonly metricName: string }
  /** The rule asks for a quantile of a metric that is sent as single values. */
  | { readonly kind: 'no_quantiles'; readonly metricName: string; readonly of: SingleValueKind };

const OF_METRICS: readonly RuleKind[] = RULE_KIND_NAMES.filter((kind) => RULE_KINDS[kind].ingests === 'points');

/** Finds the enabled rules of the organization that wait for data; those without any data only if the store answers. */
export async function findWaitingRules({
  caller,
  stores,
  metrics,
  now,
}: ActionContext): Promise<ReadonlyMap<Id<'rule'>, Waiting>> {
  const rules = await stores.ruleSearch.listWatching(caller.orgId, OF_METRICS);
  if (rules.length === 0) return new Map();
  const since = await stores.durableJobs.listWaiting(storePoints.name);
  const named = rules.flatMap((rule) => {
    const metric = metricOf(rule);
    if (metric === null) return [];
    return readExpression(metric).sides.map((selector) => {
      const buckets = quantileQuestionOf(selector)?.buckets.name ?? null;
      return { rule, serviceId: rule.serviceId, metricName: selector.name, buckets };
    });
  });
  const sources = named.flatMap(({ serviceId, metricName, buckets }) =>
    [metricName, ...(buckets === null ? [] : [buckets])].map((name) => ({ serviceId, metricName: name })),
  );
  const answers = await Promise.all([metrics.findLastArrivals(sources), withoutQuantiles(metrics, named)]).catch(
    (error: unknown) => {
      if (isUnavailable(error)) return null;
      throw error;
    },
  );
  return new Map(
    named.flatMap(({ rule, serviceId, metricName, buckets }): (readonly [Id<'rule'>, Waiting])[] => {
      const waitingSince = since.get(serviceId) ?? null;
      if (waitingSince !== null && isRuleBehind(rule, waitingSince, now)) {
        return [[rule.id, { kind: 'behind', since: waitingSince }]];
      }
      // The points that wait to be stored may be of that metric.
      if (answers === null || waitingSince !== null) return [];
      const [arrived, without] = answers;
      const keptMs = now.epochMilliseconds - rule.retentionDays * 86_400_000;
      const isThere = (name: string): boolean => (arrived.get(`${serviceId} ${name}`) ?? 0) >= keptMs;
      const of = buckets === null ? undefined : without.get(serviceId)?.get(metricName);
      if (of !== undefined && isThere(metricName)) return [[rule.id, { kind: 'no_quantiles', metricName, of }]];
      if (isThere(metricName) || (buckets !== null && isThere(buckets))) return [];
      return [[rule.id, { kind: 'never_arrived', metricName }]];
    }),
  );
}

interface NamedMetric {
  readonly serviceId: Id<'service'>;
  readonly metricName: string;
  readonly buckets: string | null;
}

/** Returns the metrics whose quantiles are asked for and that have none, by service. */
async function withoutQuantiles(
  { catalog }: ActionContext['metrics'],
  named: readonly NamedMetric[],
): Promise<ReadonlyMap<Id<'service'>, ReadonlyMap<string, SingleValueKind>>> {
  return await catalog.findAllWithoutQuantiles(named.filter(({ buckets }) => buckets !== null));
}

function isRuleBehind({ config }: WatchingRule, waitingSince: Temporal.Instant, now: Temporal.Instant): boolean {
  return 'windowMinutes' in config && isBehind(config.windowMinutes, waitingSince, now);
}
