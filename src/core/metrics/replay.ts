import { decideMetricRule, type Moment, type OpenBreach, type RuleDecision } from '#core/metrics/breach.ts';
import type { MetricThreshold } from '#core/metrics/metric_threshold.ts';

/** What a rule would have found at each evaluation: one every `stepMs`, the first at `firstMs` in epoch milliseconds. */
export interface RuleHistory {
  readonly firstMs: number;
  readonly stepMs: number;
  /** The aggregate over the window that ends at each evaluation; null without data. */
  readonly values: readonly (number | null)[];
}

/** An incident that a rule would have opened, in epoch milliseconds; `closedAt` is null while it would still be open. */
export interface ReplayedIncident {
  readonly openedAt: number;
  readonly closedAt: number | null;
}

type Condition = Pick<MetricThreshold, 'comparator' | 'threshold' | 'windowMinutes'>;

/**
 * The incidents that a rule would have opened and resolved by itself, had it been evaluated at these times: the decision
 * of the worker, one evaluation after the other. Nobody resolves an incident by hand, and no data came late.
 */
export function replayRule(rule: Condition, { firstMs, stepMs, values }: RuleHistory): ReplayedIncident[] {
  const incidents: ReplayedIncident[] = [];
  let open: OpenBreach<Moment> | null = null;
  let openedAt = 0;
  for (const [index, value] of values.entries()) {
    const now: Moment = { epochMilliseconds: firstMs + index * stepMs };
    const decision: RuleDecision<Moment> = decideMetricRule(rule, { value, open, now });
    if (decision.kind === 'open') openedAt = now.epochMilliseconds;
    if (decision.kind === 'resolve') incidents.push({ openedAt, closedAt: now.epochMilliseconds });
    open = openAfter(decision, open, now);
  }
  if (open !== null) incidents.push({ openedAt, closedAt: null });
  return incidents;
}

/** What is remembered of the rule's incident once the decision is carried out. */
function openAfter(
  decision: RuleDecision<Moment>,
  open: OpenBreach<Moment> | null,
  now: Moment,
): OpenBreach<Moment> | null {
  switch (decision.kind) {
    case 'open':
    case 'raise_occurrences':
      return { countedAt: now, clearSince: null };
    case 'remember':
      return open && { ...open, clearSince: decision.clearSince };
    case 'resolve':
      return null;
    case 'nothing':
      return open;
  }
}
