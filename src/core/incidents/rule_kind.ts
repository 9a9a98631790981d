import type { Capability } from '#core/capabilities/capability.ts';
import { ok, type Parsed } from '#core/oncall/parsed.ts';
import type { Fault } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';

/** All that is known of a kind of rule but how it is evaluated, which is its worker's, and what it says, `condition_text.ts`. */
export interface RuleKindDeclaration<Config extends object> {
  /** The capability whose data it looks at. The service needs it, and on-call. */
  readonly fedBy: Capability;
  /** What senders send for it. */
  readonly ingests: 'points' | 'events';
  /** Several of its causes in the title of an incident that stands for them. */
  readonly causes: string;
  /** The properties of its config, each as JSON schema. */
  readonly properties: { readonly [Name in keyof Config]: object };
  readonly required: readonly string[];
  /** The properties in words. */
  readonly propertiesText: string;
  /** What an absent property stands for. */
  readonly defaults: Partial<Config>;
  /** Faults that the schema cannot tell. The config may have any shape. */
  meaning?(config: Readonly<Record<string, unknown>>, path: string): readonly Fault[];
}

/** Reads the config of a rule, defaults filled in; every fault is named under `path`. */
export function parseConfig<Config extends object>(
  { properties, required, defaults, meaning }: RuleKindDeclaration<Config>,
  config: unknown,
  path: string,
): Parsed<Config> {
  const shape = { type: 'object', properties, required, additionalProperties: false };
  const faults = findFaults({ type: 'object', properties: { [path]: shape } }, { [path]: config });
  if (typeof config === 'object' && config !== null) faults.push(...(meaning?.({ ...config }, path) ?? []));
  return faults.length > 0 ? { kind: 'faults', faults } : ok({ ...defaults, ...(config as Config) });
}
