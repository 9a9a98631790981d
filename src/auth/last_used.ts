import type { Temporal } from '#kernel/time.ts';

const PRECISION_MS = 60_000;

/** Whether it is time to note again that a credential is used: to the minute, not at each request. */
export function isUseWorthRecording(lastUsedAt: Temporal.Instant | null, now: Temporal.Instant): boolean {
  return lastUsedAt === null || now.epochMilliseconds - lastUsedAt.epochMilliseconds > PRECISION_MS;
}
