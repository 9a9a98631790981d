import type { Rule } from '#console/api/actions.ts';
import type { Tone } from '#console/components/status.tsx';
import type { RuleState } from '#modules/rules/decide/rule_kind.ts';

export const STATE_NAMES: Readonly<Record<RuleState, string>> = {
  breached: 'Incident open',
  waiting_for_data: 'Waiting for data',
  ok: 'OK',
  disabled: 'Disabled',
};

const TONES: Readonly<Record<RuleState, Tone>> = {
  breached: 'red',
  waiting_for_data: 'amber',
  ok: 'green',
  disabled: 'gray',
};

/** Returns the state of a rule as a word with its colour. */
export function stateOf(rule: Pick<Rule, 'kind' | 'state' | 'status' | 'waitingForData'>): readonly [Tone, string] {
  if (rule.status === 'capability_disabled') return ['gray', STATE_NAMES.disabled];
  if (rule.state === 'waiting_for_data' && rule.waitingForData === null) return ['amber', 'No data yet'];
  // An exception came once, and nothing is measured.
  const isMeasured = rule.kind === 'metric_threshold' && rule.state === 'breached';
  return [TONES[rule.state], isMeasured ? 'Breached' : STATE_NAMES[rule.state]];
}

/** Returns the people whom a rule pages, in a few words; null if it pages nobody now. */
export function pagedText({ pages }: Pick<Rule, 'pages'>): string | null {
  if (pages === null || pages.peopleCount === 0) return null;
  const [first] = pages.people;
  const others = pages.peopleCount - 1;
  return `${first?.name ?? ''}${others > 0 ? ` and ${others} more` : ''}`;
}
