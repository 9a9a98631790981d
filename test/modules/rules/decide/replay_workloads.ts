import { replayRule } from '#modules/rules/decide/replay.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

export default {
  'a replay of minutes': (minutes) => {
    const values = Array.from({ length: minutes }, (_, i) => (i % 97 === 0 ? null : 50 + 50 * Math.sin(i / 30)));
    const history = { firstMs: 29_000_000 * 60_000, stepMs: 60_000, values };
    return () => replayRule({ comparator: '>', threshold: 60, windowMinutes: 5 }, history);
  },
} satisfies Workloads;
