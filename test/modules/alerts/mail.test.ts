import { expect, test } from 'vitest';

import { readMailed } from '#modules/alerts/decide/mail_alert.ts';
import { setAlertSource } from '#modules/alerts/operations/alert_sources.ts';
import { alertedService } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

/** A mail as a program on a server sends it. */
function mailOf(subject: string, text = '', headers: Readonly<Record<string, string>> = {}): string {
  const all = { From: 'nagios@db-1.example', To: 'alerts@example.com', Subject: subject, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [...lines, '', text].join('\r\n');
}

const raw = { authorization: null, headers: { 'content-type': 'message/rfc822' } };

const NAGIOS = `***** Nagios *****

Notification Type: PROBLEM

Service: Disk /var
Host: db-1
Address: 10.0.0.7
State: CRITICAL

Date/Time: Sun Nov 29 08:00:00 UTC 2026

Additional Info:

DISK CRITICAL - free space: /var 12 MB (1%)
`;

const ICINGA = `***** Service Monitoring on monitor-1 *****

Disk /var on db-1 is CRITICAL!

Info:    DISK CRITICAL - free space: /var 12 MB

When:    2026-11-29 08:00:00 +0000
Service: disk
Host:    db-1
IPv4:    10.0.0.7
`;

const MONIT = `Connection failed Service nginx

	Date:        Sun, 29 Nov 2026 08:00:00
	Action:      restart
	Host:        web-1
	Description: failed protocol test [HTTP] at [localhost]:80

Your faithful employee,
Monit
`;

test.each<[string, string, string, object]>([
  [
    'Nagios, a service',
    '** PROBLEM Service Alert: db-1/Disk /var is CRITICAL **',
    NAGIOS,
    {
      action: 'trigger',
      tool: 'Nagios',
      key: 'db-1/Disk /var',
      title: 'Disk /var on db-1 is CRITICAL: DISK CRITICAL - free space: /var 12 MB (1%)',
      severity: 'fatal',
    },
  ],
  [
    'Nagios, its recovery',
    '** RECOVERY Service Alert: db-1/Disk /var is OK **',
    NAGIOS.replaceAll('CRITICAL', 'OK'),
    { action: 'resolve', key: 'db-1/Disk /var' },
  ],
  [
    'Nagios, a host',
    '** PROBLEM Host Alert: db-1 is DOWN **',
    'Notification Type: PROBLEM\nHost: db-1\nState: DOWN\nInfo: PING CRITICAL\n',
    { action: 'trigger', key: 'db-1', title: 'db-1 is DOWN: PING CRITICAL', severity: 'fatal' },
  ],
  ['Nagios, flapping', '** FLAPPINGSTART Host Alert: db-1 is UP **', '', { action: null }],
  [
    'Nagios, an acknowledgement',
    '** ACKNOWLEDGEMENT Service Alert: db-1/Disk /var is CRITICAL **',
    NAGIOS,
    { action: 'acknowledge', key: 'db-1/Disk /var' },
  ],
  [
    'Icinga 2, a service',
    '[PROBLEM] Disk /var on db-1 is CRITICAL!',
    ICINGA,
    { action: 'trigger', tool: 'Icinga', key: 'db-1/disk', severity: 'fatal' },
  ],
  ['Icinga 2, its recovery', '[RECOVERY] Disk /var on db-1 is OK!', ICINGA, { action: 'resolve', key: 'db-1/disk' }],
  ['Icinga 2, a host', '[PROBLEM] Host db-1 is DOWN!', 'Host:    db-1\n', { action: 'trigger', key: 'db-1' }],
  ['Icinga 2, a host is up', '[RECOVERY] Host db-1 is UP!', 'Host:    db-1\n', { action: 'resolve', key: 'db-1' }],
  ['Icinga 2, a downtime', '[DOWNTIMESTART] Host db-1 is UP!', 'Host:    db-1\n', { action: null }],
  [
    'Monit',
    'monit alert --  Connection failed nginx',
    MONIT,
    {
      action: 'trigger',
      tool: 'Monit',
      key: 'web-1/nginx/connection',
      title: 'nginx on web-1: Connection failed, failed protocol test [HTTP] at [localhost]:80',
    },
  ],
  [
    'Monit, its end',
    'monit alert --  Connection succeeded nginx',
    MONIT.replace('Connection failed', 'Connection succeeded'),
    { action: 'resolve', key: 'web-1/nginx/connection' },
  ],
  ['Monit, a process', 'monit alert --  Does not exist sshd', '', { action: 'trigger', key: '/sshd/existence' }],
  ['Monit, a process again', 'monit alert --  Exists sshd', '', { action: 'resolve', key: '/sshd/existence' }],
  ['Monit, a limit', 'monit alert --  Resource limit matched db', '', { action: 'trigger', key: '/db/resource limit' }],
  ['Monit, within it', 'monit alert --  Resource limit succeeded db', '', { key: '/db/resource limit' }],
  ['Monit itself', 'monit alert --  Monit instance changed web-1', '', { action: null }],
  [
    'Xymon',
    'Xymon [123456] db-1:disk CRITICAL (RED)',
    'red Sun Nov 29 - Filesystems NOT ok\n',
    { action: 'trigger', tool: 'Xymon', key: 'db-1:disk', severity: 'fatal' },
  ],
  ['Xymon, a warning', 'Xymon db-1:cpu warning (YELLOW)', '', { action: 'trigger', severity: 'warning' }],
  ['Xymon, its recovery', 'Xymon db-1:disk recovered [cfid:12]', '', { action: 'resolve', key: 'db-1:disk' }],
  [
    'SmokePing',
    '[SmokeAlert] bigloss was raised on Europe.Zurich [from: probe-1]',
    '',
    { action: 'trigger', tool: 'SmokePing', key: 'bigloss@Europe.Zurich' },
  ],
  [
    'SmokePing, its end',
    '[SmokeAlert] bigloss was cleared on Europe.Zurich [from: probe-1]',
    '',
    { action: 'resolve', key: 'bigloss@Europe.Zurich' },
  ],
  ['any tool', '[DOWN] web-1', '', { action: 'trigger', key: 'web-1', severity: 'error' }],
  ['any tool, its end', '[UP] web-1', '', { action: 'resolve', key: 'web-1' }],
  ['a state at the end', 'Backup of db-1 is OK', '', { action: 'resolve', key: 'backup of db-1' }],
  ['a state at the end, wrong', 'Backup of db-1: FAILED', '', { action: 'trigger', key: 'backup of db-1' }],
  [
    'a percentage',
    'WARNING: disk of db-1 at 91 %',
    '',
    { action: 'trigger', key: 'disk of db-1 at', severity: 'warning' },
  ],
  ['a word that is none', 'Back up failed on db-1', '', { action: 'trigger' }],
  ['a setup', 'Setup of normal users failed', '', { action: 'trigger' }],
  ['a reply', 'Re: AW: [DOWN] web-1', '', { action: 'trigger', key: 'web-1' }],
  ['another script', '[Recovered] サーバー停止', '', { action: 'resolve', key: 'サーバー停止' }],
  ['no subject', '', '\nDisk is full\nmore', { action: 'trigger', title: 'Disk is full' }],
])('%s is read from its mail', (_, subject, text, alert) => {
  expect(readMailed({ subject, text })).toMatchObject(alert);
});

test('a mail pages, its recovery resolves, and what follows by other words is another alert', async () => {
  const { w, key, send, incidents } = await alertedService();
  const post = (mail: string | Buffer) => send(`/mail/${key}/nagios`, mail, raw);
  const taken = await post(mailOf('** PROBLEM Service Alert: db-1/Disk /var is CRITICAL **', NAGIOS));
  expect(taken).toMatchObject({ status: 202, body: { status: 'success', dedup_key: 'db-1/Disk /var' } });
  await post(mailOf('** PROBLEM Service Alert: db-1/Disk /var is CRITICAL **', NAGIOS));
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  expect(await incidents()).toMatchObject([{ severity: 'fatal', details: { source: { tool: 'Nagios' } } }]);
  await post(mailOf('** RECOVERY Service Alert: db-1/Disk /var is OK **', NAGIOS));
  expect(await incidents()).toMatchObject([{ status: 'resolved', resolvedBy: { tool: 'Nagios' } }]);
  const html = '<html><style>p{color:red}</style><p>Queue &lt;orders&gt; waits<br>since noon</p></html>';
  await post(mailOf('=?utf-8?B?U3TDtnJ1bmc6IFF1ZXVl?=', html, { 'Content-Type': 'text/html; charset=utf-8' }));
  const [incident] = await incidents();
  expect(incident).toMatchObject({ title: 'Störung: Queue' });
  expect(incident.details.said.text).toMatch(/Queue <orders> waits\s+since noon/);
  await w.runUntilIdle();
});

test('mails that nobody wrote open nothing, and are taken so that no server answers them', async () => {
  const { key, send, incidents } = await alertedService();
  const subject = 'Re: [DOWN] web-1';
  const useless = [
    mailOf(subject, '', { 'Auto-Submitted': 'auto-replied (vacation)' }),
    mailOf(subject, '', { 'X-Autoreply': 'yes' }),
    mailOf(subject, '', { Precedence: 'auto_reply' }),
    mailOf('Out of office: [DOWN] web-1', '', { Precedence: 'bulk' }),
    mailOf('Undelivered Mail', '', { 'Content-Type': 'multipart/report; report-type=delivery-status; boundary=x' }),
    mailOf('Undelivered Mail', '', { From: 'MAILER-DAEMON@mx.example' }),
    mailOf(subject, '', { 'X-Tocsin-Notification': '1', 'Auto-Submitted': 'auto-generated' }),
    `${'Received: from a by b\r\n'.repeat(40)}${mailOf(subject)}`,
  ];
  for (const mail of useless) {
    expect(await send(`/mail/${key}`, mail, raw), mail.slice(0, 80)).toMatchObject({
      status: 202,
      body: { status: 'ignored' },
    });
  }
  expect(await incidents()).toEqual([]);
  // Cron and monitoring tools write by themselves, too, but nobody's mail is answered by them.
  const generated = mailOf('[DOWN] web-1', '', { 'Auto-Submitted': 'auto-generated', Precedence: 'bulk' });
  expect(await send(`/mail/${key}`, generated, raw)).toMatchObject({ body: { status: 'success' } });
  const device = `Return-Path: <>\r\n${mailOf('[DOWN] power of rack 4')}`;
  expect(await send(`/mail/${key}`, device, raw)).toMatchObject({ body: { status: 'success' } });
  expect(await incidents()).toHaveLength(2);
});

test('a mapping of the source says where the parts stand, in the lines of the text, too', async () => {
  const { w, key, serviceId, send, incidents } = await alertedService();
  await send(`/mail/${key}/backups`, mailOf('Nightly report', 'Job: db-1\nResult: failed\n'), raw);
  const [source] = await w.context.db.sql.rows<{ id: string }>('select id from alert_sources where service_id = $1', [
    serviceId,
  ]);
  const mapping = {
    title: ['fields.Job'],
    key: ['fields.Job'],
    status: { path: 'fields.Result', resolved: ['done'], acknowledged: [] },
    severity: [],
    link: [],
    at: [],
  };
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  await runOperation(w, setAlertSource, owner, {
    sourceId: source?.id,
    incidentsPer: 'alert',
    leaseMinutes: null,
    onSilence: 'keep',
    groupMinutes: 0,
    mapping,
  });
  await send(`/mail/${key}/backups`, mailOf('Nightly report', 'Job: db-2\nResult: failed\n'), raw);
  expect((await incidents())[0]).toMatchObject({ title: 'db-2', status: 'triggered' });
  await send(`/mail/${key}/backups`, mailOf('Nightly report', 'Job: db-2\nResult: done\n'), raw);
  expect((await incidents())[0]).toMatchObject({ title: 'db-2', status: 'resolved' });
});

test('what is no mail is refused in words, and no mail takes long or breaks anything', async () => {
  const { key, send, incidents } = await alertedService();
  const post = (mail: string | Buffer) => send(`/mail/${key}`, mail, raw);
  expect(await post('')).toMatchObject({ status: 400, body: { status: 'error' } });
  expect(await post(mailOf('x', 'y'.repeat(1024 * 1024)))).toMatchObject({ status: 413 });
  expect(await post(mailOf('', ''))).toMatchObject({ status: 202 });
  const hostile = [
    Buffer.from([0, 255, 254, 13, 10, 13, 10, 0]),
    mailOf('\0 \u{202E}x\u0007', '\0'),
    mailOf('x', '<'.repeat(500_000), { 'Content-Type': 'text/html' }),
    mailOf('x', '<style'.repeat(100_000), { 'Content-Type': 'text/html' }),
    mailOf('monit alert --  Connection failed x', '\n \t'.repeat(200_000)),
    mailOf(`[PROBLEM] ${'a on '.repeat(5_000)} is X!`, '\n'.repeat(100_000)),
    mailOf(`is ok${' !is ok'.repeat(9_000)}`),
    mailOf('x', '--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n'.repeat(9_000), {
      'Content-Type': 'multipart/mixed; boundary=b',
    }),
    `${'X: y\r\n'.repeat(50_000)}\r\n`,
    mailOf('x', 'a: b\n'.repeat(100_000)),
    mailOf('x', 'aHR0cA', { 'Content-Transfer-Encoding': 'base64', 'Content-Type': 'text/plain; charset=none' }),
    'no header at all',
  ];
  for (const mail of hostile) {
    const { status, body } = await post(mail);
    expect(status < 500, `${status} ${JSON.stringify(body)} ${mail.toString().slice(0, 60)}`).toBe(true);
  }
  expect((await send(`/mail/${'k'.repeat(32)}`, mailOf('x'), raw)).status).toBe(401);
  expect((await incidents()).length).toBeGreaterThan(0);
});
