import { expect, test } from 'vitest';

import { ANONYMOUS, stableFile, stableFunction, stableModule } from '#modules/exceptions/decide/generated_names.ts';

test('a name means the same however many others came before it', () => {
  const names = Array.from({ length: 9_000 }, (_, index) => `checkout${index}::h${'0'.repeat(12)}${1_000 + index}`);
  for (const name of [...names, ...names.slice(0, 10)]) {
    expect(stableFunction(name)).toBe(name.slice(0, name.indexOf('::')));
  }
});

test('the same text as a function, a module and a file is decided for each', () => {
  const text = 'Object.main.4fa32c81.js';
  expect(stableFile(text)).toBe('Object.main.<hash>.js');
  expect(stableModule(text)).toBe(text);
  expect(stableFunction(text)).toBe('main.4fa32c81.js');
});

test.each([stableFunction, stableModule, stableFile])('nothing is no name', (stable) => {
  for (const nothing of [null, '', '  ']) expect(stable(nothing)).toBeNull();
});

test('a function without a name is known as such', () => {
  expect(['?', '<anonymous>', 'anonymous'].map(stableFunction)).toEqual([ANONYMOUS, ANONYMOUS, ANONYMOUS]);
});
