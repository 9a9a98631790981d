import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { MEMBERS } from '#test/speed/members.ts';
import type { Timing } from '#test/speed/timing_process.ts';
import { judge } from '#test/speed/judge.ts';

/*
 * `npm run check:speed [-- --keep] [-- NAME …]`: times the workloads whose file has one of the names in it, all without a
 * name, and prints each beside the figure that is kept. Fails when one takes too long; `--keep` keeps these figures.
 */
const KEPT = new URL('./kept.json', import.meta.url);
const { values, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true });
const kept = JSON.parse(await readFile(KEPT, 'utf8')) as Record<string, Timing>;
const members = MEMBERS.filter(
  ({ file }) => positionals.length === 0 || positionals.some((name) => file.includes(name)),
);
if (members.length === 0) {
  console.error(`no file of workloads is called ${positionals.join(' or ')}: see test/speed/members.ts`);
  process.exit(2);
}

let timed = 0;
let slow = 0;
const PROGRAM = new URL('./timing_process.ts', import.meta.url);
for (const { file, size } of members) {
  const timing = fork(PROGRAM, [pathToFileURL(file).href, String(size)], { execArgv: [] });
  timing.on('message', ([name, figures]: [string, Timing]) => {
    const key = `${file.split('/').at(-1)?.replace('_workloads.ts', '')}: ${name.slice(0, 60)}`;
    const { line, isSlow } = judge(key, figures, kept[key]);
    console.log(line);
    timed += 1;
    if (isSlow) slow += 1;
    if (values.keep === true) kept[key] = rounded(figures);
  });
  const [[status]] = await Promise.all([once(timing, 'exit'), once(timing, 'disconnect')]);
  if (status !== 0) {
    console.error(`${file} ended with ${status}`);
    process.exit(1);
  }
}
if (values.keep === true) await writeFile(KEPT, `${JSON.stringify(kept, null, 2)}\n`);
console.log(`${timed - slow} passed, ${slow} failed`);
process.exit(slow > 0 && values.keep !== true ? 1 : 0);

function rounded({ ms, calibrationMs }: Timing): Timing {
  return { ms: Math.round(ms * 1_000) / 1_000, calibrationMs: Math.round(calibrationMs * 1_000) / 1_000 };
}
