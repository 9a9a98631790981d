import type { RuleKindDeclaration } from '#modules/rules/decide/rule_kind.ts';
import { RULE_KINDS, type RuleConfig, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { expressionFaults } from '#modules/metrics/decide/selector.ts';
import { ok, type Parsed } from '#modules/contacts/decide/parsed.ts';
import { findFaults } from '#kernel/input_faults.ts';

/** Parses the config of a rule of this kind and fills in its defaults; every fault is named under `path`. */
export function parseRuleConfig(kind: RuleKind, config: unknown, path: string): Parsed<RuleConfig> {
  const { properties, required, defaults, selector }: RuleKindDeclaration<RuleConfig> = RULE_KINDS[kind];
  const shape = { type: 'object', properties, required, additionalProperties: false };
  const faults = findFaults({ type: 'object', properties: { [path]: shape } }, { [path]: config });
  if (selector !== undefined && typeof config === 'object' && config !== null) {
    const text: unknown = Reflect.get(config, selector);
    if (typeof text === 'string') faults.push(...expressionFaults(text, `${path}.${selector}`));
  }
  return faults.length > 0 ? { kind: 'faults', faults } : ok({ ...defaults, ...(config as RuleConfig) });
}
