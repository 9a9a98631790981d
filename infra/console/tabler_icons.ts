import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Plugin } from 'vite';

const ICONS_FILE = fileURLToPath(import.meta.resolve('@iconify-json/tabler/icons.json'));
const COMPONENT_FILE = path.resolve(import.meta.dirname, '../../src/console/components/icon.tsx');

/** Attributes that `icon` gives to all lines. */
const LINES = 'fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"';
const IS_DRAWN_WITH_LINES = new RegExp(`^(?:<path ${LINES} d="[^"]+"/>|<g ${LINES}>(?:<path d="[^"]+"/>)+</g>)$`);

/** Icons of Tabler 3.51 that differ in the package, which has Tabler 3.48: there, the calendar shows a 1. */
const NEWER: Readonly<Record<string, readonly string[]>> = {
  calendar: ['M4 7a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zm12-4v4M8 3v4m-4 4h16'],
};

let icons: Readonly<Record<string, { readonly body: string }>> | undefined;

function linesOf(name: string): readonly string[] {
  icons ??= (JSON.parse(readFileSync(ICONS_FILE, 'utf8')) as { icons: NonNullable<typeof icons> }).icons;
  const { body } = icons[name] ?? {};
  if (body === undefined) throw new Error(`Tabler has no icon "${name}": https://tabler.io/icons shows those it has.`);
  if (!IS_DRAWN_WITH_LINES.test(body)) throw new Error(`The icon "${name}" is not drawn with lines alone.`);
  return [...body.matchAll(/ d="([^"]+)"/g)].map(([, line = '']) => line);
}

/**
 * Makes a module of each icon that src/console/icons.ts names, `virtual:tabler/NAME`, so that each file of the build has
 * the icons that it shows.
 */
export const tablerIcons: Plugin = {
  name: 'tabler-icons',
  resolveId: { filter: { id: /^virtual:tabler\// }, handler: (id) => ({ id: `\0${id}`, moduleSideEffects: false }) },
  load: {
    filter: { id: /^\0virtual:tabler\// },
    handler: (id) => {
      const lines = NEWER[path.posix.basename(id)] ?? linesOf(path.posix.basename(id));
      const shown = lines.map((line) => JSON.stringify(line)).join(', ');
      return `import { icon } from ${JSON.stringify(COMPONENT_FILE)};\nexport default /* @__PURE__ */ icon(${shown});`;
    },
  },
};
