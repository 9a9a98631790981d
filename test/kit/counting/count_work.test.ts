import { describe, expect, test } from 'vitest';

import { beyondLinear, countWork } from '#test/kit/counting/count_work.ts';
import { searchInSteps } from '#test/kit/counting/regexp_steps.ts';

const EXAMPLES = import.meta.resolve('../example_workloads.ts');

test('work is counted the same in every run, and work that grows faster than its input is found', async () => {
  expect(await countWork(EXAMPLES, [100, 100])).toEqual(await countWork(EXAMPLES, [100, 100]));
  expect((await beyondLinear(EXAMPLES, 300)).map((fault) => fault.split(':')[0])).toEqual([
    'a pattern that begins anew in each run',
    'a search from each place to the end',
    'code that compares each with each',
  ]);
});

describe('a workload that never ends', () => {
  const HANGS = 'data:text/javascript,export default { hangs: (n) => () => /^(a+)+$/.test("a".repeat(n) + "b") }';
  let counted: Promise<unknown>;

  test('is counted by a process of its own', () => {
    counted = countWork(HANGS, [50]).catch((error: unknown) => error);
    expect(counted).toBeInstanceOf(Promise);
  });

  test('ends with its test', async () => {
    expect(await counted).toEqual(new Error(`the workloads of ${HANGS} were not counted`));
  });
});

test.each([
  [/a+b/g, 'aaac aab', 0],
  [/(?<=x{1,3})y(?!z)|\bq\B/gu, 'xxyz xy q qq', 0],
  [/(a|ab)(c|bcd)(d*)/, 'abcd', 0],
  [/(?<word>\w+) \k<word>/i, 'one Two tWO', 0],
  [/^(?:(?:\d{1,3}\.){3}\d{1,3}|[^\s"'\]]*?)$/m, '10.20.30.40\n', 0],
  [/(?:a?b?)*?c/y, 'ababc', 1],
  [/(?<!\p{L})\p{L}{2,}(?=\u{1F600})/u, 'é éé😀', 0],
  [/x*(?=(y+))\1z/s, 'xxyyz', 0],
  [/[^]{3}.$/, 'abc\n', 0],
])('%s finds in steps what the engine finds', (pattern, text, from) => {
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  const { steps, found } = searchInSteps(pattern, text, from);
  expect(found).toEqual(match && { index: match.index, end: match.index + match[0].length });
  expect(steps).toBeGreaterThan(2);
});
