import { parseOtherIncidents } from '#modules/shadow/decide/other_incidents.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

const read = (text: string) => () => parseOtherIncidents(text);

export default {
  'a line of many cells': (size) => read(','.repeat(size)),
  'many lines of one cell': (size) => read(`created_at,title\n${'x\n'.repeat(size)}`),
  'many columns, and lines without cells': (size) => read(`${'a,'.repeat(size)}\n${'x\n'.repeat(size)}`),
  'a cell that is never closed': (size) => read(`"${'a""'.repeat(size)}`),
} satisfies Workloads;
