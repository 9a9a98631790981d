import { EXCEPTION } from '#core/incidents/exception_rule.ts';
import { parseConfig, type RuleKindDeclaration } from '#core/incidents/rule_kind.ts';
import { METRIC_THRESHOLD } from '#core/metrics/metric_threshold.ts';
import type { Parsed } from '#core/oncall/parsed.ts';
import { keysOf } from '#kernel/keys_of.ts';

/** What makes a rule open an incident. */
export const RULE_KINDS = { metric_threshold: METRIC_THRESHOLD, exception: EXCEPTION } as const;

export type RuleKind = keyof typeof RULE_KINDS;

export const RULE_KIND_NAMES: readonly RuleKind[] = keysOf(RULE_KINDS);

/** The config of a rule of any kind, complete. */
export type RuleConfig = ConfigOf<(typeof RULE_KINDS)[RuleKind]>;

type ConfigOf<Declaration> = Declaration extends RuleKindDeclaration<infer Config> ? Config : never;

export function isRuleKind(value: unknown): value is RuleKind {
  return typeof value === 'string' && Object.hasOwn(RULE_KINDS, value);
}

/** Reads the config of a rule of this kind, with its defaults filled in; every fault is named under `path`. */
export function parseRuleConfig(kind: RuleKind, config: unknown, path: string): Parsed<RuleConfig> {
  return parseConfig<RuleConfig>(RULE_KINDS[kind], config, path);
}
