import { expect, test } from 'vitest';

import { passwordFault } from '#auth/passwords.ts';

const ANNA = { email: 'anna.example@northwind.test', name: 'Anna Example' };

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
