/**
 * `npm run count`: what the code holds, beside its limits; fails where something rose. `-- --lower` lowers the limits to
 * what was counted. A limit is raised by a new line in `limits.json` that says why.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findRisen, type Limits, lowered } from './limits.ts';
import { measure, medianLines } from './measure.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const FILE = path.join(import.meta.dirname, 'limits.json');
const TITLE_CHARACTERS_MAX = 72;
const COMMITS = 50;

const limits = JSON.parse(readFileSync(FILE, 'utf8')) as Limits;
const counts = measure(ROOT);
if (process.argv.includes('--lower')) {
  writeFileSync(FILE, `${JSON.stringify(lowered(counts, limits), null, 2)}\n`);
} else {
  for (const [name, count] of Object.entries(counts)) {
    process.stdout.write(`${String(count).padStart(8)}  at most ${limits[name]?.at(-1)?.max ?? '-'}  ${name}\n`);
  }
  process.stdout.write(`${String(medianLines(ROOT)).padStart(8)}  lines has the median file\n`);
  const faults = [...findRisen(counts, limits), ...longTitles()];
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) {
    process.stderr.write('Remove as much elsewhere, or add a line to infra/checks/count/limits.json that says why.\n');
    process.exitCode = 1;
  }
}

/** Titles of the last commits that are too long; none where this is no checkout. */
function longTitles(): string[] {
  try {
    const titles = execFileSync('git', ['log', `-${COMMITS}`, '--format=%s'], { cwd: ROOT, encoding: 'utf8' });
    return titles
      .split('\n')
      .filter((title) => title.length > TITLE_CHARACTERS_MAX)
      .map((title) => `a commit title of ${title.length} characters, at most ${TITLE_CHARACTERS_MAX}: ${title}`);
  } catch {
    return [];
  }
}
