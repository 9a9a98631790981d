import { escapeLineText, foldLine } from '#modules/schedules/decide/content_lines.ts';

/** Senders of messages, for the address book of a phone. */
export interface Senders {
  /** Phone numbers in E.164. */
  readonly phones: readonly string[];
  readonly emails: readonly string[];
}

/**
 * Returns a vCard 3.0, which every phone reads. A contact that is in the address book may be let through while Do Not
 * Disturb is on.
 */
export function contactCardOf(name: string, { phones, emails }: Senders): string {
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `FN:${escapeLineText(name)}`,
    `N:${escapeLineText(name)};;;;`,
    `ORG:${escapeLineText(name)}`,
    ...phones.map((phone) => `TEL;TYPE=WORK,VOICE:${escapeLineText(phone)}`),
    ...emails.map((email) => `EMAIL;TYPE=INTERNET:${escapeLineText(email)}`),
    'NOTE:Pages about incidents come from here. Let this contact through while Do Not Disturb is on.',
    'END:VCARD',
  ];
  return lines.map((line) => `${foldLine(line)}\r\n`).join('');
}
