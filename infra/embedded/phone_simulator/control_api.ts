import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { NotPossible } from './call.ts';
import type { Exchange } from './exchange.ts';
import { Fault, type Faults } from './faults.ts';
import type { People } from './people.ts';
import { listPhones } from './phone_book.ts';
import type { Reports } from './reports.ts';

interface Parts {
  readonly exchange: Exchange;
  readonly people: People;
  readonly faults: Faults;
  readonly reports: Reports;
}

interface Check<T> {
  Check(value: unknown): value is T;
  Errors(value: unknown): { readonly instancePath: string; readonly message: string }[];
}

class BadInput extends Error {}

const closed = { additionalProperties: false } as const;
const callSid = Type.String();
const wholeNumber = Type.String({ pattern: '^\\d{1,15}$' });

const selection = Compile(
  Type.Object(
    { number: Type.Optional(Type.String()), after: Type.Optional(wholeNumber), limit: Type.Optional(wholeNumber) },
    closed,
  ),
);
const aFault = Compile(Fault);
const aReply = Compile(
  Type.Object(
    { from: Type.String(), to: Type.Optional(Type.String()), body: Type.String({ minLength: 1, maxLength: 1_600 }) },
    closed,
  ),
);
const aCall = Compile(Type.Object({ callSid }, closed));
const aPickUp = Compile(Type.Object({ callSid, by: Type.Optional(Type.Enum(['human', 'machine'])) }, closed));
const aKeyPress = Compile(Type.Object({ callSid, keys: Type.String({ minLength: 1, maxLength: 32 }) }, closed));
const nothing = Compile(Type.Object({}, closed));

/** Serves what a person does and a test sees as JSON, at /phone/api; see the README. */
export async function controlApi(app: FastifyInstance, { exchange, people, faults, reports }: Parts): Promise<void> {
  app.removeContentTypeParser('text/plain');
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error instanceof NotPossible ? 409 : (error.statusCode ?? (error instanceof BadInput ? 400 : 500));
    return reply.code(status).send({ error: error.message });
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'no such thing' }));

  const list = (path: string, all: () => readonly Listed[]) => {
    app.get(`/${path}`, async ({ query }) => ({ [path]: select(all(), query), lastSeq: exchange.lastSeq }));
  };
  list('messages', () => exchange.messages.all());
  list('calls', () => exchange.calls.all());
  list('requests', () => exchange.requests.all());
  list('callbacks', () => exchange.callbacks.all());
  app.get('/numbers', async () => ({ account: exchange.numbers, phones: listPhones(exchange) }));

  const post = <T>(path: string, check: Check<T>, act: (input: T) => Promise<object>) => {
    app.post(path, async ({ body }) => act(parse(check, body ?? {})));
  };
  post('/reply', aReply, (reply) => people.reply(reply));
  post('/answer', aPickUp, (input) => people.answer(input.callSid, input.by));
  post('/press', aKeyPress, (input) => people.press(input.callSid, input.keys));
  post('/stay_silent', aCall, (input) => people.staySilent(input.callSid));
  post('/hang_up', aCall, (input) => people.hangUp(input.callSid));
  post('/reject', aCall, (input) => people.reject(input.callSid));
  post('/let_ring', aCall, (input) => people.letRing(input.callSid));
  post('/release_callbacks', nothing, async () => ({ released: await reports.release() }));

  app.get('/faults', async () => ({ faults: faults.list() }));
  post('/faults', aFault, async (fault) => {
    faults.add(fault);
    return { faults: faults.list() };
  });
  app.delete('/faults', async () => {
    faults.clear();
    return { faults: [] };
  });
}

interface Listed {
  readonly seq: number;
  readonly from?: string;
  readonly to?: string;
}

/** The records after a sequence number, of one phone, at most `limit` of the oldest of those. */
function select(records: readonly Listed[], query: unknown, limitMax = 5_000): readonly Listed[] {
  const { number, after = '0', limit = String(limitMax) } = parse(selection, query);
  const isOfPhone = (record: Listed) => number === undefined || record.from === number || record.to === number;
  return records.filter((record) => record.seq > Number(after) && isOfPhone(record)).slice(0, Number(limit));
}

function parse<T>(check: Check<T>, value: unknown): T {
  if (check.Check(value)) return value;
  const faults = check.Errors(value).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  throw new BadInput(faults.slice(0, 5).join('; '));
}
