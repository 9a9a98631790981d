import {
  decideMetricRule,
  type InstantLike,
  type JudgedRule,
  type MeasuredValue,
} from '#modules/rules/decide/breach.ts';
import { divideByLabel } from '#modules/rules/decide/by_label.ts';
import { METRIC_RULE_DEFAULTS } from '#modules/rules/decide/kind_settings.ts';
import {
  IDLE,
  isIdle,
  type ReplayedIncident,
  type ReplayState,
  type RuleHistory,
  type RuleValues,
  stateAfter,
} from '#modules/rules/decide/replay.ts';
import type { Steps } from '#kernel/cooperative_task.ts';

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
