import { type Static, Type } from 'typebox';

import { LevelName, GROUP_EXAMPLE } from '#modules/exceptions/operations/view.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import {
  type Breadcrumb,
  type EventUser,
  type ExceptionEvent,
  type ExceptionValue,
  type Frame,
  type Json,
  type Mechanism,
  TRIMMED_PARTS,
} from '#modules/exceptions/decide/event.ts';
import { isInApp } from '#modules/exceptions/decide/frames.ts';
import { type Repository, sourceLink } from '#modules/exceptions/decide/source_link.ts';
import { isHandled } from '#modules/exceptions/decide/triage.ts';
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
  variables: nullable(
    Type.Record(Type.String(), Type.Unknown(), { description: 'the local variables by name, where they were sent' }),
  ),
});

const MechanismView = Type.Object({ type: Text, handled: nullable(Type.Boolean()), data: Type.Unknown() });

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
  user: nullable(Type.Object({ id: Text, email: Text, username: Text, ip: Text, data: Type.Unknown() })),
  tags: Type.Record(Type.String(), Type.String()),
  exceptions: Type.Array(
    Type.Object({ type: Text, value: Text, module: Text, mechanism: nullable(MechanismView), frames: Frames }),
    { description: 'the root cause first' },
  ),
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
  dist: Text,
  modules: nullable(
    Type.Record(Type.String(), Type.String(), {
      description: 'packages and their versions; of the newest event alone',
    }),
  ),
  trimmed: Type.Array(Type.Enum([...TRIMMED_PARTS]), { description: 'left out, because the event was too large' }),
});

/** An event with everything that was kept, as the console shows a single one. */
export const WholeEventView = Type.Object({
  ...RecentEventView.properties,
  otherThreads: Type.Array(
    Type.Object({ id: Text, name: Text, crashed: Type.Boolean(), state: Text, frames: Frames }),
    { description: 'besides `thread`' },
  ),
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
  variables: { amount: 4_200, token: '[filtered]' },
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
  user: { id: '88213', email: null, username: null, ip: null, data: null },
  tags: { runtime: 'node v24.1.0' },
  exceptions: [
    {
      type: 'PaymentError',
      value: 'card 4242 was declined',
      module: null,
      mechanism: { type: 'onunhandledrejection', handled: false, data: null },
      frames: [FRAME_EXAMPLE],
    },
  ],
  thread: null,
  frames: [],
  breadcrumbs: [],
  request: { method: 'POST', url: 'https://shop.northwind.example/pay' },
  contexts: {},
  extra: {},
  sdk: { name: 'sentry.javascript.node', version: '11.12.0' },
  dist: null,
  modules: { express: '5.2.1' },
  trimmed: [],
};

/** Amount of an event's data that is shown. */
interface Detail {
  readonly exceptions: number;
  readonly frames: number;
  readonly codeLines: number;
  readonly codeLineLength: number;
  /** Whether code of frames outside the application is shown too. */
  readonly allCode: boolean;
  readonly breadcrumbs: number;
  readonly crumbDataLength: number;
  /** Length limit for each of the request, the contexts, and other data that was sent. */
  readonly freeDataLength: number;
  /** Length limit for the variables of a frame, as JSON; 0 for none. */
  readonly variablesLength: number;
  readonly modules: boolean;
}

/** Detail of the parts nearest to the failure; twenty of the largest events stay readable. */
const BRIEF: Detail = {
  exceptions: 5,
  frames: 30,
  codeLines: 3,
  codeLineLength: 200,
  allCode: false,
  breadcrumbs: 30,
  crumbDataLength: 500,
  freeDataLength: 4_000,
  variablesLength: 0,
  modules: false,
};

/** Detail of the newest event in a list, which shows more than the others. */
const NEWEST: Detail = { ...BRIEF, breadcrumbs: 100, variablesLength: 2_000, modules: true };

/** Detail of an event that is shown with all that is kept. */
const WHOLE: Detail = {
  exceptions: 30,
  frames: 1_000,
  codeLines: 20,
  codeLineLength: 512,
  allCode: true,
  breadcrumbs: 500,
  crumbDataLength: 8_000,
  freeDataLength: 1_000_000,
  variablesLength: 100_000,
  modules: true,
};

/** Returns an event in a list, of which the newest one shows more than the others. */
export function toRecentEventView(
  event: ExceptionEvent,
  repository: Repository | null,
  isNewest: boolean,
): Static<typeof RecentEventView> {
  return toEventView(event, repository, isNewest ? NEWEST : BRIEF);
}

export function toWholeEventView(event: ExceptionEvent, repository: Repository | null): Static<typeof WholeEventView> {
  const toFrames = (frames: readonly Frame[]) =>
    frames.map((frame) => toFrameView(frame, { repository, event }, WHOLE));
  return {
    ...toEventView(event, repository, WHOLE),
    otherThreads: (event.otherThreads ?? []).map(({ id, name, crashed, state = null, frames }) => {
      return { id, name, crashed, state, frames: toFrames(frames) };
    }),
  };
}

function toEventView(
  event: ExceptionEvent,
  repository: Repository | null,
  detail: Detail,
): Static<typeof RecentEventView> {
  const toFrames = (frames: readonly Frame[]) =>
    frames.slice(-detail.frames).map((frame) => toFrameView(frame, { repository, event }, detail));
  const toExceptionView = ({ type, value, module, mechanism, frames }: ExceptionValue) => {
    return { type, value, module, mechanism: toMechanismView(mechanism, detail), frames: toFrames(frames) };
  };
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
    user: toUserView(event.user, detail),
    tags: { ...event.tags },
    exceptions: event.exceptions.slice(-detail.exceptions).map(toExceptionView),
    thread: event.thread && { id: event.thread.id, name: event.thread.name, crashed: event.thread.crashed },
    frames: toFrames(event.thread?.frames ?? event.stacktrace),
    breadcrumbs: event.breadcrumbs.slice(-detail.breadcrumbs).map((crumb) => toBreadcrumbView(crumb, detail)),
    request: shorten(event.request, detail.freeDataLength),
    contexts: shorten(event.contexts, detail.freeDataLength),
    extra: shorten(event.extra, detail.freeDataLength),
    sdk: event.sdk,
    dist: event.dist ?? null,
    modules: detail.modules ? { ...event.modules } : null,
    trimmed: [...(event.trimmed ?? [])],
  };
}

function toUserView(user: EventUser | null, { freeDataLength }: Detail) {
  if (user === null) return null;
  const { id, email, username, ip, data = null } = user;
  return { id, email, username, ip, data: shorten(data, freeDataLength) };
}

function toMechanismView(mechanism: Mechanism | null, { crumbDataLength }: Detail) {
  if (mechanism === null) return null;
  const { type, handled, data = null } = mechanism;
  return { type, handled, data: shorten(data, crumbDataLength) };
}

function toFrameView(
  frame: Frame,
  { repository, event: { release } }: { readonly repository: Repository | null; readonly event: ExceptionEvent },
  detail: Detail,
): Static<typeof FrameView> {
  const inApp = isInApp(frame);
  const hasCode = inApp || detail.allCode;
  const { variables } = frame;
  return {
    function: frame.function,
    module: frame.module,
    file: frame.filename ?? frame.absPath,
    line: frame.lineno,
    column: frame.colno,
    inApp,
    code: hasCode && frame.contextLine !== null ? toCodeView(frame, frame.contextLine, detail) : null,
    sourceUrl: inApp && repository !== null ? sourceLink(frame, repository, release) : null,
    variables:
      hasCode && variables !== undefined && detail.variablesLength > 0
        ? shortenMembers(variables, detail.variablesLength)
        : null,
  };
}

function toCodeView(frame: Frame, line: string, { codeLines, codeLineLength }: Detail) {
  const toCodeLine = (text: string): string =>
    text.length <= codeLineLength ? text : `${text.slice(0, codeLineLength).toWellFormed()}…`;
  return {
    before: frame.preContext.slice(-codeLines).map(toCodeLine),
    line: toCodeLine(line),
    after: frame.postContext.slice(0, codeLines).map(toCodeLine),
  };
}

function toBreadcrumbView({ timestamp, type, category, level, message, data }: Breadcrumb, detail: Detail) {
  return { timestamp, type, category, level, message, data: shorten(data, detail.crumbDataLength) };
}

/** Shortens JSON: keeps the members of an object that fit, in order; of anything else too long, the beginning. */
function shorten(json: Json, lengthMax: number): Json {
  const text = JSON.stringify(json);
  if (text.length <= lengthMax) return json;
  if (typeof json !== 'object' || json === null || isList(json)) return `${text.slice(0, lengthMax)}…`.toWellFormed();
  return shortenMembers(json, lengthMax);
}

function shortenMembers(json: Readonly<Record<string, Json>>, lengthMax: number): Record<string, Json> {
  let left = lengthMax;
  const kept = Object.entries(json).map(([name, value]) => {
    const member = shorten(value, Math.max(0, left));
    left -= JSON.stringify([name, member]).length;
    return [name, member] as const;
  });
  return Object.fromEntries(kept);
}

function isList(json: object): json is readonly Json[] {
  return Array.isArray(json);
}
