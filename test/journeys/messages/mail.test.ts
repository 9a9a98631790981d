import { beforeAll, describe, expect, test } from 'vitest';

import { storesOf } from '#modules/stores.ts';
import { sendMail } from '#notify/mail/send_mail.ts';
import { altered } from '#test/auth/altered.ts';
import { openMany } from '#test/kit/many_incidents.ts';
import { type Mail, startMailServer } from '#test/kit/programs/mail_server.ts';
import { type Alert, type Responder, staffedWorld } from '#test/kit/staffed_world.ts';
import { closedByFile } from '#test/kit/used_in_turn.ts';

const post = await closedByFile(startMailServer({ keepOpen: true }));
const settings = { smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>' };
const w = await closedByFile(staffedWorld({ settings, keepOpen: true }));

interface Mailed {
  readonly anna: Responder;
  readonly bram: Responder;
  readonly alert: Alert;
}

/** Anna is mailed at once; Bram gets an SMS after a quarter of an hour. */
async function annaIsMailed(): Promise<Mailed> {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['email'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['email', 'sms'], targetUserIds: [anna.userId, bram.userId] },
  ]);
  return { anna, bram, alert };
}

const mailsTo = ({ email }: Responder) => post.mails.filter(({ recipients }) => recipients.includes(email));

const header = (mail: Mail, key: string) => mail.headers.find((found) => found.key === key)?.value;

/** Follows a link of a mail, as a browser does. */
async function follow(link: string | undefined, method: 'GET' | 'POST' = 'GET') {
  const url = link?.replace('http://tocsin.test', '') ?? '';
  const form = method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const { statusCode, body, headers } = await w.app.inject({ method, url, headers: form, payload: '' });
  return { status: statusCode, body, headers };
}

const audited = () =>
  w.context.db.sql.rows<{ action: string; result: string; via: string; actor: object; after: object }>(
    `select action, result, via, actor, after from audit_log where action in ('acknowledge_incident', 'resolve_incident', 'delete_incident') order by id`,
  );

describe('a page by mail', () => {
  let anna: Responder;
  let incidentId: string;
  let mail: Mail;
  let links: Record<string, string>;
  const incident = () => w.expectOk('get_incident', { incidentId });

  beforeAll(async () => {
    const mailed = await annaIsMailed();
    anna = mailed.anna;
    incidentId = await mailed.alert.trigger('latency is 250 <b>(> 100)</b>');
    await w.runUntilIdle();
    mail = post.mails[0]!;
    links = post.linksOf(mail);
  });

  test('says what happened, in text and in HTML without injection', () => {
    expect(mail).toMatchObject({
      recipients: [anna.email],
      from: { name: 'Tocsin', address: 'tocsin@example.com' },
      subject: expect.stringMatching(/^\[Tocsin\] checkout: latency is 250 <b>\(> 100\)<\/b> \(#\d+\)$/),
    });
    expect(header(mail, 'auto-submitted')).toBe('auto-generated');
    expect(mail.text).toContain('severity error');
    expect(mail.html).toContain('latency is 250 &lt;b&gt;(&gt; 100)&lt;/b&gt;');
    expect(mail.html).not.toContain('<b>');
    expect(links['Open']).toBe(`http://tocsin.test/incidents/${incidentId}?org=${w.orgId}`);
  });

  test('is in the log as sent, with its Message-ID', async () => {
    const { notifications } = await incident();
    expect(notifications).toMatchObject([{ channel: 'email', status: 'sent', providerId: mail.messageId }]);
    expect(notifications[0].to).toMatch(/^a•••@/);
  });

  test('has links that only ask once they are opened, so that a mail scanner changes nothing', async () => {
    const page = await follow(links['Acknowledge']);
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('<button>Acknowledge</button>') });
    expect(page.body).toContain('latency is 250 &lt;b&gt;');
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action/,
    );
    expect((await incident()).status).toBe('triggered');
  });

  test.each([
    ['cut off', (link: string) => link.slice(0, -1)],
    ['altered', altered],
    ['turned from acknowledging to resolving', (link: string) => link.replace('/acknowledge/', '/resolve/')],
    ['given a longer life', (link: string) => link.replace(/\/(\d{10})\./, (_, seconds) => `/${Number(seconds) + 1}.`)],
    ['made to do something else', (link: string) => link.replace('/acknowledge/', '/delete/')],
  ])('has a link that is refused once it was %s, and the refusal is audited', async (_how, alter) => {
    const before = (await audited()).length;
    for (const method of ['GET', 'POST'] as const) {
      const answer = await follow(alter(links['Acknowledge']!), method);
      expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('not valid') });
    }
    expect((await incident()).status).toBe('triggered');
    expect((await audited()).slice(before)).toMatchObject([
      { result: 'forbidden', via: 'email', actor: { kind: 'unknown' }, after: { why: 'forged link' } },
      { result: 'forbidden' },
    ]);
  });

  test('has a link that is rejected in the same way if it names no message', async () => {
    const nobody = links['Acknowledge']!.replace(/notification_\w+/, 'notification_01h455vb4pex5vsknk084sn02q');
    expect(await follow(nobody, 'POST')).toMatchObject({ status: 403 });
  });

  test('has links that neither act nor show the incident while its person may change nothing, or has left', async () => {
    const { userId } = anna;
    const { people } = storesOf(w.context.db.session());
    const isRefused = async () => {
      for (const method of ['GET', 'POST'] as const) {
        const { status, body } = await follow(links['Acknowledge'], method);
        expect(status).toBe(403);
        for (const word of ['checkout', 'latency']) expect(body).not.toContain(word);
      }
    };
    const setRole = (role: string) =>
      w.context.db.sql.run('update memberships set role = $2 where user_id = $1', [userId, role]);
    await setRole('viewer');
    expect(await follow(links['Acknowledge'], 'POST')).toMatchObject({ status: 403 });
    const membership = await w.context.db.sql.row('select * from memberships where user_id = $1', [userId]);
    await people.removeMembership(w.orgId, userId);
    await isRefused();
    await w.context.db.sql.run('insert into memberships select * from json_populate_record(null::memberships, $1)', [
      JSON.stringify(membership),
    ]);
    await setRole('responder');
    expect((await incident()).status).toBe('triggered');
  });

  test('acknowledges as the person who was paged once they confirm, and the escalation pauses', async () => {
    const before = (await audited()).length;
    const answer = await follow(links['Acknowledge'], 'POST');
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('Acknowledged. Thank you.') });
    const acknowledged = await incident();
    expect(acknowledged).toMatchObject({
      status: 'acknowledged',
      acknowledgedBy: { userId: anna.userId, via: 'email' },
      escalation: { state: 'paused' },
    });
    expect(acknowledged.timeline.at(-1).text).toBe('Acknowledged by Anna by mail; escalation is paused.');
    expect((await audited()).slice(before)).toMatchObject([
      { action: 'acknowledge_incident', result: 'done', via: 'email' },
    ]);
  });

  test('changes nothing more if it is confirmed twice, and a late acknowledgement of a resolved incident says so', async () => {
    await follow(links['Resolve'], 'POST');
    const { resolvedAt } = await incident();
    w.clock.advance({ minutes: 1 });
    expect(await follow(links['Resolve'], 'POST')).toMatchObject({ status: 200 });
    expect(await follow(links['Acknowledge'], 'POST')).toMatchObject({
      status: 409,
      body: expect.stringContaining('resolved already'),
    });
    expect((await follow(links['Acknowledge'])).body).not.toContain('<button>');
    expect(await incident()).toMatchObject({ status: 'resolved', resolvedAt });
  });

  test('has links that work for seven days and not a second longer', async () => {
    const before = (await audited()).length;
    w.clock.advance({ hours: 7 * 24 - 1, minutes: 58, seconds: 59 });
    expect((await follow(links['Resolve'])).status).toBe(200);
    w.clock.advance({ seconds: 2 });
    expect(await follow(links['Resolve'], 'POST')).toMatchObject({
      status: 403,
      body: expect.stringContaining('expired'),
    });
    expect((await audited()).slice(before)).toMatchObject([{ result: 'forbidden', after: { why: 'expired link' } }]);
  });
});

test('all mails about one incident are one thread, separate from those about another', async () => {
  const { anna, alert } = await annaIsMailed();
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ minutes: 15 });
  await w.expectOk('resolve_incident', { incidentId });
  await alert.trigger();
  await w.runUntilIdle();
  const mails = mailsTo(anna);
  const [first, second, , ...rest] = mails.map((mail) => [mail.references, mail.inReplyTo, mail.messageId]);
  expect(second?.slice(0, 2)).toEqual(first?.slice(0, 2));
  expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(mails.length);
  expect(rest.map(([references]) => references)).not.toContain(first?.[0]);
});

test('a digest has links for each incident, and one for all', async () => {
  const { anna, alert } = await annaIsMailed();
  const incidentIds = await openMany(w, alert, 6);
  await w.runUntilIdle();
  await w.advance({ minutes: 1 });
  const mail = mailsTo(anna)[3]!;
  expect(mail.subject).toBe('[Tocsin] 3 more incidents');
  expect(mail.text?.match(/^Acknowledge: /gm)).toHaveLength(3);
  const resolve = /^Resolve: (\S+)$/m.exec(mail.text ?? '')?.[1];
  expect((await follow(resolve, 'POST')).body).toContain('Resolved. Thank you.');
  const all = post.linksOf(mail)['Acknowledge all of them'];
  expect((await follow(all)).body).toContain('Acknowledge 2 incidents?');
  expect((await follow(all, 'POST')).body).toContain('Acknowledged 2 incidents. Thank you.');
  expect((await follow(all)).body).toContain('nothing left to do');
  const statuses = await w.context.db.sql.rows<{ status: string }>(
    'select status from incidents where id = any($1) order by status',
    [incidentIds],
  );
  expect(statuses.map(({ status }) => status).join(' ')).toBe(
    'acknowledged acknowledged resolved triggered triggered triggered',
  );
});

describe('the answer of a mail server', () => {
  const sent = (url: string) =>
    sendMail(
      { url, from: 'tocsin@example.com', ca: null },
      { to: 'anna@example.com', messageId: '<1@tocsin.test>', subject: 's', text: 't', html: 't', priority: 'normal' },
    );

  test.each([
    [550, '', 'recipient', 'bad_address'],
    [550, '5.1.1 user unknown', 'recipient', 'bad_address'],
    [550, '5.7.1 unable to relay', 'recipient', 'provider_refuses_mail'],
    [553, '5.7.1 sender address rejected: not owned by user', 'recipient', 'provider_refuses_mail'],
    [554, '5.7.1 relay access denied', 'recipient', 'provider_refuses_mail'],
    [554, '5.1.1 no such user', 'recipient', 'bad_address'],
    [550, '5.2.2 over quota', 'recipient', 'mailbox_full'],
    [554, '', 'data', 'provider_refused_554'],
  ] as const)('%i %s after the %s is told as %s (RFC 3463)', async (code, text, stage, reason) => {
    const post = await startMailServer();
    post.refuse(code, stage, 1, text);
    expect(await sent(post.url)).toEqual({ kind: 'rejected', reason });
  });

  test.each([
    ['wants a password that is not set', '', 'provider_refused_530'],
    ['does not take the password', 'tocsin:wrong@', 'provider_refused_credentials'],
  ])('that %s is final, and told without the password', async (_what, credentials, reason) => {
    const post = await startMailServer();
    post.lock();
    const url = post.url.replace('smtp://', `smtp://${credentials}`);
    expect(await sent(url)).toEqual({ kind: 'rejected', reason });
  });

  test('is waited for again where there is none at all', async () => {
    expect(await sent('smtp://127.0.0.1:1')).toEqual({ kind: 'retry', reason: 'provider_unreachable' });
  });

  describe('decides whether a page by mail is sent again, and when the next step fires', () => {
    /** Pages somebody, once the server answers so. */
    const page = async (answers: () => void) => {
      const { anna, bram, alert } = await annaIsMailed();
      const { connections } = post;
      answers();
      const incidentId = await alert.trigger();
      await w.runUntilIdle();
      return {
        entry: async () => (await w.expectOk('get_incident', { incidentId })).notifications[0],
        connections: () => post.connections - connections,
        mails: () => mailsTo(anna).length,
        isBramPaged: () => w.phone.messages.some(({ to }) => to === bram.phone),
      };
    };

    test('a connection that breaks after the body is not tried again', async () => {
      const unheard = await page(() => post.breakOff('data'));
      await w.advance({ minutes: 1 });
      // It may have accepted the mail, and a second one could not be recognized.
      expect(await unheard.entry()).toMatchObject({ status: 'sent', reason: 'unconfirmed', attempts: 1 });
      expect(unheard.connections()).toBe(1);
    });

    test('a mail that was not taken is sent again', async () => {
      const broken = await page(() => post.breakOff('recipient'));
      await w.advance({ seconds: 2 });
      expect(await broken.entry()).toMatchObject({ status: 'sent', reason: null, attempts: 2 });
      expect(broken.mails()).toBe(1);

      const busy = await page(() => post.refuse(451, 'recipient', 2));
      await w.advance({ seconds: 2 });
      await w.advance({ seconds: 4 });
      expect(await busy.entry()).toMatchObject({ status: 'sent', attempts: 3 });
      expect(busy.mails()).toBe(1);
    });

    test('a refusal fails it, and the next step fires at once', async () => {
      const refused = await page(() => post.refuse(550));
      expect(await refused.entry()).toMatchObject({
        channel: 'email',
        status: 'failed',
        reason: 'bad_address',
        attempts: 1,
      });
      expect(refused.isBramPaged()).toBe(true);
    });

    test('a server that stays busy is asked for five minutes, then the next step fires', async () => {
      const away = await page(() => post.refuse(451, 'recipient', 99));
      await w.advance({ minutes: 4, seconds: 30 });
      expect(await away.entry()).toMatchObject({ status: 'queued' });
      expect(away.isBramPaged()).toBe(false);
      await w.advance({ minutes: 1, seconds: 30 });
      expect(await away.entry()).toMatchObject({ channel: 'email', status: 'failed', reason: 'provider_busy' });
      expect(away.isBramPaged()).toBe(true);
    });
  });
});
