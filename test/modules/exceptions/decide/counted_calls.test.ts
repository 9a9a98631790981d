import { describe, expect, test } from 'vitest';

import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { groupEvent, learnableMessage } from '#modules/exceptions/decide/grouping.ts';
import { eventOf, exceptionOf, frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

const call = (name: string, overrides: Partial<Frame> = {}) =>
  frameOf({ module: 'shop', function: name, inApp: true, ...overrides });
const raised = (frames: readonly Frame[], platform = 'java') =>
  eventOf({ platform, exceptions: [exceptionOf('Declined', 'x', { frames })] });
const linesOf = (event: ExceptionEvent) => groupEvent(event).parts.map(({ lines }) => lines);

function expectDifferentGroups(first: ExceptionEvent, other: ExceptionEvent): void {
  expect(groupEvent(first).key).not.toBe(groupEvent(other).key);
}

describe('calls that count', () => {
  const synthetic = { type: 'generic', handled: true, synthetic: true };
  const reported = (by: string, message = 'no beans') =>
    eventOf({
      message,
      exceptions: [exceptionOf(null, message, { frames: [call('main'), call(by)], mechanism: synthetic })],
    });

  test('a message counts with the calls that led to its report, where the client shows them', () => {
    expect(groupEvent(reported('order')).parts).toMatchObject([
      { strategy: 'message', lines: ['no beans'] },
      { strategy: 'stacktrace', lines: ['shop in main', 'shop in order'] },
    ]);
    expectDifferentGroups(reported('order'), reported('refund'));
    expect(groupEvent(reported('order')).key).not.toBe(groupEvent(reported('order', 'no milk')).key);
    const thread = { id: '1', name: 'main', crashed: false, frames: [call('main'), call('order')] };
    expect(linesOf(eventOf({ message: 'no beans', thread }))).toEqual(linesOf(reported('order')));
  });

  test('such messages are learnt together only when the same calls led to them', () => {
    const placeOf = (event: ExceptionEvent) => learnableMessage(groupEvent(event))?.place;
    expect(placeOf(reported('order', 'user ann failed'))).toBe(placeOf(reported('order', 'user bob failed')));
    expect(placeOf(reported('order'))).not.toBe(placeOf(reported('refund')));
    expect(placeOf(eventOf({ message: 'no beans' }))).toBeNull();
    expect(learnableMessage(groupEvent(raised([call('order')])))).toBeNull();
  });

  test('the call that raised counts although it was called before', () => {
    expectDifferentGroups(raised([call('retry'), call('send'), call('retry')]), raised([call('retry'), call('send')]));
    const turns = (depth: number) => Array.from({ length: depth }, () => [call('send'), call('retry')]).flat();
    expect(groupEvent(raised([call('retry'), ...turns(2)])).key).toBe(
      groupEvent(raised([call('retry'), ...turns(9)])).key,
    );
  });

  test('two closures of one function are two calls, and a recursion is one', () => {
    const closure = (number: number) => call(`serve.func${number}`);
    expectDifferentGroups(raised([closure(1), closure(2)], 'go'), raised([closure(1)], 'go'));
    expect(linesOf(raised([closure(1), closure(1), closure(1)], 'go'))).toEqual(linesOf(raised([closure(1)], 'go')));
  });

  test.each(['app:///', 'file:///opt/shop/', 'capacitor://localhost/'])(
    'the files of an application that is installed count, of %s',
    (root) => {
      const at = (file: string) =>
        raised([call('render', { module: null, filename: file, absPath: `${root}${file}` })], 'javascript');
      expectDifferentGroups(at('cart.js'), at('account.js'));
      expect(groupEvent(at('cart-DWx9cN3q.js')).key).toBe(groupEvent(at('cart-B0kPz_1f.js')).key);
    },
  );

  test('the executable of an application on a phone is its own code, whatever the client says', () => {
    const within = (path: string, name: string) =>
      call(name, {
        module: null,
        inApp: false,
        native: { package: `/private/var/containers/Bundle/Application/9B2E/${path}`, offset: null },
      });
    const kit = within('Shop.app/Frameworks/Kit.framework/Kit', 'run');
    expect(linesOf(raised([kit, within('Shop.app/Shop', 'pay')], 'cocoa'))).toEqual([['type Declined', 'pay']]);
  });
});
