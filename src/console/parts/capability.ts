import type { Capability } from '#console/api/actions.ts';

export const CAPABILITIES: readonly Capability[] = ['metrics', 'exceptions', 'oncall'];

export const CAPABILITY_NAMES: Record<Capability, string> = {
  metrics: 'Metrics',
  exceptions: 'Exceptions',
  oncall: 'On-call',
};

export const CAPABILITY_MEANS: Record<Capability, string> = {
  metrics: 'OTLP, Prometheus remote write and JSON; dashboards and queries',
  exceptions: 'Sentry SDKs; grouped, deduplicated, with triage',
  oncall: 'Alert rules turn breaches and exceptions into incidents that page people',
};

/** Action API §8: per service, capability and month. */
export const PRICE_EUR = 1;

const EURO = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'EUR' });

export const euroText = (amount: number): string => EURO.format(amount);
