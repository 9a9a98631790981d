import { AppError, type Fault } from '#kernel/errors.ts';
import { readExpression } from '#modules/metrics/decide/expression.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import type { StoredSettings } from './rule_settings.ts';

/** Share of requests that should go well within a period. */
export interface Objective {
  /** Selector of the requests that went wrong. */
  readonly badMetric: string;
  readonly totalMetric: string;
  readonly objectivePercent: number;
  readonly days: number;
  /** Least number of requests in the long window for which a rule judges; null: any. */
  readonly trafficAtLeast: number | null;
}

/** Rule that fires while the budget of an objective burns too fast. */
export interface BurnRateRule {
  readonly title: string;
  /** Factor by which the budget burns faster than it allows. */
  readonly burnRate: number;
  readonly config: MetricThreshold;
  readonly settings: StoredSettings;
}

/**
 * The usual two pairs of windows: a fiftieth of the budget within an hour, and a twentieth within six; the short window ends
 * the page soon after the cause.
 */
const PAIRS = [
  { title: 'burns fast', share: 0.02, windowMinutes: 60, shortWindowMinutes: 5 },
  { title: 'burns steadily', share: 0.05, windowMinutes: 360, shortWindowMinutes: 30 },
] as const;

/** Returns the rules of an objective: over 30 days they fire from 14.4 and from 6 times the allowed rate on. */
export function burnRateRules(objective: Objective): BurnRateRule[] {
  const { badMetric, totalMetric, days, trafficAtLeast } = objective;
  return PAIRS.map(({ title, share, windowMinutes, shortWindowMinutes }) => {
    const burnRate = (share * days * 24 * 60) / windowMinutes;
    return {
      title,
      burnRate: rounded(burnRate),
      config: {
        metricName: `${badMetric.trim()} / ${totalMetric.trim()} * 100`,
        comparator: '>',
        threshold: rounded(burnRate * budgetPercent(objective)),
        windowMinutes,
        aggregation: 'sum',
      },
      settings: {
        shortWindowMinutes,
        recoveryMinutes: shortWindowMinutes,
        ...(trafficAtLeast !== null && { trafficAtLeast }),
      },
    };
  });
}

export function objectiveFaults(objective: Objective): Fault[] {
  const faults: Fault[] = [];
  for (const field of ['badMetric', 'totalMetric'] as const) {
    const fault = sideFault(objective[field]);
    if (fault !== null) faults.push({ path: field, message: fault });
  }
  const { objectivePercent } = objective;
  if (objectivePercent >= 100) {
    faults.push({
      path: 'objectivePercent',
      message: 'of 100% leaves no budget: each failure would page; choose 99.9% or so',
    });
  } else if (burnRateRules(objective).some(({ config }) => config.threshold >= 100)) {
    faults.push({
      path: 'objectivePercent',
      message: 'is too low for these days: the budget cannot burn so fast; choose a higher objective or fewer days',
    });
  }
  return faults;
}

function sideFault(text: string): string | null {
  try {
    return readExpression(text).sides.length === 1 ? null : 'must be one selector, not a ratio';
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

export interface Budget {
  /** Share of requests that went well, in percent. */
  readonly goodPercent: number;
  /** Part of the budget that is left, in percent: 100 without a failure, negative where more than all is used. */
  readonly leftPercent: number;
}

/** Returns what is left of the budget of a period; null without traffic. */
export function budgetOf(
  { objectivePercent }: Pick<Objective, 'objectivePercent'>,
  { bad, total }: { readonly bad: number; readonly total: number },
): Budget | null {
  if (!(total > 0)) return null;
  const badPercent = (bad / total) * 100;
  return { goodPercent: 100 - badPercent, leftPercent: (1 - badPercent / budgetPercent({ objectivePercent })) * 100 };
}

function budgetPercent({ objectivePercent }: Pick<Objective, 'objectivePercent'>): number {
  return 100 - objectivePercent;
}

/** Rounds to what nobody sees: 100 less 99.9 is no round number. */
function rounded(value: number): number {
  return Number(value.toPrecision(9));
}
