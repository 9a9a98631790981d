import { afterEach, expect, test } from 'vitest';

import { draftKey, readDraft, removeAllDrafts, writeDraft } from '#console/components/forms/draft_store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2027-02-03T02:00:00Z');
const draftAt = (at: number, text = 'checkout') => ({ at, base: { name: '' }, values: { name: text } });
const keyOf = (form: string) => draftKey('user_1', 'org_1', form);

afterEach(() => localStorage.clear());

test('a draft is kept for its person, organization and form, for a week', () => {
  writeDraft(keyOf('create_service'), draftAt(NOW));
  expect(readDraft(keyOf('create_service'), NOW + 6 * DAY_MS)?.values).toEqual({ name: 'checkout' });
  expect(readDraft(keyOf('create_service'), NOW + 8 * DAY_MS)).toBeNull();
  expect(readDraft(draftKey('user_2', 'org_1', 'create_service'), NOW)).toBeNull();
  expect(readDraft(draftKey('user_1', 'org_2', 'create_service'), NOW)).toBeNull();
});

test.each([
  ['one of our secrets', `tocsin_key_${'a'.repeat(20)}`],
  ['more than 50,000 characters', 'a'.repeat(50_001)],
])('nothing with %s is stored, and what was stored before is gone', (_what, text) => {
  writeDraft(keyOf('a'), draftAt(NOW));
  writeDraft(keyOf('a'), draftAt(NOW, text));
  expect(localStorage).toHaveLength(0);
});

test('there are never more than 30 drafts: the oldest goes first, and other data stays', () => {
  localStorage.setItem('tocsin-organization', 'org_1');
  for (let index = 0; index < 40; index += 1) writeDraft(keyOf(`form ${index}`), draftAt(NOW + index));
  expect(localStorage).toHaveLength(31);
  expect(readDraft(keyOf('form 9'), NOW)).toBeNull();
  expect(readDraft(keyOf('form 10'), NOW)).not.toBeNull();
  removeAllDrafts();
  expect(Object.keys(localStorage)).toEqual(['tocsin-organization']);
});

test('what is not a draft is ignored', () => {
  for (const text of ['', '{', '[]', 'null', '{"at":1}', '{"at":"1","base":{},"values":{}}']) {
    localStorage.setItem(keyOf('a'), text);
    expect(readDraft(keyOf('a'), NOW)).toBeNull();
  }
});
