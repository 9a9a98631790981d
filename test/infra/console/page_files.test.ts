import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
import { routeOfPage } from '#entry/http/console_build.ts';
import { filesOfPages, type Manifest } from '#infra/console/page_files.ts';

const ROUTER = ['router.tsx', 'outside_routes.ts']
  .map((file) => readFileSync(path.join(import.meta.dirname, '../../../src/console', file), 'utf8'))
  .join('\n');

/** A build in which every page is a file that shares one with the others, and one with every page. */
function manifestOf(router: string): Manifest {
  const sources = [...router.matchAll(/import\('#console\/([^']+)'\)|import\(\s*'#console\/([^']+)'/g)];
  return {
    'index.html': { file: 'assets/app.js', css: ['assets/app.css'], imports: ['_base.js'] },
    '_base.js': { file: 'assets/base.js' },
    '_parts.js': { file: 'assets/parts.js', css: ['assets/parts.css'], imports: ['index.html', '_base.js'] },
    ...Object.fromEntries(
      sources.map(([, one, other]) => {
        const source = one ?? other ?? '';
        return [source, { file: `assets/${path.basename(source, '.tsx')}.js`, imports: ['_parts.js'] }];
      }),
    ),
  };
}

test('every page has its files: styles first, and none of those that every page has', () => {
  const files = filesOfPages(manifestOf(ROUTER), ROUTER);
  const pages = [
    // The settings as such are no page: who goes there is shown the first of them.
    ...Object.values(PAGES).filter((page) => page !== PAGES.settings),
    ...Object.values(SETTINGS_PAGES).map((page) => `${PAGES.settings}${page}`),
  ].map(routeOfPage);
  expect(Object.keys(files).toSorted()).toEqual(pages.toSorted());
  expect(files['/incidents/:id']).toEqual(['assets/parts.css', 'assets/incident_page.js', 'assets/parts.js']);
  const settings = ['assets/parts.css', 'assets/settings.js', 'assets/parts.js', 'assets/audit.js'];
  expect(files['/settings/audit']).toEqual(settings);
  expect(files['/login']).toContain('assets/login.js');
});

test('a page that the build or the list of pages lacks is an error, not a slow page', () => {
  const router = ROUTER.replace('pages/home/home.tsx', 'pages/home/gone.tsx');
  expect(() => filesOfPages(manifestOf(ROUTER), router)).toThrow('the build has no pages/home/gone.tsx');
  expect(() => filesOfPages(manifestOf(ROUTER), ROUTER.replace('path: PAGES.home,', 'path: PAGES.nowhere,'))).toThrow(
    'nowhere',
  );
});
