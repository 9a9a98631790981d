import { labelsOfDetails } from '#modules/alerts/decide/alert_event.ts';
import { labelsOf } from '#modules/maintenance/decide/maintenance.ts';
import type { RuleConfig, RuleKind } from '#modules/rules/decide/rule_kinds.ts';

interface Described {
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Returns the labels by which a maintenance may be for an incident: those of the rule that opened it, if there still is
 * one, and its own.
 */
export function labelsOfIncident(
  incident: Described,
  rule: { readonly kind: RuleKind; readonly config: RuleConfig } | undefined,
): Record<string, string> {
  return { ...(rule && labelsOf(rule)), ...ownLabelsOf(incident) };
}

/**
 * Returns the labels that an incident has beyond those of its rule, as its details say: of a storm those of its first
 * member, of an alert those its tool sent, and of a rule by label the value that it is for.
 */
export function ownLabelsOf({ kind, details }: Described): Record<string, string> {
  const { labels, said, label, labelValue } = details;
  if (isObject(labels)) return labelsOfDetails({ ...labels });
  if (kind === 'alert') return isObject(said) ? labelsOfDetails({ ...said }) : {};
  return typeof label === 'string' && typeof labelValue === 'string' ? { [label]: labelValue } : {};
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
