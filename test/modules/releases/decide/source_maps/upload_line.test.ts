import { describe, expect, test } from 'vitest';

import { withoutUploadLine } from '#modules/releases/decide/source_maps/upload_line.ts';

const ID = '9f3329ff-5230-4ef0-8039-5b9b8bf31b50';
const PATH = `_/_/${ID}-0.js`;
const snippet = (quote: string, id = ID) =>
  `;!function(){try{var e="undefined"!=typeof window?window:{},n=(new e.Error).stack;n&&(e._sentryDebugIds=e._sentryDebugIds||{},e._sentryDebugIds[n]=${quote}${id}${quote},e._sentryDebugIdIdentifier=${quote}sentry-dbid-${id}${quote})}catch(e){}}();`;
const RUNS = `${snippet('`')}console.log(1)\nconsole.log(2)\n//# debugId=${ID}`;
const ADDED = `${snippet('"')}\n`;

describe('the line that an upload client has added', () => {
  test('is taken from the code and its map', () => {
    expect(withoutUploadLine({ path: PATH, code: `${ADDED}${RUNS}`, mappings: ';AAAA,CAAC;AACA' })).toEqual({
      code: RUNS,
      mappings: 'AAAA,CAAC;AACA',
    });
  });

  test('is found behind the line of an interpreter', () => {
    const code = `#!/usr/bin/env node\n${ADDED}${RUNS}`;
    expect(withoutUploadLine({ path: PATH, code, mappings: 'AAAA;;AACA' })).toEqual({
      code: `#!/usr/bin/env node\n${RUNS}`,
      mappings: 'AAAA;AACA',
    });
  });

  test.each([
    ['code that runs has one snippet only', { path: PATH, code: `${ADDED}console.log(1)`, mappings: ';AAAA' }],
    ['code is uploaded under its own name', { path: '_/_/assets/shop.js', code: `${ADDED}${RUNS}`, mappings: ';AAAA' }],
    ['nothing was added', { path: PATH, code: RUNS, mappings: 'AAAA' }],
    ['the map was not moved', { path: PATH, code: `${ADDED}${RUNS}`, mappings: 'AAAA;AACA' }],
    [
      'the line is of other code',
      { path: PATH, code: `${snippet('"', `${ID.slice(0, -1)}1`)}\n${RUNS}`, mappings: ';AAAA' },
    ],
    ['the line is not the first', { path: PATH, code: `let a;\n${ADDED}${RUNS}`, mappings: 'AAAA;;AACA' }],
    ['the map has no such line', { path: PATH, code: `#!node\n${ADDED}${RUNS}`, mappings: '' }],
  ])('is left where it is when %s', (_, uploaded) => {
    expect(withoutUploadLine(uploaded)).toBe(uploaded);
  });
});
