import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import type twilio from 'twilio';

import { optionalText, optionalUrl, type ValuesOf } from '#kernel/config.ts';
import { certificateFault, isNotConnected } from '#kernel/errors.ts';
import { HeldBackError, holdUntilConnected, isHeldBack, mayHaveLeft } from '#kernel/held_request.ts';
import type { CallbackProvider, ChannelSender, Delivery } from '#notify/channel.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import { reasonOfCode } from './error_codes.ts';

/** The account by which messages and calls go out. */
export const TWILIO_SETTINGS = {
  twilioAccountSid: optionalText(
    'TWILIO_ACCOUNT_SID',
    '^AC[0-9a-fA-F]{32}$',
    'AC and 32 hexadecimal digits',
    'Twilio account for SMS and calls',
    { unset: 'simulator' },
  ),
  twilioAuthToken: optionalText('TWILIO_AUTH_TOKEN', '^.+$', 'the token of the account', 'its token', {
    requiredWith: 'TWILIO_ACCOUNT_SID',
    isSecret: true,
  }),
  twilioFrom: optionalText(
    'TWILIO_FROM',
    '^\\+[1-9][0-9]{1,14}$',
    'an E.164 number such as +15005550006',
    'E.164 number that messages and calls come from',
    { requiredWith: 'TWILIO_ACCOUNT_SID' },
  ),
  twilioApiBase: optionalUrl('TWILIO_API_BASE', ['http', 'https'], "another address for Twilio's API"),
};

/** Returns the Twilio account; null if none is configured. */
export function twilioAccountOf(settings: ValuesOf<typeof TWILIO_SETTINGS>): TwilioAccount | null {
  const {
    twilioAccountSid: accountSid,
    twilioAuthToken: authToken,
    twilioFrom: from,
    twilioApiBase: apiBase,
  } = settings;
  if (accountSid === undefined || authToken === undefined || from === undefined) return null;
  return { accountSid, authToken, from, apiBase };
}

/** Call-backs bear the signature of our account for exactly their address and fields (Twilio, "Webhooks security"). */
export function twilioCallbacks(account: TwilioAccount | null): CallbackProvider {
  return {
    name: 'twilio',
    async isAuthentic({ url, headers, fields }) {
      const signature = headers['x-twilio-signature'];
      if (account === null || typeof signature !== 'string') return false;
      // Only processes that are called back load it.
      const { validateRequest } = await import('twilio/lib/webhooks/webhooks.js');
      return validateRequest(account.authToken, signature, url, { ...fields });
    },
    contentType: 'text/xml; charset=utf-8',
    received: '<Response/>',
  };
}

/**
 * Returns the address that Twilio calls back about a message. Only unreserved characters, so that no proxy re-encodes
 * what the signature covers.
 */
export function callbackUrl(baseUrl: string, name: string, notificationId: string): string {
  return `${baseUrl}/api/callbacks/twilio/${name}/${notificationId}`;
}

/** Returns the address at which replies by SMS arrive; set it as the webhook of the sender's number. */
export function inboundSmsUrl(baseUrl: string): string {
  return `${baseUrl}/api/callbacks/twilio/sms`;
}

/** The account that messages and calls go out by. */
export interface TwilioAccount {
  readonly accountSid: string;
  readonly authToken: string;
  /** Number of the sender, in E.164. */
  readonly from: string;
  /** Address of the API that replaces Twilio's, for the phone simulator; Twilio's own if unset. */
  readonly apiBase: string | undefined;
}

/** Loads the library when it is first needed: it is large, and most processes send nothing. */
export type TwilioClient = () => Promise<Pick<ReturnType<typeof twilio>, 'messages' | 'calls'>>;

/** A provider that is slow has taken a message that it answers late: one that is given up early is sent twice. */
const SEND_TIMEOUT_MS = 30_000;
/** Timeout of a connection, and of a question. */
const ASK_TIMEOUT_MS = 10_000;

/** Attempts for a message or call of unknown fate: waking somebody twice is better than not at all. */
const UNCERTAIN_ATTEMPTS_MAX = 2;

const TRANSPORT = {
  request(options: RequestOptions, answered: (answer: IncomingMessage) => void): ClientRequest {
    const { request } = options.protocol === 'http:' ? http : https;
    return holdUntilConnected(request({ timeout: ASK_TIMEOUT_MS, ...options }, answered));
  },
};

/**
 * Returns the client, which never retries: the row of the notification decides what is retried and when. It loads what
 * sends messages and calls, so that no lease runs out meanwhile.
 */
export function createTwilioClient(account: TwilioAccount): TwilioClient {
  let client: ReturnType<TwilioClient> | undefined;
  const load: TwilioClient = async () => {
    const { default: twilio } = await import('twilio');
    const httpClient = new twilio.RequestClient({ autoRetry: false, timeout: SEND_TIMEOUT_MS, keepAlive: true });
    httpClient.axios.interceptors.request.use(({ timeout = SEND_TIMEOUT_MS, ...request }) => ({
      ...request,
      timeout: request.method === 'get' ? Math.min(timeout, ASK_TIMEOUT_MS) : timeout,
    }));
    httpClient.axios.defaults.transport = TRANSPORT;
    httpClient.axios.interceptors.response.use((response) => {
      const retryAfterSeconds = Number(response.headers['retry-after']);
      if (!isTemporary(response.status) || !(retryAfterSeconds > 0)) return response;
      throw new AskedToWait(response.status, retryAfterSeconds * 1_000);
    });
    const loaded = twilio(account.accountSid, account.authToken, { httpClient, lazyLoading: true });
    if (account.apiBase !== undefined) loaded.api.baseUrl = account.apiBase;
    const { messages, calls } = loaded;
    return { messages, calls };
  };
  return () => (client ??= load());
}

/** Refusal with a time in `Retry-After`, which the library's own error does not include. */
class AskedToWait extends Error {
  readonly status: number;
  readonly afterMs: number;

  constructor(status: number, afterMs: number) {
    super(`the provider answers ${status} and asks to wait for ${afterMs} ms`);
    this.name = 'AskedToWait';
    this.status = status;
    this.afterMs = afterMs;
  }
}

const isTemporary = (status: number): boolean => status === 429 || status >= 500;

/**
 * Returns the delivery for a failed request. The library throws three shapes: its own error with a numeric code, one
 * without any, and the transport's error with a text as code. A certificate that is not accepted has let nothing pass.
 * A timeout, or a connection lost after the request had left, is uncertain: it may have been sent. Before, it was not.
 */
export function deliveryOfError(error: unknown): Delivery {
  const { status, code } = error as { status?: unknown; code?: unknown };
  const reason = typeof code === 'number' ? reasonOfCode(code) : undefined;
  if (reason !== undefined) return { kind: 'rejected', reason: reason };
  if (typeof status === 'number') {
    const wait = error instanceof AskedToWait ? { afterMs: error.afterMs } : {};
    if (isTemporary(status)) {
      return { kind: 'retry', reason: status === 429 ? 'provider_busy' : 'provider_fault', ...wait };
    }
    return { kind: 'rejected', reason: `provider_refused_${typeof code === 'number' ? code : status}` };
  }
  const certificate = certificateFault(error);
  if (certificate !== null) return { kind: 'rejected', reason: `provider_https_${certificate}` };
  if (isNotConnected(error) || !mayHaveLeft(error)) return { kind: 'retry', reason: 'provider_unreachable' };
  return { kind: 'uncertain', reason: 'provider_silent' };
}

type Twilio = Awaited<ReturnType<TwilioClient>>;

/** Number of messages or calls to the same address that are searched to find one again. */
export const LOOKED_AT_MAX = 50;

/** Twilio operations of one channel. */
interface TwilioChannel {
  create(twilio: Twilio, outgoing: OutgoingMessage): Promise<{ readonly sid: string }>;
  /** Lists every message since then that may be this one. */
  list(twilio: Twilio, outgoing: OutgoingMessage, since: Date): Promise<readonly { readonly sid: string }[]>;
  /** See `ChannelSender`. */
  readonly findsByWords: boolean;
}

export function twilioSender(client: TwilioClient, channel: TwilioChannel): ChannelSender {
  return {
    uncertainAttemptsMax: UNCERTAIN_ATTEMPTS_MAX,
    findsByWords: channel.findsByWords,
    load: client,
    async send(outgoing) {
      const twilio = await client();
      try {
        const { sid } = await channel.create(twilio, outgoing);
        return { kind: 'accepted', providerId: sid };
      } catch (error) {
        if (isHeldBack(error)) throw new HeldBackError();
        return deliveryOfError(error);
      }
    },
    async listSent(outgoing, sinceMs) {
      const messages = await channel.list(await client(), outgoing, new Date(sinceMs));
      return messages.map(({ sid }) => sid);
    },
  };
}
