import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { groupEvent, GROUPING_VERSION } from '#modules/exceptions/decide/grouping.ts';
import { eventOf, exceptionOf, frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

const checkout = frameOf({
  module: 'shop.views',
  function: 'checkout',
  contextLine: '  charge(card)',
  lineno: 7,
  inApp: true,
});
const charge = frameOf({
  module: 'shop.billing',
  function: 'charge',
  contextLine: 'raise Declined(card)',
  lineno: 9,
  inApp: true,
});
const library = frameOf({
  module: 'django.core',
  function: 'inner',
  filename: 'x/site-packages/django/core.py',
  inApp: false,
});
const raised = (value: string, frames: readonly Frame[] = [library, checkout, charge], type = 'Declined') =>
  eventOf({ exceptions: [exceptionOf(type, value, { frames })] });

const keyOf = (event: ExceptionEvent): string => groupEvent(event).key;
const linesOf = (event: ExceptionEvent): readonly (readonly string[])[] =>
  groupEvent(event).parts.map((part) => part.lines);

test('a grouping says its version, its key and the lines that were hashed', () => {
  expect(groupEvent(raised('card 17'))).toEqual({
    version: GROUPING_VERSION,
    key: '12226464d5c2233be1b1e27752ef4a0f',
    parts: [
      {
        strategy: 'exception',
        because: 'the type and the calls inside the application',
        lines: [
          'type Declined',
          'shop.views in checkout: charge(card)',
          'shop.billing in charge: raise Declined(card)',
        ],
      },
    ],
  });
});

describe('an exception with a stack', () => {
  test('is grouped by type and application calls, whatever its value', () => {
    expect(keyOf(raised('card 17'))).toBe(keyOf(raised('completely different')));
    expect(keyOf(raised('x', [checkout, charge]))).toBe(
      keyOf(raised('x', [library, library, checkout, library, charge])),
    );
    expect(keyOf(raised('x'))).not.toBe(keyOf(raised('x', [library, checkout])));
    expect(keyOf(raised('x'))).not.toBe(keyOf(raised('x', [library, checkout, charge], 'Expired')));
  });

  test('is grouped by all its calls when none is in the application', () => {
    expect(linesOf(raised('x', [library]))).toEqual([['type Declined', 'django.core in inner']]);
  });

  test('is grouped by its value too when no call has a name', () => {
    const nameless = [frameOf({ filename: 'https://cdn.example/app.js', function: '?', inApp: true })];
    expect(linesOf(raised('order 17', nameless))).toEqual([['type Declined', 'app.js', 'value order <number>']]);
  });

  test('does not count the type that a client made up', () => {
    const mechanism = { type: 'generic', handled: true, synthetic: true };
    const event = eventOf({ exceptions: [exceptionOf('Error', 'x', { frames: [checkout], mechanism })] });
    expect(linesOf(event)).toEqual([['shop.views in checkout: charge(card)']]);
  });

  test('reads the same however deep a recursion went', () => {
    const visit = frameOf({ module: 'tree', function: 'visit', inApp: true });
    const walk = frameOf({ module: 'tree', function: 'walk', inApp: true });
    const deep = (depth: number) =>
      raised('x', [checkout, ...Array.from({ length: depth }, () => [visit, walk]).flat(), charge]);
    expect(keyOf(deep(2))).toBe(keyOf(deep(400)));
    expect(keyOf(deep(2))).not.toBe(keyOf(deep(0)));
  });
});

test('an error of Go is grouped by what it says too, as its stack is only where it was reported', () => {
  const reported = (type: string, value: string) =>
    keyOf(
      eventOf({
        platform: 'go',
        exceptions: [exceptionOf(type, value, { frames: [frameOf({ module: 'main', function: 'handle' })] })],
      }),
    );
  expect(reported('*errors.errorString', 'no beans')).not.toBe(reported('*errors.errorString', 'no milk'));
  expect(reported('*errors.errorString', 'order 1')).toBe(reported('*errors.errorString', 'order 2'));
  expect(reported('*fmt.wrapError', 'load: no beans')).not.toBe(reported('*fmt.wrapError', 'save: no beans'));
  expect(reported('*main.outOfBeans', 'no beans')).toBe(reported('*main.outOfBeans', 'no milk'));
  expect(reported('*errors.fundamental', 'no beans')).toBe(reported('*errors.fundamental', 'no milk'));
});

describe('an exception without a stack', () => {
  test('is grouped by type and value, the variables masked', () => {
    expect(linesOf(raised('card 17 of bob@example.com', []))).toEqual([
      ['type Declined', 'value card <number> of <email>'],
    ]);
    expect(keyOf(raised('card 17', []))).not.toBe(keyOf(raised('account 17', [])));
  });

  test('counts the first two lines of its value', () => {
    expect(linesOf(raised('a 1\n\n b  2 \nc', []))).toEqual([['type Declined', 'value a <number> / b <number>']]);
  });
});

describe('a chain', () => {
  test('counts every cause in the order sent, members that say the same once', () => {
    const member = exceptionOf('TimeoutError', 'after 30ms');
    const group = exceptionOf('ExceptionGroup', 'x', { frames: [checkout] });
    const event = eventOf({ exceptions: [member, exceptionOf('TimeoutError', 'after 45ms'), group] });
    expect(linesOf(event)).toEqual([
      ['type TimeoutError', 'value after <duration>'],
      ['type ExceptionGroup', 'shop.views in checkout: charge(card)'],
    ]);
  });

  test('counts only the type of a cause raised outside the application', () => {
    const cause = exceptionOf('SocketTimeout', 'after 30ms', { frames: [library] });
    const event = eventOf({ exceptions: [cause, exceptionOf('Declined', 'x', { frames: [checkout] })] });
    expect(linesOf(event)[0]).toEqual(['type SocketTimeout']);
  });
});

describe('without an exception', () => {
  const thread = { id: '1', name: 'main', crashed: true, frames: [library, checkout] };

  test('the crashed thread counts, then the stack, then the message', () => {
    const all = eventOf({ thread, stacktrace: [charge], message: 'order 17' });
    expect(groupEvent(all).parts).toMatchObject([
      { strategy: 'thread', lines: ['shop.views in checkout: charge(card)'] },
    ]);
    expect(groupEvent({ ...all, thread: null }).parts).toMatchObject([{ strategy: 'stacktrace' }]);
    expect(groupEvent({ ...all, thread: null, stacktrace: [] }).parts).toMatchObject([
      { strategy: 'message', lines: ['order <number>'] },
    ]);
  });

  test('a thread that only reported a message counts behind it, and alone if there is no message', () => {
    const reporting = { ...thread, crashed: false };
    expect(groupEvent(eventOf({ thread: reporting, message: 'a' })).parts).toMatchObject([
      { strategy: 'message' },
      { strategy: 'stacktrace' },
    ]);
    expect(groupEvent(eventOf({ thread: reporting })).parts).toMatchObject([{ strategy: 'thread' }]);
  });

  test('the template of a message counts before its parameters', () => {
    const logged = (name: string) =>
      eventOf({ message: `order of ${name} failed`, messageTemplate: 'order of %s failed' });
    expect(keyOf(logged('bob'))).toBe(keyOf(logged('ann')));
  });

  test('a message counts although the client made up an exception to show where', () => {
    const mechanism = { type: 'generic', handled: true, synthetic: true };
    const exceptions = [exceptionOf(null, 'order 17', { frames: [checkout], mechanism })];
    expect(linesOf(eventOf({ message: 'order 17', exceptions }))).toEqual([
      ['order <number>'],
      ['shop.views in checkout: charge(card)'],
    ]);
  });

  test('an event that says nothing is grouped by where it came from', () => {
    expect(linesOf(eventOf({ platform: 'go', logger: 'worker' }))).toEqual([['go', 'worker']]);
    expect(linesOf(eventOf({ exceptions: [exceptionOf(null, null, { frames: [frameOf({})] })] }))).toEqual([
      ['python'],
    ]);
  });
});

describe("the client's fingerprint", () => {
  const event = {
    ...raised('x'),
    level: 'fatal',
    transaction: '/checkout',
    logger: 'shop',
    tags: { region: 'eu' },
  } as const;

  test('alone decides', () => {
    expect(keyOf({ ...event, fingerprint: ['a', 'b'] })).toBe(keyOf(eventOf({ fingerprint: ['a', 'b'] })));
    expect(keyOf({ ...event, fingerprint: ['a', 'b'] })).not.toBe(keyOf({ ...event, fingerprint: ['ab'] }));
  });

  test.each(['{{ default }}', '{{default}}', ' {{  default  }} '])(
    '%j stands for what would happen anyway',
    (entry) => {
      expect(keyOf({ ...event, fingerprint: [entry] })).toBe(keyOf(event));
      expect(linesOf({ ...event, fingerprint: [entry, 'tenant-7'] })).toEqual([...linesOf(event), ['tenant-7']]);
      expect(keyOf({ ...event, fingerprint: [entry, 'tenant-7'] })).not.toBe(
        keyOf({ ...event, fingerprint: [entry, 'tenant-8'] }),
      );
    },
  );

  test.each([
    ['{{ type }}', 'Declined'],
    ['{{ error.type }}/{{value}}', 'Declined/x'],
    ['{{ function }} of {{ module }}', 'charge of shop.billing'],
    ['{{ level }} {{ logger }} {{ transaction }}', 'fatal shop /checkout'],
    ['{{ tags.region }} {{ tags.zone }} {{ tags.constructor }}', 'eu <no tags.zone> <no tags.constructor>'],
    ['{{ message }}', 'x'],
    ['{{ release }}', '<no release>'],
    ['{{ nonsense }}', '{{ nonsense }}'],
  ])('%j is %j', (entry, line) => {
    expect(linesOf({ ...event, fingerprint: [entry] })).toEqual([[line]]);
  });

  test('is filled in with the message rather than the value of the exception, and with so many characters in all', () => {
    const said = { ...event, message: 'm'.repeat(6_000) };
    const [[line = ''] = []] = linesOf({ ...said, fingerprint: ['{{ message }}{{ message }}{{ tags.region }}'] });
    expect(line).toBe('m'.repeat(10_000));
  });
});

describe('generated parts of names do not count', () => {
  const keyOfFrame = (platform: string, fields: Partial<Frame>) =>
    keyOf(
      eventOf({
        platform,
        exceptions: [exceptionOf('E', null, { frames: [frameOf({ inApp: true, ...fields }), checkout] })],
      }),
    );

  test.each([
    [
      'java',
      { module: 'a.B$$Lambda$14/0x0000000800066840', function: 'run' },
      { module: 'a.B$$Lambda/0x00007f1c2d3e4f50', function: 'run' },
    ],
    ['java', { function: 'lambda$checkout$3' }, { function: 'lambda$checkout$14' }],
    ['java', { module: 'com.sun.proxy.$Proxy12' }, { module: 'com.sun.proxy.$Proxy99' }],
    ['java', { module: 'a.B$$EnhancerBySpringCGLIB$$1a2b3c4d' }, { module: 'a.B$$EnhancerBySpringCGLIB$$99887766' }],
    ['java', { module: 'a.B$$SpringCGLIB$$0' }, { module: 'a.B$$SpringCGLIB$$1' }],
    ['java', { module: 'a.B$1', function: 'run' }, { module: 'a.B$2', function: 'run' }],
    ['csharp', { function: '<Main>b__0_1' }, { function: '<Main>b__12_0' }],
    ['csharp', { module: 'A.B+<>c__DisplayClass5_0' }, { module: 'A.B+<>c__DisplayClass7_1' }],
    ['csharp', { function: '<Save>d__12.MoveNext' }, { function: '<Save>d__15.MoveNext' }],
    ['csharp', { function: '<Run>g__Retry|0_0' }, { function: '<Run>g__Retry|3_1' }],
    ['go', { module: 'main', function: 'main.func2.1' }, { module: 'main', function: 'main.func7.3' }],
    ['rust', { function: 'shop::total::h0123456789abcdef' }, { function: 'shop::total::hfedcba9876543210' }],
    ['php', { function: 'class@anonymous\u0000/app/a.php:12$0' }, { function: 'class@anonymous\u0000/app/a.php:99$1' }],
    ['php', { function: '{closure:App\\Cart::add():12}' }, { function: '{closure:App\\Cart::add():40}' }],
    ['ruby', { function: 'block (2 levels) in checkout' }, { function: 'block in checkout' }],
    [
      'ruby',
      { function: '_app_views_carts_show_html_erb___123456789_70123' },
      { function: '_app_views_carts_show_html_erb__987654321_4560' },
    ],
    ['javascript', { function: 'Object.<anonymous>' }, { function: '?' }],
    ['node', { function: 'async Object.load [as run]' }, { function: 'load' }],
    ['javascript', { function: 'eval at foo (app.js:3:4)' }, { function: 'eval at bar (app.js:9:1)' }],
    [
      'javascript',
      { filename: 'https://cdn.example/app.3f2a9b1c.js?v=1' },
      { filename: 'https://cdn.example/app.99887a66.js?v=2' },
    ],
    ['javascript', { filename: '/assets/index-DWx9cN3q.js' }, { filename: '/assets/index-B0kPz_1f.js' }],
    ['javascript', { filename: '/assets/1234.9f8c77ab.chunk.js' }, { filename: '/assets/77.00aa11bb.chunk.js' }],
    ['javascript', { filename: '/assets/index-DWx9cN3q.js' }, { filename: '/assets/index-AbC12_-x.js' }],
    ['python', { filename: '<ipython-input-12-abcdef>' }, { filename: '<ipython-input-99-123456>' }],
    ['python', { filename: '<makefun-gen-12>' }, { filename: '<makefun-gen-7>' }],
    ['python', { filename: '<lambdifygenerated-1>' }, { filename: '<lambdifygenerated-20>' }],
    ['python', { filename: '<command-1234567890>' }, { filename: '<command-98765>' }],
    [
      'python',
      { filename: 'Cmd 12', function: '<cell line: 3>' },
      { filename: 'Cmd 14', function: '<cell line: 9>()' },
    ],
    ['ruby', { function: '__tilt_70123456' }, { function: '__tilt_4560' }],
    [
      'ruby',
      { function: '_run__123456__process_action__callbacks' },
      { function: '_run__99__process_action__callbacks' },
    ],
    ['php', { function: 'Template1a2b3c4d5e::main' }, { function: 'Template9f8e7d6c5b::main' }],
    ['elixir', { module: 'elixir_compiler_12' }, { module: 'elixir_compiler_3' }],
    [
      'go',
      { module: 'github.com/acme/shop/v2/cart', function: 'Add' },
      { module: 'github.com/acme/shop/v3/cart', function: 'Add' },
    ],
    ['go', { module: 'gopkg.in/acme/shop.v2', function: 'Add' }, { module: 'gopkg.in/acme/shop.v3', function: 'Add' }],
    ['native', { function: 'std::__1::vector<int>::at' }, { function: 'std::__ndk1::vector<int>::at' }],
    ['native', { function: 'total[abi:v160006]()' }, { function: 'total[abi:ne180100]()' }],
    ['julia', { function: 'julia_total_1234' }, { function: 'julia_total_99' }],
  ])('%s: %j and %j are one', (platform, a, b) => {
    expect(keyOfFrame(platform, a)).toBe(keyOfFrame(platform, b));
  });

  test.each([
    ['java', { function: 'lambda$checkout$3' }, { function: 'lambda$refund$3' }],
    ['csharp', { function: '<Main>b__0_1' }, { function: '<Run>b__0_1' }],
    ['javascript', { filename: '/assets/user-settings.js' }, { filename: '/assets/user-profiles.js' }],
    ['javascript', { filename: '/assets/checkout-Settings.js' }, { filename: '/assets/checkout-Profiles.js' }],
    ['ruby', { function: '_run__1__save__callbacks' }, { function: '_run__1__commit__callbacks' }],
    ['go', { module: 'github.com/acme/shop/v2/cart' }, { module: 'github.com/acme/shop/v2/v2api' }],
    ['python', { filename: '<makefun-gen-12>' }, { filename: '<decorator-gen-12>' }],
    ['python', { filename: '0001_initial.py' }, { filename: '0002_initial.py' }],
    ['node', { module: 'a', contextLine: 'one()' }, { module: 'a', contextLine: 'two()' }],
  ])('%s: %j and %j are two', (platform, a, b) => {
    expect(keyOfFrame(platform, a)).not.toBe(keyOfFrame(platform, b));
  });

  test.each(['go', 'java', 'csharp', 'rust'])(
    'the source line counts in scripting languages only, not in %s',
    (platform) => {
      expect(keyOfFrame(platform, { module: 'a', contextLine: 'one()' })).toBe(
        keyOfFrame(platform, { module: 'a', contextLine: 'two()' }),
      );
    },
  );

  test("a bundle's line does not count", () => {
    const line = (text: string) => keyOfFrame('javascript', { module: 'a', contextLine: text });
    expect(line('x'.repeat(121))).toBe(line('y'.repeat(140)));
    expect(line('foo() {snip}')).toBe(line('bar() {snip}'));
  });
});

const texts = fc.string({ maxLength: 12 });
const frames = fc.record({
  function: fc.option(texts),
  module: fc.option(texts),
  filename: fc.option(texts),
  contextLine: fc.option(texts),
  inApp: fc.option(fc.boolean()),
});
const events = fc
  .record({
    platform: fc.constantFrom('python', 'go', 'java', 'javascript'),
    frames: fc.array(frames, { maxLength: 6 }),
    type: fc.option(texts),
    value: fc.option(texts),
    message: fc.option(texts),
    tags: fc.dictionary(fc.constantFrom('a', 'b', 'c'), texts),
    fingerprint: fc.array(fc.constantFrom('{{ default }}', '{{ tags.a }}', 'x'), { maxLength: 2 }),
  })
  .map(({ frames, type, value, ...fields }) =>
    eventOf({ ...fields, exceptions: [exceptionOf(type, value, { frames: frames.map(frameOf) })] }),
  );

test('line numbers, columns and the lines around never matter', () => {
  fc.assert(
    fc.property(events, fc.nat(), (event, lineno) => {
      const moved = event.exceptions.map((exception) => ({
        ...exception,
        frames: exception.frames.map((frame) => ({
          ...frame,
          lineno,
          colno: lineno,
          preContext: [`${lineno}`],
          postContext: ['x'],
        })),
      }));
      expect(groupEvent({ ...event, exceptions: moved })).toEqual(groupEvent(event));
    }),
  );
});

test('the order of tags never matters, nor who, when and where', () => {
  fc.assert(
    fc.property(events, texts, (event, text) => {
      const tags = Object.fromEntries(Object.entries(event.tags).reverse());
      const user = { id: text, email: null, username: null, ip: null };
      const moved = {
        ...event,
        tags,
        user,
        release: text,
        serverName: text,
        eventId: text,
        environment: text,
        at: event.at.add({ hours: 1 }),
      };
      expect(groupEvent(moved)).toEqual(groupEvent(event));
    }),
  );
});

test('the same parts are the same key, and different parts are not', () => {
  fc.assert(
    fc.property(events, events, (a, b) => {
      const [first, second] = [groupEvent(a), groupEvent(b)];
      const hashed = (grouping: typeof first) =>
        JSON.stringify(grouping.parts.map((part) => [part.strategy, part.lines]));
      expect(first.key === second.key).toBe(hashed(first) === hashed(second));
    }),
  );
});
