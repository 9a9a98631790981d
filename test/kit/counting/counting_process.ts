import type { Workload, Workloads } from '#test/kit/counting/count_work.ts';
import { type Work, WorkCounter } from '#test/kit/counting/work_counter.ts';

const [file = '', from, of, ...sizes] = process.argv.slice(2);
const counter = new WorkCounter();
const { default: workloads } = (await import(file)) as { readonly default: Workloads };

function countAt(size: number, workload: Workload): Work {
  const work = workload(size);
  // What is made at the first use does not count.
  work();
  return counter.count(work);
}

// The first count of all is a little too high.
countAt(Number(sizes[0]), Object.values(workloads)[0]!);
for (const [place, [name, workload]] of Object.entries(workloads).entries()) {
  if (place % Number(of) !== Number(from)) continue;
  const works = sizes.map((size) => countAt(Number(size), workload));
  await new Promise((resolve) => process.send?.([name, works], resolve));
}
process.disconnect?.();
