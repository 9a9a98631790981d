/**
 * How a rule stands, in the order of a list: what needs people first. `waiting_for_data`: its points wait to be stored, or
 * none of its metric has ever arrived. `disabled`: by somebody, or since its service lacks a capability.
 */
export const RULE_STATES = ['breached', 'waiting_for_data', 'ok', 'disabled'] as const;

export type RuleState = (typeof RULE_STATES)[number];
