/** The paid parts of a service. */
export const CAPABILITIES = ['metrics', 'exceptions', 'oncall'] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** Days that data is kept until set_retention says otherwise. */
export const DEFAULT_RETENTION_DAYS: Record<Capability, number> = { metrics: 30, exceptions: 90, oncall: 400 };

/** Longest time that data of a capability may be kept, in days. */
export const RETENTION_DAYS_MAX = 400;

/** Price of a capability: EUR 1 per service and month. */
export const MONTHLY_PRICE = { amountCents: 100, currency: 'EUR' } as const;
