import type { Timing } from '#test/speed/timing_process.ts';

/** Largest duration as a multiple of the kept figure, both by their calibration. */
const TIMES_MAX = 2;
/** Time that is lost to measuring. */
const FREE_MS = 1;

interface Judgement {
  /** Line for a person. */
  readonly line: string;
  readonly isSlow: boolean;
}

/** Compares a timing with the one that is kept, null for a workload that is new. */
export function judge(name: string, timing: Timing, kept: Timing | undefined): Judgement {
  const own = `${timing.ms.toFixed(2)} ms (calibration ${timing.calibrationMs.toFixed(2)} ms)`;
  if (kept === undefined) return { line: `NEW   ${name}: ${own}`, isSlow: false };
  const expectedMs = (kept.ms * timing.calibrationMs) / kept.calibrationMs;
  const isSlow = timing.ms > TIMES_MAX * expectedMs + FREE_MS;
  const before = `kept ${kept.ms.toFixed(2)} ms (${kept.calibrationMs.toFixed(2)} ms)`;
  const times = (timing.ms / expectedMs).toFixed(2);
  return { line: `${isSlow ? 'SLOW ' : 'ok   '} ${name}: ${own}, ${before}, ${times} times`, isSlow };
}
