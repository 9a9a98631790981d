import { expect, test } from 'vitest';

import { isolateBidi, withoutBidiControls } from '#console/components/text/bidi.ts';

test.each([
  ['checkout', 'checkout'],
  ['תשלומים', '\u2068תשלומים\u2069'],
  ['מ\u2069\u202Ex', '\u2068מx\u2069'],
  ['\u202Echeckout', 'checkout'],
])('the name %j is isolated as %j', (name, isolated) => expect(isolateBidi(name)).toBe(isolated));

test('characters that change the direction are removed', () => {
  expect(withoutBidiControls('\u202Aa\u202Eb\u2066c\u2069')).toBe('abc');
});
