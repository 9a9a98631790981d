import path from 'node:path';

import react from '@vitejs/plugin-react';
import postcssPresetMantine from 'postcss-preset-mantine';
import { defineConfig, type Plugin } from 'vite';

/** Placeholder that the server replaces with the nonce of each answer (src/entry/http/console_pages.ts). */
const NONCE_PLACEHOLDER = '__NONCE__';

/**
 * Large packages that only some pages need, by their purpose. Faults are thrown where selectors are read. A small shared
 * file is bundled with others that need the same packages, so that no page loads a package because of something small.
 */
const PACKAGES = {
  charts:
    /(?:node_modules\/uplot\/|components\/time_chart\/(?!sparkline|heatmap|threshold_handle|trace_)).*\.(?:m?js|tsx?)$/,
  metrics:
    /src\/modules\/(?:metrics\/decide\/(?!quantity|limits|ratio)|rules\/decide\/(?:breach|metric_|replay|rule_templates|slow))|src\/kernel\/(?:errors|limit_)/,
  search: /src\/modules\/exceptions\/decide\/search_query/,
  widgets: /src\/modules\/dashboards\/decide\//,
  passkeys: /@simplewebauthn\/|node_modules\/uqr\//,
  fields: /react-number-format|core\/esm\/components\/NumberInput\//,
  forms: /@mantine\/form\/|components\/forms\/(?:form_dialog|hours_row|multi_select|policy_picker|time_field)\./,
  dialogs:
    /node_modules\/(?:react-remove-scroll|use-sidecar|use-callback-ref|react-style-singleton)|core\/esm\/components\/(?:ScrollArea(?!\/utils)|FocusTrap|ModalBase|Modal|Overlay)\//,
  floating: /@floating-ui|core\/esm\/(?:components\/(?:Popover|Menu|Floating|Tooltip)|utils\/Floating)\//,
  tables: /@tanstack\/(?:react-)?table/,
  rows: /@tanstack\/(?:react-)?virtual/,
} as const;

const ALONE = { includeDependenciesRecursively: false } as const;

/** Returns a function that names no group, and records the files it is called with. */
const recordIn =
  (ids: Set<string>) =>
  (id: string): null => {
    ids.add(id);
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

/** Index of a package, which names all of its files: only what is imported from it by name counts. */
const INDEX = /@mantine\/core\/esm\/index\.mjs$/;
const NAMED = {
  fields: ['NumberInput'],
  dialogs: ['FocusTrap', 'Modal', 'Overlay', 'ScrollArea'],
  floating: ['Menu', 'Popover', 'Tooltip'],
};

function namedIn(code: string): string[] {
  const imported = [...code.matchAll(/import\s*\{([^}]*)\}\s*from\s*['"]@mantine\/core['"]/g)]
    .flatMap(([, list = '']) => list.split(','))
    .flatMap((name) => name.trim().split(/\s/, 1));
  const names = new Set(imported);
  return Object.entries(NAMED).flatMap(([name, wanted]) => (wanted.some((name) => names.has(name)) ? [name] : []));
}

const reached = new Map<string, ReadonlySet<string>>();

/** Returns the packages that a file needs, itself or through others. */
function packagesOf(id: string, modules: Modules): ReadonlySet<string> {
  const earlier = reached.get(id);
  if (earlier !== undefined) return earlier;
  const packages = new Set(Object.entries(PACKAGES).flatMap(([name, test]) => (test.test(id) ? [name] : [])));
  // Set before its imports are visited, because they may import it.
  reached.set(id, packages);
  const module = modules.getModuleInfo(id);
  for (const name of id.includes('/node_modules/') ? [] : namedIn(module?.code ?? '')) packages.add(name);
  for (const imported of module?.importedIds ?? []) {
    if (INDEX.test(imported)) continue;
    for (const name of packagesOf(imported, modules)) packages.add(name);
  }
  return packages;
}

/**
 * Files that the first page needs, whichever page it is. `shared` has those that several files need. Rolldown reports
 * both by asking for a name.
 */
const initial = new Set<string>();
const shared = new Set<string>();

/** Returns the name of the file for code that several pages need; null if it stays in the file of one page. */
function nameOfShared(id: string, modules: Modules): string | null {
  if (id.includes('/console/worker/')) return null;
  if (initial.has(id)) return FIRST;
  if (!shared.has(id)) return null;
  // Styles are small, and each file of them is one more request that blocks rendering.
  if (id.endsWith('.css')) return FIRST;
  const [packageName] = Object.entries(PACKAGES).find(([, test]) => test.test(id)) ?? [];
  if (packageName !== undefined) return packageName;
  // A page keeps its own file, although another one shows parts of it.
  if ((modules.getModuleInfo(id)?.dynamicImporters.length ?? 0) > 0) return null;
  const needed = packagesOf(id, modules);
  // Code with number fields is a form, and charts and widgets show metrics.
  const implied = new Set([
    ...(needed.has('fields') ? ['forms', 'metrics'] : []),
    ...(needed.has('charts') || needed.has('widgets') ? ['metrics'] : []),
  ]);
  const names = Object.keys(PACKAGES).filter((name) => needed.has(name) && !implied.has(name));
  const folder = folderOf(id);
  if (names.length > 0) return [...(folder === undefined ? [] : [folder]), ...names].join('-');
  // Incidents are opened at night, and home shows them: code shared by their pages is in the first file.
  const user = folder ?? onlyUserOf(id, modules);
  const isSmall = folder !== undefined && isSmallForOthers(id, modules);
  const isWithFirst = user === undefined || user === 'incidents' || isSmall;
  return isWithFirst ? FIRST : `${user}-parts`;
}

/** Returns the folder of the pages that alone need a decision of the server; undefined if others do, too. */
function onlyUserOf(id: string, modules: Modules): string | undefined {
  if (!id.includes('/src/modules/')) return undefined;
  const [user, ...others] = new Set(modules.getModuleInfo(id)?.importers.map(folderOf));
  return others.length === 0 ? user : undefined;
}

function folderOf(id: string): string | undefined {
  const [, folder = ''] = /\/console\/pages\/(\w+)\//.exec(id) ?? [];
  return folder === '' ? undefined : folder;
}

/** Whether several pages need the file, and it is too small for its own request. Its styles are bundled with others. */
function isSmallForOthers(id: string, modules: Modules): boolean {
  const folder = folderOf(id);
  const { importers = [], importedIds = [], code } = modules.getModuleInfo(id) ?? {};
  const isForOthers = importers.some((importer) => folderOf(importer) !== folder);
  return (
    isForOthers &&
    (code?.length ?? 0) < SMALL &&
    importedIds.every((importedId) => folderOf(importedId) === undefined || importedId.endsWith('.css'))
  );
}

/** Length of the source, in characters, below which a file that several pages need is too small for its own request. */
const SMALL = 2_500;

const FIRST = 'app';

/** Leaves out the limits of server processes: errors name the one that was reached, and the console reaches none. */
const withoutServerLimits: Plugin = {
  name: 'without-server-limits',
  load: (id) => (id.endsWith('/src/kernel/limit_settings.ts') ? 'export const LIMIT_SETTINGS = {};' : null),
};

/** Build configuration; infra/console adds the icons. Every address is relative: one build works below any path. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: path.join(import.meta.dirname, 'public'),
  plugins: [react(), withoutServerLimits],
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
