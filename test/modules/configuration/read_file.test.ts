import { describe, expect, test } from 'vitest';

import { readConfigurationFile } from '#modules/configuration/decide/read_file.ts';
import { resourceSteps } from '#modules/configuration/decide/resources_of_file.ts';
import { finish as finishSteps } from '#kernel/cooperative_task.ts';

function faultsOf(text: string): { path: string; message: string; line: number | null }[] {
  const read = readConfigurationFile(text);
  return read.kind === 'ok' ? [] : [...read.faults];
}

function meaningFaultsOf(text: string): string[] {
  const read = readConfigurationFile(text);
  if (read.kind === 'faults') throw new Error(JSON.stringify(read.faults));
  return finishSteps(resourceSteps(read.value, () => false)).faults.map(({ path, message }) => `${path}: ${message}`);
}

describe('the text of a file', () => {
  test('is read with people and teams', () => {
    const read = readConfigurationFile('version: 1\nteams:\n  - key: payments\n    name: Payments\n');
    expect(read).toEqual({ kind: 'ok', value: { version: 1, teams: [{ key: 'payments', name: 'Payments' }] } });
  });

  test('is refused with the line of what is wrong', () => {
    const text = 'version: 1\nteams:\n  - key: payments\n    name: Payments\n    colour: red\n';
    expect(faultsOf(text)).toMatchObject([{ path: 'teams[0].colour', line: 5 }]);
  });

  test('is refused as a later version before anything else of it', () => {
    const [fault] = faultsOf('version: 2\nrooms: []\n');
    expect(fault).toMatchObject({ path: 'version', line: 1 });
    expect(fault?.message).toContain('a later release');
  });

  test('is refused when it is no YAML, with its line', () => {
    expect(faultsOf('version: 1\nteams: [}\n')[0]).toMatchObject({ line: 2 });
    expect(faultsOf('version: 1\nversion: 1\n')[0]?.message).toContain('stands twice');
  });

  test('is refused when the name of a property is an object, which would be written as text within text', () => {
    const [fault] = faultsOf(`version: 1\n${'? '.repeat(300)}teams\n`);
    expect(fault).toMatchObject({ message: 'the name of a property must be a text', line: 2 });
  });

  test('is refused when anchors come to too much, and when it is nested without end', () => {
    const laughs = ['version: 1', 'a: &a0 [lol, lol, lol]'];
    for (let level = 1; level < 30; level += 1)
      laughs.push(
        `b${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    expect(faultsOf(laughs.join('\n'))).toHaveLength(1);
    expect(faultsOf(`version: 1\nteams: ${'['.repeat(20_000)}`).length).toBeGreaterThan(0);
    expect(faultsOf('x'.repeat(17 * 1024 * 1024))[0]?.message).toContain('at most');
  });
});

describe('the meaning of a file', () => {
  test('has no key twice and no reference to nothing', () => {
    const text = `
version: 1
teams:
  - { key: a, name: A, members: [{ person: nobody }] }
  - { key: a, name: B }
`;
    expect(meaningFaultsOf(text)).toEqual([
      'teams[1].key: "a" is used twice',
      'teams[0].members[0].person: no entry of people has the key "nobody"',
    ]);
  });

  test('has one person for an address, whatever its case', () => {
    const text = `
version: 1
people:
  - { key: anna, name: Anna, email: anna@example.com }
  - { key: ann, name: Ann, email: Anna@Example.com }
`;
    expect(meaningFaultsOf(text)[0]).toContain('people[1].email');
  });

  test('has no step that names a schedule of another team', () => {
    const text = `
version: 1
teams: [{ key: a, name: A }, { key: b, name: B }]
schedules: [{ key: nights, team: b, name: Nights, timezone: UTC, layers: [{ name: N, rotation: { every: 1, unit: weeks }, turns: [], startsAt: 2027-01-04T00:00 }] }]
policies: [{ key: p, team: a, name: P, steps: [{ afterMinutes: 0, channels: [sms], schedules: [nights] }] }]
`;
    expect(meaningFaultsOf(text)).toContain(
      'policies[0].steps[0].schedules[0]: is a schedule of another team; let the step go to a policy of "b"',
    );
  });

  test('has no policies that come back to themselves', () => {
    const policy = (key: string, next: string) =>
      `  - { key: ${key}, team: a, name: ${key}, steps: [{ afterMinutes: 0, channels: [sms], policy: ${next} }] }\n`;
    const text = `version: 1\nteams: [{ key: a, name: A }]\npolicies:\n${policy('x', 'y')}${policy('y', 'z')}${policy('z', 'y')}`;
    expect(meaningFaultsOf(text).find((fault) => fault.includes('back to itself'))).toBe(
      'policies[1]: leads back to itself: y → z → y',
    );
  });

  test('has zones and times that exist', () => {
    const text = `
version: 1
teams: [{ key: a, name: A }]
people: [{ key: anna, name: Анна, email: anna@example.com }]
schedules:
  - key: s
    team: a
    name: 第一
    timezone: Mars/Olympus
    layers: [{ name: L, rotation: { every: 1, unit: weeks }, turns: [{ people: [anna] }], startsAt: tomorrow }]
`;
    expect(meaningFaultsOf(text).map((fault) => fault.split(':')[0])).toEqual([
      'schedules[0].timezone',
      'schedules[0].layers[0].startsAt',
    ]);
  });
});
