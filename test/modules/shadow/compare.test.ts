import { describe, expect, test } from 'vitest';

import { compareIncidents } from '#modules/shadow/decide/compare_incidents.ts';
import { parseOtherIncidents } from '#modules/shadow/decide/other_incidents.ts';
import { Temporal } from '#kernel/time.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';

const at = (text: string) => Temporal.Instant.from(`2027-02-06T${text}Z`);
const read = (text: string) => {
  const parsed = parseOtherIncidents(text);
  return parsed.kind === 'faults'
    ? parsed.faults.map(({ path, message }) => `${path} ${message}`)
    : parsed.value.map((incident) => `${incident.at.toString()} ${incident.title}`);
};

describe('the export of another tool', () => {
  test.each([
    [
      'PagerDuty, CSV',
      'id,incident_number,description,created_on\r\nQ1,1,"Disk ""data"" is full, db-1",2027-02-06 02:00:00 UTC\r\n',
    ],
    [
      'PagerDuty, API',
      '{"incidents":[{"title":"Disk \\"data\\" is full, db-1","created_at":"2027-02-06T02:00:00Z"}],"more":false}',
    ],
    ['Opsgenie, CSV', 'TinyID;Message;CreatedAt\n1;"Disk ""data"" is full, db-1";1801879200000\n'],
    ['Opsgenie, API', '{"data":[{"message":"Disk \\"data\\" is full, db-1","createdAt":"2027-02-06T03:00:00+01:00"}]}'],
    [
      'Grafana OnCall',
      '{"results":[{"title":"Disk \\"data\\" is full, db-1","created_at":"2027-02-06T02:00:00.000000Z"}]}',
    ],
    ['a list with a byte order mark', '\uFEFFtime,title\n2027/02/06 02:00,"Disk ""data"" is full, db-1"'],
  ])('is read: %s', (_tool, text) => {
    expect(read(text)).toEqual(['2027-02-06T02:00:00Z Disk "data" is full, db-1']);
  });

  test('says what it lacks', () => {
    expect(read('{"incidents":')).toEqual([expect.stringContaining('no JSON')]);
    expect(read('{}')).toEqual([expect.stringContaining('holds no incidents')]);
    expect(read('nothing')).toEqual([expect.stringContaining('holds no incidents')]);
    expect(read('[{"title":"x"},{"created_at":"2027-02-06T02:00:00Z"}]')).toEqual([
      expect.stringMatching(/^export\[0\] has no time/),
      expect.stringMatching(/^export\[1\] has no title/),
    ]);
    expect(read(JSON.stringify(Array.from({ length: 2_001 }, () => ({}))))).toEqual([
      expect.stringContaining('more than 2000'),
    ]);
  });
});

describe('incidents of both sides', () => {
  const other = (time: string, title: string) => ({ at: at(time), title });
  const pairs = (...args: Parameters<typeof compareIncidents>) =>
    compareIncidents(...args).map((pair) => [pair.other?.title ?? null, pair.here?.title ?? null]);

  test('pair by words that both have, then by time, each once', () => {
    expect(
      pairs(
        [other('02:00:00', 'db-1: disk is full'), other('02:01:00', 'Checkout is slow'), other('05:00:00', 'Old host')],
        [other('02:20:00', 'Disk full on db-1'), other('02:02:00', 'Latency over 3 s'), other('09:00:00', 'New host')],
      ),
    ).toEqual([
      ['db-1: disk is full', 'Disk full on db-1'],
      ['Checkout is slow', 'Latency over 3 s'],
      ['Old host', null],
      [null, 'New host'],
    ]);
  });

  test('pair in time that does not grow with the square of a flood', () => {
    const flood = Array.from({ length: 2_000 }, (_, n) => other('02:00:00', `Host ${n} is down`));
    const compared = compareIncidents(flood, flood);
    expect(compared.filter((pair) => pair.other !== null && pair.here !== null).length).toBeGreaterThan(0);
    expect(new Set(compared.flatMap(({ here }) => (here === null ? [] : [here]))).size).toBe(2_000);
  });
});

test('an export takes work linear in its length, whatever it holds', async () => {
  expect(await beyondLinear(import.meta.resolve('./export_workloads.ts'), 800)).toEqual([]);
  // The work that took longest is not counted: copies of lists.
  expect(read(','.repeat(890_000))).toEqual([expect.stringContaining('holds no incidents')]);
});
