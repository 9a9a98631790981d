/** How many steps an escalation policy has at most. */
export const POLICY_STEPS_MAX = 100;
