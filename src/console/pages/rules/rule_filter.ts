import { type Aggregation, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { type Comparator, COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { RULE_STATES, type RuleState } from '#modules/rules/decide/rule_kind.ts';

/** Filter of the list in an address. Absent parameters have their default. */
export interface RuleFilter {
  readonly state?: RuleState;
  readonly service?: string;
  /** Kind of the rule, which the page validates: the kinds are not part of what every page loads. */
  readonly kind?: string;
  /** `my_teams`, or the id of a team that owns services. */
  readonly team?: string;
  readonly q?: string;
}

export function readRuleFilter(search: Record<string, unknown>): RuleFilter {
  const state = RULE_STATES.find((candidate) => candidate === search['state']);
  const [service, kind, team, q] = ['service', 'kind', 'team', 'q'].map((name) => textOf(search[name]));
  return {
    ...(state !== undefined && { state }),
    ...(service !== undefined && { service }),
    ...(kind !== undefined && { kind }),
    ...(team !== undefined && { team }),
    ...(q !== undefined && { q }),
  };
}

/** Initial values of the form of a new rule in an address: other pages link here with what they show. */
export interface RuleStart {
  readonly kind?: RuleKind;
  readonly service?: string;
  readonly name?: string;
  /** Name of a metric, which may carry a label selector. */
  readonly metric?: string;
  readonly aggregation?: Aggregation;
  readonly comparator?: Comparator;
  readonly threshold?: number;
  readonly window?: number;
  readonly policy?: string;
  readonly copy?: string;
}

export function readRuleStart(search: Record<string, unknown>): RuleStart {
  const [service, name, metric] = [textOf(search['service']), textOf(search['name']), textOf(search['metric'])];
  const [kind, policy, copy] = [textOf(search['kind']), textOf(search['policy']), textOf(search['copy'])];
  const aggregation = AGGREGATIONS.find((aggregation) => aggregation === search['aggregation']);
  const comparator = COMPARATORS.find((comparator) => comparator === search['comparator']);
  const [threshold, window] = [numberOf(search['threshold']), numberOf(search['window'])];
  return {
    ...(kind !== undefined && { kind: kind as RuleKind }),
    ...(service !== undefined && { service }),
    ...(name !== undefined && { name }),
    ...(metric !== undefined && { metric }),
    ...(aggregation !== undefined && { aggregation }),
    ...(comparator !== undefined && { comparator }),
    ...(threshold !== undefined && { threshold }),
    ...(window !== undefined && { window }),
    ...(policy !== undefined && { policy }),
    ...(copy !== undefined && { copy }),
  };
}

function textOf(value: unknown): string | undefined {
  return (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
