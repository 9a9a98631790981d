import { E164_PATTERN } from '#modules/contacts/decide/e164.ts';

const E164 = new RegExp(E164_PATTERN);

export function withoutSeparators(phone: string): string {
  return phone.replaceAll(/[\s().-]/g, '');
}

/** Returns why the text is not a phone number, or null. An empty text is fine: it means no number. */
export function phoneFault(text: string): string | null {
  const phone = withoutSeparators(text);
  return phone === '' || E164.test(phone) ? null : 'Include the country code, such as +31612345678';
}
