import { mergePattern } from '#modules/exceptions/decide/occurrence.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

const mine = (messages: readonly string[]) => () => messages.reduce<string | null>(mergePattern, null);

export default {
  'many messages, each unlike the one before': (count) =>
    mine(Array.from({ length: count }, (_, index) => `${'w '.repeat(index % 20)}${index} ${'x'.repeat(500)}`)),
  'long messages': (length) => {
    const [words, blanks] = [' b'.repeat(10 * length), ' '.repeat(10 * length)];
    return mine([`a${words}`, `c${words}`, `${blanks}e\n${'\n'.repeat(10 * length)}`]);
  },
} satisfies Workloads;
