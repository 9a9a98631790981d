/**
 * Returns the time that one value of a line covers, in seconds: the step, or the usual distance of its points if the
 * sender exports less often than that. A sum of a counter that is exported once a minute is per minute, however fine
 * the steps are.
 */
export function spacingSeconds(steps: readonly number[], stepSeconds: number): number {
  const seen = new Map<number, number>();
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1];
    if (before !== undefined) seen.set(step - before, (seen.get(step - before) ?? 0) + 1);
  }
  const [usual] = [...seen].sort(([a, times], [b, others]) => others - times || a - b);
  return Math.max(usual?.[0] ?? 1, 1) * stepSeconds;
}

/** Factor of the usual distance beyond which nothing was sent for a while. */
const GAP_FACTOR = 2.5;

/**
 * Returns the mean time between two values of a line, in seconds, without its gaps: what one increase of a counter covers,
 * also where points come at another interval than the steps.
 */
export function meanSpacingSeconds(steps: readonly number[], stepSeconds: number): number {
  const limit = (spacingSeconds(steps, stepSeconds) / stepSeconds) * GAP_FACTOR;
  const distances = steps
    .slice(1)
    .map((step, index) => step - (steps[index] ?? 0))
    .filter((distance) => distance <= limit);
  const sum = distances.reduce((total, distance) => total + distance, 0);
  return Math.max(distances.length === 0 ? 1 : sum / distances.length, 1) * stepSeconds;
}
