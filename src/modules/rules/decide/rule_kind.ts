import type { Capability } from '#modules/capabilities/decide/capability.ts';
import type { ExceptionRuleSettings } from '#modules/rules/decide/kind_settings.ts';

/** A property of a config, as JSON schema. */
export interface ConfigSchema {
  readonly type?: 'string' | 'number' | 'integer';
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
}

/** Declaration of a kind of rule: all but its evaluation, which is its worker's. */
export interface RuleKindDeclaration<Config extends object> {
  /** Title in the choice of kinds when people create a rule. */
  readonly title: string;
  /** The capability whose data it looks at. The service needs it, and on-call. */
  readonly fedBy: Capability;
  /** Input of its evaluation, as senders send it. */
  readonly ingests: 'points' | 'events';
  /** Plural of its causes, for the title of an incident that stands for several. */
  readonly causes: string;
  readonly properties: { readonly [Name in keyof Config]: ConfigSchema };
  readonly required: readonly string[];
  /** The properties in words. */
  readonly propertiesText: string;
  /** Defaults of absent properties. */
  readonly defaults: Partial<Config>;
  /** Heading of each property's field. */
  readonly labels: { readonly [Name in keyof Config]: string };
  /** Property that holds a metric's name with its label selector; rules of this kind look at points of that metric. */
  readonly selector?: string;
  /** Says when a rule fires; without settings, as by their defaults. */
  condition(config: Config, settings: Partial<ExceptionRuleSettings>): string;
}

/**
 * States of a rule, in the order of a list: the most urgent first. `waiting_for_data`: its points wait to be stored, or
 * its metric has never arrived. `disabled`: by somebody, or since its service lacks a capability.
 */
export const RULE_STATES = ['breached', 'waiting_for_data', 'ok', 'disabled'] as const;

export type RuleState = (typeof RULE_STATES)[number];
