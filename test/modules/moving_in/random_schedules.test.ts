import { expect, test } from 'vitest';

import { slowRuns } from '#test/kit/properties.ts';
import { read } from '#test/modules/moving_in/answers.ts';
import { randomAnswers, randomOf } from '#test/modules/moving_in/random_answers.ts';

/** `MOVE_IN_CASES=1000` compares as many schedules of each tool, `MOVE_IN_SEED` others. */
const CASES = Number(process.env['MOVE_IN_CASES'] ?? slowRuns(120, 40));
const SEED = Number(process.env['MOVE_IN_SEED'] ?? 20_261_128);

interface Difference {
  readonly from: string;
  readonly to: string;
  readonly cause: string;
}

/**
 * Whether no layer says this, and the report gives its cause: GoAlert ends hours at the second of two times that the clocks
 * repeat, and PagerDuty's version 3 so long after they began, however the clocks changed meanwhile.
 */
function isSaid(tool: string, { cause, from, to }: Difference): boolean {
  if (!cause.startsWith('The clocks change')) return false;
  return tool === 'goalert' || (tool === 'pagerduty, version 3' && Date.parse(to) - Date.parse(from) <= 3_600_000);
}

test(`${CASES} random schedules of each tool say the same as a walk by its rules at every minute`, () => {
  const random = randomOf(SEED);
  const verdicts: Record<string, number> = {};
  const wrong: unknown[] = [];
  for (let index = 0; index < CASES; index += 1) {
    const proofFrom = [null, '2026-03-01', '2026-10-01'][index % 3]!;
    for (const [tool, documents] of Object.entries(randomAnswers(random))) {
      const { report, file } = read(tool.split(',')[0]!, documents, proofFrom);
      const verdict = report.items.find(({ kind }) => kind === 'schedule')!.verdict;
      verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
      // What is written down until a date is rounded to hours, and ends.
      if (verdict === 'horizon') continue;
      const different = report.proof.flatMap(({ differences }) => differences).filter((each) => !isSaid(tool, each));
      const isOtherwise = report.items.some(
        ({ kind, verdict: passed, reason }) =>
          kind === 'override' && (passed === 'refused' || reason.includes('are rounded')),
      );
      if (isOtherwise || different.length === 0) continue;
      wrong.push({ tool, index, different, file: JSON.stringify(file.schedules) });
    }
  }
  expect(wrong).toEqual([]);
  expect(Object.keys(verdicts).length).toBeGreaterThan(2);
});
