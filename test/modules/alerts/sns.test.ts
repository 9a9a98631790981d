import { expect, test } from 'vitest';

import { AlertExchange } from '#entry/http/ingest/alert_exchange.ts';
import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { AlertIntake } from '#ingest/alert_intake.ts';
import { SNS_ENDPOINT } from '#ingest/protocols/alerts/sns.ts';
import { IngestCounters } from '#ingest/ingest_counters.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { alertedService } from '#test/kit/alert_senders.ts';
import { CERTIFICATE_URL, makeSnsTopic } from '#test/kit/sns_topic.ts';

const ALARM = {
  AlarmName: 'queue-depth',
  AlarmDescription: 'Orders wait',
  NewStateValue: 'ALARM',
  NewStateReason: 'Threshold Crossed: 1 datapoint [812.0] was greater than the threshold (500.0).',
  StateChangeTime: '2026-11-28T12:00:00.000+0000',
  AlarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:queue-depth',
  Region: 'EU (Ireland)',
};

const topic = makeSnsTopic();

/** A service that is subscribed to the topic, with what was opened outside. */
async function subscribed() {
  const alerted = await alertedService();
  const { w, serviceId, key, send } = alerted;
  // The certificate is valid from now on, and the clock of tests stands still.
  w.clock.advance({ minutes: 1 });
  const opened: string[] = [];
  const { db, clock } = w.context;
  const runtime = { db, clock, onOutbox: () => {}, incidentLimit: { incidents: 20, minutes: 5 } };
  const owner = { orgId: w.orgId, serviceId };
  const exchange = new AlertExchange({
    db,
    clock,
    log: silentLog,
    intake: new AlertIntake({ take: (sent) => takeAlerts(runtime, sent), mayRetry: () => false, log: silentLog }),
    rates: { spend: async (_service: string, _count: number, work: () => Promise<void>) => await work() } as never,
    counters: new IngestCounters(),
    cipher: w.context.actions.cipher,
    fetchOutside: async (url) => {
      opened.push(url);
      if (url.includes('us-east-1')) throw new Error('away');
      return new Response(url === CERTIFICATE_URL ? topic.certificate : '<ok/>');
    },
    takeHeartbeat: async () => {},
    recordDeploy: async () => {},
  });
  const take = async (body: unknown, headers = {}): Promise<unknown> => {
    try {
      const request = { method: 'POST', address: '', path: { key }, query: new URLSearchParams(), headers };
      const reading = await SNS_ENDPOINT.read({ ...request, body, now: clock.now() }, owner);
      return (await exchange.runApproved(owner, 'sns', reading, { requestId: 'r', address: null })).body;
    } catch (error) {
      return error instanceof AppError ? error.code : error;
    }
  };
  return { ...alerted, opened, take, post: (body: unknown) => send(`/sns/${key}`, body, { authorization: null }) };
}

test('an alarm of CloudWatch pages and resolves, signed by either version', async () => {
  const { w, take, incidents, opened } = await subscribed();
  const alarm = (changes: object) => JSON.stringify({ ...ALARM, ...changes });
  expect(await take(topic.sign({ Subject: 'ALARM: "queue-depth"', Message: alarm({}) }, '1'))).toEqual({
    status: 'success',
  });
  expect(await incidents()).toMatchObject([
    {
      title: expect.stringContaining('queue-depth'),
      status: 'triggered',
      details: { source: { protocol: 'sns', name: 'alarms' }, links: [{ text: 'Alarm' }] },
    },
  ]);
  expect(await take(topic.sign({ Message: alarm({ NewStateValue: 'INSUFFICIENT_DATA' }) }))).toEqual({
    status: 'ignored',
  });
  const ok = { NewStateValue: 'OK', StateChangeTime: '2026-11-28T12:05:00.000+0000' };
  expect(await take(topic.sign({ Message: alarm(ok) }))).toEqual({ status: 'success' });
  expect((await incidents())[0].status).toBe('resolved');
  // Fetched once.
  expect(opened).toEqual([CERTIFICATE_URL]);
  expect(await take(topic.sign({ Subject: 'Backup failed', Message: 'Exit status 3\nmore' }))).toEqual({
    status: 'success',
  });
  expect((await incidents())[0].title).toBe('Backup failed');
  await w.runUntilIdle();
});

test('a subscription is confirmed at SNS itself and nowhere else', async () => {
  const { take, opened } = await subscribed();
  const confirmation = {
    Type: 'SubscriptionConfirmation',
    Token: 't',
    Message: 'You have chosen to subscribe.',
    SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t',
  };
  expect(await take(topic.sign(confirmation))).toEqual({ status: 'confirmed' });
  expect(opened).toEqual([CERTIFICATE_URL, confirmation.SubscribeURL]);
  for (const SubscribeURL of [
    'http://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription',
    'https://sns.eu-west-1.amazonaws.com.example.com/?Action=ConfirmSubscription',
    'https://169.254.169.254/latest/meta-data/',
    'https://sns.eu-west-1.amazonaws.com:8443/',
    'https://a@sns.eu-west-1.amazonaws.com/',
    'https://s3.eu-west-1.amazonaws.com/',
    'nonsense',
  ]) {
    expect(await take(topic.sign({ ...confirmation, SubscribeURL })), SubscribeURL).toBe('forbidden');
  }
  expect(opened).toHaveLength(2);
  expect(await take(topic.sign({ ...confirmation, Type: 'UnsubscribeConfirmation' }))).toEqual({ status: 'ignored' });
});

test('what is not signed by SNS is refused, and what cannot be checked now is to be sent again', async () => {
  const { take, opened, incidents, post, key, send } = await subscribed();
  const message = topic.sign({ Message: JSON.stringify(ALARM) });
  expect(await take({ ...message, Message: 'other' })).toBe('forbidden');
  expect(await take({ ...message, SignatureVersion: '1' })).toBe('forbidden');
  expect(await take({ ...message, Signature: '' })).toBe('forbidden');
  expect(await take({ ...message, SignatureVersion: '3' })).toBe('invalid_input');
  expect(await take(makeSnsTopic().sign({ Message: 'x' }))).toBe('forbidden');
  const before = opened.length;
  for (const SigningCertURL of [
    'https://example.com/a.pem',
    'https://sns.eu-west-1.amazonaws.com/',
    'http://127.0.0.1/a.pem',
  ]) {
    expect(await take(topic.sign({ Message: 'x', SigningCertURL })), SigningCertURL).toBe('forbidden');
  }
  expect(opened).toHaveLength(before);
  const away = 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem';
  expect(await take(topic.sign({ Message: 'x', SigningCertURL: away }))).toBe('unavailable');
  expect(await incidents()).toEqual([]);
  expect((await post({ Type: 'Notification' })).body).toMatchObject({
    status: 'error',
    message: expect.stringContaining('Signature'),
  });
  const raw = await send(`/sns/${key}`, ALARM, { authorization: null, headers: { 'x-amz-sns-rawdelivery': 'true' } });
  expect(raw).toMatchObject({ status: 400, body: { message: expect.stringContaining('raw message delivery') } });
  expect((await send(`/sns/${'a'.repeat(32)}`, message, { authorization: null })).status).toBe(401);
});
