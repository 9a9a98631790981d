import { PASSWORD_LENGTH_MIN } from '#kernel/password_length.ts';

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
