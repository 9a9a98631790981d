import { CHART_MINUTES_MAX } from '#modules/metrics/decide/buckets.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';

/** The period of charts; half-open. */
export interface Period {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

/** Reads a period from a caller's texts. Throws `invalid_input`. */
export function parsePeriod(from: string, to: string): Period {
  const period = { from: instantOf(from, 'from'), to: instantOf(to, 'to') };
  const minutes = (period.to.epochMilliseconds - period.from.epochMilliseconds) / 60_000;
  if (!(minutes > 0)) throw invalidInput([{ path: 'to', message: 'must be later than from' }]);
  if (minutes > CHART_MINUTES_MAX) {
    throw invalidInput([{ path: 'from', message: `at most ${CHART_MINUTES_MAX / 1_440} days before to` }]);
  }
  return period;
}

function instantOf(text: string, path: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(text);
  } catch {
    throw invalidInput([{ path, message: 'is not a valid time' }]);
  }
}
