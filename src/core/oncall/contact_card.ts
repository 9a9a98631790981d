/** Who messages come from, for the address book of a phone. */
export interface Senders {
  /** E.164. */
  readonly phones: readonly string[];
  readonly emails: readonly string[];
}

/**
 * A vCard 3.0, which every phone reads. A contact that is in the address book may be let through while Do Not Disturb is
 * on.
 */
export function contactCardOf(name: string, { phones, emails }: Senders): string {
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `FN:${escaped(name)}`,
    `N:${escaped(name)};;;;`,
    `ORG:${escaped(name)}`,
    ...phones.map((phone) => `TEL;TYPE=WORK,VOICE:${escaped(phone)}`),
    ...emails.map((email) => `EMAIL;TYPE=INTERNET:${escaped(email)}`),
    'NOTE:Pages about incidents come from here. Let this contact through while Do Not Disturb is on.',
    'END:VCARD',
  ];
  return lines.map((line) => `${line}\r\n`).join('');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\,;]/g, String.raw`\$&`).replaceAll(/[\r\n]+/g, ' ');
}
