import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { type FirstFrame, toHtml } from '#entry/http/console/first_frame.ts';

/** Folder where infra/console/build.ts puts the console. */
export const CONSOLE_FOLDER = path.resolve(import.meta.dirname, '../../../.cache/console');

/** File beside the build that lists the files each page needs, by its route. */
export const PAGE_FILES = 'page-files.json';

/** Converts a path of `PAGES` to the form of Fastify and `/metrics`: `/incidents/:id`. */
export function routeOfPage(page: string): string {
  return page.replaceAll(/\$\w+Id\b/g, ':id').replaceAll('$', ':');
}

/** Time for which a page is cached before the file is checked again. */
const CHECK_MS = 1_000;

interface ShownPage {
  readonly nonce: string;
  /** Route of the page: the files it needs are named in the page, so that a browser fetches them at once. */
  readonly route: string;
  /** Session; null if nobody is signed in, or if the console has to fetch it. */
  readonly session: unknown;
  /** Data the page shows first; null if the console has to fetch it. */
  readonly first: unknown;
  readonly frame: FirstFrame | null;
}

/** Start page of the console, as sent to one browser. */
export interface ConsolePage {
  with(shown: ShownPage): string;
}

/** Returns a function that reads the page of the present build; null if none. It notices a build within 1 s. */
export function consolePages(basePath: string, folder = CONSOLE_FOLDER): () => Promise<ConsolePage | null> {
  const file = path.join(folder, 'index.html');
  let page: ConsolePage | null = null;
  let builtAtMs = 0;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (page !== null && performance.now() - checkedAtMs < CHECK_MS) return page;
    checkedAtMs = performance.now();
    try {
      const { mtimeMs } = await stat(file);
      if (page === null || mtimeMs !== builtAtMs) {
        page = toPage(await readFile(file, 'utf8'), await readPageFiles(folder), basePath);
      }
      builtAtMs = mtimeMs;
    } catch {
      page = null;
    }
    return page;
  };
}

type PageFiles = Readonly<Record<string, readonly string[]>>;

/** Reads the list of files for each page; empty if it cannot be read: pages then load a little later. */
async function readPageFiles(folder: string): Promise<PageFiles> {
  try {
    return JSON.parse(await readFile(path.join(folder, PAGE_FILES), 'utf8')) as PageFiles;
  } catch {
    return {};
  }
}

function toPage(template: string, files: PageFiles, basePath: string): ConsolePage {
  const [head = '', ...rest] = template.replace('__BASE__', basePath).split(END_OF_HEAD);
  const before = head.split('__NONCE__');
  const after = `${END_OF_HEAD}${rest.join(END_OF_HEAD)}`.split('__NONCE__');
  return {
    with({ nonce, route, session, first, frame }) {
      const tags = (Object.hasOwn(files, route) ? (files[route] ?? []) : []).map((file) =>
        file.endsWith('.css')
          ? `<link rel="stylesheet" crossorigin href="./${file}">`
          : `<link rel="modulepreload" crossorigin href="./${file}">`,
      );
      const held = Object.entries({ session, 'first-data': first }).flatMap(([id, value]) =>
        value === null ? [] : [`<script type="application/json" id="${id}">${inScript(value)}</script>`],
      );
      const body = after.join(nonce);
      const filled = frame === null ? body : body.replace(EMPTY_ROOT, () => `${BEGIN_OF_ROOT}${toHtml(frame)}</div>`);
      return [before.join(nonce), ...tags, ...held, filled].join('');
    },
  };
}

const END_OF_HEAD = '</head>';
const BEGIN_OF_ROOT = '<div id="root">';
const EMPTY_ROOT = `${BEGIN_OF_ROOT}</div>`;

/** Renders JSON that can end neither the element it stands in, nor a line of it. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<\u2028\u2029]/g, (character) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { '<': '\\u003c', '\u2028': '\\u2028', '\u2029': '\\u2029' };
