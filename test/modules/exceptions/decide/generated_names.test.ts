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

test.each([
  ['/tmp/ipykernel_1234/567890.py', '/tmp/ipykernel_99/1234567.py'],
  ['<decorator-gen-12>', '<decorator-gen-99>'],
  ['<attrs generated methods shop.Order-2>', '<attrs generated methods shop.Order-3>'],
  ['<@beartype(shop.pay) at 0x7f12ab>', '<@beartype(shop.pay) at 0x7f99ab>'],
  ['<doctest shop.pay[3]>', '<doctest shop.pay[4]>'],
  ['https://x/main.dart.js_12.part.js', 'https://x/main.dart.js_9.part.js'],
  ['wasm://wasm/shop-0a1b2c3d', 'wasm://wasm/shop-ff1b2c3d'],
  ['wasm://wasm/0a1b2c3d', 'wasm://wasm/ff1b2c3d'],
  ['https://x/shop.wasm:wasm-function[12]:0x1234', 'https://x/shop.wasm:wasm-function[14]:0x1299'],
])('the files %s and %s are one', (a, b) => {
  expect(stableFile(a)).toBe(stableFile(b));
});

test('generated files of different sources are two', () => {
  expect(stableFile('<attrs generated methods shop.Order-2>')).not.toBe(
    stableFile('<attrs generated methods shop.Cart-2>'),
  );
  expect(stableFile('wasm://wasm/shop-0a1b2c3d')).not.toBe(stableFile('wasm://wasm/cart-0a1b2c3d'));
});
