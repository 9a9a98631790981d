import { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
import { routeOfPage } from '#entry/http/console_build.ts';

/** Vite's description of one file of the build. */
interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

export type Manifest = Readonly<Record<string, Chunk>>;

const FIRST = 'index.html';
/** Frame of the pages below it, and no page itself: who goes there is shown the first of them. */
const SETTINGS = 'settings' satisfies keyof typeof PAGES;

/**
 * The files that each page needs beside those of every page, by its route: the page that the server sends names them, so
 * that a browser asks for all at once, not for each once the one before has told of it. `router` is the text of
 * router.tsx and outside_routes.ts in src/console, which say what each page is made of.
 */
export function filesOfPages(manifest: Manifest, router: string): Record<string, readonly string[]> {
  const loadedFirst = new Set(filesOf(manifest, [FIRST]));
  const pages = [...router.matchAll(/path: (PAGES|SETTINGS_PAGES)\.(\w+),[^;]*?import\(\s*'#console\/([^']+)'/g)];
  const frameOfSettings = pages.find(([, group, name]) => group === 'PAGES' && name === SETTINGS);
  const framesOf = (group = '') => (group === 'PAGES' ? [] : [frameOfSettings?.[3] ?? '']);
  return Object.fromEntries(
    pages
      .filter((page) => page !== frameOfSettings)
      .map(([, group, name = '', source = '']) => {
        const page = group === 'PAGES' ? pathIn(PAGES, name) : `${PAGES.settings}${pathIn(SETTINGS_PAGES, name)}`;
        const files = filesOf(manifest, [...framesOf(group), source]);
        return [routeOfPage(page), files.filter((file) => !loadedFirst.has(file))] as const;
      }),
  );
}

function pathIn(pages: Readonly<Record<string, string>>, name: string): string {
  const path = pages[name];
  if (path === undefined) throw new Error(`the router has a page ${name} that modules/pages/decide/pages.ts lacks`);
  return path;
}

/** Styles first: what is drawn waits for them. */
function filesOf(manifest: Manifest, sources: readonly string[]): string[] {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const imported of manifest[name]?.imports ?? []) visit(imported);
  };
  for (const source of sources) {
    if (manifest[source] === undefined) throw new Error(`the build has no ${source}`);
    visit(source);
  }
  const chunks = [...seen].flatMap((name) => manifest[name] ?? []);
  return [...new Set([...chunks.flatMap(({ css = [] }) => css), ...chunks.map(({ file }) => file)])];
}
