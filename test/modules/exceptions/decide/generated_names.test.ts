import { describe, expect, test } from 'vitest';

import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { ANONYMOUS, stableFile, stableFunction, stableModule } from '#modules/exceptions/decide/generated_names.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { eventOf, exceptionOf, frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

test('a name means the same however many others came before it', () => {
  const names = Array.from({ length: 4_500 }, (_, index) => `checkout${index}::h${'0'.repeat(12)}${1_000 + index}`);
  const all = [...names, ...names.slice(0, 10)];
  expect(all.filter((name) => stableFunction(name) !== name.slice(0, name.indexOf('::')))).toEqual([]);
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
  ['shop.cpython-311-x86_64-linux-gnu.so', 'shop.cpython-312-x86_64-linux-gnu.so'],
  ['shop.cp311-win_amd64.pyd', 'shop.cp312-win_amd64.pyd'],
  ['/opt/libshop.so.1.2.3', '/opt/libshop.so.1.4.0'],
  ['shop-1.2.3-SNAPSHOT.jar', 'shop-1.10.0.jar'],
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

const keyOf = (event: ExceptionEvent): string => groupEvent(event).key;
const raisedIn = (platform: string, frame: Partial<Frame>, value: string | null = 'no stock', type = 'E') =>
  eventOf({ platform, exceptions: [exceptionOf(type, value, { frames: [frameOf({ inApp: true, ...frame })] })] });
const keyOfName = (platform: string, name: string) => keyOf(raisedIn(platform, { filename: 'pay', function: name }));
const keyOfModule = (platform: string, module: string) => keyOf(raisedIn(platform, { module, function: 'run' }));

const NUL = '\uFFFD';
const HASH_A = 'F69328E0708B4B584C5AACA22FE2C51A1CF192D6622828F613FC57C583CA77B63';
const DIGEST_A = '0123456789abcdef0123456789abcdef';
const DIGEST_B = 'f123456789abcdef0123456789abcde0';
const HASH_B = 'F0123456789ABCDEF5AACA22FE2C51A1CF192D6622828F613FC57C583CA77B63A';

test.each([
  [
    'php',
    `App\\Job@anonymous${NUL}/srv/releases/20261127/app/Run.php:41$0::handle`,
    `App\\Job@anonymous${NUL}/srv/releases/20261128/app/Run.php:44$3::handle`,
  ],
  [
    'php',
    `class@anonymous${NUL}C:\\deploy\\7\\Run.php:41$0::handle`,
    `class@anonymous${NUL}C:\\deploy\\8\\Run.php:4$a::handle`,
  ],
  ['php', 'class@anonymous/srv/a/Run.php:41$0::handle', 'class@anonymous/srv/b/Run.php:44$3::handle'],
  ['php', '{closure:{closure:App\\Foo::bar():10}:12}', '{closure:{closure:App\\Foo::bar():11}:14}'],
  ['php', '{closure:/srv/releases/1/routes/web.php:12}', '{closure:/srv/releases/2/routes/web.php:19}'],
  [
    'php',
    '{closure:{closure:/srv/releases/1/routes/web.php:3}:12}',
    '{closure:{closure:/srv/releases/2/routes/web.php:4}:19}',
  ],
  ['php', 'App\\Foo::{closure:C:\\deploy\\1\\web.php:12}', 'App\\Foo::{closure:C:\\deploy\\2\\web.php:19}'],
  ['csharp', '<>c.<<Main>$>b__0_5', '<>c.<<Main>$>b__0_6'],
  ['csharp', '<<Main>$>g__Pay|0_3', '<<Main>$>g__Pay|0_4'],
  ['csharp', '<<<Main>$>b__0_0>d.MoveNext', '<<<Main>$>b__0_1>d.MoveNext'],
  ['csharp', '<<<Main>$>g__Pay|0_3>d.MoveNext', '<<<Main>$>g__Pay|0_9>d.MoveNext'],
  ['csharp', '<<Main>b__0_0>g__Local|1', '<<Main>b__0_1>g__Local|2'],
  ['csharp', '<Shop.IOrders.Pay>b__0', '<Shop.IOrders.Pay>b__1'],
  ['csharp', '<.ctor>b__1_0', '<.ctor>b__4_2'],
  ['csharp', 'lambda_method45', 'lambda_method7'],
  ['csharp', '_Lambda$__1-0', '_Lambda$__3-2'],
  ['csharp', `<Generated>${HASH_A}__Core.<MapPost0>b__1_5`, `<Generated>${HASH_B}__Core.<MapPost3>b__2_1`],
  ['csharp', 'main@12', 'main@14'],
  ['csharp', 'pay@42-3.Invoke', 'pay@45-1.Invoke'],
  ['csharp', 'Pipe #1 input at line 63@65', 'Pipe #2 input at line 64@66'],
  ['go', 'run.deferwrap1', 'run.deferwrap2'],
  ['go', 'run.func1.deferwrap1', 'run.func2.deferwrap2'],
  ['go', 'run-range1', 'run-range2'],
  ['go', 'run.func1-range2', 'run.func2-range1'],
  ['go', 'init.0', 'init.1'],
  ['go', 'glob..func1', 'init.func2'],
  ['go', '(*Server).serve.gowrap1', '(*Server).serve.gowrap3'],
  ['rust', 'shop::pay::{closure#3}', 'shop::pay::{closure#4}'],
  ['rust', 'shop::pay::{{closure}}', 'shop::pay::{closure#0}'],
  ['rust', 'shop::pay::{{closure}}::h0123456789abcdef', 'shop::pay::{closure#0}'],
  ['rust', 'shop[846817f741e54dfd]::ops::call', 'shop[1f2e83b0c9d4a657]::ops::call'],
  ['rust', 'shop[846817f741e54dfd]::ops::call', 'shop::ops::call'],
  ['rust', '<shop::Cart>::total', 'shop::Cart::total'],
  ['rust', 'shop::load::<alloc::vec::Vec<u8>>', 'shop::load'],
  ['rust', 'shop::pay::closure$0', 'shop::pay::{{closure}}'],
  ['rust', 'shop::pay::{async_fn#0}', 'shop::pay::{async_fn#2}'],
  ['rust', '{impl#3}::pay', '{impl#4}::pay'],
  ['rust', 'shop::pay.llvm.12345678901234567890', 'shop::pay.llvm.9876'],
  ['elixir', 'MyApp.Pay."-run/1-fun-0-"/2', 'MyApp.Pay."-run/1-fun-1-"/2'],
  ['elixir', 'MyApp.Pay."-all/1-lists^map/1-0-"/1', 'MyApp.Pay."-all/1-lists^map/1-1-"/1'],
  ['erlang', '-run/1-fun-0-/1-fun-1-', '-run/1-fun-2-/1-fun-0-'],
  ['erlang', '-run/1-lc$^0/1-0-', '-run/1-lc$^1/1-1-'],
  ['erlang', '-run/1-anonymous-0-', '-run/1-anonymous-3-'],
  ['java', 'm34onCreate$lambda0', 'm46onCreate$lambda1'],
  ['java', 'onCreate$lambda-3', 'onCreate$lambda-4'],
  ['java', '$r8$lambda$K8f3Zq0b1cD2eF3gH4iJ5kL6mN7', '$r8$lambda$A1b2C3d4E5f6G7h8I9j0K1l2M3n'],
  ['java', 'access$000', 'access$100'],
  ['java', 'pay_aroundBody0', 'pay_aroundBody2'],
  ['clojure', 'pay$fn__1234', 'pay$fn__1301'],
  ['native', 'pay.isra.0', 'pay.constprop.3'],
  ['native', 'pay() [clone .cold.2]', 'pay()'],
  ['native', "pay()::'lambda0'(int)::operator()", "pay()::'lambda1'(int)::operator()"],
  ['native', 'pay()::$_0::operator()()', 'pay()::$_3::operator()()'],
  ['native', 'pay()::{lambda(int)#1}::operator()', 'pay()::{lambda(int)#2}::operator()'],
  ['native', '<lambda_1>::operator()', '<lambda_2>::operator()'],
  ['cocoa', '__42-[Shop pay:]_block_invoke_2', '__42-[Shop pay:]_block_invoke.15'],
  ['cocoa', '(1) suspend resume partial function for pay()', '(2) suspend resume partial function for pay()'],
  ['cocoa', 'retry #1 () in pay()', 'retry #2 () in pay()'],
  ['cocoa', 'partial apply for closure #1 in pay()', 'partial apply for closure #3 in pay()'],
  ['d', 'shop.pay.__lambda2', 'shop.pay.__lambda3'],
  ['zig', 'pay__anon_1234', 'pay__anon_77'],
  ['ocaml', 'anon_fn[shop.ml:12,3--40]', 'anon_fn[shop.ml:14,3--40]'],
  ['crystal', '~procProc(Nil)@src/shop.cr:12', '~procProc(Nil)@src/shop.cr:14'],
  ['perl', '__ANON__(/srv/1/shop.pl:12)', '__ANON__(/srv/2/shop.pl:14)'],
  ['lua', 'function <shop.lua:12>', 'function <shop.lua:14>'],
  ['php', 'App\\Job@anonymous::handle', `App\\Job@anonymous${NUL}/srv/1/Run.php:3$0::handle`],
  ['php', `__TwigTemplate_${DIGEST_A}___1234567::doDisplay`, `__TwigTemplate_${DIGEST_B}___7654321::doDisplay`],
  ['php', 'ContainerAbC1dE2\\Shop_KernelProdContainer::getPay', 'ContainerQrStUvW\\Shop_KernelProdContainer::getPay'],
  ['php', 'Container9XqStUv\\Shop_KernelProdContainer::getPay', 'ContainerQrStUvW\\Shop_KernelProdContainer::getPay'],
  ['php', 'EntityManager_9a5be93::flush', 'EntityManager_82b3f4c::flush'],
  ['php', 'ContainerAbC1dE2\\PayGhostEbeb667::run', 'ContainerXyZ9kL8\\PayGhost614a58f::run'],
  ['php', 'content_65f1a2b3c4d5e6_12345678', 'content_75f1a2b3c4d5e7_87654321'],
  ['php', 'Mockery_3_App_Foo::bar', 'Mockery_7_App_Foo::bar'],
  ['csharp', '<>o__0.<Main>', '<>o__1.<Main>'],
  ['csharp', '<>n__0', '<>n__1'],
  ['csharp', '<>m__Finally1', '<>m__Finally2'],
  ['csharp', '<Pay>m__0', '<Pay>m__1'],
  ['csharp', '<Pay>c__Iterator0.MoveNext', '<Pay>c__IteratorA.MoveNext'],
  ['csharp', '<Pay>c__AnonStorey0.<>m__0', '<Pay>c__AnonStorey1.<>m__1'],
  ['csharp', `U3CPayU3Ed__5_MoveNext_m${HASH_A.slice(0, 40)}`, `U3CPayU3Ed__6_MoveNext_m${HASH_B.slice(0, 40)}`],
  ['csharp', 'f@7T.Invoke', 'f@9T.Invoke'],
  ['java', 'lambda$main$d0c7ae2c$1', 'lambda$main$a0c7ae2d$1'],
  ['java', 'pay$lambda-0', 'pay$lambda$0'],
  ['java', 'ComposableSingletons$MainKt$lambda$-1234567890$1', 'ComposableSingletons$MainKt$lambda$998877$1'],
  ['native', 'kfun:shop.object-1.invoke#internal', 'kfun:shop.object-3.invoke#internal'],
  ['java', 'liftedTree1$1', 'liftedTree2$1'],
  ['go', 'pay.func2.Sell.1', 'pay.func3.Sell.2'],
  ['go', '(*Cart).Pay', 'Cart.Pay'],
  ['go', '(*Cart[...]).Pay', 'Cart[...].Pay'],
  ['go', '(*Cart).Pay.func1', 'Cart.Pay.func2'],
  ['go', 'github.com/acme/shop/v2/cart.(*Cart).Pay', 'github.com/acme/shop/v3/cart.Cart.Pay'],
  ['rust', '_ZN4shop3pay17h0123456789abcdefE', '_ZN4shop3pay17hf123456789abcdefE'],
  ['rust', '_RNvCs1a2b3c4d_4shop3pay', '_RNvCs9zZa1B2_4shop3pay'],
  ['rust', '_RNCNvCs1a2b3c4d_4shop3pay0B3_', '_RNCNvCs9zzzzzz_4shop3pays_0B4_'],
  ['rust', 'shop::pay::{shim:vtable#0}', 'shop::pay::{{vtable.shim}}'],
  ['native', 'pay(int) (.isra.0) (.cold)', 'pay(int)'],
  ['native', 'pay(int) (.llvm.1234)', 'pay(int) (.llvm.99)'],
  ['native', '_ZZ3payvENKUlvE_clEv', '_ZZ3payvENKUlvE0_clEv'],
  ['native', 'pay::__l2::<lambda_1>::operator()', 'pay::__l3::<lambda_2>::operator()'],
  ['native', "`pay'::`2'::<lambda_1>::operator()", "`pay'::`3'::<lambda_2>::operator()"],
  ['native', 'pay._omp_fn.0', 'pay._omp_fn.1'],
  ['native', '.omp_outlined.', '.omp_outlined..12'],
  ['native', 'pay.__uniq.123456789.llvm.55', 'pay.__uniq.987654'],
  ['native', 'OUTLINED_FUNCTION_12', 'OUTLINED_FUNCTION_13'],
  ['cocoa', '$s4Shop3payyyYaFTQ0_', '$s4Shop3payyyYaFTY1_'],
  ['cocoa', '$s4Shop3payyyFyycfU_TA', '$s4Shop3payyyFyycfU12_'],
  ['cocoa', '(1) suspend resume partial function for pay()', '(2) await resume partial function for pay()'],
  ['cocoa', 'generic specialization <Swift.Array<Swift.Int>> of Shop.pay<A>(A) -> ()', 'Shop.pay<A>(A) -> ()'],
  ['cocoa', 'Shop.(pay in $10a2b3c4d)()', 'Shop.(pay in $10a2b3c5e)()'],
  ['erlang', '#Fun<shop.0.123456>', '#Fun<shop.1.654321>'],
  ['elixir', '#Function<0.123456/1 in Shop.pay>', '#Function<1.654321/1 in Shop.pay>'],
  ['ocaml', 'camlShop__pay_1234', 'camlShop__pay_1267'],
  ['nim', 'pay__shop_u12', 'pay__shop_u14'],
  ['perl', 'Eval::Closure::Sandbox_12::__ANON__', 'Eval::Closure::Sandbox_13::__ANON__'],
  ['lua', 'in function <shop.lua:12>', 'in function <shop.lua:14>'],
  ['javascript', '_callee2$', '_callee4$'],
  ['javascript', 'Object.12345', 'Module.54321'],
  ['javascript', 'charge$1', 'charge$2'],
  ['javascript', 'charge', 'charge$1'],
])('%s: %s and %s are one', (platform, a, b) => {
  expect(keyOfName(platform, a)).toBe(keyOfName(platform, b));
});

test.each([
  ['java', 'com.shop.Main$$ExternalSyntheticLambda3', 'com.shop.Main$$ExternalSyntheticLambda4'],
  ['java', 'com.shop.Main$$InternalSyntheticLambda$1$0a1b$0', 'com.shop.Main$$InternalSyntheticLambda$2$ff00$1'],
  ['java', 'java.lang.invoke.LambdaForm$MH012', 'java.lang.invoke.LambdaForm$MH155'],
  ['java', 'jdk.proxy2.$Proxy31', 'jdk.proxy3.$Proxy40'],
  ['java', 'com.sun.proxy.$Proxy31', 'jdk.proxy3.$Proxy40'],
  ['java', 'com.shop.Cart$AjcClosure1', 'com.shop.Cart$AjcClosure3'],
  ['csharp', 'Shop.Program+pay@31', 'Shop.Program+pay@35'],
  ['php', `App\\Job@anonymous${NUL}/srv/1/Run.php:41$0`, `App\\Job@anonymous${NUL}/srv/2/Run.php:44$3`],
  ['java', 'com.shop.Cart$$EnhancerBySpringCGLIB$$1a2b3c4d', 'com.shop.Cart$$EnhancerBySpringCGLIB$$12345678'],
  ['java', 'com.shop.Cart$$FastClassByGuice$$1a2b3c', 'com.shop.Cart$$FastClassByGuice$$9f2b3c'],
  ['java', 'com.shop.Cart$MockitoMock$123456', 'com.shop.Cart$MockitoMock$-99'],
  ['java', 'script17066543212341', 'script17066543219999'],
  [
    'java',
    'spark.GeneratedClass$GeneratedIteratorForCodegenStage1',
    'spark.GeneratedClass$GeneratedIteratorForCodegenStage7',
  ],
  ['clojure', 'user$eval123$fn__124$G__125', 'user$eval223$fn__224$G__225'],
  ['csharp', 'Castle.Proxies.IPayProxy_1', 'Castle.Proxies.IPayProxy'],
  ['csharp', 'Shop.Cart+<>c', 'Shop.Cart+<>c__DisplayClass3_0'],
  ['go', 'github.com/acme/shop', 'github.com/acme/shop/v2'],
  ['go', 'github.com/acme/shop/v2/internal/cart', 'github.com/acme/shop/v3/internal/cart'],
  ['go', 'go.acme.dev/shop', 'go.acme.dev/shop/v4'],
  ['go', 'gopkg.in/shop.v2', 'gopkg.in/shop.v3'],
])('%s: the classes %s and %s are one', (platform, a, b) => {
  expect(keyOfModule(platform, a)).toBe(keyOfModule(platform, b));
});

test.each([
  ['php', `A@anonymous${NUL}/a.php:1$0::handle`, `A@anonymous${NUL}/a.php:1$0::cancel`],
  ['php', '{closure:App\\Foo::bar():10}', '{closure:App\\Foo::baz():10}'],
  ['php', '{closure:/srv/1/web.php:12}', '{closure:/srv/1/api.php:12}'],
  ['csharp', '<<Main>$>g__Pay|0_3', '<<Main>$>g__Refund|0_3'],
  ['go', 'run1', 'run2'],
  ['go', 'pay.deferwrap1', 'refund.deferwrap1'],
  ['rust', 'shop::pay::{closure#0}', 'shop::refund::{closure#0}'],
  ['rust', 'shop::v1::pay', 'shop::v2::pay'],
  ['elixir', 'Pay."-run/1-fun-0-"/2', 'Pay."-run/2-fun-0-"/2'],
  ['elixir', 'Pay.run/1', 'Pay.run/2'],
  ['native', 'sha256', 'sha512'],
  ['native', 'range1', 'range2'],
  ['native', 'md5_block_1', 'md5_block_2'],
  ['php', 'App\\Job@anonymous::handle', 'App\\Job@anonymous::cancel'],
  ['php', 'ContainerFactory\\Pay::run', 'ContainerBuilder\\Pay::run'],
  ['php', 'Shop\\Order_2024001x::pay', 'Shop\\Order_2024002x::pay'],
  ['csharp', '<Pay>m__0', '<Refund>m__0'],
  ['csharp', 'Shop.Step_1', 'Shop.Step_2'],
  ['java', 'step_1', 'step_2'],
  ['python', 'Script1.run', 'Script2.run'],
  ['go', 'pay.Cart.v1', 'pay.Cart.v2'],
  ['go', 'github.com/acme/shop/api/v2.Pay', 'github.com/acme/shop/api/v3.Pay'],
  ['go', 'shop/v2.Pay', 'shop/v3.Pay'],
  ['go', '(*Cart).Pay', '(*Order).Pay'],
  ['rust', '_RNvCs1a2b3c4d_4shop3pay', '_RNvCs1a2b3c4d_4shop3buy'],
  ['native', '_Z4pay1v', '_Z4pay2v'],
  ['native', 'pay(int) (.cold)', 'pay(long) (.cold)'],
  ['cocoa', '$s4Shop3payyyF', '$s4Shop3buyyyF'],
  ['ocaml', 'camlShop__pay_1234', 'camlShop__buy_1234'],
  ['javascript', 'step1', 'step2'],
])('%s: %s and %s are two', (platform, a, b) => {
  expect(keyOfName(platform, a)).not.toBe(keyOfName(platform, b));
});

describe('where the call that raised is a closure', () => {
  test.each([
    ['java', { module: 'com.shop.Main', function: 'lambda$onCreate$0' }],
    ['java', { module: 'com.shop.Main$1', function: 'onClick' }],
    ['java', { module: 'com.shop.Main$$ExternalSyntheticLambda1', function: 'onClick' }],
    ['csharp', { module: 'Program', function: '<>c.<<Main>$>b__0_5' }],
    ['go', { module: 'main', function: 'serve.func1' }],
    ['rust', { function: 'shop::pay::{closure#3}' }],
    ['elixir', { function: 'Pay."-run/1-fun-0-"/2' }],
    ['native', { function: 'pay()::$_0::operator()()' }],
    ['cocoa', { function: 'closure #1 in pay()' }],
    ['cocoa', { function: '$s4Shop3payyyFyycfU0_' }],
    ['native', { function: '_ZZ3payvENKUlvE0_clEv' }],
    ['rust', { function: '_RNCNvCs1a2b3c4d_4shop3pay0B3_' }],
    ['csharp', { module: 'Shop', function: '<Pay>m__0' }],
    ['csharp', { module: 'Shop.Cart+<>c', function: 'Pay { <lambda> }' }],
    ['csharp', { function: 'int Shop.Cart.Pay()+(int x) => { }' }],
    ['javascript', { filename: 'https://shop.example/_nuxt/DWx9cN3q.js', function: '_callee2$' }],
  ])('of %s, its message counts, the variables masked: %#', (platform, frame) => {
    const of = (value: string) => keyOf(raisedIn(platform, frame, value));
    expect(of('no card')).not.toBe(of('no basket'));
    expect(of('order 17 has no card')).toBe(of('order 18 has no card'));
  });

  test.each([
    ['java', { module: 'com.shop.Main', function: 'onCreate' }],
    ['go', { module: 'main', function: 'function2' }],
    ['rust', { function: 'shop::refund12::pay' }],
    ['csharp', { module: 'Shop', function: '<Save>d__12.MoveNext' }],
    ['csharp', { module: 'Program', function: '<<Main>$>g__Pay|0_3' }],
    ['php', { function: '{closure:App\\Foo::bar():10}', contextLine: 'throw $e;' }],
    ['java', { module: 'com.shop.Cart$$EnhancerBySpringCGLIB$$12345678', function: 'total' }],
  ])('its message does not count where its name or line tells it from others: %#', (platform, frame) => {
    expect(keyOf(raisedIn(platform, frame, 'a'))).toBe(keyOf(raisedIn(platform, frame, 'b')));
  });
});

describe('types', () => {
  const of = (type: string, value = 'x', frame: Partial<Frame> = { function: 'pay' }) =>
    keyOf(raisedIn('php', frame, value, type));

  test('of anonymous classes are the same after a deploy', () => {
    expect(of(`DomainException@anonymous${NUL}/srv/1/Run.php:12$0`)).toBe(
      of(`DomainException@anonymous${NUL}/srv/2/Run.php:15$1`),
    );
    expect(of(`DomainException@anonymous${NUL}/srv/1/Run.php:12$0`)).not.toBe(
      of(`LogicException@anonymous${NUL}/srv/1/Run.php:12$0`),
    );
  });

  test('of a minified program do not count, by themselves or in what is said', () => {
    const built = (type: string, value: string, frames: Frame[] = []) =>
      keyOf(eventOf({ platform: 'javascript', exceptions: [exceptionOf(type, value, { frames })] }));
    const frames = [frameOf({ filename: 'package:shop/basket.dart', function: 'Basket.first', inApp: true })];
    expect(built('minified:kP', 'Bad state', frames)).toBe(built('minified:lA', 'Bad state', frames));
    expect(built('minified:kP', "Instance of 'minified:kP'")).toBe(built('minified:lA', "Instance of 'minified:lA'"));
  });

  test('in what is said lose the path and keep the words behind it', () => {
    const said = (value: string) => keyOf(eventOf({ platform: 'php', exceptions: [exceptionOf('TypeError', value)] }));
    const given = (folder: string, wanted: string) =>
      said(`must be of type ${wanted}, A@anonymous${NUL}${folder}/Run.php:12$0 given`);
    expect(given('/srv/1', 'int')).toBe(given('/srv/2', 'int'));
    expect(said('must be an int, A@anonymous given, called by run')).not.toBe(
      said('must be an int, A@anonymous given, called by pay'),
    );
    expect(said('undefined method A@anonymous::run()')).not.toBe(said('undefined method A@anonymous::pay()'));
  });

  test('that are only numbered are types of their own', () => {
    expect(of('Error#1')).not.toBe(of('Error#2'));
    expect(of('Http@404')).not.toBe(of('Http@500'));
  });
});

test('a method of Ruby is the same whichever version and client names its owner', () => {
  const line = { filename: 'app/models/order.rb', contextLine: 'raise Declined' };
  const of = (frame: Partial<Frame>) => keyOf(raisedIn('ruby', { ...line, ...frame }));
  const same = [
    of({ function: 'pay' }),
    of({ function: 'pay', module: 'Order' }),
    of({ function: 'Order#pay' }),
    of({ function: 'Shop::Order.pay' }),
  ];
  expect(new Set(same).size).toBe(1);
  expect(of({ function: 'block in Order#pay' })).toBe(of({ function: 'block (2 levels) in pay' }));
  expect(of({ function: 'rescue in Order#pay' })).toBe(of({ function: 'pay' }));
  expect(of({ function: 'Order#[]' })).toBe(of({ function: '[]' }));
  expect(of({ function: 'Order#refund' })).not.toBe(of({ function: 'Order#pay' }));
  const stackless = (value: string) =>
    keyOf(eventOf({ platform: 'ruby', exceptions: [exceptionOf('RuntimeError', value)] }));
  expect(stackless('no stock (RuntimeError)\n\n    raise "no stock"\n    ^^^^^')).toBe(stackless('no stock'));
});

test('an exception without a stack is grouped by that of the thread to which it refers', () => {
  const anr = (name: string, threadId: string | undefined = '1039') =>
    eventOf({
      platform: 'java',
      exceptions: [exceptionOf('ApplicationNotResponding', 'ANR for 5000 ms', { threadId })],
      thread: { id: '1', name: 'main', crashed: false, frames: [] },
      otherThreads: [
        {
          id: '1039',
          name: 'app',
          crashed: false,
          frames: [frameOf({ module: 'com.shop.Db', function: name, inApp: true })],
        },
      ],
    });
  expect(groupEvent(anr('query')).parts[0]?.lines).toEqual(['type ApplicationNotResponding', 'com.shop.Db in query']);
  expect(keyOf(anr('query'))).not.toBe(keyOf(anr('read')));
  expect(keyOf(anr('query', '7'))).toBe(keyOf(anr('read', '7')));
});

test("a page's script that is named by a digest alone does not count", () => {
  const of = (file: string) =>
    keyOf(raisedIn('javascript', { filename: `https://shop.example/_nuxt/${file}`, function: '?' }));
  expect(of('DWx9cN3q.js')).toBe(of('CCZOdkid.js'));
  expect(of('checkout.js')).not.toBe(of('accounts.js'));
  expect(of('userList.js')).not.toBe(of('cartList.js'));
});

test('groups of exceptions that share an id keep the order in which they came', () => {
  const level = (id: number, name: string) =>
    exceptionOf(name, 'x', {
      mechanism: { type: 'chained', handled: null, synthetic: false, group: { id, parentId: id - 1, isGroup: true } },
    });
  const names = Array.from({ length: 30 }, (_, index) => `E${29 - index}`);
  const event = eventOf({
    platform: 'csharp',
    exceptions: names.map((name, index) => level(Math.floor(index / 3), name)),
  });
  expect(groupEvent(event).parts.map(({ lines }) => lines[0])).toEqual(names.map((name) => `type ${name}`));
});
