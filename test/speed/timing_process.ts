import type { Workload, Workloads } from '#test/kit/counting/count_work.ts';

/** Processor time of a workload and of the calibration loop beside it. */
export interface Timing {
  readonly ms: number;
  readonly calibrationMs: number;
}

const ROUNDS = 3;
/** The processor's time is counted in ticks of some milliseconds on some machines: short work is done many times. */
const ROUND_MS_LEAST = 40;
const [file = '', size] = process.argv.slice(2);

/** Processor time that the work takes once. */
function spentOn(work: () => unknown): number {
  const before = process.threadCpuUsage();
  for (let times = 1; ; times += 1) {
    work();
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= ROUND_MS_LEAST) return ms / times;
  }
}

/** Work on numbers, memory and texts that never changes. */
function calibrate(): number {
  const words = new Map<string, number>();
  for (let index = 0; index < 40_000; index += 1) {
    const word = `w${(index * 7_919) % 1_000}`;
    words.set(word, (words.get(word) ?? 0) + word.charCodeAt(word.length - 1));
  }
  return [...words.values()].reduce((sum, count) => sum + count, 0);
}

/** The shortest of some rounds: what else the machine does only adds. */
function timingOf(workload: Workload): Timing {
  const work = workload(Number(size));
  work();
  const rounds = Array.from({ length: ROUNDS }, () => ({ ms: spentOn(work), calibrationMs: spentOn(calibrate) }));
  const least = (of: keyof Timing): number => Math.min(...rounds.map((round) => round[of]));
  return { ms: least('ms'), calibrationMs: least('calibrationMs') };
}

const { default: workloads } = (await import(file)) as { readonly default: Workloads };
calibrate();
for (const [name, workload] of Object.entries(workloads)) {
  await new Promise((resolve) => process.send?.([name, timingOf(workload)], resolve));
}
process.disconnect?.();
