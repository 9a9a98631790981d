import { type Capability, MONTHLY_PRICE } from '#modules/capabilities/decide/capability.ts';
import { numberFormat } from '#console/components/text/time_text.ts';

export const CAPABILITY_NAMES: Record<Capability, string> = {
  metrics: 'Metrics',
  exceptions: 'Exceptions',
  oncall: 'On-call',
};

export const CAPABILITY_DESCRIPTIONS: Record<Capability, string> = {
  metrics: 'OTLP, Prometheus remote write and JSON; dashboards and queries',
  exceptions: 'Sentry SDKs; grouped, deduplicated, with triage',
  oncall: 'Alert rules turn breaches and exceptions into incidents that page people',
};

/** Price in euros per service, capability and month. */
export const PRICE_EUR = MONTHLY_PRICE.amountCents / 100;

export const euroText = numberFormat({ style: 'currency', currency: MONTHLY_PRICE.currency });
