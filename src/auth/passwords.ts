import { argon2, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { PASSWORD_LENGTH_MIN } from '#kernel/password_length.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';
import { areTriesUsedUp, countTry, forgetTries, type TryLimit } from './sign_in_limiter.ts';

/** Argon2id with the parameters OWASP recommends for interactive sign-in: 19 MiB, two passes, one lane. */
const PARAMETERS: Parameters = { memory: 19_456, passes: 2, parallelism: 1 };
const TAG_BYTES = 32;
const NONCE_BYTES = 16;

/** Cost of a derivation: memory in KiB, passes over it, lanes. */
interface Parameters {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

const derive = promisify(argon2);

/** Node's four threads serve files, names of hosts and compression as well: passwords take two of them at most. */
const inTurn = pLimit(2);
/** Limit on the hashes that wait: some seconds' work. */
const WAITING_MAX = 100;

/** Waits for its turn. Throws `unavailable` when too many wait already. */
async function tagOf(password: string, nonce: Buffer, parameters: Parameters): Promise<Buffer> {
  if (inTurn.pendingCount >= WAITING_MAX) {
    throw new AppError('unavailable', 'too many passwords are being checked at the moment; try again in some seconds', {
      retryAfterSeconds: 5,
    });
  }
  const message = password.normalize('NFKC');
  return await inTurn(() => derive('argon2id', { ...parameters, tagLength: TAG_BYTES, message, nonce }));
}

/**
 * Returns the hash of a password in the PHC string format. Throws `unavailable`, like all functions that check
 * passwords.
 */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(NONCE_BYTES);
  const tag = await tagOf(password, nonce, PARAMETERS);
  const { memory, passes, parallelism } = PARAMETERS;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

/** Returns whether a stored hash is of this password; false for one that costs more than we ask for, which we did not write. */
export async function isPasswordOf(hash: string, password: string): Promise<boolean> {
  const [, algorithm, , costs = '', nonce = '', tag = ''] = hash.split('$');
  const parameters = parseParameters(costs);
  if (algorithm !== 'argon2id' || parameters === null) return false;
  const expected = Buffer.from(tag, 'base64');
  const actual = await tagOf(password, Buffer.from(nonce, 'base64'), parameters);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function parseParameters(costs: string): Parameters | null {
  const [memory, passes, parallelism] = /^m=(\d+),t=(\d+),p=(\d+)$/.exec(costs)?.slice(1).map(Number) ?? [];
  if (memory === undefined || passes === undefined || parallelism === undefined) return null;
  const isWithin = memory <= PARAMETERS.memory && passes <= PARAMETERS.passes && parallelism === PARAMETERS.parallelism;
  return isWithin ? { memory, passes, parallelism } : null;
}

/** A hash that matches no password, so an unknown account takes as long as a wrong password. */
const HASH_OF_NO_ACCOUNT = `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(Buffer.alloc(NONCE_BYTES))}$${unpadded(Buffer.alloc(32))}`;

/**
 * Checks a password like `isPasswordOf`, in the same time also for an account that has no password or does not exist:
 * `null`.
 */
export async function isPasswordOfAccount(hash: string | null, password: string): Promise<boolean> {
  const isRight = await isPasswordOf(hash ?? HASH_OF_NO_ACCOUNT, password);
  return isRight && hash !== null;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

/** Letters and digits that are not mistaken for one another. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A password of 20 letters, about 115 bits. */
export function newPassword(): string {
  return Array.from({ length: 20 }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

const LENGTH_MAX = 256;
/** Minimum number of different characters; fewer are a pattern. */
const DIFFERENT_MIN = 5;

/** Facts about a person that somebody would guess first. */
export interface AboutPerson {
  readonly email: string;
  readonly name: string;
}

/**
 * Returns why a password is refused, in words, or null. Length is what counts (NIST SP 800-63B-4): there are no rules
 * about digits or capitals. Refused are the first guesses: one of the 49,000 commonest, alone or with digits and signs
 * around it, repetitions and rows of the keyboard, and the person's own name.
 */
export async function passwordFault(password: string, about: AboutPerson): Promise<string | null> {
  const length = Array.from(password).length;
  if (length < PASSWORD_LENGTH_MIN)
    return `must have at least ${PASSWORD_LENGTH_MIN} characters; a few words in a row are good`;
  if (length > LENGTH_MAX) return `must have at most ${LENGTH_MAX} characters`;
  const plain = password.normalize('NFKC').toLowerCase();
  if (new Set(plain).size < DIFFERENT_MIN || isRepetition(plain) || isRow(plain)) {
    return 'must not be a repetition or a row of keys; a few words are good';
  }
  const core = coreOf(plain);
  if (namesOf(about).has(core)) return 'must not be your own name or mail address';
  const commonest = await listCommonest();
  if (commonest.has(plain) || (core.length >= 4 && commonest.has(core))) {
    return 'must not be one of the commonest passwords, nor one with digits added; a few words are good';
  }
  return null;
}

/** Returns whether the text repeats itself: `abcabcabcabc`. */
function isRepetition(text: string): boolean {
  return /^(.{1,6})\1+.{0,5}$/su.test(text) && new Set(text).size <= 6;
}

const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
];

/**
 * Returns whether all but three characters run along one row of the keyboard, forwards or backwards: `qwertyuiop12`.
 */
function isRow(text: string): boolean {
  const rows = ROWS.flatMap((row) => [row, Array.from(row).toReversed().join('')]);
  let steps = 0;
  for (let index = 1; index < text.length; index += 1) {
    if (rows.some((row) => row.includes(text.slice(index - 1, index + 1)))) steps += 1;
  }
  return steps >= text.length - 4;
}

/**
 * Returns the core of a password, `password` for `Password2024!`, without the digits and signs at the ends, and with
 * letters for the signs that stand for them.
 */
function coreOf(text: string): string {
  const inner = text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return inner.replaceAll(/[013457@$]/g, (sign) => LETTERS[sign] ?? sign);
}

const LETTERS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

function namesOf({ email, name }: AboutPerson): Set<string> {
  const address = email.toLowerCase();
  const joined = name.toLowerCase().replaceAll(/\s/g, '');
  return new Set([address, address.split('@')[0] ?? '', joined, name.toLowerCase(), 'tocsin'].map(coreOf));
}

/** Reads the commonest passwords when a password is first chosen, which is seldom. */
async function listCommonest(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  commonest ??= new Set(dictionary['passwords-common']);
  return commonest;
}

let commonest: ReadonlySet<string> | null = null;

/** Result of checking the PIN of a reply: `none_set` if the person has set no PIN. */
type PinCheck = 'none_set' | 'right' | 'missing' | 'wrong' | 'locked';

const limitOf = (userId: Id<'user'>): TryLimit => ({ key: `reply_pin:${userId}`, max: 5, windowSeconds: 15 * 60 });

/** Whether a reply by SMS, call or link carries the PIN of the person it speaks for. Five wrong ones lock it for 15 minutes. */
export async function checkReplyPin(
  stores: Pick<Stores, 'phoneNumbers' | 'signInLimits'>,
  userId: Id<'user'>,
  pin: string | null,
  now: Temporal.Instant,
): Promise<PinCheck> {
  const pinHash = await stores.phoneNumbers.findPin(userId);
  if (pinHash === null) return 'none_set';
  const limit = limitOf(userId);
  if (pin === null) return (await areTriesUsedUp(stores, limit, now)) ? 'locked' : 'missing';
  const { isAllowed, isLast } = await countTry(stores, limit, now);
  if (!isAllowed) return 'locked';
  if (await isPasswordOf(pinHash, pin)) {
    await forgetTries(stores, limit.key);
    return 'right';
  }
  return isLast ? 'locked' : 'wrong';
}

/** A new PIN has not been tried. */
export async function forgetPinTries(stores: Pick<Stores, 'signInLimits'>, userId: Id<'user'>): Promise<void> {
  await forgetTries(stores, limitOf(userId).key);
}

const DIGITS = 6;

/** Six digits that are sent to a phone and typed by its owner. */
export function newPhoneCode(): string {
  return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
}

/** Compares in constant time; both are of six digits. */
export function isSamePhoneCode(sent: string, typed: string): boolean {
  return sent.length === typed.length && timingSafeEqual(Buffer.from(sent), Buffer.from(typed));
}
