import { finish, type Steps } from '#kernel/cooperative_task.ts';
import {
  decideMetricRule,
  type InstantLike,
  type JudgedRule,
  type MeasuredValue,
  NO_MEMORY,
  type OpenBreach,
  type RuleDecision,
  type RuleMemory,
} from './breach.ts';
import { divideByLabel } from './by_label.ts';
import { METRIC_RULE_DEFAULTS } from './kind_settings.ts';

/** Longest gap that may be the interval of the metric; longer ones are outages, unless they are all alike. */
const GAP_MS_MAX = 15 * 60_000;
/** Share of the longest gap by which gaps that are alike differ at most. */
const ALIKE_SHARE = 0.2;
/** Least number of gaps, relative to the windows with data; fewer may be chance. */
const GAPS_SHARE = 0.05;
const GAPS_MIN = 3;

/**
 * Returns the shortest window in minutes that would hold a sample of the metric at every check, where samples come more
 * slowly than the window is long; null where they do not.
 */
export function windowForInterval(windowMinutes: number, { values, stepMs }: RuleHistory): number | null {
  const all: number[] = [];
  let measured = 0;
  let empty = 0;
  for (const value of values) {
    if (value === null) {
      empty += 1;
      continue;
    }
    if (measured > 0 && empty > 0) all.push(empty);
    measured += 1;
    empty = 0;
  }
  const longest = Math.max(...all);
  const areAlike = all.length >= GAPS_MIN && longest - Math.min(...all) <= Math.max(1, longest * ALIKE_SHARE);
  const gaps = areAlike ? all : all.filter((gap) => gap * stepMs <= GAP_MS_MAX);
  if (gaps.length < GAPS_MIN || gaps.length < measured * GAPS_SHARE) return null;
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length * 0.9)] ?? 1;
  return windowMinutes + Math.ceil((usual * stepMs) / 60_000);
}

/** Values of a rule at several evaluations. */
export interface RuleValues {
  /** The aggregate over the window that ends at each evaluation; null without data. */
  readonly values: readonly (number | null)[];
  /** The places of quantiles that are more than their value, which is the highest bound of a histogram. */
  readonly moreThan: ReadonlySet<number>;
}

/** The same of one evaluation every `stepMs`, the first at `firstMs` in epoch milliseconds. */
export interface RuleHistory extends Pick<RuleValues, 'values'>, Partial<Pick<RuleValues, 'moreThan'>> {
  readonly firstMs: number;
  readonly stepMs: number;
}

/** An incident that a rule would have opened, in epoch milliseconds; `closedAt` is null while it would be open. */
export interface ReplayedIncident {
  readonly openedAt: number;
  readonly closedAt: number | null;
}

/**
 * Returns the incidents that a rule would have opened and resolved by itself, had it been evaluated at these times: the
 * decision of the worker, one evaluation after the other. Nobody resolves an incident by hand, no data came late, and
 * no series fell silent by itself.
 */
export function replayRule(rule: JudgedRule, history: RuleHistory): ReplayedIncident[] {
  return finish(replayRuleInSteps(rule, history));
}

/** Does the work of `replayRule` in steps, one for each evaluation. */
export function* replayRuleInSteps(
  rule: JudgedRule,
  { firstMs, stepMs, values, moreThan }: RuleHistory,
): Steps<ReplayedIncident[]> {
  const { flapMinutes } = rule.settings ?? METRIC_RULE_DEFAULTS;
  const incidents: ReplayedIncident[] = [];
  let state = IDLE;
  const openings: number[] = [];
  for (const [index, value] of values.entries()) {
    const now: InstantLike = { epochMilliseconds: firstMs + index * stepMs };
    const measured = { value, isMoreThan: moreThan?.has(index) };
    const decision = decideMetricRule(rule, { ...measured, ...state, recentIncidents: openings.length, now });
    if (decision.kind === 'open') {
      const since = now.epochMilliseconds - flapMinutes * 60_000;
      while ((openings[0] ?? Infinity) <= since) openings.shift();
      openings.push(now.epochMilliseconds);
      incidents.push({ openedAt: now.epochMilliseconds, closedAt: null });
    }
    if (decision.kind === 'resolve') close(incidents, now.epochMilliseconds);
    state = stateAfter(decision, state, now);
    yield;
  }
  return incidents;
}

function close(incidents: ReplayedIncident[], closedAt: number): void {
  const last = incidents.pop();
  if (last !== undefined) incidents.push({ ...last, closedAt });
}

/** State that an evaluation leaves for the next. */
interface ReplayState {
  readonly open: OpenBreach<InstantLike> | null;
  readonly memory: RuleMemory<InstantLike>;
}

/** State in which no incident is open, and nothing is remembered. */
const IDLE: ReplayState = { open: null, memory: NO_MEMORY };

function isIdle({ open, memory }: ReplayState): boolean {
  return open === null && Object.values(memory).every((since) => since === null);
}

/** Returns the memory of the rule and its incident once the decision is carried out. */
function stateAfter(decision: RuleDecision<InstantLike>, { open, memory }: ReplayState, now: InstantLike): ReplayState {
  switch (decision.kind) {
    case 'open':
    case 'raise_occurrences':
      return { open: { countedAt: now, clearSince: null }, memory: NO_MEMORY };
    case 'remember':
    case 'keep_open':
      return { open: open && { ...open, clearSince: decision.clearSince }, memory: decision.memory };
    case 'resolve':
      return { open: null, memory: NO_MEMORY };
    case 'find_missing':
    case 'nothing':
      return { open, memory };
  }
}

/** Incident of a value of the label; null: that of all values which have none of their own. */
export interface ReplayedPart extends ReplayedIncident {
  readonly labelValue: string | null;
}

interface Part {
  readonly state: ReplayState;
  readonly incident: ReplayedPart | null;
  /** Openings within the time in which a rule flaps. */
  readonly openings: readonly number[];
}

/**
 * Does what `replayRuleInSteps` does, for a rule by label: at each evaluation the worker's division into values and the
 * rest, and its decision on each of them. Incidents come in the order in which they opened.
 */
export function* replayByLabelInSteps(
  rule: JudgedRule,
  label: string,
  { firstMs, stepMs, values, byValue }: RuleHistory & { readonly byValue: ReadonlyMap<string, RuleValues> },
): Steps<ReplayedPart[]> {
  const { flapMinutes } = rule.settings ?? METRIC_RULE_DEFAULTS;
  const incidents: ReplayedPart[] = [];
  const parts = new Map<string, Part>();
  for (const index of values.keys()) {
    const now: InstantLike = { epochMilliseconds: firstMs + index * stepMs };
    const judged = {
      open: new Set([...parts].flatMap(([part, { state }]) => (state.open === null ? [] : [part]))),
      remembered: new Set([...parts].flatMap(([part, { state }]) => (isIdle(state) ? [] : [part]))),
    };
    for (const { part, value, measured } of divideByLabel(measuredAt(byValue, index), { ...rule, label }, judged)) {
      const { state, incident, openings } = parts.get(part) ?? { state: IDLE, incident: null, openings: [] };
      const decision = decideMetricRule(rule, { ...measured, ...state, recentIncidents: openings.length, now });
      const after: Part = { state: stateAfter(decision, state, now), incident, openings };
      if (decision.kind === 'open') {
        const since = now.epochMilliseconds - flapMinutes * 60_000;
        const opened = { openedAt: now.epochMilliseconds, closedAt: null, labelValue: value };
        const recent = [...openings.filter((at) => at > since), now.epochMilliseconds];
        parts.set(part, { ...after, incident: opened, openings: recent });
        incidents.push(opened);
      } else if (decision.kind === 'resolve') {
        if (incident !== null) {
          incidents[incidents.lastIndexOf(incident)] = { ...incident, closedAt: now.epochMilliseconds };
        }
        parts.set(part, { ...after, incident: null });
      } else if (isIdle(after.state) && openings.length === 0) parts.delete(part);
      else parts.set(part, after);
    }
    yield;
  }
  return incidents;
}

function measuredAt(byValue: ReadonlyMap<string, RuleValues>, index: number): Map<string, MeasuredValue> {
  const measured = new Map<string, MeasuredValue>();
  for (const [labelValue, { values, moreThan }] of byValue) {
    const value = values[index] ?? null;
    if (value !== null) measured.set(labelValue, { value, isMoreThan: moreThan.has(index) });
  }
  return measured;
}
