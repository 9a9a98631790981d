import { type Static, Type } from 'typebox';

import { LevelName, GROUP_EXAMPLE } from '#actions/exceptions/view.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import type { Breadcrumb, ExceptionEvent, Frame, Json } from '#core/exceptions/event.ts';
import { isInApp } from '#core/exceptions/frames.ts';
import { type Repository, sourceLink } from '#core/exceptions/source_link.ts';
import { isHandled } from '#core/exceptions/triage.ts';
import { toTimestamp } from '#kernel/time.ts';

const Text = nullable(Type.String());

export const FrameView = Type.Object({
  function: Text,
  module: Text,
  file: Text,
  line: nullable(Type.Integer()),
  column: nullable(Type.Integer()),
  inApp: Type.Boolean(),
  code: nullable(
    Type.Object({ before: Type.Array(Type.String()), line: Type.String(), after: Type.Array(Type.String()) }),
  ),
  sourceUrl: Text,
});

const Frames = Type.Array(FrameView, { description: 'the raising call last' });

export const RecentEventView = Type.Object({
  eventId: Type.String(),
  at: Timestamp,
  receivedAt: Timestamp,
  level: LevelName,
  platform: Type.String(),
  message: Text,
  environment: Text,
  release: Text,
  transaction: Text,
  logger: Text,
  serverName: Text,
  isHandled: nullable(Type.Boolean()),
  user: nullable(Type.Object({ id: Text, email: Text, username: Text, ip: Text })),
  tags: Type.Record(Type.String(), Type.String()),
  exceptions: Type.Array(Type.Object({ type: Text, value: Text, module: Text, frames: Frames }), {
    description: 'the root cause first',
  }),
  thread: nullable(Type.Object({ id: Text, name: Text, crashed: Type.Boolean() })),
  frames: Type.Array(FrameView, { description: 'of the thread, or sent beside no exception; the last call last' }),
  breadcrumbs: Type.Array(
    Type.Object({
      timestamp: Text,
      type: Text,
      category: Text,
      level: nullable(LevelName),
      message: Text,
      data: Type.Unknown(),
    }),
    { description: 'what happened before, oldest first' },
  ),
  request: Type.Unknown(),
  contexts: Type.Unknown(),
  extra: Type.Unknown(),
  sdk: nullable(Type.Object({ name: Type.String(), version: Text })),
});

export const FRAME_EXAMPLE: Static<typeof FrameView> = {
  function: 'pay',
  module: null,
  file: 'src/payment.ts',
  line: 118,
  column: 11,
  inApp: true,
  code: {
    before: ['  const answer = await bank.charge(card, amount);'],
    line: '  if (answer.declined) throw new PaymentError(`card ${card.last4} was declined`);',
    after: ['  return answer;'],
  },
  sourceUrl: 'https://github.com/northwind/checkout/blob/2027.5.1/src/payment.ts#L118',
};

export const EVENT_EXAMPLE: Static<typeof RecentEventView> = {
  eventId: '4c1d7f0e9b2a4c8d8e6f5a3b2c1d0e9f',
  at: GROUP_EXAMPLE.lastSeenAt,
  receivedAt: '2027-02-03T02:31:06.101Z',
  level: 'error',
  platform: 'node',
  message: null,
  environment: 'production',
  release: '2027.5.1',
  transaction: 'POST /pay',
  logger: null,
  serverName: 'checkout-7f9c',
  isHandled: false,
  user: { id: '88213', email: null, username: null, ip: null },
  tags: { runtime: 'node v24.1.0' },
  exceptions: [{ type: 'PaymentError', value: 'card 4242 was declined', module: null, frames: [FRAME_EXAMPLE] }],
  thread: null,
  frames: [],
  breadcrumbs: [],
  request: { method: 'POST', url: 'https://shop.northwind.example/pay' },
  contexts: {},
  extra: {},
  sdk: { name: 'sentry.javascript.node', version: '11.12.0' },
};

/** What a person sees of one event: the parts nearest to the failure; twenty of the largest stay readable. */
const EXCEPTIONS_MAX = 5;
const FRAMES_MAX = 30;
const CODE_LINES_MAX = 3;
const CODE_LINE_LENGTH_MAX = 200;
const BREADCRUMBS_MAX = 30;
const CRUMB_DATA_LENGTH_MAX = 500;
const FREE_DATA_LENGTH_MAX = 4_000;

export function toRecentEventView(
  event: ExceptionEvent,
  repository: Repository | null,
): Static<typeof RecentEventView> {
  const toFrames = (frames: readonly Frame[]) =>
    frames.slice(-FRAMES_MAX).map((frame) => toFrameView(frame, repository, event.release));
  return {
    eventId: event.eventId,
    at: toTimestamp(event.at),
    receivedAt: toTimestamp(event.receivedAt),
    level: event.level,
    platform: event.platform,
    message: event.message,
    environment: event.environment,
    release: event.release,
    transaction: event.transaction,
    logger: event.logger,
    serverName: event.serverName,
    isHandled: isHandled(event),
    user: event.user,
    tags: { ...event.tags },
    exceptions: event.exceptions
      .slice(-EXCEPTIONS_MAX)
      .map(({ type, value, module, frames }) => ({ type, value, module, frames: toFrames(frames) })),
    thread: event.thread && { id: event.thread.id, name: event.thread.name, crashed: event.thread.crashed },
    frames: toFrames(event.thread?.frames ?? event.stacktrace),
    breadcrumbs: event.breadcrumbs.slice(-BREADCRUMBS_MAX).map(toBreadcrumbView),
    request: shorten(event.request, FREE_DATA_LENGTH_MAX),
    contexts: shorten(event.contexts, FREE_DATA_LENGTH_MAX),
    extra: shorten(event.extra, FREE_DATA_LENGTH_MAX),
    sdk: event.sdk,
  };
}

function toFrameView(frame: Frame, repository: Repository | null, release: string | null): Static<typeof FrameView> {
  const inApp = isInApp(frame);
  return {
    function: frame.function,
    module: frame.module,
    file: frame.filename ?? frame.absPath,
    line: frame.lineno,
    column: frame.colno,
    inApp,
    code: inApp && frame.contextLine !== null ? toCodeView(frame, frame.contextLine) : null,
    sourceUrl: inApp && repository !== null ? sourceLink(frame, repository, release) : null,
  };
}

function toCodeView(frame: Frame, line: string) {
  return {
    before: frame.preContext.slice(-CODE_LINES_MAX).map(toCodeLine),
    line: toCodeLine(line),
    after: frame.postContext.slice(0, CODE_LINES_MAX).map(toCodeLine),
  };
}

function toCodeLine(line: string): string {
  return line.length <= CODE_LINE_LENGTH_MAX ? line : `${line.slice(0, CODE_LINE_LENGTH_MAX).toWellFormed()}…`;
}

function toBreadcrumbView({ timestamp, type, category, level, message, data }: Breadcrumb) {
  return { timestamp, type, category, level, message, data: shorten(data, CRUMB_DATA_LENGTH_MAX) };
}

/** Keeps the members of an object that fit, in order; of anything else that is too long, its beginning as a text. */
function shorten(json: Json, lengthMax: number): Json {
  const text = JSON.stringify(json);
  if (text.length <= lengthMax) return json;
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return `${text.slice(0, lengthMax)}…`.toWellFormed();
  let left = lengthMax;
  const kept = Object.entries(json).map(([name, value]) => {
    const member = shorten(value, Math.max(0, left));
    left -= JSON.stringify([name, member]).length;
    return [name, member] as const;
  });
  return Object.fromEntries(kept);
}
