import path from 'node:path';

import react from '@vitejs/plugin-react';
import postcssPresetMantine from 'postcss-preset-mantine';
import { defineConfig } from 'vite';

/** Replaced by the server with the nonce of each answer (src/entry/http/console_pages.ts). */
const NONCE_PLACEHOLDER = '__NONCE__';

/**
 * Large packages that only some pages need, by what they are for. A small file that is shared is with others that need
 * the same of these, so that no page loads a package because of something small.
 */
const PACKAGES = {
  charts: /(?:node_modules\/uplot\/|components\/time_chart\/(?!sparkline)).*\.(?:m?js|tsx?)$/,
  metrics: /src\/core\/(?:metrics\/(?!quantity|comparator|limits)|dashboards\/)/,
  passkeys: /@simplewebauthn\/|node_modules\/uqr\//,
  fields: /react-number-format|core\/esm\/components\/NumberInput\//,
  forms: /@mantine\/form\//,
  dialogs:
    /node_modules\/(?:react-remove-scroll|use-sidecar|use-callback-ref|react-style-singleton)|core\/esm\/components\/(?:ScrollArea(?!\/utils)|FocusTrap|ModalBase|Modal|Overlay)\//,
  floating: /@floating-ui|core\/esm\/(?:components\/(?:Popover|Menu|Floating|Tooltip)|utils\/Floating)\//,
  tables: /@tanstack\/(?:react-)?table/,
  rows: /@tanstack\/(?:react-)?virtual/,
} as const;

const ALONE = { includeDependenciesRecursively: false } as const;

/** The name of a group that takes no file, and records which it could have taken. */
const recordIn =
  (found: Set<string>) =>
  (id: string): null => {
    found.add(id);
    return null;
  };

interface Modules {
  getModuleInfo(id: string): ModuleFacts | null;
}

interface ModuleFacts {
  readonly importedIds: readonly string[];
  readonly importers: readonly string[];
  readonly dynamicImporters: readonly string[];
  readonly code: string | null;
}

/** The index of a package names all of its files: of those only what is imported by name counts. */
const INDEX = /@mantine\/core\/esm\/index\.mjs$/;
const NAMED = {
  fields: ['NumberInput'],
  dialogs: ['FocusTrap', 'Modal', 'Overlay', 'ScrollArea'],
  floating: ['Menu', 'Popover', 'Tooltip'],
};

function namedIn(code: string): string[] {
  const imported = [...code.matchAll(/import\s*\{([^}]*)\}\s*from\s*['"]@mantine\/core['"]/g)]
    .flatMap(([, list = '']) => list.split(','))
    .flatMap((one) => one.trim().split(/\s/, 1));
  const names = new Set(imported);
  return Object.entries(NAMED).flatMap(([name, wanted]) => (wanted.some((one) => names.has(one)) ? [name] : []));
}

const reached = new Map<string, ReadonlySet<string>>();

/** Which of the packages a file needs, itself or through others. */
function packagesOf(id: string, modules: Modules): ReadonlySet<string> {
  const known = reached.get(id);
  if (known !== undefined) return known;
  const found = new Set(Object.entries(PACKAGES).flatMap(([name, test]) => (test.test(id) ? [name] : [])));
  // Before those that it imports, which may import it.
  reached.set(id, found);
  const module = modules.getModuleInfo(id);
  for (const name of id.includes('/node_modules/') ? [] : namedIn(module?.code ?? '')) found.add(name);
  for (const imported of module?.importedIds ?? []) {
    if (INDEX.test(imported)) continue;
    for (const name of packagesOf(imported, modules)) found.add(name);
  }
  return found;
}

/** What the first page needs, whichever it is, and what several files need. Rolldown tells of them by asking for a name. */
const initial = new Set<string>();
const shared = new Set<string>();

/** The pages whose parts are in one file, because most pages that show one show the other, too. */
const SHARED_FOLDERS: Readonly<Record<string, string>> = { policies: 'rules', oncall_teams: 'oncall' };

/** The file of what several pages need; parts of one page are in a file of their own. */
function nameOfShared(id: string, modules: Modules): string | null {
  if (id.includes('/console/worker/')) return null;
  if (initial.has(id)) return FIRST;
  if (!shared.has(id)) return null;
  // Small, and each file of styles is one more request that drawing waits for.
  if (id.endsWith('.css')) return FIRST;
  const [own] = Object.entries(PACKAGES).find(([, test]) => test.test(id)) ?? [];
  if (own !== undefined) return own;
  // A page keeps a file of its own, although another one shows parts of it.
  if ((modules.getModuleInfo(id)?.dynamicImporters.length ?? 0) > 0) return null;
  const needed = packagesOf(id, modules);
  // What has numbers to fill in is a form, and charts tell of metrics.
  const implied = new Set([
    ...(needed.has('fields') ? ['forms', 'metrics'] : []),
    ...(needed.has('charts') ? ['metrics'] : []),
  ]);
  const names = Object.keys(PACKAGES).filter((name) => needed.has(name) && !implied.has(name));
  const folder = folderOf(id);
  if (names.length > 0) return [...(folder === undefined ? [] : [folder]), ...names].join('-');
  // Incidents are opened at night, and home shows them: what their pages share is with what all pages need.
  const isWithFirst = folder === undefined || folder === 'incidents' || isSmallForOthers(id, modules);
  return isWithFirst ? FIRST : `${folder}-parts`;
}

function folderOf(id: string): string | undefined {
  const [, folder = ''] = /\/console\/pages\/(\w+)\//.exec(id) ?? [];
  return folder === '' ? undefined : (SHARED_FOLDERS[folder] ?? folder);
}

/** Whether several pages need it, and it is too small for a request of its own. Its styles are with all others. */
function isSmallForOthers(id: string, modules: Modules): boolean {
  const folder = folderOf(id);
  const { importers = [], importedIds = [], code } = modules.getModuleInfo(id) ?? {};
  const isForOthers = importers.some((importer) => folderOf(importer) !== folder);
  return (
    isForOthers &&
    (code?.length ?? 0) < SMALL &&
    importedIds.every((one) => folderOf(one) === undefined || one.endsWith('.css'))
  );
}

/** Letters of the source of what is too small for a request of its own, where several pages need it. */
const SMALL = 2_500;

const FIRST = 'app';

/** Every address is relative, so that one build works below any path of BASE_URL. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: path.join(import.meta.dirname, 'public'),
  plugins: [react()],
  html: { cspNonce: NONCE_PLACEHOLDER },
  css: { postcss: { plugins: [postcssPresetMantine()] } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: {
        index: path.join(import.meta.dirname, 'index.html'),
        sw: path.join(import.meta.dirname, 'worker/service_worker.ts'),
      },
      output: {
        // Few files, so that a first visit makes few requests: one with what every page loads, and few with what pages share.
        codeSplitting: {
          groups: [
            { name: recordIn(initial), tags: ['$initial'], debugName: 'initial', ...ALONE },
            { name: recordIn(shared), minShareCount: 2, debugName: 'shared', ...ALONE },
            {
              name: (id, modules) => (nameOfShared(id, modules) === FIRST ? FIRST : null),
              debugName: 'first',
              priority: 1,
            },
            { name: nameOfShared, debugName: 'files', ...ALONE },
          ],
        },
        // Browsers find a service worker by its address, which must stay the same.
        entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
