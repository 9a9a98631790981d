import path from 'node:path';

import react from '@vitejs/plugin-react';
import postcssPresetMantine from 'postcss-preset-mantine';
import { defineConfig } from 'vite';

/** Replaced by the server with the nonce of each answer (src/entry/http/console_pages.ts). */
const NONCE_PLACEHOLDER = '__NONCE__';

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
              priority: 2,
            },
            {
              name: 'lists',
              test: /@tanstack\/(?:react-)?(?:table|virtual)|components\/data_table/,
              includeDependenciesRecursively: false,
              priority: 3,
            },
            { name: 'parts', minShareCount: 8, priority: 1 },
          ],
        },
        // Browsers find a service worker by its address, which must stay the same.
        entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
