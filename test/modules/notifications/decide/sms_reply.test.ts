import { expect, test } from 'vitest';

import { asksToStop, parseOptOut, parseSmsReply } from '#modules/notifications/decide/sms_reply.ts';

const commands =
  (kind: string) =>
  (numbers: number | number[], pin: string | null = null) => ({ kind, numbers: [numbers].flat(), pin });
const [acknowledges, resolves] = [commands('acknowledge'), commands('resolve')];

test.each([
  ['ACK 1234', acknowledges(1234)],
  ['ACK1234', acknowledges(1234)],
  ['Ack1234.', acknowledges(1234)],
  ['ack 1234 thanks', acknowledges(1234)],
  ['ack 1234, on it in 5 minutes', acknowledges(1234)],
  ['ACK 1234\n--\nSent from my phone', acknowledges(1234)],
  ['ACK 1234\r\n\r\nAnna Berg, +31 6 1234 5678', acknowledges(1234)],
  ['ACK 1234\n> Reply ACK 1299 or RES 1299', acknowledges(1234)],
  ['ACK 1234\n\ncheckout: it is slow\nReply ACK 1234 or RES 1234 https://t.example.com/a/0', acknowledges(1234)],
  ['Ack: #1234', acknowledges(1234)],
  ['1234 ack', acknowledges(1234)],
  ['1234ack!', acknowledges(1234)],
  ['#1234: Acknowledged', acknowledges(1234)],
  ['"ACK 1234"', acknowledges(1234)],
  ['ack incident no. 1234', acknowledges(1234)],
  ['ＡＣＫ　１２３４', acknowledges(1234)],
  ['ACK ١٢٣٤', acknowledges(1234)],
  ['\u200eACK\u00a01234', acknowledges(1234)],
  ['ack 1234 0815', acknowledges(1234, '0815')],
  ['ACK1234 0815 thanks', acknowledges(1234, '0815')],
  ['1234 ack 0815', acknowledges(1234, '0815')],
  ['ack 1234 pin 0815', acknowledges(1234, '0815')],
  ['ACK 1234 PIN: 0815', acknowledges(1234, '0815')],
  ['ack all pin 0815', { kind: 'acknowledge_all', pin: '0815' }],
  ['res #1234', resolves(1234)],
  ['RES1234', resolves(1234)],
  ['resolved 1234, it was the disk', resolves(1234)],
  ['1234 RES', resolves(1234)],
  ['yes7', { kind: 'yes', number: 7, pin: null }],
  ['NO 7.', { kind: 'no', number: 7, pin: null }],
  ['ack all', { kind: 'acknowledge_all', pin: null }],
  ['ACKALL 0815 thanks', { kind: 'acknowledge_all', pin: '0815' }],
  ['All ack', { kind: 'acknowledge_all', pin: null }],
  ['Ack', { kind: 'acknowledge_only', pin: null }],
  ['acknowledged, thanks!\n\nAnna', { kind: 'acknowledge_only', pin: null }],
  ['Ack\n247', acknowledges(247)],
  ['247\nACK', acknowledges(247)],
  ['res\n247 0815', resolves(247, '0815')],
  ['Hi, please ack 247', acknowledges(247)],
  ['Re: ACK 247', acknowledges(247)],
  ["ack'd 247", acknowledges(247)],
  ['acknowledging 247', acknowledges(247)],
  ['\u0410\u0421\u041a 247', acknowledges(247)],
  ['ack 2\ufe0f\u20e34\ufe0f\u20e37\ufe0f\u20e3', acknowledges(247)],
  ['ACK 247 ACK 247', acknowledges(247)],
  ['Acking 247', acknowledges(247)],
  ['ack’ed 247', acknowledges(247)],
  ['Aknowledge 247', acknowledges(247)],
  ['Reply ACK 247', acknowledges(247)],
  ['Yes, ack 247', acknowledges(247)],
  ["Thanks, I'll ack 247", acknowledges(247)],
  ['ack n° 247', acknowledges(247)],
  ['ack the incident 247', acknowledges(247)],
  ['ack alert #247', acknowledges(247)],
  ['ack INC247', acknowledges(247)],
  ['INC-247 ack', acknowledges(247)],
  ['Incident 247: resolved', resolves(247)],
  ['yes 247', { kind: 'yes', number: 247, pin: null }],
  ['ACK 247\nACK 247', acknowledges(247)],
  ['ack everything', { kind: 'acknowledge_all', pin: null }],
  ['ack 1234,1235', acknowledges([1234], '1235')],
  ['ack 1234 and 1235', acknowledges([1234, 1235])],
  ['1234 1235 ack', acknowledges([1234, 1235])],
  ['ack 12 13', acknowledges([12, 13])],
  ['ack 12, 13 and 14, thanks', acknowledges([12, 13, 14])],
  ['Ack 12 und 13', acknowledges([12, 13])],
  ['ack #12 #13', acknowledges([12, 13])],
  ['ack 12 and incident 13', acknowledges([12, 13])],
  ['ack 247/248', acknowledges([247, 248])],
  ['ACK12,ACK13', acknowledges([12, 13])],
  ['ACK 12\nACK 13', acknowledges([12, 13])],
  ['ACK 12\n13', acknowledges([12, 13])],
  ['12 & 13 res 0815', resolves([12, 13], '0815')],
  ['res 1234 1235 0815', resolves([1234, 1235], '0815')],
  ['ACK 1234\n0612345678', acknowledges(1234)],
  ['ack 12, not 13', acknowledges(12)],
  ['\u21161234 ack', acknowledges(1234)],
  ['No. 1234 ack', acknowledges(1234)],
  ['ack 247,248', acknowledges([247, 248])],
  ['Ack, on it. Thank you', { kind: 'acknowledge_only', pin: null }],
])('%j is read', (text, expected) => {
  expect(parseSmsReply(text)).toEqual(expected);
});

test.each([
  'what?',
  'ACK 12 or RES 12',
  'ack 12-15',
  'ack 1,234',
  'ack 1 234',
  'ack 12, 3 hosts are down',
  'ack 12 and 5 minutes',
  'ack 12, 13 is not mine',
  'ack 12 0815 13',
  'ack 12 +31 6 1234 5678',
  'yes 7 8',
  'ACK 12\nRES 13',
  "don't ack 1234",
  'Non 247',
  'We will not ack 247',
  'Yes, but ack 247?',
  'ack, all good here 12',
  'acknowledgement 12',
  'ACK 12b',
  'res',
  'ack?? not me',
  'ack\nnot me, Bob has it',
  "ack but I can't look",
  'Ack, back in 5',
  'I will not ack 247',
  'Liked "Reply ACK 247 or RES 247"',
  'Liked "checkout: it is slow\nReply ACK 247 or RES 247 https://t.example.com/a/0"',
  '1234',
  '',
])('%j is ambiguous or says nothing', (text) => {
  expect(parseSmsReply(text)).toEqual({ kind: 'unknown' });
});

test.each([
  ['STOP', 'stop'],
  [' stopall\n', 'stop'],
  ['ＳＴＯＰ', 'stop'],
  ['UnStop', 'start'],
  ['yes', 'yes'],
  ['Stop.', null],
  ['start please', null],
])('the network obeys %j as %s', (text, expected) => {
  expect(parseOptOut(text)).toBe(expected);
});

test.each(['Stop.', '"STOP"', 'stop please', 'STOP ALL', 'opt out', 'ARRÊT', 'arret', 'STOP\n\nSent from my phone'])(
  '%j asks to stop in words that no network obeys',
  (text) => {
    expect(asksToStop(text)).toBe(true);
    expect(parseSmsReply(text)).toEqual({ kind: 'unknown' });
  },
);

test.each(['ACK 1', 'stop 247', 'the end of it', 'did you stop it'])('%j does not ask to stop', (text) => {
  expect(asksToStop(text)).toBe(false);
});
