import { type Level, LEVELS } from '#core/exceptions/event.ts';
import { ok, type Parsed } from '#core/oncall/parsed.ts';
import { findFaults } from '#kernel/input_faults.ts';

/** When an `exception` rule fires: on a new or regressed group whose event is at least this severe. */
export interface ExceptionRule {
  readonly minSeverity: Level;
}

const SHAPE = {
  type: 'object',
  properties: { minSeverity: { enum: LEVELS } },
  additionalProperties: false,
};

const DEFAULT_MIN_SEVERITY: Level = 'error';

/** Reads the config of an `exception` rule; every fault is named under `path`. */
export function parseExceptionRule(config: unknown, path: string): Parsed<ExceptionRule> {
  const faults = findFaults({ type: 'object', properties: { [path]: SHAPE } }, { [path]: config });
  if (faults.length > 0) return { kind: 'faults', faults };
  const { minSeverity } = config as Partial<ExceptionRule>;
  return ok({ minSeverity: minSeverity ?? DEFAULT_MIN_SEVERITY });
}
