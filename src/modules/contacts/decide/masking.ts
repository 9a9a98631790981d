import { type Channel, declarationOf } from './channel.ts';

/** Least number of digits of a number that is partly shown: the rest of a shorter one could be guessed. */
const SHOWN_DIGITS_FROM = 8;

/**
 * Masks an address for logs and answers: enough for its owner to know it, too little for anybody else. The number of
 * dots says nothing about the length. Null stays null: push has no address.
 */
export function maskAddress(channel: Channel, to: string | null): string | null {
  if (to === null) return null;
  switch (declarationOf(channel).addressKind) {
    case 'phone':
      return maskPhone(to);
    case 'email':
      return maskEmail(to);
    case 'browser':
      return null;
  }
}

/** Masks a phone number: "+31612345678" is "+31••••••78". */
export function maskPhone(phone: string): string {
  const digits = phone.replaceAll(/\D/g, '');
  if (digits.length < SHOWN_DIGITS_FROM) return '+••••••';
  return `+${digits.slice(0, 2)}••••••${digits.slice(-2)}`;
}

/** Masks a mail address: "anna@example.com" is "a•••@example.com". */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  if (at === -1) return '•••';
  const [first = '', ...rest] = email.slice(0, at);
  return `${rest.length > 0 ? first : ''}•••${email.slice(at)}`;
}
