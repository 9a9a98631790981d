import { type Level, LEVELS } from '#core/exceptions/level.ts';
import type { RuleKindDeclaration } from '#core/incidents/rule_kind.ts';

/** The config of an `exception` rule, complete. */
export interface ExceptionRule {
  readonly minSeverity: Level;
}

/** Opens an incident for a new or regressed group whose event is at least this severe. */
export const EXCEPTION: RuleKindDeclaration<ExceptionRule> = {
  fedBy: 'exceptions',
  ingests: 'events',
  causes: 'new exceptions',
  properties: { minSeverity: { enum: LEVELS, description: 'default error' } },
  required: [],
  propertiesText: 'minSeverity',
  defaults: { minSeverity: 'error' },
};
