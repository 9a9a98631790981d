import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { sentryVitePlugin } from '@sentry/bundler-plugins/vite';
import { SentryCli } from '@sentry/cli';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type LiveWorld, liveWorld } from '#test/live/live_world.ts';
import { buildShop, type ShopBuild } from '#test/live/shop_build.ts';

const PROGRAM = SentryCli.getPath();

describe.skipIf(!existsSync(PROGRAM))('sentry-cli 3', () => {
  let w: LiveWorld;
  let service: Awaited<ReturnType<LiveWorld['given']['service']>>;
  beforeAll(async () => {
    w = await liveWorld({ keepOpen: true });
    service = await w.given.service({ name: 'Web shop' });
  });
  afterAll(() => w.close());

  function cli(args: readonly string[], key = w.orgKey): Promise<{ code: number; text: string }> {
    const env = {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      SENTRY_URL: w.url.origin,
      SENTRY_AUTH_TOKEN: key,
      SENTRY_ORG: 'acme',
      SENTRY_PROJECT: 'web-shop',
      SENTRY_DISABLE_UPDATE_CHECK: '1',
    };
    return new Promise((resolve) => {
      execFile(PROGRAM, [...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), text: `${stdout}\n${stderr}` });
      });
    });
  }

  async function succeed(...args: string[]): Promise<string> {
    const { code, text } = await cli(args);
    expect(code, text).toBe(0);
    return text;
  }

  /** Sends the error of a build as the client of a browser does, and returns the group it is in. */
  async function report(build: ShopBuild, release: string, withDebugId = true) {
    const { frames, debugId } = await build.fail();
    const images = withDebugId ? [{ type: 'sourcemap', code_file: frames[0]?.abs_path, debug_id: debugId }] : [];
    const eventId = randomBytes(16).toString('hex');
    const event = {
      event_id: eventId,
      platform: 'javascript',
      release,
      exception: { values: [{ type: 'Error', value: 'card was declined', stacktrace: { frames } }] },
      debug_meta: { images },
    };
    const { searchParams, pathname, username } = new URL(w.reachable(service.dsn));
    searchParams.set('sentry_key', username);
    const answer = await fetch(`${w.url.origin}/api${pathname}/store/?${searchParams.toString()}`, {
      method: 'POST',
      body: JSON.stringify(event),
    });
    expect(answer.status).toBe(200);
    await w.settle();
    return await groupOf(eventId);
  }

  async function groupOf(eventId: string) {
    const { groups } = await w.expectOk('list_exception_groups', { serviceId: service.serviceId });
    for (const { groupId } of groups) {
      const group = await w.expectOk('get_exception_group', { groupId });
      const event = group.recentEvents.find((candidate: { eventId: string }) => candidate.eventId === eventId);
      if (event !== undefined) return { group, frames: event.exceptions[0].frames };
    }
    throw new Error('the event has no group');
  }

  const MAPPED = [
    { function: 'checkout', file: 'src/shop.js', line: 8 },
    { function: 'payForBasket', file: 'src/shop.js', line: 6 },
    {
      function: 'chargeCard',
      file: 'src/payment.js',
      inApp: true,
      code: { line: "      throw new Error('card was declined');" },
    },
  ];

  test('uploads the maps of two minified builds, whose error is then one group', async () => {
    const [first, second] = await Promise.all([buildShop(), buildShop({ withMore: true })]);
    for (const build of [first, second]) {
      await succeed('sourcemaps', 'inject', build.folder);
      await succeed('sourcemaps', 'upload', '--wait', build.folder);
    }
    const before = await report(first, 'shop@1.0.0');
    expect(before.frames).toMatchObject(MAPPED);
    expect(before.group.title).toBe('Error: card was declined');
    const after = await report(second, 'shop@1.1.0');
    expect(after.frames).toMatchObject(MAPPED);
    expect(after.group.groupId).toBe(before.group.groupId);
    expect(after.group.eventCount).toBe(2);
    // The same bytes again are known.
    await succeed('sourcemaps', 'upload', '--wait', first.folder);
    const stored = await w.context.db.sql.rows<{ maps: number }>(
      'select count(*)::int as maps from source_maps where org_id = $1',
      [w.orgId],
    );
    expect(stored).toEqual([{ maps: 2 }]);
  });

  test('maps by release and address, also an event that came before its map', async () => {
    const build = await buildShop({ withMore: true });
    const early = await report(build, 'shop@2.0.0', false);
    expect(early.frames[2]).toMatchObject({ file: 'https://shop.example/assets/shop.js' });
    const prefix = ['--url-prefix', '~/assets', '--release', 'shop@2.0.0'];
    await succeed('sourcemaps', 'upload', '--wait', ...prefix, build.folder);
    const mapped = await groupOf(early.group.recentEvents[0].eventId);
    expect(mapped.frames).toMatchObject(MAPPED);
  });

  test('makes releases known, with commits and deploys', async () => {
    await succeed('releases', 'new', 'shop@3.0.0');
    await succeed(
      'releases',
      'set-commits',
      'shop@3.0.0',
      '--commit',
      'northwind/shop@1234567890abcdef1234567890abcdef12345678',
    );
    await succeed('releases', 'finalize', 'shop@3.0.0');
    await succeed('deploys', 'new', '--release', 'shop@3.0.0', '-e', 'production', '-n', 'blue');
    expect(await succeed('deploys', 'list', '--release', 'shop@3.0.0')).toContain('production');
    expect(await succeed('releases', 'list')).toContain('shop@3.0.0');
    expect(await succeed('releases', 'info', 'shop@3.0.0')).toContain('shop@3.0.0');
    expect(await succeed('info')).toContain('acme');
  });

  test('its plugin of Vite uploads the maps of a build, makes the release known, tells of the deploy, and its error is mapped', async () => {
    const faults: unknown[] = [];
    const plugin = sentryVitePlugin({
      url: w.url.origin,
      org: 'acme',
      project: 'web-shop',
      authToken: w.orgKey,
      release: { name: 'shop@5.0.0', setCommits: false, deploy: { env: 'staging', name: 'green' } },
      telemetry: false,
      silent: true,
      errorHandler: (error) => faults.push(error),
    });
    const build = await buildShop({ withMore: true, plugins: [plugin] });
    expect(faults).toEqual([]);
    // The plugin does not wait until the server has read what it sent.
    const bundles = () =>
      w.context.db.sql.rows(
        `select b.state, b.maps, p.debug_id as "debugId" from artifact_bundles b
         left join source_map_places p on p.bundle_id = b.id and p.debug_id is not null where b.release = $1`,
        ['shop@5.0.0'],
      );
    const debugId = (await build.fail()).debugId?.replaceAll('-', '');
    await expect.poll(bundles).toEqual([{ state: 'stored', maps: 1, debugId }]);
    const rows = await w.context.db.sql.rows(
      `select r.released_at is not null as "isReleased", d.environment, d.name
       from releases r join deploys d on d.service_id = r.service_id and d.release = r.version where r.version = $1`,
      ['shop@5.0.0'],
    );
    expect(rows).toEqual([{ isReleased: true, environment: 'staging', name: 'green' }]);
    const { frames } = await report(build, 'shop@5.0.0');
    expect(frames).toMatchObject(MAPPED);
  });

  test('says that debug files are not supported, and shows a refused key', async () => {
    const file = path.join((await buildShop()).folder, 'mapping.txt');
    await writeFile(file, 'com.example.Shop -> a.a:\n    void pay() -> b\n');
    const proguard = await cli(['upload-proguard', file]);
    expect(proguard.code).not.toBe(0);
    expect(proguard.text).toContain('not_supported');
    const viewer = await w.given.apiKey({ permissions: ['exceptions:view'] });
    const refused = await cli(['releases', 'new', 'shop@4'], viewer);
    expect(refused.code).not.toBe(0);
    expect(refused.text).toContain('exceptions:edit');
  });
});
