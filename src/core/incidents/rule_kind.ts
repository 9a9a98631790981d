import type { Capability } from '#core/capabilities/capability.ts';

/** A property of a config, as JSON schema. */
export interface ConfigSchema {
  readonly type?: 'string' | 'number' | 'integer';
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
}

/** All that is known of a kind of rule but how it is evaluated, which is its worker's. */
export interface RuleKindDeclaration<Config extends object> {
  /** What people choose when they create a rule. */
  readonly title: string;
  /** The capability whose data it looks at. The service needs it, and on-call. */
  readonly fedBy: Capability;
  /** What senders send for it. */
  readonly ingests: 'points' | 'events';
  /** Several of its causes in the title of an incident that stands for them. */
  readonly causes: string;
  /** The properties of its config, each as JSON schema. */
  readonly properties: { readonly [Name in keyof Config]: ConfigSchema };
  readonly required: readonly string[];
  /** The properties in words. */
  readonly propertiesText: string;
  /** What an absent property stands for. */
  readonly defaults: Partial<Config>;
  /** Of each property the heading of its field. */
  readonly labels: { readonly [Name in keyof Config]: string };
  /** The property that holds a metric's name with its label selector; rules of this kind look at points of that metric. */
  readonly selector?: string;
  /** When a rule fires, as a sentence. */
  condition(config: Config): string;
}
