import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

import type { Temporal } from '#kernel/time.ts';

/** Actions of a link in a message, carried out once the person has confirmed it. */
export const ANSWERS = ['acknowledge', 'resolve'] as const;

export type Answer = (typeof ANSWERS)[number];

/** Hours for which the links of a message are valid. */
const LIFE_HOURS = 7 * 24;

const SIGNATURE_BYTES = 32;

/** Result of reading a link. Only a valid one may act; of the others at most the message that they name is known. */
export type ReadLink =
  | { readonly kind: 'valid'; readonly answer: Answer; readonly notificationId: string }
  | { readonly kind: 'expired'; readonly notificationId: string }
  | { readonly kind: 'forged'; readonly notificationId: string };

/**
 * Links that let the person who got a message answer it without signing in. Each is signed for one answer to one
 * message and expires; who it acts for is the person whom the message was sent to.
 */
export interface AnswerLinks {
  urlOf(answer: Answer, message: { readonly notificationId: string; readonly createdAt: Temporal.Instant }): string;
  read(answer: string, notificationId: string, seal: string, now: Temporal.Instant): ReadLink;
  /**
   * Returns the link to acknowledge for an SMS: 45 characters after the public address. Its expiry follows from the
   * log.
   */
  shortUrlOf(message: { readonly notificationId: string }): string;
  readShort(code: string): { readonly isGenuine: boolean; readonly notificationId: string };
  /** Returns the page on which the receiver of a message answers its proposal; expires with the proposal. */
  proposalUrlOf(message: { readonly notificationId: string }): string;
  readProposal(code: string): { readonly isGenuine: boolean; readonly notificationId: string };
}

/** The path behind the public address, with Fastify's names for its parts. */
export const ANSWER_PATH = '/api/answers/:answer/:notificationId/:seal';

export const SHORT_ANSWER_PATH = '/a/:code';

export const PROPOSAL_ANSWER_PATH = '/p/:code';

const ID_PREFIX = 'notification_';
/** An id without its prefix, and 80 bits of its signature: both in letters and digits that no phone cuts off a link. */
const SHORT_CODE = /^([0-9a-z]{26})([0-9a-z]{16})$/;
const SHORT_SIGNATURE_BYTES = 10;
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Whether a message is too old for its links to be used. */
export function haveLinksExpired(createdAt: Temporal.Instant, now: Temporal.Instant): boolean {
  return now.epochMilliseconds >= createdAt.add({ hours: LIFE_HOURS }).epochMilliseconds;
}

/** The key is derived (HKDF, RFC 5869) from APP_SECRET for this purpose alone. */
export function createAnswerLinks(appSecret: string, baseUrl: string): AnswerLinks {
  const key = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'answer-links', 32));
  const sign = (answer: string, notificationId: string, expiresAt: string): Buffer =>
    createHmac('sha256', key).update(`${answer}\n${notificationId}\n${expiresAt}`).digest();
  const signShort = (purpose: string, notificationId: string): string =>
    toBase32(sign(purpose, notificationId, 'short').subarray(0, SHORT_SIGNATURE_BYTES));
  const codeOf = (purpose: string, notificationId: string): string =>
    `${notificationId.slice(ID_PREFIX.length)}${signShort(purpose, notificationId)}`;
  const readCode = (purpose: string, code: string) => {
    const [, id = '', signature = ''] = SHORT_CODE.exec(code) ?? [];
    const notificationId = `${ID_PREFIX}${id}`;
    const [signed, expected] = [Buffer.from(signature), Buffer.from(signShort(purpose, notificationId))];
    return { isGenuine: signed.length === expected.length && timingSafeEqual(signed, expected), notificationId };
  };

  return {
    urlOf(answer, { notificationId, createdAt }) {
      const expiresAt = String(Math.ceil(createdAt.add({ hours: LIFE_HOURS }).epochMilliseconds / 1000));
      const seal = `${expiresAt}.${sign(answer, notificationId, expiresAt).toString('base64url')}`;
      return `${baseUrl}/api/answers/${answer}/${notificationId}/${seal}`;
    },
    read(answer, notificationId, seal, now) {
      const [expiresAt = '', signature = '', ...rest] = seal.split('.');
      const signed = Buffer.from(signature, 'base64url');
      const isGenuine =
        rest.length === 0 &&
        signed.length === SIGNATURE_BYTES &&
        signed.toString('base64url') === signature &&
        timingSafeEqual(signed, sign(answer, notificationId, expiresAt));
      if (!isGenuine || !isAnswer(answer)) return { kind: 'forged', notificationId };
      if (now.epochMilliseconds >= Number(expiresAt) * 1000) return { kind: 'expired', notificationId };
      return { kind: 'valid', answer, notificationId };
    },
    shortUrlOf: ({ notificationId }) => `${baseUrl}/a/${codeOf('acknowledge', notificationId)}`,
    readShort: (code) => readCode('acknowledge', code),
    proposalUrlOf: ({ notificationId }) => `${baseUrl}/p/${codeOf('answer_proposal', notificationId)}`,
    readProposal: (code) => readCode('answer_proposal', code),
  };
}

/** Encodes five bits a letter; the number of bytes is a multiple of five. */
function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('');
}

function isAnswer(text: string): text is Answer {
  return (ANSWERS as readonly string[]).includes(text);
}
