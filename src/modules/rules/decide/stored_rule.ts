import type { RuleKindDeclaration } from '#modules/rules/decide/rule_kind.ts';
import { RULE_KINDS, type RuleConfig, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { faultsOf } from '#modules/contacts/decide/parsed.ts';
import type { Fault } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';

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
