import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { Ask, type AskOutside } from '#modules/moving_in/ask.ts';
import { keepInFolder, keyInFile } from '#modules/moving_in/ask_files.ts';
import { ASKED_TOOLS } from '#modules/moving_in/ask_tools.ts';
import type { RawDocument } from '#modules/moving_in/decide/raw.ts';
import { MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { moveIn } from '#modules/moving_in/move_in.ts';
import { readFolder } from '#modules/moving_in/read_folder.ts';
import { TOOL_DOUBLES } from '#test/modules/moving_in/other_doubles.ts';
import { pagerDutyDouble, READING, type VendorDouble, vendorDouble } from '#test/modules/moving_in/vendor_double.ts';

let folder: string;
let keyFile: string;
let double: VendorDouble;
let slept: number[];
let said: string[];
/** Called while the reading waits. */
let whileAsleep: () => Promise<void>;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ask-'));
  keyFile = path.join(folder, 'key');
  await writeFile(keyFile, 'first-key\n');
  double = await pagerDutyDouble();
  [slept, said] = [[], []];
  whileAsleep = async () => {};
});

afterEach(async () => {
  await double.close();
  await rm(folder, { recursive: true, force: true });
});

const outside: AskOutside = {
  fetch: async (url, init) => await fetch(url, init),
  sleep: async (ms) => {
    slept.push(ms);
    await whileAsleep();
  },
  say: (sentence) => void said.push(sentence),
  now: () => READING.now,
};

async function reading(keepIn: string | null = null, tool = 'pagerduty'): Promise<readonly RawDocument[]> {
  const { headers, ask } = ASKED_TOOLS[tool]!;
  const kept = keepIn === null ? null : keepInFolder(keepIn);
  const asking = new Ask({ baseUrl: double.url, key: keyInFile(keyFile), headers, kept, keyWaitMs: 2_000, outside });
  await ask(asking, READING);
  return asking.documents;
}

const result = (documents: readonly RawDocument[], tool = 'pagerduty') =>
  moveIn(MOVE_IN_TOOLS[tool]!, documents, [], READING);

describe('reading PagerDuty over REST', () => {
  test('reads every page, and proves against the timeline it renders', async () => {
    const { report, file } = result(await reading());
    expect(report.read).toEqual({ user: 3, contact_method: 3, team: 1, team_member: 3, schedule: 1, layer: 1 });
    expect(report.proof).toMatchObject([
      { schedule: 'Primary', against: 'rendered timeline', minutes: 129_600, equal: 129_600 },
    ]);
    expect(file).toContain('- "+31612345678"');
    expect(double.answered.filter((asked) => asked.startsWith('/users')).length).toBe(2);
  });

  test.each(['limit', 'fault', 'half a page', 'cut'] as const)(
    'loses nothing to an answer that is a %s',
    async (fault) => {
      const calm = result(await reading());
      double.faults.set(12, fault).set(14, fault).set(15, fault);
      const disturbed = result(await reading());
      expect(disturbed).toEqual(calm);
      expect(fault === 'limit' ? slept.every((ms) => ms === 7_000) : slept.includes(2_000)).toBe(true);
    },
  );

  test('gives up after eight tries, and says where', async () => {
    for (let request = 1; request < 20; request += 1) double.faults.set(request, 'fault');
    await expect(reading()).rejects.toThrow(
      /127\.0\.0\.1:\d+\/users answered status 503 8 times: try again later; nothing was written/,
    );
  });

  test('goes on with another key when one expires halfway', async () => {
    const calm = result(await reading());
    double.faults.set(14, 'expired');
    whileAsleep = async () => {
      double.accepted.add('second-key');
      await writeFile(keyFile, 'second-key');
    };
    double.answered.length = 0;
    expect(result(await reading())).toEqual(calm);
    expect(new Set(double.answered).size).toBe(double.answered.length);
    expect(said).toHaveLength(1);
  });

  test('stops when no other key comes, without writing or telling the key, and goes on from the kept answers', async () => {
    const kept = path.join(folder, 'kept');
    double.faults.set(6, 'expired');
    const error: unknown = await reading(kept).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/refused the key in .*key with status 401: it may have expired after \d+ answers/);
    expect(String(error)).not.toContain('first-key');
    const before = double.answered.length;
    const names = await readdir(kept);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(await readFile(path.join(kept, name), 'utf8')).not.toContain('first-key');

    await writeFile(keyFile, 'second-key');
    double.accepted.add('second-key');
    const { report } = result(await reading(kept));
    expect(report.read['user']).toBe(3);
    const asked = double.answered;
    expect(asked.slice(before).filter((one) => asked.slice(0, before).includes(one))).toEqual([]);
    const { documents } = await readFolder(kept);
    expect(result(documents).report).toEqual(report);
  });
});

describe.each(Object.entries(TOOL_DOUBLES))('reading %s over REST', (tool, { respond, keyOf, keyText, read }) => {
  beforeEach(async () => {
    await double.close();
    double = await vendorDouble(respond, keyOf);
    await writeFile(keyFile, keyText('first-key'));
  });

  test('reads every page', async () => {
    const { report, file } = result(await reading(null, tool), tool);
    expect(report.read).toEqual(read);
    expect(report.items.filter(({ verdict }) => verdict === 'refused')).toEqual([]);
    expect(report.proof.map(({ minutes, equal }) => minutes - equal)).toEqual(report.proof.map(() => 0));
    expect(file).toContain('ada@example.com');
    expect(new Set(double.answered).size).toBe(double.answered.length);
  });

  test('loses nothing to limits, faults, half a page and a connection that breaks', async () => {
    const calm = result(await reading(null, tool), tool);
    const first = double.requests() + 1;
    double.faults
      .set(first, 'limit')
      .set(first + 2, 'fault')
      .set(first + 3, 'cut')
      .set(first + 5, 'half a page');
    expect(result(await reading(null, tool), tool)).toEqual(calm);
    expect(slept).toContain(7_000);
  });

  test('goes on with another key, and after a break from what was kept', async () => {
    const kept = path.join(folder, 'kept');
    const calm = result(await reading(null, tool), tool);
    const asked = double.requests();
    double.answered.length = 0;
    double.faults.set(asked + Math.ceil(asked / 2) + 1, 'expired');
    const error: unknown = await reading(kept, tool).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/refused the key in .* with status 401/);
    expect(String(error)).not.toContain('first-key');
    await writeFile(keyFile, keyText('second-key'));
    double.accepted.add('second-key');
    expect(result(await reading(kept, tool), tool)).toEqual(calm);
    const answered = double.answered.filter((asked) => !asked.includes('tenant_info'));
    expect(new Set(answered).size).toBe(answered.length);
    const { documents } = await readFolder(kept);
    expect(result(documents, tool).report.read).toEqual(read);
  });
});

test('a token of a service account of Grafana goes with the address of its stack', () => {
  const { headers } = ASKED_TOOLS['grafana-oncall']!;
  expect(headers('legacy')).toEqual({ authorization: 'legacy' });
  const stack = 'https://acme.grafana.net';
  expect(headers(`${stack}:glsa_token`)).toEqual({ authorization: 'glsa_token', 'x-grafana-url': stack });
});

test('a key file that holds no key is named', async () => {
  await writeFile(keyFile, '  \n');
  await expect(reading()).rejects.toThrow('has to hold a key, and nothing else');
  await rm(keyFile);
  await expect(reading()).rejects.toThrow('cannot be read');
});
