import type { argon2 as realArgon2 } from 'node:crypto';

import { expect, test, vi } from 'vitest';

import { hashPassword, isPasswordOf, isPasswordOfAccount, passwordFault } from '#auth/passwords.ts';
import type { AccountContext } from '#actions/action_context.ts';
import { systemClock } from '#kernel/time.ts';
import { requirePassword } from '#modules/accounts/passwords.ts';
import { DEFAULT_LIMITS } from '#test/kit/limits.ts';

/**
 * State of the derivations. While there is a list of those held, none comes to its end; those that begin before
 * `isFree` is taken back derive nothing.
 */
const derivations = vi.hoisted(() => ({
  running: 0,
  most: 0,
  order: [] as string[],
  held: null as (() => void)[] | null,
  isFree: false,
}));

vi.mock(import('node:crypto'), async (importOriginal) => {
  const crypto = await importOriginal();
  const argon2: typeof realArgon2 = (algorithm, parameters, callback) => {
    derivations.running += 1;
    derivations.most = Math.max(derivations.most, derivations.running);
    if (typeof parameters.message === 'string') derivations.order.push(parameters.message);
    const hold: typeof callback = (error, tag) => {
      const end = (): void => {
        derivations.running -= 1;
        callback(error, tag);
      };
      if (derivations.held === null) end();
      else derivations.held.push(end);
    };
    if (derivations.isFree) setImmediate(hold, null, Buffer.alloc(parameters.tagLength));
    else crypto.argon2(algorithm, parameters, hold);
  };
  return { ...crypto, argon2 };
});

const ANNA = { email: 'anna.example@northwind.test', name: 'Anna Example' };
const PASSWORD = 'correct horse battery staple';

/** Anna signs in from an address that nobody knows; the tries that count, of her account and of the address. */
function signingIn(passwordHash: string): { context: AccountContext; tries: Map<string, number> } {
  const tries = new Map<string, number>();
  const change = (key: string, by: number): number => tries.set(key, (tries.get(key) ?? 0) + by).get(key)!;
  const stores = {
    people: { findUserByEmail: async () => ({ ...ANNA, passwordHash }) },
    sessions: { isKnownAddress: async () => false },
    signInLimits: {
      count: async (key: string) => ({ tries: change(key, 1), since: systemClock.now() }),
      undoAttempt: async (key: string) => void change(key, -1),
    },
  };
  const context = {
    stores,
    runtime: { clock: systemClock },
    installation: { limits: DEFAULT_LIMITS },
    browser: { address: '203.0.113.1', knownDeviceOf: () => null },
  };
  return { context: context as unknown as AccountContext, tries };
}

test('two passwords at a time are checked, the others in the order in which they came', async () => {
  Object.assign(derivations, { most: 0, order: [] });
  const passwords = Array.from({ length: 5 }, (_, index) => `password ${index}`);
  const hashes = await Promise.all(passwords.map((password) => hashPassword(password)));
  expect(derivations).toMatchObject({ running: 0, most: 2, order: passwords });
  expect(await Promise.all(hashes.map((hash, index) => isPasswordOf(hash, `password ${index}`)))).not.toContain(false);
  expect(derivations.most).toBe(2);
});

test('while a hundred wait, the next person is asked to come back, which does not count as a guess', async () => {
  const { context, tries } = signingIn(await hashPassword(PASSWORD));
  const held: (() => void)[] = [];
  Object.assign(derivations, { held, isFree: true });
  const waiting = Array.from({ length: 102 }, () => isPasswordOfAccount(null, 'guess'));
  const signIn = () => requirePassword(context, { email: ANNA.email, password: PASSWORD });
  for (let times = 0; times < 12; times += 1) {
    await expect(signIn()).rejects.toMatchObject({ status: 503, code: 'unavailable', retryAfterSeconds: 5 });
  }
  expect([...tries.values()]).toEqual([0, 0]);
  derivations.held = null;
  for (const end of held) end();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
  derivations.isFree = false;
  expect(await signIn()).toMatchObject(ANNA);
});

test.each([
  ['eleven char', /at least 12/],
  ['x'.repeat(257), /at most 256/],
  ['aaaaaaaaaaaaaaa', /repetition/],
  ['abcabcabcabcabc', /repetition/],
  ['qwertyuiop12', /row of keys/],
  ['0987654321098', /row of keys/],
  ['1qaz2wsx3edc', /commonest/],
  ['1QAZ2wsx3EDC', /commonest/],
  ['Password1234', /commonest/],
  ['P@ssw0rd2026!', /commonest/],
  ['...welcome123', /commonest/],
  ['Anna.Example1', /your own name/],
  ['annaexample!!', /your own name/],
  ['Tocsin-2026-2027', /your own name/],
])('%s is refused', async (password, reason) => {
  expect(await passwordFault(password, ANNA)).toMatch(reason);
});

test.each([
  'correct horse battery staple',
  'qZ7rT2mN4xW9bK',
  'a long password',
  'MyDogIsCalledRex',
  'пароль из слов 7',
])('%s is taken', async (password) => {
  expect(await passwordFault(password, ANNA)).toBeNull();
});
