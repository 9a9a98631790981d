/** Limit on the steps of an escalation policy. */
export const POLICY_STEPS_MAX = 100;
