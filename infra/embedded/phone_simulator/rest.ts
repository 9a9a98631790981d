import { timingSafeEqual } from 'node:crypto';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { pause } from './alarms.ts';
import { toCallResource } from './call.ts';
import type { Exchange, PhoneRequest } from './exchange.ts';
import type { FaultPoint, Faults } from './faults.ts';
import { checkForm, numberOf, textOf, type Form, type FormName } from './forms.ts';
import { toMessageResource } from './message.ts';
import type { Messaging } from './messaging.ts';
import type { Switchboard } from './switchboard.ts';
import { errorText, toErrorBody, TwilioRefusal } from './twilio_errors.ts';

interface Parts {
  readonly exchange: Exchange;
  readonly messaging: Messaging;
  readonly switchboard: Switchboard;
  readonly faults: Faults;
  readonly authToken: string;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

type Handler = (form: Form, path: string) => Answer;

interface Operation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly form: FormName;
  readonly on: FaultPoint['on'];
  readonly handle: Handler;
}

/** Twilio's REST API of 2010, as far as messages and calls go. Mounted at /2010-04-01. */
export async function twilioRest(app: FastifyInstance, parts: Parts): Promise<void> {
  const { exchange, authToken } = parts;
  const records = new WeakMap<FastifyRequest, PhoneRequest>();

  app.addHook('preHandler', async (request) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const receivedAtMs = exchange.now();
    records.set(request, exchange.addRequest({ receivedAtMs, method: request.method, path, form: formOf(request) }));
    if (!isAuthentic(request.headers.authorization, exchange.accountSid, authToken)) throw new TwilioRefusal(20003);
  });
  app.addHook('onResponse', async (request, reply) => {
    const record = records.get(request);
    if (record !== undefined) exchange.answerRequest(record, reply.statusCode);
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof TwilioRefusal) return sendError(reply, error.status, error.code, error.message);
    const status = error.statusCode ?? 500;
    return sendError(reply, status, status < 500 ? 20400 : 20500, error.message);
  });
  app.setNotFoundHandler(() => {
    throw new TwilioRefusal(20404);
  });

  for (const { method, path, form, on, handle } of operations(parts)) {
    app.route<{ Params: { account: string } }>({
      method,
      url: `/Accounts/:account${path}`,
      handler: async (request, reply) => {
        if (request.params.account !== exchange.accountSid) throw new TwilioRefusal(20404);
        const sent = formOf(request);
        checkForm(form, sent);
        const point = { on, number: textOf(sent, 'To') ?? '' };
        return handleUnderFaults(parts.faults, point, reply, () => handle(sent, request.url));
      },
    });
  }
}

function operations({ exchange, messaging, switchboard }: Parts): readonly Operation[] {
  const { accountSid } = exchange;
  const ok = (body: object): Answer => ({ status: 200, body });
  const created = (body: object): Answer => ({ status: 201, body });
  return [
    {
      method: 'POST',
      path: '/Messages.json',
      form: 'createMessage',
      on: 'message',
      handle: (form) => created(toMessageResource(messaging.accept(form), accountSid)),
    },
    {
      method: 'GET',
      path: '/Messages.json',
      form: 'listMessages',
      on: 'lookup',
      handle: (form, path) => ok(listMessages(exchange, form, path)),
    },
    {
      method: 'POST',
      path: '/Calls.json',
      form: 'createCall',
      on: 'call',
      handle: (form) => created(toCallResource(switchboard.place(form), accountSid)),
    },
    {
      method: 'GET',
      path: '/Calls.json',
      form: 'listCalls',
      on: 'lookup',
      handle: (form, path) => ok(listCalls(exchange, form, path)),
    },
  ];
}

async function handleUnderFaults(
  faults: Faults,
  point: FaultPoint,
  reply: FastifyReply,
  handle: () => Answer,
): Promise<FastifyReply> {
  const slow = faults.take(['slow'], point);
  if (slow !== null) await pause(slow.byMs);
  const refusal = faults.take(['http_error'], point);
  if (refusal !== null) {
    const { status, code, retryAfterSeconds } = refusal;
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    if (code !== undefined) return sendError(reply, status, code, refusal.message ?? errorText(code));
    return reply.code(status).type('text/html').send(`<html><body><h1>${status}</h1></body></html>`);
  }
  if (goesUnanswered(faults, point, reply, 'before')) return reply;
  const { status, body } = handle();
  if (goesUnanswered(faults, point, reply, 'after')) return reply;
  return reply.code(status).send(body);
}

function goesUnanswered(faults: Faults, point: FaultPoint, reply: FastifyReply, when: 'before' | 'after'): boolean {
  const fault = faults.take(['hang', 'drop'], point, when);
  if (fault === null) return false;
  reply.hijack();
  if (fault.kind === 'drop') reply.raw.destroy();
  return true;
}

function sendError(reply: FastifyReply, status: number, code: number, message: string): FastifyReply {
  return reply.code(status).send(toErrorBody(status, code, message));
}

function formOf(request: FastifyRequest): Form {
  const fields: unknown = request.method === 'GET' ? request.query : request.body;
  const entries = Object.entries(fields ?? {}).map(([name, value]): [string, string | string[]] => [
    name,
    Array.isArray(value) ? value.map(String) : String(value),
  ]);
  return Object.fromEntries(entries);
}

function isAuthentic(authorization: string | undefined, accountSid: string, authToken: string): boolean {
  const expected = Buffer.from(`Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`);
  const sent = Buffer.from(authorization ?? '');
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

const PAGE_SIZE = 50;

/**
 * Twilio's list of messages, newest first. `DateSent>` is sent as `DateSent>=` and includes its own second; a message
 * that has not left yet counts from its creation.
 */
function listMessages(exchange: Exchange, query: Form, path: string): object {
  const matching = exchange.messages
    .newestFirst()
    .filter((message) => isSame(query, 'To', message.to) && isSame(query, 'From', message.from))
    .filter((message) => isInTime(query, 'DateSent', message.sentAtMs ?? message.createdAtMs));
  return toPage(matching, query, path, 'messages', (message) => toMessageResource(message, exchange.accountSid));
}

/** Twilio's list of calls, newest first. */
function listCalls(exchange: Exchange, query: Form, path: string): object {
  const matching = exchange.calls
    .newestFirst()
    .filter((call) => isSame(query, 'To', call.to) && isSame(query, 'From', call.from))
    .filter((call) => isInTime(query, 'StartTime', call.startedAtMs ?? call.createdAtMs));
  return toPage(matching, query, path, 'calls', (call) => toCallResource(call, exchange.accountSid));
}

function isSame(query: Form, name: string, value: string): boolean {
  const wanted = textOf(query, name);
  return wanted === undefined || wanted === value;
}

/** Twilio compares whole seconds. */
function isInTime(query: Form, name: string, atMs: number): boolean {
  const [from, until] = [textOf(query, `${name}>`), textOf(query, `${name}<`)];
  const second = Math.floor(atMs / 1_000) * 1_000;
  return (from === undefined || second >= Date.parse(from)) && (until === undefined || second <= Date.parse(until));
}

function toPage<T extends { readonly sid: string }>(
  found: readonly T[],
  query: Form,
  path: string,
  key: 'messages' | 'calls',
  toResource: (record: T) => object,
): object {
  const pageSize = numberOf(query, 'PageSize', PAGE_SIZE);
  const page = numberOf(query, 'Page', 0);
  const token = textOf(query, 'PageToken');
  const start = token === undefined ? page * pageSize : found.findIndex((record) => `PA${record.sid}` === token) + 1;
  const records = found.slice(start, start + pageSize);
  const last = records.at(-1);
  const hasMore = last !== undefined && start + pageSize < found.length;
  return {
    [key]: records.map(toResource),
    page,
    page_size: pageSize,
    start,
    end: start + Math.max(records.length - 1, 0),
    uri: path,
    first_page_uri: withPage(path, { PageSize: pageSize, Page: 0 }),
    next_page_uri: hasMore ? withPage(path, { PageSize: pageSize, Page: page + 1, PageToken: `PA${last.sid}` }) : null,
    previous_page_uri: page > 0 ? withPage(path, { PageSize: pageSize, Page: page - 1 }) : null,
  };
}

function withPage(path: string, page: Record<string, string | number>): string {
  const [resource = '', query = ''] = path.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const name of ['Page', 'PageToken', 'PageSize']) parameters.delete(name);
  for (const [name, value] of Object.entries(page)) parameters.set(name, String(value));
  return `${resource}?${parameters.toString()}`;
}
