import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';
import type { RuleKindDeclaration } from '#modules/rules/decide/rule_kind.ts';

/** The config of an `exception` rule, complete. */
export interface ExceptionRule {
  readonly minSeverity: Level;
}

/** Opens an incident for a new or regressed group whose event is at least this severe. */
export const EXCEPTION: RuleKindDeclaration<ExceptionRule> = {
  title: 'A new exception arrives',
  fedBy: 'exceptions',
  ingests: 'events',
  causes: 'new exceptions',
  properties: { minSeverity: { enum: LEVELS, description: 'default error' } },
  required: [],
  propertiesText: 'minSeverity',
  defaults: { minSeverity: 'error' },
  labels: { minSeverity: 'At least this severe' },
  condition: ({ minSeverity }) => `When a new exception, or one that came back, is at least "${minSeverity}".`,
};
