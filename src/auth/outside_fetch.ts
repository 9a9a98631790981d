import { type LookupAddress, lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { request as requestPlain } from 'node:http';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Bytes of the largest document that is read. */
const BODY_BYTES_MAX = 16 * 1024;
const DEADLINE_MS = 3_000;

/**
 * Everything that is not the public Internet: IANA's special-purpose addresses, multicast, and the ranges in which an
 * IPv6 address stands for an IPv4 one.
 */
const NOT_PUBLIC: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 8, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
  ['5f00::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

// Apart, since one list of both would take an IPv4 address for the IPv6 one that stands for it.
const notPublic = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [network, prefix, family] of NOT_PUBLIC) notPublic[family].addSubnet(network, prefix, family);

/** Whether the address is somebody's on the public Internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return version !== 0 && !notPublic[family].check(address, family);
}

/** Fetches a document of somebody unknown over https, without following redirects. */
export type OutsideFetch = (
  url: string | URL | Request,
  options?: { readonly signal?: AbortSignal | null },
) => Promise<Response>;

/** Posts to an address that somebody else has given, without following redirects; what is answered is not read. */
export type OutsidePost = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer; readonly timeoutMs: number },
) => Promise<{ readonly status: number; readonly retryAfter: string | null }>;

/** Thrown for an address that is not on the public Internet; nothing was sent. */
export class NotPublicError extends Error {
  readonly code = 'ERR_NOT_PUBLIC';

  constructor() {
    super('the address is not on the public Internet');
    this.name = 'NotPublicError';
  }
}

interface OutsideOptions {
  /** For trials on one machine, where apps and push services live on addresses that are not public. */
  readonly mayReachInside: boolean;
}

/**
 * Whatever does not resolve to public addresses only is refused; the address that was judged is the one that is connected
 * to, so a name that changes its mind in between gains nothing.
 */
function judgedLookupOf({ mayReachInside }: OutsideOptions): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const refusal = error ?? judge(addresses, mayReachInside);
      const [first] = addresses ?? [];
      if (refusal !== null || first === undefined) done(refusal ?? new Error('the name has no address'), '', 4);
      else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function judge(addresses: readonly Pick<LookupAddress, 'address'>[], mayReachInside: boolean): Error | null {
  return !mayReachInside && addresses.some(({ address }) => !isPublicAddress(address)) ? new NotPublicError() : null;
}

/** A literal address is not looked up, so it is judged by itself. */
function requirePublic(url: URL, mayReachInside: boolean): void {
  const literal = url.hostname.replaceAll(/^\[|\]$/g, '');
  const refusal = isIP(literal) === 0 ? null : judge([{ address: literal }], mayReachInside);
  if (refusal !== null) throw refusal;
}

export function createOutsideFetch(options: OutsideOptions): OutsideFetch {
  const judgedLookup = judgedLookupOf(options);
  return async (input, { signal } = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol !== 'https:') throw new Error('only https is asked');
    requirePublic(url, options.mayReachInside);
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    return await get(url, judgedLookup, signal ? AbortSignal.any([signal, deadline]) : deadline);
  };
}

export function createOutsidePost(options: OutsideOptions): OutsidePost {
  const judgedLookup = judgedLookupOf(options);
  const agent = new Agent({ keepAlive: true, lookup: judgedLookup });
  return async (address, { headers, body, timeoutMs }) => {
    const url = new URL(address);
    const isPlain = url.protocol === 'http:' && options.mayReachInside;
    if (url.protocol !== 'https:' && !isPlain) throw new Error('only https is asked');
    requirePublic(url, options.mayReachInside);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const asked = { method: 'POST', headers, lookup: judgedLookup, signal: AbortSignal.timeout(timeoutMs) };
    const sending = isPlain ? requestPlain(url, asked, resolve) : request(url, { ...asked, agent }, resolve);
    sending.on('error', reject).end(body);
    const answer = await promise;
    answer.resume();
    return { status: answer.statusCode ?? 500, retryAfter: answer.headers['retry-after'] ?? null };
  };
}

/** Whether a host name resolves to addresses that nobody outside may be sent to; false when it does not resolve now. */
export async function isNameOfInside(hostname: string, { mayReachInside }: OutsideOptions): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  lookup(hostname, { all: true }, (error, addresses) => {
    resolve(error === null && judge(addresses, mayReachInside) !== null);
  });
  return await promise;
}

async function get(url: URL, judgedLookup: LookupFunction, signal: AbortSignal): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { accept: 'application/json', 'user-agent': 'tocsin' };
  request(url, { agent: false, headers, lookup: judgedLookup, signal }, resolve).on('error', reject).end();
  const answer = await promise;
  const told = new Headers();
  for (const name of ['cache-control', 'content-type', 'expires'] as const) {
    const value = answer.headers[name];
    if (value !== undefined) told.set(name, value);
  }
  const body = await readBounded(answer);
  const status = answer.statusCode ?? 500;
  return status === 200
    ? new Response(new Uint8Array(body), { status, headers: told })
    : new Response(null, { status });
}

async function readBounded(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the document is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
