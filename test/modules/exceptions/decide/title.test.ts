import { describe, expect, test } from 'vitest';

import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { headlineOf, titleOf } from '#modules/exceptions/decide/title.ts';
import { eventOf, exceptionOf, frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

const titleOfEvent = (event: ExceptionEvent): string => titleOf(headlineOf(event));
const titleOfError = (type: string | null, value: string | null): string =>
  titleOfEvent(eventOf({ exceptions: [exceptionOf(type, value)] }));

test.each([
  // Java.
  [
    'NullPointerException',
    'Cannot invoke "com.acme.User.getName()" because "user" is null',
    'NullPointerException: Cannot invoke "com.acme.User.getName()" because "user" is null',
  ],
  ['java.lang.OutOfMemoryError', 'Java heap space', 'OutOfMemoryError: Java heap space'],
  [
    'SQLTransientConnectionException',
    'HikariPool-1 - Connection is not available, request timed out after 30001ms.',
    'SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30001ms',
  ],
  [
    'DataIntegrityViolationException',
    'could not execute statement; SQL [n/a]; constraint [uk_users_email]; nested exception is org.hibernate.exception.ConstraintViolationException',
    'DataIntegrityViolationException: could not execute statement; SQL [n/a]; constraint [uk_users_email]; nested exception…',
  ],
  // Python.
  ['KeyError', "'user_id'", "KeyError: 'user_id'"],
  [
    'IntegrityError',
    'duplicate key value violates unique constraint "users_email_key"\nDETAIL:  Key (email)=(bob@example.com) already exists.\n',
    'IntegrityError: duplicate key value violates unique constraint "users_email_key"',
  ],
  [
    'OperationalError',
    '(psycopg2.OperationalError) could not connect to server: Connection refused\n\tIs the server running on host "db"',
    'OperationalError: could not connect to server: Connection refused',
  ],
  [
    'CeleryError',
    "Task shop.charge[4bf92f35-77b3-4da6-a3ce-929d0e0e4736] raised: ValueError('x')",
    "CeleryError: Task shop.charge[<uuid>] raised: ValueError('x')",
  ],
  [
    'UnicodeDecodeError',
    "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
  ],
  [
    'FileNotFoundError',
    "[Errno 2] No such file or directory: '/var/lib/shop/orders.csv'",
    "FileNotFoundError: No such file or directory: '/var/lib/shop/orders.csv'",
  ],
  [
    'RemoteTraceback',
    '\n"""\nTraceback (most recent call last):\n  File "x.py", line 3, in f\nKeyError: \'id\'\n"""',
    "RemoteTraceback: KeyError: 'id'",
  ],
  ['URLError', '<urlopen error [Errno 111] Connection refused>', 'URLError: Connection refused'],
  // Go.
  ['*errors.errorString', 'sql: no rows in result set', 'sql: no rows in result set'],
  ['*fmt.wrapError', 'load user: sql: no rows in result set', 'load user: sql: no rows in result set'],
  [
    '*net.OpError',
    'dial tcp 10.0.3.7:5432: connect: connection refused',
    'net.OpError: dial tcp 10.0.3.7:5432: connect: connection refused',
  ],
  ['runtime.boundsError', 'index out of range [5] with length 3', 'panic: index out of range [5] with length 3'],
  [
    '*runtime.TypeAssertionError',
    'interface conversion: interface {} is string, not int',
    'panic: interface conversion: interface {} is string, not int',
  ],
  ['context.deadlineExceededError', 'context deadline exceeded', 'context deadline exceeded'],
  ['*main.outOfBeans', 'the order was not charged', 'outOfBeans: the order was not charged'],
  ['runtime.plainError', 'assignment to entry in nil map', 'panic: assignment to entry in nil map'],
  ['string', 'something broke', 'something broke'],
  // Ruby.
  [
    'ActiveRecord::RecordNotFound',
    "Couldn't find Order with 'id'=8812",
    "ActiveRecord::RecordNotFound: Couldn't find Order with 'id'=8812",
  ],
  [
    'NoMethodError',
    "undefined method `total' for #<Cart:0x00007f9a8c0d1e20>\n\n    cart.total\n        ^^^^^^",
    "NoMethodError: undefined method `total' for #<Cart:<hex>>",
  ],
  ['Sidekiq::Shutdown', 'Sidekiq::Shutdown', 'Sidekiq::Shutdown'],
  ['Net::ReadTimeout', 'Net::ReadTimeout with #<TCPSocket:(closed)>', 'Net::ReadTimeout with #<TCPSocket:(closed)>'],
  [
    'Stripe::CardError',
    '(Status 402) (Request req_Ab12Cd34Ef56Gh) Your card was declined.',
    'Stripe::CardError: Your card was declined',
  ],
  // PHP.
  [
    'App\\Exceptions\\PaymentFailed',
    'Payment 8812 failed: insufficient funds',
    'PaymentFailed: Payment 8812 failed: insufficient funds',
  ],
  [
    'Illuminate\\Database\\QueryException',
    "SQLSTATE[23000]: Duplicate entry 'bob@example.com' for key 'users.email'",
    "QueryException: SQLSTATE[23000]: Duplicate entry '<email>' for key 'users.email'",
  ],
  ['Warning', 'Warning: Undefined variable $user', 'Warning: Undefined variable $user'],
  // C#.
  [
    'System.NullReferenceException',
    'Object reference not set to an instance of an object.',
    'NullReferenceException: Object reference not set to an instance of an object',
  ],
  [
    'System.AggregateException',
    'One or more errors occurred. (Connection refused (localhost:5000))',
    'AggregateException: Connection refused (localhost:5000)',
  ],
  [
    'Acme.Orders.StockException',
    'No stock for 3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    'StockException: No stock for <uuid>',
  ],
  ['System.Exception', "Exception of type 'System.Exception' was thrown.", 'Exception'],
  // Browsers and Node.
  [
    'TypeError',
    "Cannot read properties of undefined (reading 'map')",
    "TypeError: Cannot read properties of undefined (reading 'map')",
  ],
  ['AxiosError', 'Request failed with status code 502', 'AxiosError: Request failed with status code 502'],
  ['UnhandledRejection', 'Non-Error promise rejection captured with value: quota', 'UnhandledRejection: quota'],
  ['Error', 'Uncaught (in promise) TypeError: Failed to fetch', 'Error: TypeError: Failed to fetch'],
  [
    'ResizeObserver',
    'ResizeObserver loop completed with undelivered notifications.',
    'ResizeObserver loop completed with undelivered notifications',
  ],
  ['Error', 'connect ECONNREFUSED 127.0.0.1:6379', 'Error: connect ECONNREFUSED 127.0.0.1:6379'],
  [
    'Error',
    '{"code":"E_LIMIT","message":"limit reached","requestId":"7f3a1c22-1111-2222-3333-444455556666"}',
    'Error: limit reached',
  ],
  [
    'PrismaClientKnownRequestError',
    '\nInvalid `prisma.user.create()` invocation:\n\n\nUnique constraint failed',
    'PrismaClientKnownRequestError: Invalid `prisma.user.create()` invocation: Unique constraint failed',
  ],
  [
    'AssertionError',
    'Expected values to be strictly deep-equal:\n+ actual - expected\n\n  {\n+   a: 1',
    'AssertionError: Expected values to be strictly deep-equal',
  ],
  [
    'ZodError',
    '[\n  {\n    "code": "invalid_type",\n    "path": [ "user", "email" ],\n    "message": "Required"\n  }\n]',
    'ZodError: user.email: Required',
  ],
  [
    'Error',
    '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
    'Error: 502 Bad Gateway',
  ],
  ['Error', 'Error: Error: nested by hand', 'Error: nested by hand'],
  // Others.
  ['panic', 'called `Option::unwrap()` on a `None` value', 'panic: called `Option::unwrap()` on a `None` value'],
  ['_Exception', "Exception: Failed host lookup: 'api.acme.io'", "Exception: Failed host lookup: 'api.acme.io'"],
  ['SIGSEGV', 'Fatal Error: SIGSEGV', 'SIGSEGV'],
  // What senders should not have sent.
  ['Error', '\u001B[31mboom\u001B[0m\u0007 now \u202Etxt', 'Error: boom now txt'],
  ['Error', `a ${'very '.repeat(60)}long message`, `Error: a ${'very '.repeat(21)}very…`],
  ['Error', 'x'.repeat(500), `Error: ${'x'.repeat(112)}…`],
  [null, 'only a value', 'only a value'],
])('%s: %j', (type, value, title) => {
  expect(titleOfError(type, value)).toBe(title);
  expect(title.length).toBeLessThanOrEqual(120);
});

describe('without words in the message', () => {
  const titled = (type: string | null, value: string | null, frame: Parameters<typeof frameOf>[0]) =>
    titleOfEvent(eventOf({ exceptions: [exceptionOf(type, value, { frames: [frameOf(frame)] })] }));

  test.each([
    [
      'NullPointerException',
      null,
      { module: 'com.acme.OrderService', function: 'place', filename: 'OrderService.java' },
      'NullPointerException in OrderService.place',
    ],
    [
      'NoSuchElementException',
      '',
      { module: 'com.acme.CartController', function: 'lambda$checkout$3' },
      'NoSuchElementException in CartController.lambda$checkout',
    ],
    [
      'KeyError',
      '8812',
      { module: 'shop.views', function: 'checkout', filename: 'shop/views.py' },
      'KeyError in checkout (views.py)',
    ],
    ['AssertionError', '', { function: '<module>', filename: 'shop/cart.py' }, 'AssertionError in cart.py'],
    [
      'InvalidToken',
      'InvalidToken',
      { function: 'create', filename: 'app/orders_controller.rb' },
      'InvalidToken in create (orders_controller.rb)',
    ],
    [
      'NotFound',
      '',
      { function: 'App\\Http\\Kernel::handle', filename: '/app/Kernel.php' },
      'NotFound in Kernel::handle',
    ],
    [
      'System.Exception',
      '',
      { module: 'Acme.Program', function: 'PlaceOrder(Order order)' },
      'Exception in Program.PlaceOrder',
    ],
    [
      'Error',
      '',
      { function: 't.render', filename: 'https://cdn.example/index-DWx9cN3q.js' },
      'Error in t.render (index.js)',
    ],
    [null, null, { function: 'f', filename: 'a.js' }, 'Event without a message in f (a.js)'],
  ])('%s %j is known by its place', (type, value, frame, title) => {
    expect(titled(type, value, frame)).toBe(title);
  });

  test('the transaction is the place when there is no stack', () => {
    const exceptions = [exceptionOf('TimeoutError', null)];
    expect(titleOfEvent(eventOf({ exceptions, transaction: 'tasks.sync' }))).toBe('TimeoutError in tasks.sync');
    expect(titleOfEvent(eventOf())).toBe('Event without a message');
  });
});

test('a message that is no exception is its own title', () => {
  expect(
    titleOfEvent(eventOf({ message: 'payment 17 failed after 3 attempts', messageTemplate: 'payment %s failed' })),
  ).toBe('payment 17 failed after 3 attempts');
});

test('a chain shows the exception that reached the client, unless it only repeats its cause', () => {
  const cause = exceptionOf('IOException', 'Disk quota exceeded', { module: 'java.io' });
  const chain = (type: string, value: string) =>
    titleOfEvent(eventOf({ exceptions: [cause, exceptionOf(type, value)] }));
  expect(chain('ExecutionException', 'java.io.IOException: Disk quota exceeded')).toBe(
    'IOException: Disk quota exceeded',
  );
  expect(chain('ReportFailed', 'could not write')).toBe('ReportFailed: could not write');
});

test('a chain quotes the cause where the exception itself says nothing, or only announces it', () => {
  const cause = exceptionOf('Error', 'connect ECONNREFUSED 127.0.0.1:9');
  const chain = (type: string, value: string) =>
    titleOfEvent(eventOf({ exceptions: [cause, exceptionOf(type, value)] }));
  expect(chain('TypeError', 'fetch failed')).toBe('TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:9');
  expect(chain('AggregateError', '')).toBe('AggregateError: connect ECONNREFUSED 127.0.0.1:9');
  expect(titleOfEvent(eventOf({ exceptions: [exceptionOf('TypeError', 'fetch failed')] }))).toBe(
    'TypeError: fetch failed',
  );
});

test.each(['null', 'undefined'])('a program that threw %s is told so', (value) => {
  const mechanism = { type: 'generic', handled: true, synthetic: true };
  const frames = [frameOf({ function: 'sell', filename: 'shop.js' })];
  expect(titleOfEvent(eventOf({ exceptions: [exceptionOf('Error', value, { mechanism, frames })] }))).toBe(
    `${value} thrown in sell (shop.js)`,
  );
});

test('a type called error is known by its module', () => {
  const unpack = exceptionOf('error', 'unpack requires a buffer of 4 bytes', { module: 'struct' });
  expect(titleOfEvent(eventOf({ exceptions: [unpack] }))).toBe('struct.error: unpack requires a buffer of 4 bytes');
});

test.each([
  ['node', { function: 'Timeout._onTimeout', filename: '/srv/shop.js' }, 'shop.js'],
  [
    'node',
    { function: 'genericNodeError', filename: 'node:internal/errors' },
    'genericNodeError (node:internal/errors)',
  ],
  ['javascript', { function: 'HTMLBodyElement.pour', filename: 'https://cdn.test/8812.4f9a2c.js' }, 'pour (<hash>.js)'],
  ['ruby', { function: 'block in <main>', filename: 'shop.rb' }, 'shop.rb'],
  ['ruby', { function: 'block in sell', filename: 'shop.rb' }, 'sell (shop.rb)'],
])('in %s, %j is called %s', (platform, frame, place) => {
  const exceptions = [exceptionOf('Error', null, { frames: [frameOf(frame)] })];
  expect(titleOfEvent(eventOf({ platform, exceptions }))).toBe(`Error in ${place}`);
});

test('a method that is built into Ruby is not the culprit, but the line that calls it', () => {
  const sell = frameOf({ function: 'sell', filename: 'shop.rb', lineno: 7 });
  const fetch = frameOf({ function: 'fetch', filename: 'shop.rb', lineno: 7 });
  const raised = (frames: readonly Frame[]) =>
    titleOfEvent(eventOf({ platform: 'ruby', exceptions: [exceptionOf('KeyError', null, { frames })] }));
  expect(raised([sell, fetch])).toBe('KeyError in sell (shop.rb)');
  expect(raised([sell, { ...fetch, function: 'new' }, fetch])).toBe('KeyError in sell (shop.rb)');
  expect(raised([sell, { ...fetch, lineno: 9 }])).toBe('KeyError in fetch (shop.rb)');
});

test("a group's pattern takes the place of the message", () => {
  const headline = headlineOf(eventOf({ exceptions: [exceptionOf('ValueError', 'bad order 1')] }));
  expect(titleOf({ ...headline, message: 'bad order <*>' })).toBe('ValueError: bad order <*>');
  expect(titleOf({ ...headline, message: "'<*>'", place: 'inner (shop.py)' })).toBe('ValueError in inner (shop.py)');
  expect(titleOf({ ...headline, message: '<*> nil <*>', place: 'inner (shop.py)' })).toBe(
    'ValueError in inner (shop.py)',
  );
});

test.each([
  ['RuntimeError', 'no stock (RuntimeError)', 'RuntimeError: no stock'],
  ['RuntimeError', 'no stock (RuntimeError)\n\n    raise "no stock"\n    ^^^^^', 'RuntimeError: no stock'],
  ['RuntimeError', 'no stock (RuntimeError)\r\n', 'RuntimeError: no stock'],
  ['Shop::Declined', 'card 4 (Shop::Declined)\nby the bank', 'Shop::Declined: card 4'],
  [
    'NameError',
    '\u001B[1mno x (\u001B[1;4mNameError\u001B[m\u001B[1m)\u001B[m\n\n  x\n  ^\nDid you mean?  y',
    'NameError: no x',
  ],
  ['ArgumentError', 'bad price: (ArgumentError)\n\n    sell(x)\n        ^^^', 'ArgumentError: bad price'],
  ['RuntimeError', 'no stock (TypeError)', 'RuntimeError: no stock (TypeError)'],
])("Ruby's detail is no part of a title: %s, %j", (type, value, title) => {
  expect(titleOfError(type, value)).toBe(title);
});

test('names that a compiler made up are no part of a title', () => {
  expect(titleOfError('minified:kP', 'Bad state: no element')).toBe('Bad state: no element');
  expect(titleOfError('DomainException@anonymous\uFFFD/srv/releases/7/Run.php:12$0', 'refused')).toBe(
    'DomainException@anonymous: refused',
  );
  const exceptions = [
    exceptionOf('minified:kP', "Instance of 'minified:kP'", { frames: [frameOf({ function: 'pay' })] }),
  ];
  expect(titleOfEvent(eventOf({ exceptions }))).toBe('Event without a message in pay');
});
