import type { Fault } from '#kernel/errors.ts';
import type { RuleKindDeclaration } from '#modules/rules/decide/rule_kind.ts';
import { RULE_KINDS, type RuleConfig, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { expressionFaults } from '#modules/metrics/decide/selector.ts';
import { faultsOf, ok, type Parsed } from '#modules/contacts/decide/parsed.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';

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

/** A rule as it is stored, whoever wrote it. */
interface StoredRule {
  readonly kind: RuleKind;
  readonly config: unknown;
  readonly settings: unknown;
}

/** Returns why a stored rule cannot be evaluated; null if it can. The evaluation itself checks the selector. */
export function unreadableRule({ kind, config, settings }: StoredRule): string | null {
  const { properties }: RuleKindDeclaration<RuleConfig> = RULE_KINDS[kind];
  const shape = { type: 'object', properties, required: Object.keys(properties) };
  const faults = findFaults({ type: 'object', properties: { config: shape } }, { config });
  if (faults.length > 0) return sentenceOf(faults);
  if (settings === null) return null;
  const wrong = faultsOf(parseRuleSettings({ kind, config: config as RuleConfig }, settings, 'settings'));
  return wrong.length > 0 ? sentenceOf(wrong) : null;
}

function sentenceOf([first]: readonly Fault[]): string {
  return first === undefined ? 'it cannot be read' : `${first.path} ${first.message}`;
}
