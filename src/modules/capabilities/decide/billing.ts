import { MONTHLY_PRICE, type Capability } from '#modules/capabilities/decide/capability.ts';
import { Temporal } from '#kernel/time.ts';

/** A billed period of one month: half-open, `[startsAt, endsAt)`. */
export interface BillingPeriod {
  readonly capability: Capability;
  readonly startsAt: Temporal.Instant;
  readonly endsAt: Temporal.Instant;
  readonly amountCents: number;
  readonly currency: string;
}

/** Billing state of a capability. Every period begins on the day of the month of `anchor`. */
export interface CapabilityState {
  readonly isEnabled: boolean;
  readonly anchor: Temporal.Instant;
  readonly billedUntil: Temporal.Instant;
}

/**
 * Returns the end of the `count`-th month after the anchor: the same day and time (UTC), clamped to the month's last
 * day. Counting from the anchor keeps the 31st: 31 January, 28 February, 31 March.
 */
export function monthsAfter(anchor: Temporal.Instant, count: number): Temporal.Instant {
  return anchor.toZonedDateTimeISO('UTC').add({ months: count }).toInstant();
}

function periodFrom(capability: Capability, anchor: Temporal.Instant, startsAt: Temporal.Instant): BillingPeriod {
  let count = anchor
    .toZonedDateTimeISO('UTC')
    .until(startsAt.toZonedDateTimeISO('UTC'), { largestUnit: 'months' }).months;
  while (Temporal.Instant.compare(monthsAfter(anchor, count), startsAt) <= 0) count += 1;
  return { capability, startsAt, endsAt: monthsAfter(anchor, count), ...MONTHLY_PRICE };
}

/**
 * Enables a capability: opens a period of one month; while an earlier period still runs it is continued and nothing is
 * charged. Returns the new state and the period to charge, or null.
 */
export function decideEnable(
  capability: Capability,
  state: CapabilityState | null,
  now: Temporal.Instant,
): { state: CapabilityState; period: BillingPeriod | null } {
  if (state !== null && Temporal.Instant.compare(now, state.billedUntil) < 0) {
    return { state: { ...state, isEnabled: true }, period: null };
  }
  // The precision of the ledger: a finer time would be read back as a different one.
  const anchor = now.round({ smallestUnit: 'millisecond', roundingMode: 'floor' });
  const period = periodFrom(capability, anchor, anchor);
  return { state: { isEnabled: true, anchor, billedUntil: period.endsAt }, period };
}

/**
 * Returns the periods that have begun since the last billed one, oldest first; none while disabled. The result is the
 * same whether it is asked at each renewal, late, or once after many months. A period has begun at the instant it
 * starts with.
 */
export function dueRenewals(capability: Capability, state: CapabilityState, now: Temporal.Instant): BillingPeriod[] {
  const periods: BillingPeriod[] = [];
  let startsAt = state.billedUntil;
  while (state.isEnabled && Temporal.Instant.compare(startsAt, now) <= 0) {
    const period = periodFrom(capability, state.anchor, startsAt);
    periods.push(period);
    startsAt = period.endsAt;
  }
  return periods;
}
