import type { Workloads } from '#test/kit/counting/count_work.ts';

/** Workloads that grow with their input, and faster. */
export default {
  'a walk over all': (size) => () => {
    let sum = 0;
    for (let index = 0; index < size; index += 1) sum += index;
    return sum;
  },
  'a pattern that begins at the edge of each run': (size) => () => 'a'.repeat(size).replace(/(?<!a)a+b/g, ''),
  'a pattern that begins anew in each run': (size) => () => 'a'.repeat(size).replace(/a+b/g, ''),
  'a search from each place to the end': (size) => () => {
    const text = 'a'.repeat(size);
    for (let at = 0; at < size; at += 1) if (text.includes('b', at)) return at;
    return null;
  },
  'code that compares each with each': (size) => () => {
    const all = Array.from({ length: size }, (_, index) => index);
    return all.filter((index) => all.every((other) => other !== index + size));
  },
} satisfies Workloads;
