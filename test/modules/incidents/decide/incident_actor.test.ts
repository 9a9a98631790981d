import { expect, test } from 'vitest';

import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { actorText } from '#modules/incidents/decide/incident_actor.ts';
import type { Actor } from '#kernel/caller.ts';
import type { Via } from '#modules/accounts/decide/caller.ts';
import type { Id } from '#kernel/ids.ts';

const ANNA = { kind: 'user', userId: 'user_a' as Id<'user'>, apiKeyId: null } as const;
const KEY = { apiKeyId: 'apikey_k' as Id<'apikey'>, apiKeyName: 'deploy bot' } as const;
const CLAUDE = { connectionId: 'connection_c' as Id<'connection'>, clientName: 'Claude' };

test.each<[Actor, Via, string]>([
  [ANNA, 'sms', 'Anna by SMS'],
  [ANNA, 'console', 'Anna by the console'],
  [{ ...ANNA, ...KEY }, 'rest', 'Anna with the API key "deploy bot"'],
  [{ ...ANNA, ...KEY }, 'mcp', 'Anna with the API key "deploy bot" (MCP)'],
  [{ ...ANNA, connection: CLAUDE }, 'mcp', 'Anna through "Claude" (MCP)'],
  [{ kind: 'api_key', ...KEY }, 'rest', 'the API key "deploy bot"'],
  [{ kind: 'api_key', ...KEY }, 'mcp', 'the API key "deploy bot" (MCP)'],
  [{ kind: 'system' }, 'rule', 'Tocsin itself, as its cause is gone'],
])('%o over %s is told as %s', (actor, via, text) => {
  expect(actorText(toIncidentActor(actor, via), () => 'Anna')).toBe(text);
});

test('incidents from before names were stored are described as well as possible', () => {
  expect(actorText({ apiKeyId: 'apikey_k', via: 'mcp' }, () => 'Anna')).toBe('an API key by an agent (MCP)');
});
