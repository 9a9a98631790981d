import { expect, test } from 'vitest';

import { sourceLink } from '#modules/exceptions/decide/source_link.ts';
import { frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

const repository = { owner: 'acme', name: 'shop' };
const linkOf = (fields: Parameters<typeof frameOf>[0], release: string | null = null) =>
  sourceLink(frameOf({ lineno: 42, ...fields }), repository, release);

test.each([
  ['python', { filename: 'shop/views.py', absPath: '/app/shop/views.py' }, 'shop/views.py'],
  [
    'python in a folder called as the repository',
    { filename: 'shop/views.py', absPath: '/srv/shop/shop/views.py' },
    'shop/views.py',
  ],
  [
    'python below a source root',
    { filename: 'cart/views.py', absPath: '/home/ci/shop/src/cart/views.py' },
    'src/cart/views.py',
  ],
  ['node in an image', { filename: '/usr/src/app/src/routes/cart.js' }, 'src/routes/cart.js'],
  ['node on a machine of one’s own', { filename: '/home/ann/shop/lib/cart.js' }, 'lib/cart.js'],
  ['node as a file URL', { filename: 'file:///app/dist/cart.js' }, 'dist/cart.js'],
  ['a function in the cloud', { filename: '/var/task/handler.js' }, 'handler.js'],
  ['webpack', { filename: 'webpack:///./src/components/Cart.tsx' }, 'src/components/Cart.tsx'],
  ['webpack with a name', { filename: 'webpack://shop/./src/Cart.tsx?a1b2' }, 'src/Cart.tsx'],
  ['next', { filename: 'webpack-internal:///(rsc)/./app/page.tsx' }, 'app/page.tsx'],
  ['a source map of ours', { filename: 'app:///src/cart.ts' }, 'src/cart.ts'],
  ['java', { module: 'com.acme.cart.Cart$Line', filename: 'Cart.java' }, 'src/main/java/com/acme/cart/Cart.java'],
  ['kotlin', { module: 'com.acme.CartKt', filename: 'Cart.kt' }, 'src/main/kotlin/com/acme/Cart.kt'],
  ['go on a build machine', { absPath: '/home/runner/work/shop/shop/billing/client.go' }, 'billing/client.go'],
  ['go in the old place', { absPath: '/go/src/github.com/acme/shop/main.go' }, 'main.go'],
  ['php', { filename: '/var/www/html/app/Http/Cart.php' }, 'app/Http/Cart.php'],
  ['ruby', { filename: 'app/models/cart.rb', absPath: '/app/app/models/cart.rb' }, 'app/models/cart.rb'],
  ['c#', { filename: 'C:\\inetpub\\wwwroot\\Cart\\CartService.cs' }, 'Cart/CartService.cs'],
  ['a path with blanks', { filename: 'src/my cart/ä.js' }, 'src/my%20cart/%C3%A4.js'],
])('%s', (_case, fields, path) => {
  expect(linkOf(fields)).toBe(`https://github.com/acme/shop/blob/HEAD/${path}#L42`);
});

test.each([
  {},
  { filename: '<anonymous>' },
  { filename: 'node:internal/modules/cjs/loader' },
  { filename: 'https://shop.example/assets/app.js' },
  { filename: '[native code]' },
  { filename: '../../etc/passwd' },
  { filename: '/nowhere/known/cart.js' },
  { filename: "/app/a.php(12) : eval()'d code" },
])('%j is in no repository', (fields) => {
  expect(linkOf(fields)).toBeNull();
});

test.each([
  ['shop@1.4.2', '1.4.2'],
  ['v1.4.2', 'v1.4.2'],
  ['4bf92f3577b34da6a3ce929d0e0e4736aabbccdd', '4bf92f3577b34da6a3ce929d0e0e4736aabbccdd'],
  ['release/2026-11', 'release/2026-11'],
  ['1.0.0+build 7', 'HEAD'],
  ['production', 'HEAD'],
  ['../../evil1', 'HEAD'],
  [null, 'HEAD'],
])('release %j is looked up at %s', (release, ref) => {
  expect(linkOf({ filename: 'a.js' }, release)).toBe(`https://github.com/acme/shop/blob/${ref}/a.js#L42`);
});

test('without a line the link is to the file', () => {
  expect(linkOf({ filename: 'a.js', lineno: null })).toBe('https://github.com/acme/shop/blob/HEAD/a.js');
});
