import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';

import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';

import { addCommands } from '#entry/cli/run_command_line.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { ConfigurationFile } from '#modules/configuration/decide/file.ts';
import { resourceSteps } from '#modules/configuration/decide/resources_of_file.ts';
import { ruleOfExpression } from '#modules/moving_in/decide/other/prom_rule.ts';
import { keyOfItem, MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { GOALERT_QUERY } from '#modules/moving_in/ask_tools.ts';
import type { MoveInReport } from '#modules/moving_in/decide/report.ts';
import { TOOL_DOUBLES } from '#test/modules/moving_in/other_doubles.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const DOCS = [
  'README.md',
  'src/docs/backing_up.md',
  'src/docs/moving.md',
  'src/docs/clickhouse_clusters.md',
  'src/docs/migrating.md',
];

/** Every command with its options, by how it is called: "key create". */
async function commands(): Promise<Map<string, readonly string[]>> {
  const program = new Command('tocsin');
  await addCommands(program, undefined, () => {});
  const leaves = (command: Command, names: readonly string[]): [string, readonly string[]][] =>
    command.commands.length === 0
      ? [[names.join(' '), command.options.flatMap(({ long }) => long ?? [])]]
      : command.commands.flatMap((child) => leaves(child, [...names, child.name()]));
  return new Map(program.commands.flatMap((command) => leaves(command, [command.name()])));
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

test('the README lists every command', async () => {
  const [, listed = ''] = /## Command line[\s\S]*?```\n([\s\S]*?)```/.exec(read('README.md')) ?? [];
  const missing = [...(await commands()).keys()].filter((name) => {
    const [noun = '', verb = ''] = name.split(' ');
    return !listed.split('\n').some((line) => line.startsWith(noun) && line.includes(verb));
  });
  expect(missing).toEqual([]);
});

test('a call loads the file of its command alone', async () => {
  const names = new Set([...(await commands()).keys()].map((name) => name.split(' ')[0] ?? ''));
  for (const name of names) {
    const program = new Command('tocsin');
    await addCommands(program, name, () => {});
    const added = program.commands.map((command) => command.name());
    expect(added).toContain(name);
    expect(added.length).toBeLessThan(names.size / 2);
  }
});

test('every option that the README and the guides give to a command exists', async () => {
  const known = await commands();
  const unknown = DOCS.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line) => {
        const mentioned = [...known].filter(([name]) => new RegExp(`(^|tocsin -- |tocsin )${name}\\b`).test(line));
        const [name, options] = mentioned.toSorted(([a], [b]) => b.length - a.length)[0] ?? [];
        if (options === undefined) return [];
        const written = [...line.matchAll(/ (--[a-z][a-z-]+)/g)].map(([, option = '']) => option);
        return written
          .filter((option) => option !== '--silent' && !options.includes(option))
          .map((option) => `${file}: ${name} ${option}`);
      }),
  );
  expect(unknown).toEqual([]);
});

const row = (model: string, pk: number, fields: object): object => ({ model: `sentry.${model}`, pk, fields });

/** Files that the guides read, by the path that they give. */
const GUIDE_FILES: Readonly<Record<string, string>> = {
  'feed.ics': [
    'BEGIN:VCALENDAR',
    'X-WR-CALNAME:On call',
    'BEGIN:VEVENT',
    'UID:1',
    'SUMMARY:Ada',
    'ATTENDEE;CN=Ada:mailto:ada@example.com',
    'DTSTART:20260101T080000Z',
    'DTEND:20260101T200000Z',
    'RRULE:FREQ=DAILY',
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n'),
  'OpsGenieBackups/users/ada@example.com.json': JSON.stringify({
    user: { id: 'ada', username: 'ada@example.com', fullName: 'Ada', role: { name: 'User' } },
    notificationRuleList: [],
  }),
  'OpsGenieBackups/schedules/Primary-s1.json': JSON.stringify({
    schedule: {
      id: 's1',
      name: 'Primary',
      timezone: 'UTC',
      enabled: true,
      rotations: [
        {
          id: 'r1',
          name: 'Weeks',
          startDate: '2026-01-05T08:00:00Z',
          type: 'weekly',
          length: 1,
          participants: [{ type: 'user', username: 'ada@example.com' }],
        },
      ],
    },
    scheduleOverrideList: [],
  }),
  'export.json': JSON.stringify([
    row('organization', 1, { name: 'Acme' }),
    row('user', 2, { username: 'ada', email: 'ada@example.com' }),
    row('project', 7, { name: 'shop' }),
    row('projectkey', 9, { project: 7, label: 'Default', public_key: 'a'.repeat(32), status: 0 }),
  ]),
  'etc/prometheus/rules/shop.rules.yml': `groups:
  - name: shop
    rules:
      - alert: Slow
        expr: avg_over_time(queue_depth[5m]) > 100
        for: 5m
`,
  'alertmanager/alertmanager.yml': `route:
  receiver: core
  routes:
    - receiver: core
      matchers: [severity="page"]
receivers:
  - name: core
    email_configs: [{ to: ada@example.com }]
`,
  'alertmanager/silences.json': JSON.stringify([
    {
      id: 'quiet',
      comment: 'Move of the database',
      matchers: [{ name: 'service', value: 'shop', isRegex: false, isEqual: true }],
      startsAt: '2026-06-01T00:00:00Z',
      endsAt: '2999-06-01T00:00:00Z',
      status: { state: 'active' },
    },
  ]),
  'provisioning/alerting/rules.yaml': `apiVersion: 1
groups:
  - orgId: 1
    name: shop
    folder: shop
    interval: 60s
    rules:
      - uid: slow
        title: Slow
        condition: C
        for: 5m
        data:
          - { refId: A, relativeTimeRange: { from: 600, to: 0 }, model: { expr: queue_depth } }
          - { refId: B, model: { type: reduce, expression: A, reducer: mean } }
          - refId: C
            model: { type: threshold, expression: B, conditions: [{ evaluator: { type: gt, params: [100] } }] }
`,
};

const MIGRATING = read('src/docs/migrating.md');
const CELLS = MIGRATING.split('\n').map((line) => line.split(/(?<!\\)\s*\|\s*/).slice(1, -1));

/** Commands of the guides, each with what a guide says to give in place of something. */
const GUIDED = MIGRATING.split(/^## (?=From )/m)
  .slice(1)
  .flatMap((section) => {
    const commands = [...section.matchAll(/npm run --silent tocsin -- (move-in [^`\n]+)/g)].map(([, line = '']) =>
      line.trim().split(/ +/),
    );
    const written = [...section.matchAll(/`(--(?:from|key-file|base-url) [^`]+)`/g)].map(([, text = '']) =>
      text.split(' '),
    );
    const changed = written.map(([option = '', value = '']) => {
      const base = commands[0] ?? [];
      const replaced = option === '--base-url' ? [option] : ['--from', '--key-file'];
      const at = base.findIndex((word) => replaced.includes(word));
      return at === -1 ? [...base, option, value] : base.with(at, option).with(at + 1, value);
    });
    return [...commands, ...changed];
  });

describe('the guides of migrating', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'guides-'));
  const asked: string[] = [];
  const printed: string[] = [];

  beforeAll(() => {
    for (const [name, text] of Object.entries(GUIDE_FILES)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  });

  afterAll(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    // The command sets the heap of its process, and this process has other tests.
    for (const flag of ['--heap-growing-percent=0', '--semi-space-growth-factor=2']) setFlagsFromString(flag);
    rmSync(folder, { recursive: true });
  });

  /** Runs a command as it stands, in the folder, where an address answers as the tool that has it. */
  async function follow(words: readonly string[]): Promise<void> {
    const tool = TOOL_DOUBLES[words[1] ?? ''];
    if (tool !== undefined) writeFileSync(path.join(folder, 'key.txt'), tool.keyText('first-key'), { mode: 0o600 });
    vi.stubGlobal(
      'fetch',
      async (address: string, { headers, body }: { headers: Record<string, string>; body?: string }) => {
        const url = new URL(address);
        asked.push(url.origin);
        url.pathname = url.pathname.replace(/^\/oncall\//, '/');
        const answer = tool?.keyOf(headers) === 'first-key' ? tool.respond(url, body ?? '') : null;
        if (answer === null) return Response.json({}, { status: 404 });
        return Response.json(answer.value, answer.link === undefined ? {} : { headers: { link: answer.link } });
      },
    );
    const isFile = (index: number): boolean => /^--(out|report|from|key-file|keep)$/.test(words[index - 1] ?? '');
    const program = new Command('tocsin').exitOverride();
    await addCommands(program, words[0], () => {});
    await program.parseAsync(
      words.map((word, index) =>
        isFile(index) ? path.join(folder, word) : word === 'URL' ? 'https://tool.example.com/oncall' : word,
      ),
      { from: 'user' },
    );
  }

  test('tell every tool of the table', () => {
    const tools = CELLS.filter((_, index) => index < 30).flatMap(([tool = '']) =>
      [...tool.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
    );
    expect(new Set(GUIDED.map(([, tool]) => tool))).toEqual(new Set(tools));
  });

  test('print the query that a key of GoAlert is made for', async () => {
    await follow(GUIDED.find((words) => words.includes('--print-query')) ?? []);
    expect(printed.join('')).toBe(`${GOALERT_QUERY}\n`);
  });

  test.each(GUIDED.filter((words) => words.includes('--out')).map((words) => [words.join(' '), words] as const))(
    '%s',
    async (_, words) => {
      const tool = words[1] ?? '';
      asked.length = 0;
      printed.length = 0;
      await follow(words);
      const fileOf = (option: string): string => path.join(folder, words[words.indexOf(option) + 1] ?? '');
      const file = parse(readFileSync(fileOf('--out'), 'utf8')) as ConfigurationFile;
      expect(findFaults(ConfigurationFile, file)).toEqual([]);
      expect(finish(resourceSteps(file, () => false)).faults).toEqual([]);
      const { schedules = [], people: [ada] = [] } = file;
      expect(schedules.filter((schedule) => !JSON.stringify(schedule).includes(`"${ada?.key}"`))).toEqual([]);
      const { read: counts, items, proof } = JSON.parse(readFileSync(fileOf('--report'), 'utf8')) as MoveInReport;
      expect(items.length).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0));
      expect(items.filter(({ kind }) => kind === 'file' || kind === 'list')).toEqual([]);
      expect(items.some(({ verdict }) => verdict !== 'refused')).toBe(true);
      expect(proof.map(({ minutes, equal }) => minutes - equal)).toEqual(proof.map(() => 0));
      expect(readFileSync(fileOf('--report').replace(/json$/, 'md'), 'utf8')).toContain(
        `# Moving in from ${MOVE_IN_TOOLS[tool]?.title}`,
      );
      expect(printed.join('')).toContain(`Read ${items.length} items`);
      // The console links an item to what it became by this key.
      const keys = items
        .filter(({ verdict }) => verdict !== 'refused')
        .map(({ kind, id }) => keyOfItem(tool, kind, id));
      const known = new Set(
        Object.values(file).flatMap((list) => (Array.isArray(list) ? list.map(({ key }) => key) : [])),
      );
      expect(keys.filter((key) => key !== '' && !known.has(key))).toEqual([]);
      // Whoever gives no address asks the one of the table.
      const usual = CELLS.find(([name]) => name === `\`${tool}\``)?.[2] ?? '';
      const isGiven = words.includes('--base-url') || words.includes('--from');
      expect(isGiven || asked.every((origin) => usual === `\`${origin}\``)).toBe(true);
      expect(asked.length > 0).toBe(words.includes('--key-file'));
    },
  );

  test('say which rules expressions become', () => {
    const rows = CELLS.filter(([, rule = '']) => /, \d+ minutes, /.test(rule)).map(([expr = '', rule = '']) => {
      const [, metricName, aggregation, minutes, comparator, threshold] =
        /^`(.+)`, `(\w+)`, (\d+) minutes, `(\W+)` (\d+)$/.exec(rule) ?? [];
      return [
        expr.slice(1, -1),
        {
          metricName,
          aggregation,
          windowMinutes: Number(minutes),
          comparator,
          threshold: Number(threshold),
          losses: [],
        },
      ];
    });
    expect(rows.map(([expr]) => [expr, ruleOfExpression(expr as string)])).toEqual(rows);
    expect(rows).toHaveLength(3);
  });
});
