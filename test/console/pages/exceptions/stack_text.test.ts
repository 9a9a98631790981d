import { expect, test } from 'vitest';

import type { ExceptionEvent } from '#console/api/exceptions.ts';
import type { Frame } from '#console/components/text/frame_text.ts';
import { partsOf, rawStack, stacksOf } from '#console/pages/exceptions/event/stack_text.ts';

const frame = (name: string | null, inApp = true): Frame => ({
  function: name,
  module: null,
  file: 'shop/cart.py',
  line: 7,
  column: null,
  inApp,
  code: null,
  sourceUrl: null,
  variables: null,
});

const event = (overrides: Partial<ExceptionEvent>): ExceptionEvent =>
  ({ exceptions: [], frames: [], message: null, ...overrides }) as ExceptionEvent;

test('the reported exception comes first, its innermost frame on top, then what caused it', () => {
  const chained = event({
    exceptions: [
      { type: 'BankError', value: 'away', module: null, mechanism: null, frames: [frame('connect')] },
      { type: 'Declined', value: null, module: null, mechanism: null, frames: [frame('main'), frame('?')] },
    ],
  });
  expect(rawStack(chained)).toBe(
    [
      'Declined',
      '    at anonymous (shop/cart.py:7)',
      '    at main (shop/cart.py:7)',
      'Caused by: BankError: away',
      '    at connect (shop/cart.py:7)',
    ].join('\n'),
  );
});

test('a stack sent beside the exception is that of the exception, and a bare message has none', () => {
  const beside = event({
    exceptions: [{ type: 'E', value: null, module: null, mechanism: null, frames: [] }],
    frames: [frame('a'), frame('b')],
  });
  expect(stacksOf(beside)[0]!.frames.map(({ function: name }) => name)).toEqual(['b', 'a']);
  expect(rawStack(event({ message: 'out of disk' }))).toBe('out of disk');
});

test('library frames that follow each other are one part; own frames and the order stay', () => {
  const frames = [frame('own'), frame('lib1', false), frame('lib2', false), frame('deep'), frame('lib3', false)];
  const parts = partsOf(frames);
  expect(parts.map(({ isOwn, frames: some }) => [isOwn, some.length])).toEqual([
    [true, 1],
    [false, 2],
    [true, 1],
    [false, 1],
  ]);
  expect(parts.flatMap((part) => part.frames)).toEqual(frames);
});
