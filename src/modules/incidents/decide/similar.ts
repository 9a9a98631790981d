import type { Temporal } from '#kernel/time.ts';

interface Past {
  readonly triggeredAt: Temporal.Instant;
  readonly acknowledgedAt: Temporal.Instant | null;
  readonly resolvedAt: Temporal.Instant | null;
}

/** Median durations of the incidents of a cause, in whole seconds; null without any to measure. */
export interface Durations {
  readonly medianSecondsToAcknowledge: number | null;
  readonly medianSecondsToResolve: number | null;
}

export function durationsOf(incidents: readonly Past[]): Durations {
  return {
    medianSecondsToAcknowledge: medianSeconds(incidents, ({ acknowledgedAt }) => acknowledgedAt),
    medianSecondsToResolve: medianSeconds(incidents, ({ resolvedAt }) => resolvedAt),
  };
}

/** Returns the median; of an even number the smaller middle value: a time that was really measured. */
function medianSeconds(incidents: readonly Past[], end: (incident: Past) => Temporal.Instant | null): number | null {
  const seconds = incidents
    .flatMap((incident) => {
      const at = end(incident);
      return at === null ? [] : [(at.epochMilliseconds - incident.triggeredAt.epochMilliseconds) / 1000];
    })
    .toSorted((a, b) => a - b);
  const middle = seconds[Math.floor((seconds.length - 1) / 2)];
  return middle === undefined ? null : Math.max(0, Math.round(middle));
}
