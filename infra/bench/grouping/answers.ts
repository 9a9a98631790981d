import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { eventOfClient, type LabelledEvent } from './labelled_event.ts';

/** The environment variable that names a folder of `*.jsonl` files: `{"event": …, "answer": "…"}` a line. */
export const ANSWERS_FOLDER = 'BENCH_GROUPING_ANSWERS';

interface GivenAnswer {
  /** Event as a client would send it. */
  readonly event: Readonly<Record<string, unknown>>;
  /** The group that the other product gives it. */
  readonly answer: string;
}

/** Events with the groups that another product gives them, each file one set; none when no folder is given. */
export function givenAnswers(): readonly (LabelledEvent & { readonly set: string })[] {
  const folder = process.env[ANSWERS_FOLDER];
  if (folder === undefined || folder === '') return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  return files.toSorted().flatMap((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    return lines
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const { event, answer } = JSON.parse(line) as GivenAnswer;
        return { set: file.slice(0, -'.jsonl'.length), label: answer, event: eventOfClient(event) };
      });
  });
}
