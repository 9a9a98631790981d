/** `npm run check:upgrade`: runs the release before and this one side by side under load, as during an upgrade. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { count, duration, tableOf } from '#infra/bench/figures.ts';
import { withFolder } from '#infra/bench/harness.ts';
import { isRedisInstalled } from '#infra/bench/paging/redis.ts';
import { Fleet, type FleetOptions } from '#infra/bench/scale/fleet.ts';
import { openDatabase } from '#storage/postgres/database.ts';

import { type Outcome, outcomeOf, prepare, startLoad } from './upgrade_load.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Baselines of both schemas, whose last change is what checkouts without a tagged release upgrade from. */
const BASELINE = ['postgres', 'clickhouse'].flatMap((engine) => [
  `infra/migrations/${engine}/0001_baseline.ts`,
  `infra/migrations/${engine}/baseline`,
]);
const ALONE_MS = 10_000;
const TOGETHER_MS = 25_000;
const AFTERWARDS_MS = 10_000;

const USAGE = `npm run check:upgrade [-- REF]: installs the release REF beside this one (a tag, branch or commit; without it the newest tag,
or the last change of the baseline where there is none), migrates its stores with this release, and runs an API, a worker and a
pager of each on them, under load. With a Redis on this machine once more with the queue there. Ends with status 1 when
anything was lost or paged twice.`;

const [wanted, ...others] = process.argv.slice(2);
if (wanted === '--help' || wanted === '-h' || others.length > 0) {
  console.log(USAGE);
  process.exit(others.length > 0 ? 2 : 0);
}
const ref = wanted ?? newestTag() ?? git('log', '-1', '--format=%h', '--', ...BASELINE) ?? 'HEAD';
const commit = commitOf(ref);
if (commit === null) {
  console.error(`check:upgrade: there is no tag, branch or commit ${ref} here`);
  process.exit(2);
}
const isSound = await withFolder(async (folder) => {
  const before = install(folder, commit);
  console.log(`upgrade from ${ref} (${commit.slice(0, 12)}) to what is checked out here\n`);
  const outcomes: Outcome[] = [];
  for (const queue of isRedisInstalled() ? (['PostgreSQL', 'Redis'] as const) : (['PostgreSQL'] as const)) {
    outcomes.push(await upgrade(path.join(folder, queue), before, queue));
  }
  console.log(tableOf(outcomes.map(toRow)));
  return outcomes.every(isClean);
});
process.exit(isSound ? 0 : 1);

async function upgrade(folder: string, before: string, queue: FleetOptions['queue']): Promise<Outcome> {
  mkdirSync(folder, { mode: 0o711 });
  const fleet = await Fleet.open(folder, { queue, variables: { LOG_LEVEL: 'warn' } });
  try {
    say(`stores with the queue in ${queue} are up`);
    await fleet.migrate(before);
    const old = [
      await fleet.start('api', before),
      await fleet.start('worker', before),
      await fleet.start('pager', before),
    ];
    const db = await openDatabase({ url: fleet.stores.databaseUrl, poolMax: 4 });
    try {
      const setting = await prepare(fleet, db);
      const load = startLoad(setting);
      try {
        say('the release before works under load');
        await delay(ALONE_MS);
        await fleet.migrate(ROOT);
        for (const role of ['api', 'worker', 'pager'] as const) await fleet.start(role, ROOT);
        say('both work side by side on the new schema');
        await delay(TOGETHER_MS);
        const drainedMs = Math.max(...(await Promise.all(old.map((member) => fleet.stop(member)))));
        say(`the release before has stopped, after ${duration(drainedMs)} at most`);
        await delay(AFTERWARDS_MS);
        return { queue, drainedMs, ...(await outcomeOf(setting, await load.stop())) };
      } finally {
        await load.stop();
      }
    } finally {
      await db.close();
    }
  } finally {
    await fleet.close();
  }
}

function say(what: string): void {
  console.log(`  ${what}`);
}

function toRow(outcome: Outcome): Record<string, string> {
  const { queue, events, points, pages, acknowledgements, drainedMs } = outcome;
  return {
    queue,
    'events accepted, lost': `${count(events.accepted)}, ${count(events.lost)}`,
    'points accepted, lost': `${count(points.accepted)}, ${count(points.lost)}`,
    'incidents wanted, missing, twice': `${count(pages.wanted)}, ${count(pages.missing)}, ${count(pages.twice)}`,
    'pages, withdrawn, lost, twice': [pages.pages, pages.withdrawn, pages.lost, pages.duplicates].map(count).join(', '),
    'acknowledged, undone, paged after': `${count(acknowledgements.accepted)}, ${count(acknowledgements.undone)}, ${count(acknowledgements.pagedAfter)}`,
    'the old ones stopped in': duration(drainedMs),
  };
}

function isClean({ events, points, pages, acknowledgements }: Outcome): boolean {
  const faults = [
    events.lost,
    points.lost,
    pages.missing,
    pages.twice,
    pages.lost,
    pages.duplicates,
    acknowledgements.undone,
    acknowledgements.pagedAfter,
  ];
  return faults.every((fault) => fault === 0) && events.accepted > 0 && points.accepted > 0 && pages.pages > 0;
}

/** The files of the commit with its packages, in a folder of their own. */
function install(folder: string, commit: string): string {
  const root = path.join(folder, 'before');
  mkdirSync(root);
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  const lockOf = (place: string): string => readFileSync(path.join(place, 'package-lock.json'), 'utf8');
  if (lockOf(root) === lockOf(ROOT) && existsSync(path.join(ROOT, 'node_modules'))) {
    cpSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
  } else {
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: root,
      stdio: 'inherit',
    });
  }
  return root;
}

function newestTag(): string | null {
  return git('describe', '--tags', '--abbrev=0');
}

function commitOf(name: string): string | null {
  return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
}

function git(...args: readonly string[]): string | null {
  try {
    return execFileSync('git', [...args], { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
