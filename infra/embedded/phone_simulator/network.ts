import type { AddressInfo, Socket } from 'node:net';

import formbody from '@fastify/formbody';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';

import { Alarms } from './alarms.ts';
import { controlApi } from './control_api.ts';
import { type AccountNumber, Exchange } from './exchange.ts';
import { Faults } from './faults.ts';
import { Messaging, OptOuts } from './messaging.ts';
import { Live, phonePage } from './page.ts';
import { People } from './people.ts';
import { Reports } from './reports.ts';
import { twilioRest } from './rest.ts';
import { Switchboard } from './switchboard.ts';
import { createAsk } from './webhooks.ts';

interface NetworkOptions {
  readonly accountSid: string;
  readonly authToken: string;
  readonly numbers: readonly AccountNumber[];
  readonly delayMs: number;
  readonly rewrite: (url: string) => string;
  readonly now: () => number;
  /** True: time-outs happen by themselves. False: only by `alarms.elapse()`. */
  readonly isAutomatic: boolean;
  readonly keep: number;
}

export type Network = ReturnType<typeof createNetwork>;

/** Creates the parts of the simulator and gives each the parts that it works with. */
export function createNetwork(options: NetworkOptions) {
  const { accountSid, authToken, numbers, delayMs, rewrite, now, isAutomatic, keep } = options;
  const closing = new AbortController();
  const exchange = new Exchange({ accountSid, numbers, now, keep });
  const faults = new Faults();
  const alarms = new Alarms(now, isAutomatic);
  const ask = createAsk({ exchange, authToken, rewrite, closing: closing.signal });
  const reports = new Reports({ exchange, ask, faults, alarms, keep });
  const optOuts = new OptOuts();
  const messaging = new Messaging({ exchange, faults, reports, optOuts, delayMs });
  const switchboard = new Switchboard({ exchange, faults, reports, alarms, ask, delayMs });
  const people = new People({ exchange, messaging, switchboard, reports, optOuts });
  const live = new Live(exchange);
  return { alarms, authToken, closing, exchange, faults, live, messaging, optOuts, people, reports, switchboard };
}

export interface Served {
  /** Empty if it has no port. */
  readonly url: string;
  /** Answers a connection that another process accepted. */
  take(connection: Socket): void;
  close(): Promise<void>;
}

/**
 * Serves Twilio's REST API, the control API and the web page on the loopback interface, or only on connections that it is
 * given if the port is null. Rejects when the port is taken.
 */
export async function serveNetwork(network: Network, port: number | null, token: string | undefined): Promise<Served> {
  const { alarms, authToken, closing, exchange, faults, live, messaging, people, reports, switchboard } = network;
  const prefix = token === undefined ? '' : `/${token}`;
  const app = Fastify({ forceCloseConnections: true });
  app.addHook('onRequest', answerOnlyThisMachine);
  await app.register(
    async (rest) => {
      await rest.register(formbody);
      await twilioRest(rest, { exchange, messaging, switchboard, faults, authToken });
    },
    { prefix: '/2010-04-01' },
  );
  await app.register(async (api) => controlApi(api, { exchange, people, faults, reports }), {
    prefix: `${prefix}/phone/api`,
  });
  await app.register(async (page) => phonePage(page, { exchange, live }), { prefix });
  await (port === null ? app.ready() : app.listen({ port, host: '127.0.0.1' }));
  return {
    url: port === null ? '' : `http://127.0.0.1:${portOf(app.server.address())}`,
    take: (connection) => {
      app.server.emit('connection', connection);
      connection.resume();
    },
    close: async () => {
      alarms.clear();
      closing.abort();
      live.close();
      await app.close();
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the simulator does not listen on a port');
  return address.port;
}

const LOCAL_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]']);

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/**
 * Answers only this machine. Another site in the person's browser could reach a loopback port by rebinding its own
 * name to 127.0.0.1, or by posting from its page: the first is told by Host, the second by Origin.
 */
export async function answerOnlyThisMachine(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.headers(HEADERS);
  const { host = '', origin } = request.headers;
  const isFromElsewhere =
    !LOCAL_NAMES.has(hostnameOf(`http://${host}`)) || (origin !== undefined && origin !== `http://${host}`);
  if (isFromElsewhere) await reply.code(403).send({ error: 'the phone simulator answers this machine only' });
}

function hostnameOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : '';
}
