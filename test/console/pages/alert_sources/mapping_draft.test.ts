import { expect, test } from 'vitest';

import {
  draftOfMapping,
  faultsOfMapping,
  fieldsOfBody,
  mappingOfDraft,
  parsedBody,
} from '#console/pages/alert_sources/mapping_draft.ts';
import { readMapped, WEBHOOK_TEMPLATES } from '#modules/alerts/decide/mapping.ts';

test.each(Object.entries(WEBHOOK_TEMPLATES))('the template %s that nobody changes stays as it is', (_, template) => {
  const saved = mappingOfDraft(draftOfMapping(template), template);
  const status = template.status && { ...template.status, acknowledged: template.status.acknowledged ?? [] };
  expect(saved).toEqual({ ...template, status });
});

test('each field of a body can be pointed at, and is then what the mapping finds', () => {
  const body = JSON.stringify({ alert: { name: 'Disk', tags: ['a', 'b'], on: true, none: null }, 'a.b': 1 });
  const fields = fieldsOfBody(body);
  expect(fields).toEqual([
    { path: 'alert.name', value: 'Disk' },
    { path: 'alert.tags.0', value: 'a' },
    { path: 'alert.tags.1', value: 'b' },
    { path: 'alert.on', value: 'true' },
    { path: 'a.b', value: '1' },
  ]);
  const base = WEBHOOK_TEMPLATES.any;
  for (const { path, value } of fields) {
    const draft = draftOfMapping(base);
    const mapping = mappingOfDraft({ ...draft, paths: { ...draft.paths, title: path } }, base);
    expect(readMapped(parsedBody(body)!, mapping).title).toBe(value);
  }
});

test('a body in the field of a form is read, and what is no JSON has no fields', () => {
  expect(fieldsOfBody('data=%7B%22title%22%3A%22Disk%22%7D')).toEqual([{ path: 'title', value: 'Disk' }]);
  for (const body of ['', 'no json', '[1]', '"text"']) expect(fieldsOfBody(body)).toEqual([]);
});

test('a body of many or deep fields shows the first of them', () => {
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, index])));
  expect(fieldsOfBody(many)).toHaveLength(200);
  expect(fieldsOfBody(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`)).toEqual([]);
});

test('a mapping needs a title or a key, and words for the end if it has a status', () => {
  const draft = draftOfMapping(WEBHOOK_TEMPLATES.any);
  const none = { ...draft.paths, title: ' ', key: '' };
  expect(faultsOfMapping(draft)).toEqual({});
  expect(faultsOfMapping({ ...draft, paths: none, resolved: ' , ' })).toEqual({
    title: 'Point at a title or a key',
    resolved: 'Name the words that mean that it is over',
  });
  expect(faultsOfMapping({ ...draft, resolved: '', paths: { ...draft.paths, status: '' } })).toEqual({});
});
