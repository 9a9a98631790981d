import { Type } from 'typebox';
import { expect, test } from 'vitest';

import { ACTIONS } from '#actions/registry.ts';
import { readAgentInput } from '#entry/http/mcp/agent_input.ts';

const schema = Type.Object(
  {
    serviceId: Type.String(),
    minutes: Type.Optional(Type.Integer()),
    teamId: Type.Optional(Type.String()),
    ratio: Type.Optional(Type.Number()),
    isOn: Type.Optional(Type.Boolean()),
    environment: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    days: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    users: Type.Optional(Type.Array(Type.String())),
    steps: Type.Optional(Type.Array(Type.Object({ after: Type.Integer(), note: Type.Optional(Type.String()) }))),
    level: Type.Optional(Type.Enum(['low', 'high'])),
    query: Type.Optional(Type.Unknown()),
    cursor: Type.Optional(Type.String({ minLength: 1 })),
    from: Type.Optional(Type.String({ format: 'date-time' })),
    note: Type.Optional(Type.String()),
    channels: Type.Optional(Type.Array(Type.Enum(['sms', 'call']))),
    place: Type.Optional(Type.Union([Type.Enum(['in', 'out']), Type.Null()])),
  },
  { additionalProperties: false },
);

test.each([
  [{ minutes: null, level: null, users: null, isOn: null }, {}],
  [null, {}],
  [{ limit: null, serviceId: 'a' }, { serviceId: 'a' }],
  [{ limit: 5 }, { limit: 5 }],
  [
    { note: 247, environment: 7, days: 7, users: [1], serviceId: '' },
    { note: '247', environment: '7', days: 7, users: ['1'], serviceId: '' },
  ],
  [{ teamId: '' }, {}],
  [
    { environment: null, days: null },
    { environment: null, days: null },
  ],
  [{ serviceId: null }, { serviceId: null }],
  [
    { minutes: '60', ratio: '-0.5' },
    { minutes: 60, ratio: -0.5 },
  ],
  [
    { minutes: ' 60 ', days: '7' },
    { minutes: 60, days: 7 },
  ],
  [{ isOn: 'true' }, { isOn: true }],
  [{ isOn: 'False' }, { isOn: false }],
  [{ minutes: 'null', days: 'null' }, { days: null }],
  [{ users: '["a","b"]' }, { users: ['a', 'b'] }],
  [{ steps: '[{"after":"5","note":null}]' }, { steps: [{ after: 5 }] }],
  [{ query: '{"metricName":"a"}' }, { query: { metricName: 'a' } }],
  [{ steps: ['{"after":5}'] }, { steps: [{ after: 5 }] }],
  [{ cursor: '', from: '', minutes: '', level: '', users: '', days: '', isOn: '' }, {}],
  [{ users: 'a' }, { users: ['a'] }],
  [
    { level: ['Low'], minutes: ['60'], serviceId: ' a\n' },
    { level: 'low', minutes: 60, serviceId: 'a' },
  ],
  [
    { level: ['low', 'high'], users: 'a,b' },
    { level: ['low', 'high'], users: ['a,b'] },
  ],
  [{ channels: 'SMS, call' }, { channels: ['sms', 'call'] }],
  [{ channels: 'SMS' }, { channels: ['sms'] }],
  [
    { channels: ['Call', 'sms'], level: 'HIGH', place: 'Out' },
    { channels: ['call', 'sms'], level: 'high', place: 'out' },
  ],
  [{ steps: { after: '5' } }, { steps: [{ after: 5 }] }],
])('%j is read as %j', (sent, meant) => {
  expect(readAgentInput(schema, sent)).toEqual(meant);
});

test.each([
  { serviceId: '60', environment: 'true', level: 'null' },
  { serviceId: '["a"]', users: ['1', 'null'] },
  { minutes: 'an hour', isOn: 'yes', users: '[1', days: '0x10' },
  { serviceId: '', note: '', environment: '', level: 'lower', channels: ['fax'] },
  { unknown: 1, other: '60' },
  { minutes: true, users: { 0: 'a' }, steps: 'soon' },
  { query: 'true' },
  { query: '{broken' },
  7,
  'text',
])('%j stays as it was sent, for the check of every request', (sent) => {
  expect(readAgentInput(schema, sent)).toBe(sent);
});

test('a name that JavaScript has a meaning for stays a name', () => {
  const sent = JSON.parse('{"minutes":"5","__proto__":{"isOn":true}}') as unknown;
  expect(JSON.stringify(readAgentInput(schema, sent))).toBe('{"minutes":5,"__proto__":{"isOn":true}}');
});

test('arguments that are JSON in text are read', () => {
  expect(readAgentInput(schema, '{"minutes":"5"}')).toEqual({ minutes: 5 });
});

test('what is right already reaches every action as it was sent', () => {
  for (const { input, example } of ACTIONS) expect(readAgentInput(input, example)).toBe(example);
});
