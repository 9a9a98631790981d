import { describe, expect, test } from 'vitest';

import type { ExceptionEvent, ExceptionValue, Frame } from '#modules/exceptions/decide/event.ts';
import { stableFunction } from '#modules/exceptions/decide/generated_names.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { eventOf, exceptionOf, frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

const keyOf = (event: ExceptionEvent): string => groupEvent(event).key;

const PAGE = 'https://shop.example/assets/app.js';
const inPage = (name: string | null, fields: Partial<Frame> = {}): Frame =>
  frameOf({ function: name, filename: PAGE, ...fields });
const thrown = (
  frames: readonly Frame[],
  fields: Partial<ExceptionValue> = {},
  platform = 'javascript',
): ExceptionEvent => eventOf({ platform, exceptions: [exceptionOf('TypeError', 'x', { frames, ...fields })] });

describe('a call of JavaScript is the same in every browser', () => {
  test.each([
    ['Cart.total', 'total'],
    ['Cart/this.total', 'total'],
    ['Cart.prototype.total', 'total'],
    ['new Order', 'Order'],
    ['get price', 'price'],
    ['Cart.#check', '#check'],
    ['HTMLButtonElement.onclick', 'onclick'],
    ['main/<', '?'],
    ['main/</<', '<anonymous>'],
    ['Object.<anonymous>', 'module code'],
    ['eval', 'eval code'],
  ])('%s is %s', (a, b) => {
    expect(keyOf(thrown([inPage('checkout'), inPage(a)]))).toBe(keyOf(thrown([inPage('checkout'), inPage(b)])));
  });

  test.each([
    ['total', 'totals'],
    ['total', '?'],
  ])('%s is not %s', (a, b) => {
    expect(keyOf(thrown([inPage('checkout'), inPage(a)]))).not.toBe(keyOf(thrown([inPage('checkout'), inPage(b)])));
  });

  test('what the engine itself calls does not count, nor what only some engines know of', () => {
    const bare = thrown([inPage('draw'), inPage('renderItem')]);
    expect(
      keyOf(
        thrown([inPage('draw'), frameOf({ function: 'forEach', filename: '[native code]' }), inPage('renderItem')]),
      ),
    ).toBe(keyOf(bare));
    expect(
      keyOf(
        thrown([inPage('draw'), frameOf({ function: 'Array.forEach', filename: '<anonymous>' }), inPage('renderItem')]),
      ),
    ).toBe(keyOf(bare));
    expect(keyOf(thrown([inPage('async start'), inPage('draw'), inPage('renderItem')]))).toBe(keyOf(bare));
    expect(keyOf(thrown([inPage('setTimeout handler*start'), inPage('draw'), inPage('renderItem')]))).toBe(keyOf(bare));
  });

  test('code that was evaluated is code of the file that evaluated it', () => {
    const evaluated = (filename: string) => thrown([frameOf({ function: null, filename })]);
    expect(keyOf(evaluated('/srv/app.js line 3 > eval'))).toBe(keyOf(evaluated('/srv/app.js')));
  });

  test.each([
    [
      "Cannot read properties of undefined (reading 'id')",
      'can\'t access property "id", e is undefined',
      "undefined is not an object (evaluating 'e.id')",
    ],
    [
      "Cannot set properties of null (setting 'id')",
      'can\'t access property "id", e is null',
      "null is not an object (evaluating 'e.id = 1')",
    ],
    [
      't.save is not a function',
      'n.save is not a function',
      "r.save is not a function. (In 'r.save()', 'r.save' is undefined)",
    ],
    ['basket is not defined', 'basket is not defined', "Can't find variable: basket"],
    ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'],
    [
      `Unexpected token '<', "<html>" is not valid JSON`,
      'JSON.parse: unexpected character at line 1 column 1 of the JSON data',
      "JSON Parse error: Unrecognized token '<'",
    ],
    [
      'Assignment to constant variable.',
      "invalid assignment to const 'a'",
      'Attempted to assign to readonly property.',
    ],
    [
      'Failed to fetch dynamically imported module: https://shop.example/assets/cart-BxY7kQ9m.js',
      'error loading dynamically imported module: https://shop.example/assets/cart-CzA8lR0n.js',
      'Importing a module script failed.',
    ],
    [
      'ResizeObserver loop limit exceeded',
      'ResizeObserver loop completed with undelivered notifications.',
      'ResizeObserver loop completed with undelivered notifications.',
    ],
    [
      'Loading chunk 5 failed.\n(error: https://shop.example/5.abc123de.js)',
      'Loading chunk 7 failed.\n(timeout: https://shop.example/7.def456ab.js)',
      'Loading CSS chunk 7 failed.\n(https://shop.example/7.def456ab.css)',
    ],
  ])('%s is said by all engines', (chrome, firefox, safari) => {
    const keys = [chrome, firefox, safari].map((value) => keyOf(thrown([inPage('?')], { value })));
    expect(new Set(keys).size).toBe(1);
    expect(keys).not.toContain(keyOf(thrown([inPage('?')], { value: 'something else' })));
  });

  test.each([
    'Failed to fetch the basket',
    'Failed to fetch dynamically imported module: https://shop.example/assets/cart-BxY7kQ9m.js',
    'Load failed: the basket',
  ])('%s is not what an engine says of a request', (value) => {
    const failed = ['Failed to fetch', 'Failed to fetch (api.shop.example)', 'Load failed'];
    const keys = failed.map((said) => keyOf(thrown([inPage('?')], { value: said })));
    expect(new Set(keys).size).toBe(1);
    expect(keys).not.toContain(keyOf(thrown([inPage('?')], { value })));
  });
});

describe('a minified build', () => {
  const build = (names: readonly string[], hash: string, value: string): ExceptionEvent =>
    thrown(
      names.map((name) => frameOf({ function: name, filename: `https://shop.example/assets/shop-${hash}.js` })),
      { value },
    );

  test('has the groups of the build before, although every name in it is another', () => {
    expect(keyOf(build(['t', 'e.load', 'n'], 'DWx9cN3q', 'order 17 failed'))).toBe(
      keyOf(build(['ae', '$.load', 'Zt'], 'CCZOdkid', 'order 18 failed')),
    );
  });

  test('keeps errors apart by what they say, as no call that raised them has a name', () => {
    expect(keyOf(build(['load', 'n'], 'DWx9cN3q', 'no beans'))).not.toBe(
      keyOf(build(['load', 'n'], 'DWx9cN3q', 'no milk')),
    );
  });
});

describe('compiled code without symbols', () => {
  const crashed = (offset: string | null, name = '/opt/shop/libshop.so') =>
    eventOf({
      platform: 'native',
      exceptions: [exceptionOf('SIGSEGV', 'x', { frames: [frameOf({ native: { package: name, offset } })] })],
    });

  test('is known by its library and how far into it the call is', () => {
    expect(groupEvent(crashed('0x1f30')).parts[0]?.lines).toEqual(['type SIGSEGV', 'libshop.so+0x1f30']);
    expect(keyOf(crashed('0x1f30'))).not.toBe(keyOf(crashed('0x2000')));
  });

  test.each(['/lib/x86_64-linux-gnu/libc.so.6', '/System/Library/Frameworks/UIKit', '/usr/lib/libobjc.dylib'])(
    '%s is not the application',
    (library) => {
      const event = thrown(
        [
          frameOf({ function: 'sell', native: { package: '/opt/shop/shop', offset: '0x1' } }),
          frameOf({ function: 'abort', native: { package: library, offset: '0x2' } }),
        ],
        {},
        'native',
      );
      expect(groupEvent(event).parts[0]?.lines).toEqual(['type TypeError', 'sell']);
    },
  );
});

test.each([
  ['java', { module: 'shop.Cart_$$_javassist_12' }, { module: 'shop.Cart_$$_javassist_7' }],
  ['java', { module: 'shop.Cart_$$_jvst8a2_3' }, { module: 'shop.Cart_$$_jvst1f0_11' }],
  [
    'go',
    { module: 'main', function: '(*Cache[...]).Get' },
    { module: 'main', function: '(*Cache[go.shape.map[string]int]).Get' },
  ],
  [
    'csharp',
    { module: 'Shop.Store`1[[Shop.Cart, Shop, Version=1.2.0.0, Culture=neutral, PublicKeyToken=null]]' },
    { module: 'Shop.Store`1[[Shop.Cart, Shop, Version=1.3.0.0, Culture=neutral, PublicKeyToken=null]]' },
  ],
  [
    'php',
    { filename: '/srv/storage/views/0123456789abcdef0123456789abcdef01234567.php' },
    { filename: '/srv/storage/views/9999456789abcdef0123456789abcdef01234567.php' },
  ],
  [
    'ruby',
    { function: '_app_views_carts_show_html_erb__-123456789_70' },
    { function: '_app_views_carts_show_html_erb__98765432_99' },
  ],
])('%s: what is generated in %j does not count', (platform, a, b) => {
  const keyed = (fields: Partial<Frame>) =>
    keyOf(thrown([frameOf({ function: 'f', inApp: true, ...fields })], {}, platform));
  expect(keyed(a)).toBe(keyed(b));
});

describe('a group of exceptions', () => {
  const member = (type: string, id: number): ExceptionValue =>
    exceptionOf(type, 'x', {
      mechanism: { type: 'chained', handled: null, synthetic: false, group: { id, parentId: 0, isGroup: false } },
    });
  const whole = exceptionOf('ExceptionGroup', 'x', {
    mechanism: { type: 'generic', handled: null, synthetic: false, group: { id: 0, parentId: null, isGroup: true } },
  });
  const grouped = (...members: readonly ExceptionValue[]) => eventOf({ exceptions: [...members, whole] });

  test('is the same in whatever order its members come', () => {
    const [a, b] = [member('Timeout', 1), member('Refused', 2)];
    expect(keyOf(grouped(a, b))).toBe(keyOf(grouped(b, a)));
    expect(keyOf(grouped(a, b))).not.toBe(keyOf(grouped(a)));
  });

  test('that holds itself still has a key with all that it says', () => {
    const loop = exceptionOf('Loop', 'x', {
      mechanism: { type: null, handled: null, synthetic: false, group: { id: 1, parentId: 1, isGroup: true } },
    });
    expect(groupEvent(eventOf({ exceptions: [member('Timeout', 2), loop, whole] })).parts).toHaveLength(3);
  });
});

test('numbers of every kind are one, with or without a sign', () => {
  const logged = (message: string) => keyOf(eventOf({ message }));
  expect(new Set(['offset 5', 'offset -5', 'offset +1.5', 'offset 1,234', 'offset 2e-7'].map(logged)).size).toBe(1);
});

test.each(['<listcomp>', '<dictcomp>', 'run.<locals>.<setcomp>'])(
  'Python 3.12, which has no frame for %s (PEP 709), groups as the versions before',
  (name) => {
    const view = frameOf({ module: 'shop.views', function: 'index', contextLine: 'xs = [load(i) for i in ids]' });
    const load = frameOf({ module: 'shop.views', function: 'load', contextLine: 'raise Missing()' });
    const key = (...frames: readonly Frame[]) => keyOf(thrown(frames, {}, 'python'));
    expect(key(view, { ...view, function: name }, load)).toBe(key(view, load));
    expect(key(view, { ...view, function: name })).toBe(key(view));
    expect(key({ ...view, function: name })).not.toBe(key());
    expect(key(view, { ...view, function: '<genexpr>' }, load)).not.toBe(key(view, load));
  },
);

test.each([
  ['App\\Shop::{closure}', 'App\\Shop::{closure:App\\Shop::pay():12}'],
  ['App\\{closure}', '{closure:App\\pay():12}'],
  ['{closure}', '{closure:/srv/releases/7/app/pay.php:3}'],
  ['{closure}', '{closure:{closure:/srv/app/pay.php:3}:5}'],
])('the closure %s of PHP 8.3 is %s of 8.4 where its line of source is known', (before, after) => {
  const key = (name: string, contextLine: string | null) =>
    keyOf(thrown([frameOf({ function: name, filename: 'pay.php', contextLine })], {}, 'php'));
  expect(key(after, 'throw $declined;')).toBe(key(before, 'throw $declined;'));
  expect(key(after, 'throw $declined;')).not.toBe(key(after, 'throw $other;'));
  expect(key('App\\Shop::pay', 'throw $declined;')).not.toBe(key(before, 'throw $declined;'));
});

describe("the frames that a client marks as the application's", () => {
  const frame = frameOf({ module: 'shop', function: 'sell', inApp: true });
  const isCounted = (fields: Partial<Frame>) =>
    groupEvent(
      eventOf({ exceptions: [exceptionOf('E', 'x', { frames: [frame, frameOf({ function: 'f', ...fields })] })] }),
    ).parts[0]?.lines.length === 3;

  test.each([
    { filename: '/usr/lib/python3.11/logging/__init__.py', inApp: true },
    { filename: '<frozen importlib._bootstrap>', absPath: '/srv/<frozen importlib._bootstrap>', inApp: true },
    { filename: 'node:internal/modules/cjs/loader', inApp: true },
    { module: 'java.util.HashMap', inApp: true },
    { absPath: '/usr/local/go/src/net/http/server.go' },
    { filename: '/srv/app/node_modules/express/lib/router.js' },
    { filename: '/app/vendor/symfony/kernel.php' },
    { module: 'org.springframework.web.Dispatcher' },
    { module: 'shop.cart', inApp: false },
  ])('%j is not', (fields) => {
    expect(isCounted(fields)).toBe(false);
  });

  test.each([
    { filename: '/venv/lib/python3.11/site-packages/acme/cart.py', inApp: true },
    { filename: '/srv/app/cart.js' },
    { absPath: '/root/go/src/github.com/acme/shop/cart.go' },
    { module: 'com.acme.Cart' },
  ])('%j is', (fields) => {
    expect(isCounted(fields)).toBe(true);
  });
});

test.each([
  ['Script1$_run_closure3.doCall', 'Script2$_run_closure4.doCall'],
  ['shop$pay$iter__12__16$fn__17.invoke', 'shop$pay$iter__22__26$fn__27.invoke'],
  ['__pyx_pw_4shop_3pay', '__pyx_pw_4shop_5pay'],
  ['__pyx_gb_4shop_6generator2', '__pyx_gb_4shop_8generator3'],
  ['camlShop__anon_fn[shop.ml:12,3--14]_345', 'camlShop__anon_fn[shop.ml:15,3--17]_390'],
  ['Shop_pay_anon_fn_3', 'Shop_pay_anon_fn_4'],
  ['~proc2Proc(Nil)@src/shop.cr:12', '~proc3Proc(Nil)@src/shop.cr:19'],
  ['pay.anon.1', 'pay.anon.2'],
  ['#(closure:3)', '#(closure:5)'],
  ['_conditional_callback_around_12', '_conditional_callback_around_15'],
])('the functions %s and %s of two builds are one', (a, b) => {
  expect(stableFunction(a)).toBe(stableFunction(b));
});
