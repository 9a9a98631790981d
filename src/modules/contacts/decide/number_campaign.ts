/** Days between two mails to one person, and the number of mails after which nobody is asked again. */
export const ASK_EVERY_DAYS = 3;
export const ASKS_MAX = 5;

export const NUMBER_STATES = ['no_number', 'unconfirmed', 'untested', 'done'] as const;

export type NumberState = (typeof NUMBER_STATES)[number];

/** Returns what a person still has to do: enter a number, confirm it, or receive a test. */
export function numberStateOf(person: {
  readonly hasNumber: boolean;
  readonly hasUnconfirmed: boolean;
  readonly isTested: boolean;
}): NumberState {
  if (!person.hasNumber) return 'no_number';
  if (person.hasUnconfirmed) return 'unconfirmed';
  return person.isTested ? 'done' : 'untested';
}
