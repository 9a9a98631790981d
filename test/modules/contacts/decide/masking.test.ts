import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { E164_PATTERN } from '#modules/contacts/decide/e164.ts';
import { maskAddress, maskEmail, maskPhone } from '#modules/contacts/decide/masking.ts';

describe('a masked address', () => {
  test.each([
    ['+31612345678', '+31••••••78'],
    ['+14155550100', '+14••••••00'],
    ['+4912345', '+••••••'],
    ['', '+••••••'],
  ])('phone %j is %s', (phone, expected) => {
    expect(maskPhone(phone)).toBe(expected);
  });

  test.each([
    ['anna@example.com', 'a•••@example.com'],
    ['a@example.com', '•••@example.com'],
    ['"anna@home"@example.com', '"•••@example.com'],
    ['éva@example.com', 'é•••@example.com'],
    ['🙂x@example.com', '🙂•••@example.com'],
    ['@example.com', '•••@example.com'],
    ['no address', '•••'],
  ])('e-mail %j is %s', (email, expected) => {
    expect(maskEmail(email)).toBe(expected);
  });

  test('is masked by the rule of its channel, and stays null where there is none', () => {
    expect(maskAddress('sms', '+31612345678')).toBe('+31••••••78');
    expect(maskAddress('call', '+31612345678')).toBe('+31••••••78');
    expect(maskAddress('email', 'anna@example.com')).toBe('a•••@example.com');
    expect(maskAddress('push', null)).toBeNull();
  });

  test('shows at most four digits of a number and never as many as it hides', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+[1-9]\d{1,14}$/), (phone) => {
        const shownDigits = maskPhone(phone).replaceAll(/\D/g, '').length;
        expect(shownDigits).toBeLessThanOrEqual(4);
        expect(2 * shownDigits).toBeLessThanOrEqual(phone.length - 1);
      }),
    );
  });
});

describe('E.164', () => {
  test.each(['+31612345678', '+10', '+123456789012345'])('%s is a number', (text) => {
    expect(new RegExp(E164_PATTERN, 'u').test(text)).toBe(true);
  });

  test.each([
    '',
    '+',
    '+1',
    '31612345678',
    '0031612345678',
    '+031612345678',
    '+1234567890123456',
    '+31 6 12345678',
    '+31612345678\n',
    '+3161234567a',
    '+٣١٦١٢٣٤٥٦٧٨',
  ])('%j is none', (text) => {
    expect(new RegExp(E164_PATTERN, 'u').test(text)).toBe(false);
  });
});
