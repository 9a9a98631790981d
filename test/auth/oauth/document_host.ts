import { createHash, createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import { onTestFinished } from 'vitest';

import { atEndOfFile } from '#test/kit/at_end_of_file.ts';

/** Certificate of localhost and 127.0.0.1, until 2126, for the key that `keyOfTests` derives. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBWzCCAQ2gAwIBAgIUO/DggVJioAyvd8/Hg5QcmHYO/UYwBQYDK2VwMBQxEjAQ
BgNVBAMMCWxvY2FsaG9zdDAgFw0yNjExMjExNTM5MDhaGA8yMTI2MTAyODE1Mzkw
OFowFDESMBAGA1UEAwwJbG9jYWxob3N0MCowBQYDK2VwAyEAcFRSBPoOB9DBjro1
QThJ5MXJ8MmK68yR4ONL+ID2g5ejbzBtMB0GA1UdDgQWBBQs3AxiAGEoUBKNss1Z
OXZGBeZjhzAfBgNVHSMEGDAWgBQs3AxiAGEoUBKNss1ZOXZGBeZjhzAaBgNVHREE
EzARgglsb2NhbGhvc3SHBH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQDF
HRm1uanE1GLkgQQvRWkg1LKHlLwF7fFOntPN5v59vOoFkMAcxCBaJ6bUW6/W7x9j
pkV95GQQ5+FetT2kkmMD
-----END CERTIFICATE-----
`;

function keyOfTests(): string {
  const seed = createHash('sha256').update('the key of a server in tests').digest();
  const key = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A server over https, trusted by this process, that answers as a test says. */
export interface DocumentHost {
  readonly origin: string;
  /** Documents that were requested, oldest first. */
  readonly asked: string[];
  /** Serves a document at a path; or answers in whatever way. */
  serve(path: string, document: object | ((request: IncomingMessage, response: ServerResponse) => void)): string;
}

let isTrusted = false;

/** Trusts this certificate alone until the end of the file: each connection reads all that are trusted. */
function trustCertificate(): void {
  if (isTrusted) return;
  isTrusted = true;
  const before = getCACertificates('default');
  setDefaultCACertificates([CERTIFICATE]);
  atEndOfFile(async () => {
    isTrusted = false;
    setDefaultCACertificates(before);
  });
}

/** Serves over https at localhost, trusted by this process, until the test or the file has finished. Returns the origin. */
export async function serveOverTls(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  trustCertificate();
  const server = createServer({ key: keyOfTests(), cert: CERTIFICATE }, handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  return `https://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

export async function documentHost(): Promise<DocumentHost> {
  const answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const asked: string[] = [];
  const origin = await serveOverTls((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  return {
    origin,
    asked,
    serve(path, document) {
      const asJson = (_request: IncomingMessage, response: ServerResponse): void => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      };
      answers.set(path, typeof document === 'function' ? (document as typeof asJson) : asJson);
      return origin + path;
    },
  };
}
