import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { mountDocs } from '#entry/http/docs.ts';

let app: FastifyInstance;

beforeAll(() => {
  app = fastify();
  mountDocs(app);
});

afterAll(() => app.close());

test('a guide is a page that runs nothing but its own script', async () => {
  const page = await app.inject({ url: '/docs/getting_started' });
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'");
  expect(page.body).toContain('<h1 id="getting-started">Getting started</h1>');
  expect(page.body).not.toMatch(/<script(?! type="module" src="frame.js">)|style="|<style| on[a-z]+="/);
  const again = { url: '/docs/getting_started', headers: { 'if-none-match': String(page.headers.etag) } };
  expect((await app.inject(again)).statusCode).toBe(304);
});

test('addresses are relative, in a folder, too, so that a proxy may put them below any path', async () => {
  const page = await app.inject({ url: '/docs/decisions/queue' });
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('href="../frame.css"');
  expect(page.body).toContain('href="../decisions/row_is_the_truth"');
  expect(page.body).toContain('href="../../docs"');
  expect(page.body).not.toMatch(/(?:href|src)="\//);
});

test('files and pictures of the pages are served', async () => {
  for (const file of ['frame.css', 'guides.css', 'frame.js', 'images/incident.png', 'images/phone.png']) {
    expect((await app.inject({ url: `/docs/${file}` })).statusCode, file).toBe(200);
  }
});

test.each(['no_such_guide', 'decisions/none', 'getting_started.md', 'images/none.png', 'readme/x'])(
  'there is no guide %s: 404, with a way back',
  async (name) => {
    const page = await app.inject({ url: `/docs/${name}` });
    expect(page.statusCode).toBe(404);
    expect(page.body).toContain('guides">All guides</a>');
  },
);

test('nothing beside the guides is served', async () => {
  for (const url of ['/docs/../package.json', '/docs/%2e%2e/%2e%2e/package.json', '/docs/images/..%2fREADME.md']) {
    expect((await app.inject({ url })).statusCode, url).toBe(404);
  }
});

test('every guide is in the navigation of every other', async () => {
  const list = await app.inject({ url: '/docs/guides' });
  const names = [...list.body.matchAll(/<li><a href="([a-z_/]+)"/g)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['getting_started', 'security', 'decisions', 'readme']));
  const page = await app.inject({ url: '/docs/readme' });
  for (const name of names.slice(0, 10)) expect(page.body).toContain(`href="${name}"`);
});
