import type { ActionContext } from '#actions/action_context.ts';
import { metricOf, RULE_KIND_NAMES, RULE_KINDS, type RuleKind } from '#core/incidents/rule_kinds.ts';
import { isBehind } from '#core/metrics/breach.ts';
import { readSelector } from '#core/metrics/read_selector.ts';
import { storePoints } from '#jobs/store_points.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { WatchingRule } from '#storage/postgres/rule_search.ts';

/** Why a rule can neither fire nor resolve now. */
export type Waiting =
  /** Points of its service wait to be stored. */
  | { readonly kind: 'behind'; readonly since: Temporal.Instant }
  /** No point of its metric has ever arrived within the retention. */
  | { readonly kind: 'never_arrived'; readonly metricName: string };

const OF_METRICS: readonly RuleKind[] = RULE_KIND_NAMES.filter((kind) => RULE_KINDS[kind].ingests === 'points');

/** The enabled rules of the organization that wait for data; those that never had any only while the store answers. */
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
    return metric === null ? [] : [{ ...rule, metricName: readSelector(metric).name }];
  });
  const arrived = await metrics.findLastArrivals(named).catch((error: unknown) => {
    if (isUnavailable(error)) return null;
    throw error;
  });
  return new Map(
    named.flatMap(({ metricName, ...rule }): (readonly [Id<'rule'>, Waiting])[] => {
      const waitingSince = since.get(rule.serviceId) ?? null;
      if (waitingSince !== null && isRuleBehind(rule, waitingSince, now)) {
        return [[rule.id, { kind: 'behind', since: waitingSince }]];
      }
      // What waits to be stored may be just that metric.
      if (arrived === null || waitingSince !== null) return [];
      const keptMs = now.epochMilliseconds - rule.retentionDays * 86_400_000;
      const lastMs = arrived.get(`${rule.serviceId} ${metricName}`);
      if (lastMs !== undefined && lastMs >= keptMs) return [];
      return [[rule.id, { kind: 'never_arrived', metricName }]];
    }),
  );
}

function isRuleBehind({ config }: WatchingRule, waitingSince: Temporal.Instant, now: Temporal.Instant): boolean {
  return 'windowMinutes' in config && isBehind(config.windowMinutes, waitingSince, now);
}
