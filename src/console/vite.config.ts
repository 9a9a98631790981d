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
  // Its styles are with those of every page: a file of their own would be one more request.
  charts: /(?:node_modules\/uplot\/|components\/time_chart\/).*\.(?:m?js|tsx?)$/,
  metrics: /src\/core\/(?:metrics\/(?!quantity|comparator|limits)|dashboards\/)/,
  numbers: /react-number-format|core\/esm\/components\/NumberInput\//,
  passkeys: /@simplewebauthn\/|node_modules\/uqr\//,
  choices:
    /core\/esm\/components\/(?:Combobox(?!\/(?:ComboboxChevron|get-parsed-combobox-data|Combobox\.module))|Select|Pill\w*|TagsInput|MultiSelect|Autocomplete)\//,
  dialogs: /react-remove-scroll|core\/esm\/components\/(?:ScrollArea|FocusTrap|ModalBase|Modal|Overlay)\//,
  floating: /@floating-ui|core\/esm\/(?:components\/(?:Popover|Menu|Floating|Tooltip)|utils\/Floating)\//,
  tables: /@tanstack\/(?:react-)?table/,
  rows: /@tanstack\/(?:react-)?virtual/,
} as const;

const ALONE = { includeDependenciesRecursively: false } as const;

interface Modules {
  getModuleInfo(id: string): ModuleFacts | null;
}

interface ModuleFacts {
  readonly importedIds: readonly string[];
  readonly dynamicImporters: readonly string[];
  readonly code: string | null;
}

/** The index of a package names all of its files: of those only what is imported by name counts. */
const INDEX = /@mantine\/core\/esm\/index\.mjs$/;
const NAMED = {
  numbers: ['NumberInput'],
  choices: ['Autocomplete', 'Combobox', 'MultiSelect', 'Pill', 'Select', 'TagsInput'],
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

/** Parts of one room are in a file of their own, unless another room needs them, too. */
function nameOfShared(id: string, modules: Modules): string | null {
  if (id.includes('/console/worker/')) return null;
  const own = Object.entries(PACKAGES).find(([, test]) => test.test(id));
  if (own !== undefined) return own[0];
  // A page keeps a file of its own, although another one shows parts of it.
  if ((modules.getModuleInfo(id)?.dynamicImporters.length ?? 0) > 0) return null;
  const needed = packagesOf(id, modules);
  // A list of choices needs both.
  const implied = needed.has('choices') ? ['dialogs', 'floating'] : [];
  const names = Object.keys(PACKAGES).filter((name) => needed.has(name) && !implied.includes(name));
  const name = names.length === 0 ? 'parts' : names.join('-');
  const [, room] = /\/console\/pages\/(\w+)\//.exec(id) ?? [];
  // Incidents are opened at night, and home shows them: what their pages share is with what all pages share.
  const isForAll = room === undefined || (room === 'incidents' && names.length === 0);
  return isForAll ? name : `${room}-${name}`;
}

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
            {
              name: (id) => (id.includes('/console/worker/') ? null : 'app'),
              tags: ['$initial'],
              debugName: 'app',
              priority: 5,
            },
            { name: nameOfShared, debugName: 'shared', minShareCount: 2, ...ALONE, priority: 2 },
          ],
        },
        // Browsers find a service worker by its address, which must stay the same.
        entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
