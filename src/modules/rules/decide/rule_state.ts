/**
 * States of a rule, in the order of a list: the most urgent first. `waiting_for_data`: its points wait to be stored, or
 * its metric has never arrived. `disabled`: by somebody, or since its service lacks a capability.
 */
export const RULE_STATES = ['breached', 'waiting_for_data', 'ok', 'disabled'] as const;

export type RuleState = (typeof RULE_STATES)[number];
