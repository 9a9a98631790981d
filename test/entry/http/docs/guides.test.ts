import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { ACTIONS } from '#actions/registry.ts';
import { SETTINGS } from '#entry/config.ts';
import { AGGREGATION_NAMES, AGGREGATIONS, SHOWN_AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import type { Setting } from '#kernel/config.ts';
import { type Guide, readGuideFiles, renderGuides, renderMarkdown, resolveLink } from '#entry/http/docs/guide_pages.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const LINK = /!?\[[^\]]*\]\(([^)\s]+)\)/g;

let guides: Guide[];

beforeAll(async () => {
  const files = await readGuideFiles();
  guides = files.map((file) => renderMarkdown(file, (target) => target));
});

/** The targets of its links that lead elsewhere in the repository. */
function linksOf({ markdown }: Guide): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(LINK)].map(([, href = '']) => href).filter((href) => !/^(?:https?|mailto):/.test(href));
}

test('every link leads to a file, and to a heading of it, in the repository', () => {
  const byFile = new Map(guides.map((guide) => [guide.file, guide]));
  const links = guides.flatMap((guide) => linksOf(guide).map((href) => ({ guide, href })));
  const dead = links.filter(({ guide, href }) => {
    const { file, hash } = resolveLink(guide.file, href);
    if (!existsSync(path.join(ROOT, file))) return true;
    return hash !== '' && byFile.get(file)?.ids.has(hash.slice(1)) !== true;
  });
  expect(links.length).toBeGreaterThan(60);
  expect(dead.map(({ guide, href }) => `${guide.file}: ${href}`)).toEqual([]);
});

test('every link leads to a page, and to a place on it, on the server', async () => {
  const { findPage } = await renderGuides();
  const origin = 'http://localhost/docs/';
  const pages = new Map(guides.map(({ name }) => [new URL(name, origin).href, findPage(name) ?? '']));
  const dead = [...pages].flatMap(([address, html]) =>
    [...html.matchAll(/\b(?:href|src)="([^"]+)"/g)]
      .map(([, href = '']) => href)
      .filter((href) => !/^(?:https?|mailto|data):/.test(href))
      .filter((href) => {
        const url = new URL(href, address);
        const hash = url.hash.slice(1);
        url.hash = '';
        if (/\.(?:css|js|png)$/.test(url.pathname)) return !isFile(url.pathname.slice('/docs/'.length));
        if (url.pathname === '/docs') return false;
        return hash === '' ? !pages.has(url.href) : pages.get(url.href)?.includes(` id="${hash}"`) !== true;
      })
      .map((href) => `${address}: ${href}`),
  );
  expect(dead).toEqual([]);
});

test('the guide names aggregations as the console and the tools do', () => {
  const guide = guides.find(({ file }) => file.endsWith('on_call.md'))?.markdown ?? '';
  const rows = SHOWN_AGGREGATIONS.map((shown) => [
    AGGREGATION_NAMES[shown],
    shown === 'rate' ? '`sum`, per second' : `\`${shown}\``,
  ]);
  expect(rows.filter(([name, asked]) => !guide.includes(`| ${name} | ${asked} |`))).toEqual([]);
  const { aggregation } = ACTIONS.find(({ name }) => name === 'query_metric')?.input.properties ?? {};
  for (const asked of AGGREGATIONS)
    expect(String(aggregation?.description)).toContain(`${asked}: ${AGGREGATION_NAMES[asked].toLowerCase()}`);
});

function isFile(name: string): boolean {
  return existsSync(path.join(ROOT, name.endsWith('.png') ? 'src/docs' : 'src/entry/http/docs/reference', name));
}

test('every guide and every decision is in its list, every picture in a guide', () => {
  const linked = new Set(guides.flatMap((guide) => linksOf(guide).map((href) => resolveLink(guide.file, href).file)));
  const lists = ['src/docs/README.md', 'src/docs/decisions/README.md'];
  const listed = new Set(
    guides
      .filter(({ file }) => lists.includes(file))
      .flatMap((guide) => linksOf(guide).map((href) => resolveLink(guide.file, href).file)),
  );
  expect(guides.length).toBeGreaterThan(20);
  expect(guides.map(({ file }) => file).filter((file) => !listed.has(file) && file !== lists[0])).toEqual([]);
  const pictures = readdirSync(path.join(ROOT, 'src/docs/images')).map((name) => `src/docs/images/${name}`);
  expect(pictures.filter((file) => !linked.has(file))).toEqual([]);
});

test('a guide is Markdown alone, with one title, and needs no document that is not here', () => {
  for (const { file, markdown, html } of guides) {
    expect(html.match(/<h1 /g), file).toHaveLength(1);
    expect(html.replaceAll(/<code>[\s\S]*?<\/code>/g, ''), file).not.toMatch(/&lt;\/?[a-z]+&gt;/);
    expect(markdown, file).not.toContain('§');
  }
});

test('every file of the repository that a guide names exists', () => {
  for (const { file, markdown } of guides) {
    const named = [...markdown.matchAll(/(?<![\w./-])((?:src|workers|infra|test)\/[\w/-]+(?:\.\w+)*)/g)];
    const missing = named.map(([, name = '']) => name).filter((name) => !existsSync(path.join(ROOT, name)));
    expect(missing, file).toEqual([]);
  }
});

test('every setting that a guide names exists', () => {
  const settings = Object.values<Setting>(SETTINGS).flatMap(({ variable, isSecret }) =>
    isSecret === true ? [variable, `${variable}_FILE`] : [variable],
  );
  const variables = new Set([...settings, 'PHONE_PORT', 'API_KEY', 'NODE_COMPILE_CACHE', 'CRON_TZ']);
  for (const { file, markdown } of guides) {
    const named = [...markdown.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
    // OpenTelemetry's own are read by its library.
    const unknown = named.filter((name) => !variables.has(name) && !name.startsWith('OTEL_'));
    expect(unknown, file).toEqual([]);
  }
});

test('every metric of the product is explained, and every one that a guide names exists', () => {
  const sources = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const exported = new Set(
    sources.flatMap((name) =>
      [
        ...readFileSync(path.join(ROOT, 'src', name), 'utf8').matchAll(
          /'(tocsin_[a-z_]+_(?:total|seconds|info|jobs|events|hour|points|problems|processes))'/g,
        ),
      ].map(([, metric = '']) => metric),
    ),
  );
  const named = new Map(
    guides.map(({ file, markdown }) => [file, new Set(markdown.match(/\btocsin_[a-z_]+[a-z]\b/g) ?? [])]),
  );
  expect(exported.size).toBeGreaterThan(15);
  expect([...exported].filter((metric) => !named.get('src/docs/observing.md')?.has(metric))).toEqual([]);
  const unknown = [...named].flatMap(([file, metrics]) =>
    [...metrics].filter((metric) => !exported.has(metric)).map((metric) => `${file}: ${metric}`),
  );
  expect(unknown).toEqual([]);
});

test('every script of npm and every member of the benchmark that a guide names exists', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const members = new Set(readdirSync(path.join(ROOT, 'infra/bench')).map((name) => name.replace(/\.ts$/, '')));
  const unknown = guides.flatMap(({ file, markdown }) => [
    ...[...markdown.matchAll(/npm run (?:--silent )?([a-z:_]+)/g)]
      .filter(([, script = '']) => !Object.hasOwn(scripts, script))
      .map(([call]) => `${file}: ${call}`),
    ...[...markdown.matchAll(/bench -- ([a-z_]+)/g)]
      .filter(([, member = '']) => !members.has(member))
      .map(([call]) => `${file}: ${call}`),
  ]);
  expect(unknown).toEqual([]);
});

test('every action that an example calls exists', () => {
  const names = new Set<string>(ACTIONS.map(({ name }) => name));
  const called = guides.flatMap(({ file, markdown }) =>
    [...markdown.matchAll(/\b(?:call|\$\(call) ([a-z_]+) ['"]|rest\/actions\/([a-z_]+)/g)].map(
      ([, by = '', at = '']) => ({ file, action: by || at }),
    ),
  );
  expect(called.length).toBeGreaterThan(10);
  expect(called.filter(({ action }) => !names.has(action))).toEqual([]);
});

test('every page of the docs that the console links to exists', async () => {
  const { findPage } = await renderGuides();
  const sources = readdirSync(path.join(ROOT, 'src/console'), { recursive: true, encoding: 'utf8' });
  const linked = sources
    .filter((name) => name.endsWith('.tsx'))
    .flatMap((name) => [
      ...readFileSync(path.join(ROOT, 'src/console', name), 'utf8').matchAll(/addressOf\('docs\/([^']+)'\)/g),
    ])
    .map(([, page = '']) => page);
  expect(linked).toContain('guides');
  expect(linked.filter((page) => findPage(page) === null || findPage(page) === undefined)).toEqual([]);
});
