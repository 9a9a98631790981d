/** Days of an objective: shorter ones have no budget to speak of, longer ones are kept by few. */
export const OBJECTIVE_DAYS = { min: 7, max: 90 };
