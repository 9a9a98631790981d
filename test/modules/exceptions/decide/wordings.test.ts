import { expect, test } from 'vitest';

import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { eventOf, exceptionOf, frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

const keyOf = (event: ExceptionEvent): string => groupEvent(event).key;
const raisedIn = (platform: string, frame: Partial<Frame>) =>
  eventOf({ platform, exceptions: [exceptionOf('E', 'no stock', { frames: [frameOf({ inApp: true, ...frame })] })] });

test.each([
  ['Shop.Cart', 'PayAsync', 'async Task<int> Shop.Cart.PayAsync(int id)'],
  ['Shop.Cart', 'Pay', 'void Shop.Cart.Pay(List<(int, string)> items, Action<int> done)'],
  ['Shop.Cart', 'Split', '(int first, string rest) Shop.Cart.Split(string text)'],
  ['Shop.Repo`1', 'Find', 'ValueTask<Dictionary<string, T>[]> Shop.Repo<T>.Find<TKey>(TKey key)'],
  ['Shop.Cart+Line', '.ctor', 'new Shop.Cart.Line(int count)'],
  ['Shop.Cart', '.cctor', 'static Shop.Cart()'],
  ['Shop.Cart', '<Pay>g__Retry|0_1', 'void Shop.Cart.Pay()+Retry(int times)'],
  ['Shop.Cart+<>c', 'Pay { <lambda> }', 'int Shop.Cart.Pay()+(int x) => { }'],
  ['Shop.Cart+<>c__DisplayClass3_0', 'Pay { <lambda> }', 'async Task Shop.Cart.Pay(string id)+() => { }'],
])('%s in %s is the same where the client of .NET demystifies it: %s', (module, name, demystified) => {
  expect(keyOf(raisedIn('csharp', { module, function: name }))).toBe(
    keyOf(raisedIn('csharp', { module: null, function: demystified })),
  );
  expect(keyOf(raisedIn('csharp', { module: null, function: demystified }))).not.toBe(
    keyOf(raisedIn('csharp', { module: null, function: 'void Shop.Order.Refund()' })),
  );
});

test.each([
  ['ruby', "undefined method `pay' for nil:NilClass", "undefined method 'pay' for nil"],
  [
    'ruby',
    "undefined method `pay' for #<Shop::Cart:0x00007f1>",
    "undefined method 'pay' for an instance of Shop::Cart",
  ],
  ['ruby', "undefined method `pay' for Shop::Cart:Class", "undefined method 'pay' for class Shop::Cart"],
  ['ruby', 'key not found: {"a"=>1}', 'key not found: {"a" => 1}'],
  ['other', "sort: cannot open `orders'", 'sort: cannot open ‘orders’'],
  ['php', 'Notice: Undefined variable: order', 'Warning: Undefined variable $order'],
  ['php', 'Notice: Undefined index: total', 'Warning: Undefined array key "total"'],
  ['php', 'Undefined offset: 3', 'Undefined array key 3'],
  ['php', "Class 'Shop\\Cart' not found", 'Class "Shop\\Cart" not found'],
  ['php', "Trying to get property 'total' of non-object", 'Attempt to read property "total" on null'],
  ['php', "Use of undefined constant RATE - assumed 'RATE' (this will throw)", 'Undefined constant "RATE"'],
  [
    'php',
    'Argument 1 passed to Cart::add() must be of the type int, string given',
    'Cart::add(): Argument #1 ($id) must be of type int, string given',
  ],
])('%s words %s and %s otherwise, and both are one', (platform, before, after) => {
  const of = (value: string) => keyOf(eventOf({ platform, exceptions: [exceptionOf('E', value)] }));
  const said = (message: string) => keyOf(eventOf({ platform, message }));
  expect(of(before)).toBe(of(after));
  expect(said(before)).toBe(said(after));
});

test('wordings of names that differ are two', () => {
  const of = (platform: string, value: string) => keyOf(eventOf({ platform, exceptions: [exceptionOf('E', value)] }));
  expect(of('php', 'Undefined index: total')).not.toBe(of('php', 'Undefined index: sum'));
  expect(of('php', 'Undefined variable: order')).not.toBe(of('php', 'Undefined variable $cart'));
  expect(of('ruby', "undefined method 'pay' for nil")).not.toBe(of('ruby', "undefined method 'sell' for nil"));
  expect(of('other', "don't use `a' or 'b'")).not.toBe(of('other', "don't use `c' or 'b'"));
});
