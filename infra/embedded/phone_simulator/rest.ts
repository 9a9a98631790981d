import { timingSafeEqual } from 'node:crypto';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { toCallResource } from './call.ts';
import type { Exchange, PhoneRequest } from './exchange.ts';
import type { FaultPoint, Faults } from './faults.ts';
import { checkForm, textOf, type Form, type FormName } from './forms.ts';
import { listCalls, listMessages } from './lists.ts';
import { toMessageResource } from './message.ts';
import type { Messaging } from './messaging.ts';
import { pause } from './pause.ts';
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

type Handler = (form: Form, sid: string, path: string) => Answer;

interface Operation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly form: FormName | null;
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
    app.route<{ Params: { account: string; sid?: string } }>({
      method,
      url: `/Accounts/:account${path}`,
      handler: async (request, reply) => {
        const { account, sid = '' } = request.params;
        if (account !== exchange.accountSid) throw new TwilioRefusal(20404);
        const sent = formOf(request);
        if (form !== null) checkForm(form, sent);
        const point = { on, number: textOf(sent, 'To') ?? '' };
        return handleUnderFaults(parts.faults, point, reply, () => handle(sent, sid, request.url));
      },
    });
  }
}

function operations({ exchange, messaging, switchboard }: Parts): readonly Operation[] {
  const { accountSid } = exchange;
  const get = <T>(resource: T | undefined): T => {
    if (resource === undefined) throw new TwilioRefusal(20404);
    return resource;
  };
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
      handle: (form, _sid, path) => ok(listMessages(exchange, form, path)),
    },
    {
      method: 'GET',
      path: '/Messages/:sid.json',
      form: null,
      on: 'lookup',
      handle: (_form, sid) => ok(toMessageResource(get(exchange.messages.get(sid)), accountSid)),
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
      handle: (form, _sid, path) => ok(listCalls(exchange, form, path)),
    },
    {
      method: 'GET',
      path: '/Calls/:sid.json',
      form: null,
      on: 'lookup',
      handle: (_form, sid) => ok(toCallResource(get(exchange.calls.get(sid)), accountSid)),
    },
    {
      method: 'POST',
      path: '/Calls/:sid.json',
      form: 'updateCall',
      on: 'call',
      handle: (form, sid) => {
        const call = get(exchange.calls.get(sid));
        switchboard.update(call, form);
        return ok(toCallResource(call, accountSid));
      },
    },
    {
      method: 'GET',
      path: '.json',
      form: null,
      on: 'lookup',
      handle: () => ok({ sid: accountSid, friendly_name: 'Phone simulator', status: 'active', type: 'Full' }),
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
