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
