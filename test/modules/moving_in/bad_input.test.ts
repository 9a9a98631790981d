import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

import { ruleOfExpression } from '#modules/moving_in/decide/other/prom_rule.ts';
import { MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { moveIn, writeMoveIn } from '#modules/moving_in/move_in.ts';
import { readFolder } from '#modules/moving_in/read_folder.ts';
import { countedPart } from '#test/kit/properties.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';
import {
  allEqual,
  item,
  layer,
  NOW,
  onCall,
  opsgenieSchedule,
  opsgenieUsers,
  pagerDutyUsers,
  read,
  rotation,
  schedule,
} from '#test/modules/moving_in/answers.ts';

const folders: string[] = [];

async function folder(files: Readonly<Record<string, string>>): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'move-in-'));
  folders.push(made);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(made, name)), { recursive: true });
    await writeFile(path.join(made, name), content);
  }
  return made;
}

afterEach(async () => {
  await Promise.all(folders.splice(0).map((made) => rm(made, { recursive: true, force: true })));
});

describe('bad input is a sentence in the report', () => {
  test('half a backup folder', async () => {
    const made = await folder({
      'users.json': JSON.stringify(pagerDutyUsers.value),
      'schedules.json': JSON.stringify(schedule([layer()]).value),
      'services.json': '{"services": [{"id": "PSERV", "na',
      'teams.json': JSON.stringify({ teams: [{ id: 'PTEAM', name: 'Team' }], limit: 1, offset: 0, more: true }),
      'empty.json': '',
    });
    const { documents, unreadable } = await readFolder(made);
    const { report } = moveIn(MOVE_IN_TOOLS['pagerduty']!, documents, unreadable, { now: NOW, proofFrom: null });
    const refused = report.items
      .filter(({ verdict }) => verdict === 'refused')
      .map(({ kind, id, reason }) => `${kind} ${id}: ${reason}`);
    expect(refused).toEqual([
      'list teams: The last page of teams says that more follow, and none does: some are missing.',
      'file empty.json: It is empty. Nothing of it was read.',
      'file services.json: It is no JSON: it may have been cut off. Nothing of it was read.',
    ]);
  });

  test('people who are missing', () => {
    const result = read('pagerduty', [schedule([layer({ users: ['UADA', 'UBO'] })])]);
    expect(item(result, 'list', 'users').reason).toContain('No answer with users was found');
    expect(item(result, 'layer', 'L1')).toMatchObject({
      verdict: 'refused',
      reason: expect.stringContaining('UADA is not among the people that were read'),
    });
    expect(result.report.proof[0]!.differences[0]!.cause).toContain('is not among the people that were read');
  });

  test.each(['Mars/Olympus', 'IST'])('the zone %s, which nobody knows, or which has no rules', (zone) => {
    const result = read('pagerduty', [pagerDutyUsers, schedule([layer()], { time_zone: zone })]);
    expect(item(result, 'schedule', 'PSCHED')).toMatchObject({
      verdict: 'refused',
      reason: `Nobody knows the time zone "${zone}".`,
    });
    expect(item(result, 'layer', 'L1').verdict).toBe('refused');
    expect(result.file.schedules).toBeUndefined();
    const opsgenie = read('opsgenie', [opsgenieUsers, opsgenieSchedule([rotation()], '')]);
    expect(item(opsgenie, 'schedule', 'ogsched')).toMatchObject({ verdict: 'refused', reason: 'It has no time zone.' });
  });

  test('a rotation of nobody', () => {
    const result = read('pagerduty', [pagerDutyUsers, schedule([layer({ users: [] })])]);
    expect(item(result, 'layer', 'L1')).toMatchObject({
      verdict: 'refused',
      reason: expect.stringContaining('Nobody is in its rotation'),
    });
    expect(onCall(result, '2026-06-20T12:00:00Z')).toBe('nobody');
    expect(allEqual(result)).toBe(true);
  });

  test('two people with one address', () => {
    const twins = {
      path: 'users.json',
      value: {
        users: [
          { id: 'U1', name: 'Ada', email: 'ada@example.com' },
          { id: 'U2', name: 'Ada at night', email: 'ADA@example.com' },
        ],
      },
    };
    const result = read('pagerduty', [twins, schedule([layer({ users: ['U2'] })])]);
    expect(item(result, 'user', 'U2')).toMatchObject({
      verdict: 'refused',
      reason: expect.stringContaining('is the address of Ada, too'),
    });
    expect(result.file.people).toHaveLength(1);
    expect(onCall(result, '2026-06-20T12:00:00Z')).toBe('Ada');
  });

  test('a loop of policies', () => {
    const rule = (minutes: number, recipient: object) => ({
      condition: 'if-not-acked',
      notifyType: 'default',
      delay: { timeAmount: minutes },
      recipient,
    });
    const escalations = [
      {
        id: 'first',
        name: 'First',
        rules: [rule(0, { type: 'user', id: 'ada' }), rule(5, { type: 'escalation', id: 'second' })],
      },
      {
        id: 'second',
        name: 'Second',
        rules: [rule(0, { type: 'escalation', id: 'first' }), rule(5, { type: 'user', id: 'bo' })],
      },
    ];
    const result = read('opsgenie', [opsgenieUsers, { path: 'v2-escalations.json', value: { data: escalations } }]);
    expect(item(result, 'policy', 'second')).toMatchObject({
      verdict: 'compiled',
      reason: expect.stringContaining('a loop, which is cut'),
    });
    expect(result.file.policies!.map(({ steps }) => steps.map(({ policy, people }) => policy ?? people))).toEqual([
      [['opsgenie-ada'], 'opsgenie-second'],
      [['opsgenie-bo']],
    ]);
  });

  test('YAML whose anchors would become 100 MB', async () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      ...'bcdefgh'
        .split('')
        .map(
          (name, index) =>
            `${name}: &${name} [${Array.from({ length: 10 }, () => `*${'abcdefgh'[index]}`).join(', ')}]`,
        ),
    ].join('\n');
    const made = await folder({ 'bomb.yaml': bomb, 'users.json': JSON.stringify(pagerDutyUsers.value) });
    const { unreadable } = await readFolder(made);
    expect(unreadable).toEqual([{ path: 'bomb.yaml', reason: 'Its aliases repeat more than a file may.' }]);
  });

  test('YAML whose names are objects within objects', async () => {
    const made = await folder({ 'names.yaml': `a: 1\n${'? '.repeat(9)}b\n` });
    const { unreadable } = await readFolder(made);
    expect(unreadable).toEqual([{ path: 'names.yaml', reason: 'The name of a property is no text.' }]);
  });

  test('names in every script, and names that are none', async () => {
    const names = ['Žofie Dvořáková', '山田太郎', 'محمد', '👩‍🚒 on call', '', '  \u0000\n', '<script>|`*'];
    const users = names.map((name, index) => ({ id: `U${index}`, name, email: `u${index}@example.com` }));
    const result = moveIn(MOVE_IN_TOOLS['pagerduty']!, [{ path: 'users.json', value: { users } }], [], {
      now: NOW,
      proofFrom: null,
    });
    expect(result.report.items.map(({ verdict }) => verdict)).toEqual(names.map(() => 'exact'));
    expect(result.file).toContain('name: 山田太郎');
    expect(result.file).toContain('name: u4@example.com');
    const made = await folder({});
    await writeMoveIn({ out: path.join(made, 'config.yaml'), report: path.join(made, 'report.json') }, result);
    expect((await readdir(made)).toSorted()).toEqual(['config.yaml', 'report.json', 'report.md']);
  });

  test('answers of another tool', async () => {
    const made = await folder({ 'other.json': '{"hello": "world"}' });
    const { documents, unreadable } = await readFolder(made);
    expect(() => moveIn(MOVE_IN_TOOLS['pagerduty']!, documents, unreadable, { now: NOW, proofFrom: null })).toThrow(
      'nothing that was read looks like PagerDuty',
    );
  });
});

test('nothing is written when one of the files cannot be', async () => {
  const made = await folder({});
  const result = moveIn(MOVE_IN_TOOLS['pagerduty']!, [pagerDutyUsers], [], { now: NOW, proofFrom: null });
  await expect(
    writeMoveIn({ out: path.join(made, 'config.yaml'), report: path.join(made, 'missing', 'report.json') }, result),
  ).rejects.toThrow('ENOENT');
  expect(await readdir(made)).toEqual([]);
});

test('expressions and calendars of others are read in time linear in their length, and long ones not at all', async () => {
  expect(await beyondLinear(import.meta.resolve('./hostile_workloads.ts'), 800, countedPart(4))).toEqual([]);
  expect(ruleOfExpression(`a${' '.repeat(5_000)}> 1`)).toHaveProperty('because');
  expect(ruleOfExpression('(sum(rate(a[5m])) > (14.4 * 0.001))')).toMatchObject({ threshold: 0.0144 * 300 });
});
