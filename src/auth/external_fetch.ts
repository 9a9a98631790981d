import { type LookupAddress, lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { request as requestPlain } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

import { holdUntilConnected } from '#kernel/held_request.ts';
import { type Clock, limitBy, systemClock } from '#kernel/time.ts';

/** Bytes of the largest document that is read, unless a caller allows more. */
const BODY_BYTES_MAX = 16 * 1024;
const DEADLINE_MS = 3_000;

/** Global unicast addresses of IPv6 that IANA has allotted; all others are special or nobody's. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether the address is somebody's on the public Internet: none of IANA's special-purpose addresses, nor multicast. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6));
}

/** Fetches a document from an untrusted address over https, without following redirects. */
export type ExternalFetch = (
  url: string | URL | Request,
  options?: { readonly signal?: AbortSignal | null },
) => Promise<Response>;

/**
 * Posts to an untrusted address without following redirects, and ignores the body of the answer. Throws HeldBackError
 * within `whileMayLeave`.
 */
export type ExternalPost = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer; readonly timeoutMs: number },
) => Promise<{ readonly status: number; readonly retryAfter: string | null }>;

/** Sends a body to an untrusted address without following redirects, and returns the beginning of the answer. */
export type ExternalExchange = (
  url: string,
  message: {
    readonly method: 'POST' | 'PUT' | 'PATCH';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    /** Time until the whole answer has to be there. */
    readonly timeoutMs: number;
  },
) => Promise<{ readonly status: number; readonly retryAfter: string | null; readonly text: string }>;

/** Thrown for an address that is not on the public Internet; nothing was sent. */
export class NotPublicError extends Error {
  readonly code = 'ERR_NOT_PUBLIC';

  constructor() {
    super('the address is not on the public Internet');
    this.name = 'NotPublicError';
  }
}

interface ExternalFetchOptions {
  /** Bytes of the largest document; absent: 16 KB. */
  readonly bytesMax?: number;
  /** Kind of document; absent: JSON. */
  readonly accept?: string;
  /** Whether private addresses are allowed, for trials on one machine, where apps and push services have them. */
  readonly allowInternalAddresses: boolean;
  /** Clock whose patience lengthens the time limits; absent: the machine's. */
  readonly clock?: Clock;
}

/**
 * Refuses names that resolve to any private address. The connection uses the address that was checked, so a name that
 * resolves differently a moment later (DNS rebinding) gains nothing.
 */
function createLookup({ allowInternalAddresses }: ExternalFetchOptions): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const refusal = error ?? checkPublic(addresses, allowInternalAddresses);
      const [first] = addresses ?? [];
      if (refusal !== null || first === undefined) done(refusal ?? new Error('the name has no address'), '', 4);
      else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function checkPublic(
  addresses: readonly Pick<LookupAddress, 'address'>[],
  allowInternalAddresses: boolean,
): Error | null {
  return !allowInternalAddresses && addresses.some(({ address }) => !isPublicAddress(address))
    ? new NotPublicError()
    : null;
}

/** An IP address in the URL is not looked up, so it is checked here. */
function requirePublic(url: URL, allowInternalAddresses: boolean): void {
  const literal = url.hostname.replaceAll(/^\[|\]$/g, '');
  const refusal = isIP(literal) === 0 ? null : checkPublic([{ address: literal }], allowInternalAddresses);
  if (refusal !== null) throw refusal;
}

function deadlineOf({ clock = systemClock }: ExternalFetchOptions, ms: number): AbortSignal {
  return AbortSignal.timeout(limitBy(clock, ms));
}

export function createExternalFetch(options: ExternalFetchOptions): ExternalFetch {
  const lookupPublic = createLookup(options);
  return async (input, { signal } = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol !== 'https:') throw new Error('only https addresses are allowed');
    requirePublic(url, options.allowInternalAddresses);
    const deadline = deadlineOf(options, DEADLINE_MS);
    const limits = { bytesMax: options.bytesMax ?? BODY_BYTES_MAX, accept: options.accept ?? 'application/json' };
    return await get(url, limits, lookupPublic, signal ? AbortSignal.any([signal, deadline]) : deadline);
  };
}

export function createExternalPost(options: ExternalFetchOptions): ExternalPost {
  const lookupPublic = createLookup(options);
  const agent = new Agent({ keepAlive: true, lookup: lookupPublic });
  return async (address, { headers, body, timeoutMs }) => {
    const url = new URL(address);
    const isPlain = url.protocol === 'http:' && options.allowInternalAddresses;
    if (url.protocol !== 'https:' && !isPlain) throw new Error('only https addresses are allowed');
    requirePublic(url, options.allowInternalAddresses);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const asked = { method: 'POST', headers, lookup: lookupPublic, signal: deadlineOf(options, timeoutMs) };
    const sending = isPlain ? requestPlain(url, asked, resolve) : request(url, { ...asked, agent }, resolve);
    holdUntilConnected(sending).on('error', reject).end(body);
    const answer = await promise;
    answer.resume();
    return { status: answer.statusCode ?? 500, retryAfter: answer.headers['retry-after'] ?? null };
  };
}

/** Exchanges messages with a sign-in provider, which an organization names; as `ExternalFetch` does. */
export type ProviderFetch = (
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly signal?: AbortSignal | undefined;
  },
) => Promise<Response>;

/** Bytes of the largest answer of a provider: the keys of big ones take some tens of kilobytes. */
const PROVIDER_BYTES_MAX = 256 * 1024;

export function createProviderFetch(options: ExternalFetchOptions): ProviderFetch {
  const lookupPublic = createLookup(options);
  return async (address, { method = 'GET', headers = {}, body, signal }) => {
    const url = new URL(address);
    if (url.protocol !== 'https:') throw new Error('only https addresses are allowed');
    requirePublic(url, options.allowInternalAddresses);
    const deadline = deadlineOf(options, DEADLINE_MS);
    const form = body instanceof URLSearchParams ? body.toString() : null;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = {
      agent: false,
      method,
      headers: form === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(form)) },
      lookup: lookupPublic,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    };
    request(url, sent, resolve)
      .on('error', reject)
      .end(form ?? undefined);
    const answer = await promise;
    const status = answer.statusCode ?? 500;
    const type = answer.headers['content-type'];
    const content = await readBounded(answer, PROVIDER_BYTES_MAX);
    return new Response(status === 204 || status === 304 ? null : new Uint8Array(content), {
      status: status < 200 ? 502 : status,
      ...(type !== undefined && { headers: { 'content-type': type } }),
    });
  };
}

/** Fetches an answer of a tool that an organization names, with all of its headers and without following redirects. */
export function createToolFetch(options: ExternalFetchOptions & { readonly bytesMax: number }): ProviderFetch {
  const lookupPublic = createLookup(options);
  return async (address, { method = 'GET', headers = {}, body, signal }) => {
    const url = new URL(address);
    const isPlain = url.protocol === 'http:' && options.allowInternalAddresses;
    if (url.protocol !== 'https:' && !isPlain) throw new Error('only https addresses are allowed');
    requirePublic(url, options.allowInternalAddresses);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const text = typeof body === 'string' ? body : undefined;
    const length = text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) };
    const sent = { method, headers: { ...headers, ...length }, lookup: lookupPublic, signal };
    (isPlain ? requestPlain : request)(url, sent, resolve).on('error', reject).end(text);
    const answer = await promise;
    const content = await readBounded(answer, options.bytesMax);
    const status = answer.statusCode ?? 500;
    const answered = new Headers();
    for (const [name, value] of Object.entries(answer.headers))
      if (typeof value === 'string') answered.set(name, value);
    const isEmpty = status === 204 || status === 304;
    return new Response(isEmpty ? null : new Uint8Array(content), {
      status: status < 200 ? 502 : status,
      headers: answered,
    });
  };
}

export function createExternalExchange(options: ExternalFetchOptions): ExternalExchange {
  const lookupPublic = createLookup(options);
  const agent = new Agent({ keepAlive: true, lookup: lookupPublic });
  return async (address, { method, headers, body, timeoutMs }) => {
    const url = new URL(address);
    const isPlain = url.protocol === 'http:' && options.allowInternalAddresses;
    if (url.protocol !== 'https:' && !isPlain) throw new Error('only https addresses are allowed');
    requirePublic(url, options.allowInternalAddresses);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const asked = { method, headers, lookup: lookupPublic, signal: deadlineOf(options, timeoutMs) };
    const sending = isPlain ? requestPlain(url, asked, resolve) : request(url, { ...asked, agent }, resolve);
    holdUntilConnected(sending).on('error', reject).end(body);
    const answer = await promise;
    const text = await readBeginning(answer, options.bytesMax ?? BODY_BYTES_MAX);
    return { status: answer.statusCode ?? 500, retryAfter: answer.headers['retry-after'] ?? null, text };
  };
}

/** Reads so many bytes; the rest is not waited for. */
async function readBeginning(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
}

/** Whether a host name resolves to private addresses; false when it does not resolve. */
export async function isInternalHostname(
  hostname: string,
  { allowInternalAddresses }: ExternalFetchOptions,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  lookup(hostname, { all: true }, (error, addresses) => {
    resolve(error === null && checkPublic(addresses, allowInternalAddresses) !== null);
  });
  return await promise;
}

/** Returns what is wrong with an address outside that people type, as words behind its field; null for nothing. */
export async function externalAddressFault(
  address: string,
  allowed: {
    /** Whether addresses of this machine and of private networks may be used, also without TLS. */
    readonly allowsInternalAddresses: boolean;
    readonly isPrivateHost: (hostname: string) => Promise<boolean>;
  },
): Promise<string | null> {
  if (/[^\x21-\x7e]/.test(address)) return 'must be of visible ASCII characters without spaces';
  if (!URL.canParse(address)) return 'must be a whole address, as https://example.com/path';
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return 'must not have a user name or password in it';
  if (protocol !== 'https:' && !(protocol === 'http:' && allowed.allowsInternalAddresses)) {
    return 'must begin with https://';
  }
  return (await allowed.isPrivateHost(hostname)) ? 'must be on the public Internet' : null;
}

async function get(
  url: URL,
  { bytesMax, accept }: { readonly bytesMax: number; readonly accept: string },
  lookupPublic: LookupFunction,
  signal: AbortSignal,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { accept, 'user-agent': 'tocsin' };
  request(url, { agent: false, headers, lookup: lookupPublic, signal }, resolve).on('error', reject).end();
  const answer = await promise;
  const responseHeaders = new Headers();
  for (const name of ['cache-control', 'content-type', 'expires'] as const) {
    const value = answer.headers[name];
    if (value !== undefined) responseHeaders.set(name, value);
  }
  const body = await readBounded(answer, bytesMax);
  const status = answer.statusCode ?? 500;
  return status === 200
    ? new Response(new Uint8Array(body), { status, headers: responseHeaders })
    : new Response(null, { status });
}

async function readBounded(answer: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error('the document is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
