import { expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';

import { slackFault, slackText, slackTextWithin } from '#notify/places/slack.ts';
import { parseTelegram } from '#notify/places/telegram.ts';
import { webhookHeaders } from '#modules/places/decide/webhook_signature.ts';

test('nothing that a sender wrote is a mention, a link or a command in Slack', () => {
  expect(slackText('<!channel> & <@U1> <https://evil.example|click>')).toBe(
    '&lt;!channel&gt; &amp; &lt;@U1&gt; &lt;https:// evil(.)example|click&gt;',
  );
  expect(slackTextWithin('<'.repeat(100), 20)).toBe('&lt;&lt;&lt;&lt;…');
});

test('the signature of a webhook is the one that the library of Standard Webhooks verifies', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = '{"type":"test"}';
  const headers = webhookHeaders({ id: 'delivery_1', body, sentAtSeconds: Math.floor(Date.now() / 1_000) }, [secret]);
  expect(new Webhook(secret).verify(body, headers)).toEqual({ type: 'test' });
  expect(() => new Webhook(secret).verify('{"type":"other"}', headers)).toThrow('No matching signature found');
});

/** The example of Slack's own documentation. */
test('the signature of Slack is checked as its documentation computes it', () => {
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const sent = {
    timestamp: '1531420618',
    signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  };
  const secret = '8f742231b10e8888abcd99yyyzzz85a5';
  const nowMs = 1_531_420_618_000;
  expect(slackFault(secret, sent, body, nowMs)).toBeNull();
  expect(slackFault(secret, sent, body, nowMs + 301_000)).toBe('stale');
  expect(slackFault(secret, sent, `${body}&text=x`, nowMs)).toBe('forged');
  expect(slackFault(secret, { ...sent, signature: undefined }, body, nowMs)).toBe('unsigned');
});

test('what a vendor sends can be stored, whatever somebody calls themselves there', () => {
  const from = { id: 7, first_name: 'An\0na\ud83d' };
  const message = { message_id: 1, chat: { id: 5 }, from, text: '/oncall link a\0b' };
  const typed = parseTelegram(JSON.stringify({ message }));
  expect(typed).toMatchObject({ kind: 'command', name: 'Anna\uFFFD', text: 'link ab' });
});
