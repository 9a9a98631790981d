import { parentPort } from 'node:worker_threads';

import { searchInSteps } from '#test/kit/counting/regexp_steps.ts';
import type { Search, Work } from '#test/kit/counting/work_counter.ts';

function stepsOf({ source, flags, from, found }: Search, text: string): number {
  const search = searchInSteps({ source, flags }, text, from);
  if (found?.index !== search.found?.index || found?.end !== search.found?.end) {
    throw new Error(`/${source}/${flags} is counted wrongly: ${JSON.stringify([found, search.found])}`);
  }
  return search.steps;
}

parentPort!.on('message', (works: Work[]) => {
  const totals = works.map(({ count, searches, texts }) =>
    searches.reduce((sum, search) => sum + stepsOf(search, texts[search.text]!), count),
  );
  parentPort!.postMessage(totals, []);
});
