import path from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  exportsWithoutCallers,
  findCycles,
  type Import,
  importsBelow,
  reachableFrom,
  readSource,
  sourceFiles,
  toGraph,
} from '#test/kit/import_graph.ts';
import { isAllowed, partOf } from '#test/import_rules.ts';
import { MEASURING_FILES } from '#test/kit/measuring.ts';

const PRODUCTION = importsBelow('src', 'workers');

test('every part imports only the parts and packages that it may', () => {
  const imports = PRODUCTION.filter(({ file }) => partOf(file) !== 'console');
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter((found) => !isAllowed(found)).map(({ file, target }) => `${file} imports ${target}`)).toEqual(
    [],
  );
  const importOf = (file: string, target: string): Import => ({ file: `src/modules/${file}`, target, isType: false });
  const refused = [
    importOf('policies/decide/escalation.ts', '#storage/postgres/store.ts'),
    importOf('policies/decide/escalation.ts', '#modules/policies/store.ts'),
    importOf('policies/store.ts', '#modules/teams/store.ts'),
    importOf('policies/operations/view.ts', '#modules/teams/operations/create_team.ts'),
    importOf('incidents/resolve.ts', '#modules/incidents/operations/resolve_incident.ts'),
    importOf('incidents/operations/resolve_incident.ts', '#entry/http/app.ts'),
  ];
  expect(refused.filter(isAllowed)).toEqual([]);
});

test('every address of a page in a message, a result or a link to another tool names its organization', () => {
  const bare =
    /\$\{(?:\w+\.)*baseUrl\}(?:\$\{PAGES(?!\.signIn\})|\/(?:incidents|exceptions|oncall|rules|services|settings|me|explore|dashboards)\b)/;
  const files = ['src', 'workers'].flatMap((folder) => sourceFiles(folder));
  const faults = files.filter(
    (file) => partOf(file) !== 'console' && bare.test(readSource(file).replace(/linkTo\([^;]{0,200}/g, '')),
  );
  expect(faults).toEqual([]);
});

test('the console takes nothing from the server but types of results, and constants of decisions and kernel', () => {
  const imports = PRODUCTION.filter(({ file }) => partOf(file) === 'console');
  const faults = imports.filter(({ target, isType }) => {
    if (target.startsWith('#console/')) return false;
    return (
      target.includes('..') ||
      (target.startsWith('#') &&
        !/^#(?:kernel|modules\/\w+\/decide)\//.test(target) &&
        !(isType && /^#(?:actions|modules)\//.test(target)))
    );
  });
  expect(imports.length).toBeGreaterThan(200);
  expect(faults).toEqual([]);
});

/** `NAME = value` of each limit that a file declares; how many a place shows is its own. */
const limitsOf = (source: string): string[] =>
  [...source.matchAll(/^(?:export )?const (?!SHOWN_|NAMED_)(\w+_MAX = [\d_.* ]+);/gm)].map(([, limit = '']) => limit);

test('the console takes limits from decisions and writes none of the server again', () => {
  const limits = sourceFiles('src/console').flatMap((file) =>
    limitsOf(readSource(file)).map((limit) => ({ file, limit })),
  );
  const server = new Set(
    ['src/actions', 'src/modules'].flatMap((at) => sourceFiles(at)).flatMap((file) => limitsOf(readSource(file))),
  );
  expect([limits.length, server.size].map((count) => count > 10)).toEqual([true, true]);
  expect(limits.filter(({ limit }) => server.has(limit))).toEqual([]);
});

test('src imports neither workers nor infra', () => {
  const faults = PRODUCTION.filter(({ file, target }) => file.startsWith('src/') && /^#(workers|infra)\//.test(target));
  expect(faults).toEqual([]);
});

test.each(['src/entry/compose.ts', 'src/entry/foundation.ts', 'workers/main.ts'])('%s loads no HTTP', (file) => {
  const loaded = reachableFrom(toGraph(PRODUCTION), file);
  expect(loaded.size).toBeGreaterThan(20);
  expect([...loaded].filter((name) => name.startsWith('src/entry/http/'))).toEqual([]);
});

describe('cycles of imports', () => {
  const graphOf = (edges: Readonly<Record<string, readonly string[]>>) => new Map(Object.entries(edges));

  test('are found, however long, whatever else imports them', () => {
    expect(findCycles(graphOf({ a: ['b'], b: ['a'] }))).toEqual([['a', 'b']]);
    expect(findCycles(graphOf({ a: ['b'], b: ['c', 'd'], c: ['a'], d: [] }))).toEqual([['a', 'b', 'c']]);
    expect(findCycles(graphOf({ a: ['b', 'c'], b: ['d'], c: ['d'], d: ['e'], e: ['d', 'f'] }))).toEqual([['d', 'e']]);
    expect(findCycles(graphOf({ a: ['a'] }))).toEqual([['a']]);
    expect(findCycles(graphOf({ a: ['b'], b: ['a'], c: ['b', 'd'], d: ['c'] }))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  test('are found in a cycle that is made on purpose', () => {
    const graph = new Map(toGraph(PRODUCTION));
    graph.set('src/kernel/errors.ts', ['src/modules/incidents/paging/record_outcome.ts']);
    expect(findCycles(graph)).toHaveLength(1);
    expect(findCycles(graph)[0]).toEqual(
      expect.arrayContaining(['src/kernel/errors.ts', 'src/modules/incidents/paging/record_outcome.ts']),
    );
  });

  test('do not exist, types included', () => {
    expect(findCycles(toGraph(PRODUCTION))).toEqual([]);
  });

  test('are not seen in files that only import the same', () => {
    expect(findCycles(graphOf({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toEqual([]);
  });
});

test('decisions export no function or constant that only tests use', () => {
  const callers = ['src', 'workers', 'infra'].flatMap((folder) => sourceFiles(folder));
  const decisions = sourceFiles('src/modules').filter((file) => partOf(file) === 'decide');
  expect(decisions.length).toBeGreaterThan(150);
  expect(exportsWithoutCallers(decisions, callers)).toEqual([]);
  expect(exportsWithoutCallers(['src/modules/contacts/decide/e164.ts'], [])).toEqual([
    'src/modules/contacts/decide/e164.ts: E164_PATTERN',
  ]);
});

/** Duties of `run_action.ts` and `run_account_operation.ts` for every operation, and of nobody else. */
const OF_THE_PIPELINE = {
  'writes an audit row': /\baudit\.append\(|new AuditStore\(|\brecordAccountChange\(|\brecordCredentialReads\(/,
  'begins a transaction': /\binUnitOfWork\(|\.transaction\(/,
  'checks a permission': /\bisManager\(|\bpermissions\.has\(|\bROLE_PERMISSIONS\b/,
  'checks an input': /\bcheckInput\(|\bCompile\(|\bfindFaults\(/,
};
type Duty = keyof typeof OF_THE_PIPELINE;

function dutiesTakenBy(text: string, duties: readonly Duty[]): Duty[] {
  return duties.filter((duty) => OF_THE_PIPELINE[duty].test(text));
}

describe('one pipeline', () => {
  const ALL: readonly Duty[] = [
    'writes an audit row',
    'begins a transaction',
    'checks a permission',
    'checks an input',
  ];
  const faultsOf = (files: readonly string[], duties: readonly Duty[]) =>
    files.flatMap((file) => dutiesTakenBy(readSource(file), duties).map((duty) => `${file} ${duty}`));

  test('nothing below entry writes audit rows', () => {
    const files = sourceFiles('src/entry');
    expect(files.length).toBeGreaterThan(50);
    expect(faultsOf(files, ['writes an audit row'])).toEqual([]);
  });

  test('the endpoints of the console check no permission and no input, begin no transaction and write no audit row', () => {
    const files = sourceFiles('src/entry/http/console');
    expect(files.length).toBeGreaterThan(3);
    expect(faultsOf(files, ALL)).toEqual([]);
  });

  test('a declared operation begins no transaction and writes no audit row', () => {
    const files = ['src/actions', 'src/modules']
      .flatMap((folder) => sourceFiles(folder))
      .filter((file) => /= define(Action|Operation)\(/.test(readSource(file)));
    expect(files.length).toBeGreaterThan(50);
    expect(faultsOf(files, ['writes an audit row', 'begins a transaction', 'checks an input'])).toEqual([]);
  });

  test.each<[Duty, string]>([
    ['writes an audit row', 'await storesOf(session).audit.append(entry, now);'],
    ['writes an audit row', 'await new AuditStore(session).append(entry, now);'],
    ['begins a transaction', 'return await inUnitOfWork(runtime, (unit) => work(unit));'],
    ['checks a permission', 'if (!isManager(caller)) throw forbidden();'],
    ['checks a permission', "if (!caller.permissions.has('oncall:edit')) throw forbidden();"],
    ['checks an input', 'const validator = Compile(schema);'],
  ])('a file that %s is found', (duty, text) => {
    expect(dutiesTakenBy(text, ALL)).toEqual([duty]);
  });
});

/** Names of columns in the text of a query, where the compiler does not see that one was renamed. */
function columnsInText(source: string): string[] {
  const texts = [...source.matchAll(/\bsql(?:<[^`]*>)?`([^`]*)`/g)].map(([, text = '']) =>
    text.replaceAll(/\$\{[^}]*\}/g, ''),
  );
  return texts.flatMap((text) => text.match(/\b[a-z_]+\.[a-z_]+\b/g) ?? []);
}

test('queries of PostgreSQL name columns where the compiler sees them', () => {
  const files = ['src/storage/postgres', 'src/modules'].flatMap((folder) => sourceFiles(folder));
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap((file) => columnsInText(readSource(file)).map((column) => `${file}: ${column}`))).toEqual([]);
  expect(columnsInText("sql<number>`(extract(epoch from g.first_seen_at) * ${ref('g.id')})`")).toEqual([
    'g.first_seen_at',
  ]);
});

/**
 * Files in which SQL for PostgreSQL stands as text, with the reason; none does for speed, see the README of storage.
 */
const SQL_AS_TEXT: Readonly<Record<string, string>> = {
  'src/storage/postgres/database_clock.ts': 'asks for the time',
  'src/storage/postgres/dead_connections.ts': 'looks into the sessions of the server',
  'src/storage/postgres/connections.ts': 'passes on what others ask',
  'src/storage/postgres/pooler.ts': 'looks into its session before there is a schema',
  'src/storage/queue/connection.ts': 'asks whether the server takes writes',
  'src/entry/store_checks.ts': 'asks whether the server takes writes',
  'src/entry/preflight.ts': 'asks the server before there is a schema',
  'src/entry/http/ingest/alert_exchange.ts': 'limits how long a search may take',
  'src/entry/migrate.ts': 'asks before there is a schema',
  'src/entry/migrated_by.ts': 'asks before there is a schema',
  'src/entry/schema_age.ts': 'asks a schema that may be of another release',
  'src/entry/cli/with_stores.ts': 'asks a schema that may be of another release',
  'src/entry/first_run.ts': 'locks a table',
  'src/entry/backup/restore_marker.ts': 'makes a table that a restore drops at its end',
  'src/entry/backup/restore_backup.ts': 'drops it',
  'src/entry/backup/write_backup.ts': 'begins a snapshot',
  'src/entry/backup/postgres_rows.ts': 'copies whole tables, whatever columns they have',
  'src/entry/transfer/export_organization.ts': 'reads rows by a cursor as JSON, whatever columns they have',
  'src/entry/transfer/import_organization.ts': 'looks into tables by name',
  'src/entry/transfer/import_rows.ts': 'writes such rows, and numbers that a trigger keeps',
};

const isSqlAsText = (source: string): boolean =>
  /\bsql\.(?:rows?|run)\b|\b(?:client|lock|pool)\.query(?:<[^>]*(?:\{[^}]*\})?[^>]*>)?\((?!\s*\{)/.test(source);

test('SQL stands as text only where no typed query can say it', () => {
  const files = ['src', 'workers'].flatMap((folder) => sourceFiles(folder));
  const isOfClickHouse = (file: string) =>
    file.startsWith('src/storage/clickhouse/') ||
    (partOf(file) === 'store' && readSource(file).includes("'#storage/clickhouse/"));
  const matchingFiles = files.filter((file) => !isOfClickHouse(file) && isSqlAsText(readSource(file)));
  expect(matchingFiles.toSorted()).toEqual(Object.keys(SQL_AS_TEXT).toSorted());
  expect(isSqlAsText("await session.sql.run('delete from teams')")).toBe(true);
  expect(isSqlAsText("await client.query<{ id: string }>('select id from teams')")).toBe(true);
  expect(isSqlAsText('await session.db.selectFrom("teams").execute()')).toBe(false);
});

test('what strangers can make long is read in threads of its own', () => {
  const reads =
    /import \{[^}]*\b(?:openMap|readManifest|readSourceMap|unpack)\b[^}]*\} from '#modules\/releases\/[^']*source_maps/;
  const callers = [...sourceFiles('src'), ...sourceFiles('workers')].filter((file) => reads.test(readSource(file)));
  const programs = ['assembly_program.ts', 'map_thread_program.ts'].map(
    (name) => `src/modules/releases/source_maps/${name}`,
  );
  expect(callers.toSorted()).toEqual(programs);
  const compilers = sourceFiles('src').filter((file) => /\bsizeOfPattern\(/.test(readSource(file)));
  expect(compilers.toSorted()).toEqual([
    'src/modules/metrics/decide/pattern_size.ts',
    'src/modules/metrics/decide/selector.ts',
    'src/modules/metrics/patterns/pattern_program.ts',
  ]);
});

test('whatever gives people roles tells of those who are paged and may not answer any more, or gives first ones', () => {
  const writers = sourceFiles('src').filter((file) => /\.(?:setMembership|setRole)\(/.test(readSource(file)));
  const first = [
    'configuration/operations/add_person',
    'organizations/operations/invitations',
    'organizations/operations/add_member',
  ];
  const others = writers.filter((file) => !first.some((name) => file === `src/modules/${name}.ts`));
  expect(others.length).toBeGreaterThan(0);
  expect(others.filter((file) => !/notifyOfLoweredRole|listPagedBy/.test(readSource(file)))).toEqual([]);
});

test('links of the console to a part of a page go by the router', () => {
  // The page has a base, so that the address of a fragment alone would lead to the first page. The first link jumps itself.
  const files = sourceFiles('src/console', /\.tsx$/).filter((file) => /href="#/.test(readSource(file)));
  expect(files).toEqual(['src/console/shell/shell.tsx']);
});

test('no file has more than 400 lines', () => {
  const files = ['src', 'workers', 'infra', 'test'].flatMap((folder) => sourceFiles(folder, /\.(?:tsx?|js|css|md)$/));
  const lengths = files.map((file) => ({ file, lines: readSource(file).trimEnd().split('\n').length }));
  expect(lengths.length).toBeGreaterThan(1_000);
  expect(lengths.filter(({ lines }) => lines > 400)).toEqual([]);
});

/** One that begins a file stands for all of it. */
const DOC_COMMENT_OF_NOTHING = /(?<=\S\s*)^[ \t]*\/\*\*(?:(?!\*\/)[^])*\*\/[ \t]*\n(?=[ \t]*(?:\n|\/\*\*))/m;

test('every doc comment stands before what it tells of', () => {
  const files = ['src', 'workers', 'infra', 'test'].flatMap((folder) => sourceFiles(folder));
  expect(files.filter((file) => DOC_COMMENT_OF_NOTHING.test(readSource(file)))).toEqual([]);
  expect('const A = 1;\n/** Of one address. */\n\nconst B = 2;').toMatch(DOC_COMMENT_OF_NOTHING);
  expect('const A = 1;\n/** Of one address. */\nconst B = 2;').not.toMatch(DOC_COMMENT_OF_NOTHING);
});

test('a README names only files that are there: below it, or by their whole path', () => {
  const everywhere = ['src', 'workers', 'infra', 'test'].flatMap((folder) => sourceFiles(folder, /\.(?:tsx?|md)$/));
  const isThere = (folder: string, name: string): boolean =>
    everywhere.some((file) => file.startsWith(`${folder}/`) && file.endsWith(`/${name}`)) ||
    [path.join(folder, name), `src/${name}`, `test/${name}`, name].some((file) => everywhere.includes(file));
  const faultsOf = (file: string, text: string): string[] =>
    [...text.matchAll(/`#?([\w./-]+\.tsx?)`/g)]
      .filter(([, name = '']) => !isThere(path.dirname(file), name))
      .map(([, name]) => `${file}: ${name}`);
  const readmes = everywhere.filter((file) => file.endsWith('/README.md'));
  expect(readmes.length).toBeGreaterThan(40);
  expect(readmes.flatMap((file) => faultsOf(file, readSource(file)))).toEqual([]);
  expect(faultsOf('src/kernel/README.md', 'See `errors.ts`, `modules/stores.ts` and `gone.ts`.')).toEqual([
    'src/kernel/README.md: gone.ts',
  ]);
});

/** A test that waits for something waits for the condition; load and faults come at a rate, by `kit/pace.ts`. */
const SLEEPS =
  /\bawait (?:delay|sleep|pause|wait)\(|=> ?setTimeout\(|\bwaitForTimeout\(|from 'node:timers\/promises'|\bretry: [1-9]/;

test('no test sleeps, and none is tried again', () => {
  const files = [...sourceFiles('test'), ...sourceFiles('infra/embedded').filter((file) => file.includes('/test/'))];
  // Programs that a test runs.
  const programs = /^test\/(?:kit\/pace|architecture\.test|processes\/installation\.test|live\/programs\/.*)\.ts$/;
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter((file) => !programs.test(file) && SLEEPS.test(readSource(file)))).toEqual([]);
  expect('await new Promise((resolve) => setTimeout(resolve, 50));').toMatch(SLEEPS);
  expect('await page.waitForTimeout(500);').toMatch(SLEEPS);
  expect("test('pages', { retry: 2 }, async () => {});").toMatch(SLEEPS);
});

/**
 * Folders and files of the gate that look again and again until something holds, with what is real in them and tells
 * nobody. Any other drives the work by `runUntilIdle` and the clock, or waits for what tells of itself (`kit/when.ts`).
 */
const POLLING: Readonly<Record<string, string>> = {
  'infra/embedded/chdb_server/test/http_interface.test.ts': 'what the engine runs',
  'test/entry/http/broken_stores.test.ts': 'stores that take no changes',
  'test/entry/schema_age.test.ts': 'a lock of PostgreSQL that somebody waits for',
  'test/kit/load.ts': 'several processes under load',
  'test/kit/programs/': 'servers that start',
  'test/smoke/': 'a browser',
  'test/storage/postgres/': 'a connection that was ended, and workers behind PgBouncer',
  'test/storage/queue/': 'the queue',
};

const POLLS = /\.poll\(|\bvi\.wait(?:For|Until)\(|(?<!\.)\bwaitFor\(/;
const PROOFS = /^test\/(?:accessibility|browser|cluster|faults|flows|live|processes|speed)\//;

test('no test of the gate waits by looking again and again, but for real things that tell nobody', () => {
  const files = ['test', 'infra/embedded'].flatMap((folder) => sourceFiles(folder, /\.tsx?$/));
  const tests = files.filter((file) => /(?:^|\/)test\//.test(file) && file !== 'test/architecture.test.ts');
  expect(tests.length).toBeGreaterThan(500);
  const matchingTests = tests.filter((file) => !PROOFS.test(file) && POLLS.test(readSource(file)));
  const places = Object.keys(POLLING);
  expect(matchingTests.filter((file) => !places.some((place) => file.startsWith(place)))).toEqual([]);
  expect(places.filter((place) => !matchingTests.some((file) => file.startsWith(place)))).toEqual([]);
  expect('await expect\n  .poll(() => seen)').toMatch(POLLS);
  expect('await vi.waitUntil(() => asked.length === 1);').toMatch(POLLS);
  expect('await waitFor(() => expect(button).toBeTruthy());').toMatch(POLLS);
});

/**
 * Measurements that depend on a machine's speed and memory. A test of the gate counts work instead, by `kit/counting/`.
 */
const MEASURES =
  /\b(?:threadCpuUsage|cpuUsage|memoryUsage|resourceUsage|heapUsed|hrtime|getHeapStatistics)\b|\bperformance\.now\b|\bDate\.now\(\) ?-/;

/** Files of the gate that still measure something beside what they are about; none is to come. */
const MEASURING: ReadonlySet<string> = new Set([...MEASURING_FILES, 'test/architecture.test.ts']);

test('no test of the console replaces a module', () => {
  const files = sourceFiles('test/console', /\.test\.tsx?$/);
  expect(files.filter((file) => /\bvi\.(?:mock|doMock|hoisted|resetModules)\(/.test(readSource(file)))).toEqual([]);
});

test('no test of the gate measures time or memory', () => {
  const files = [...sourceFiles('test'), ...sourceFiles('infra/embedded').filter((file) => file.includes('/test/'))];
  const matchingFiles = files.filter((file) => !PROOFS.test(file) && MEASURES.test(readSource(file)));
  expect(files.length).toBeGreaterThan(300);
  expect(matchingFiles.filter((file) => !MEASURING.has(file))).toEqual([]);
  expect('const began = process.threadCpuUsage();').toMatch(MEASURES);
  expect('while (performance.now() < until);').toMatch(MEASURES);
  expect('expect(Date.now() - began).toBeLessThan(100);').toMatch(MEASURES);
});

const OWN_LIMIT = /\{ timeout: \d[\d_]{3,} \}|^ *\}, \d[\d_]{3,}\);|\b(?:test|hook)Timeout\b/m;

test('no test of the gate has a time limit of its own: servers start in hooks', () => {
  const files = sourceFiles('test').filter((file) => /\.test\.tsx?$/.test(file) && !PROOFS.test(file));
  const found = files.filter((file) => OWN_LIMIT.test(readSource(file)));
  expect(files.length).toBeGreaterThan(500);
  expect(found.filter((file) => !MEASURING.has(file))).toEqual([]);
  expect("test('pages', { timeout: 60_000 }, async () => {});").toMatch(OWN_LIMIT);
  expect("test('pages', async () => {\n}, 60_000);").toMatch(OWN_LIMIT);
});

test('only the settings read the environment', () => {
  const files = [...sourceFiles('src'), ...sourceFiles('workers')].filter(
    (name) => name.endsWith('.ts') && name !== 'src/kernel/config.ts',
  );
  expect(files.filter((file) => readSource(file).includes('process.env'))).toEqual([]);
});
