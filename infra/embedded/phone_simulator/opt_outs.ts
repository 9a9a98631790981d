const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE']);
const START = new Set(['START', 'YES', 'UNSTOP']);
const HELP = new Set(['HELP', 'INFO']);

/** Twilio's own answers; an application never sees them. */
const ANSWERS = {
  stop:
    'You have successfully been unsubscribed. You will not receive any more messages from this number. ' +
    'Reply START to resubscribe.',
  start:
    'You have successfully been re-subscribed to messages from this number. Reply HELP for help. ' +
    'Reply STOP to unsubscribe. Msg&Data Rates May Apply.',
  help: 'Reply STOP to unsubscribe. Msg&Data Rates May Apply.',
} as const;

type Keyword = keyof typeof ANSWERS;

/** The people who have stopped messages from a number of the account. */
export class OptOuts {
  readonly #pairs = new Set<string>();

  has(person: string, accountNumber: string): boolean {
    return this.#pairs.has(`${person} ${accountNumber}`);
  }

  add(person: string, accountNumber: string): void {
    this.#pairs.add(`${person} ${accountNumber}`);
  }

  remove(person: string, accountNumber: string): void {
    this.#pairs.delete(`${person} ${accountNumber}`);
  }

  clear(): void {
    this.#pairs.clear();
  }
}

/** The network's keyword, when the whole text is one; null for ordinary texts. */
export function findKeyword(text: string): Keyword | null {
  const word = text.trim().toUpperCase();
  if (STOP.has(word)) return 'stop';
  if (START.has(word)) return 'start';
  return HELP.has(word) ? 'help' : null;
}

export const keywordAnswer = (keyword: Keyword): string => ANSWERS[keyword];
