import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Certificates, makeCertificates } from '#test/kit/programs/certificates.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { type AlertWorld, alertWorld } from '#test/live/alerts/alert_world.ts';
import {
  installPackages,
  opsgenieSdk,
  pdjs,
  type Sender,
  startAlertmanager,
  startRulers,
  stopSenders,
  zabbix,
} from '#test/live/alerts/senders.ts';
import { startMailSenders } from '#test/live/alerts/mail_senders.ts';
import { isInstalled } from '#test/live/program.ts';

const canRun =
  canRunWith('prometheus-alertmanager', isInstalled('prometheus-alertmanager', '--version')) &&
  canRunWith('victoria-metrics', isInstalled('vmalert', '-version')) &&
  canRunWith('prometheus', isInstalled('prometheus', '--version')) &&
  canRunWith('zabbix-server-pgsql', isInstalled('zabbix_js', '-V'));

/** Both change their user, and Exim takes a configuration of its own from root alone. */
const canMail =
  process.getuid?.() === 0 &&
  canRunWith('exim4-daemon-light', isInstalled('exim4', '-bV')) &&
  canRunWith('bsd-mailx', isInstalled('bsd-mailx', '-V') || isInstalled('which', 'mail')) &&
  canRunWith('icinga2-bin', isInstalled('icinga2', '--version')) &&
  canRunWith('nagios4-core', isInstalled('which', 'nagios4'));

const PATIENTLY = { timeout: 90_000, interval: 200 };

describe.skipIf(!canRun)('tools that are pointed here', () => {
  let world: AlertWorld;
  let certificates: Certificates;
  let senders: ReadonlyMap<string, Sender>;

  beforeAll(async () => {
    certificates = makeCertificates();
    world = await alertWorld(certificates);
    const packages = installPackages();
    const { service } = world;
    const alertmanager = await startAlertmanager({
      webhook: await service('webhook'),
      pagerduty: await service('pagerduty'),
      opsgenie: await service('opsgenie'),
      victorops: await service('victorops'),
    });
    const rulers = await startRulers({ prometheus: await service('prometheus'), vmalert: await service('vmalert') });
    const mailed: Record<string, Sender> = canMail
      ? await startMailSenders({ icinga: await service('icinga'), nagios: await service('nagios') }, world.mailPort)
      : {};
    senders = new Map<string, Sender>([
      ...Object.entries(alertmanager).map(([name, sender]) => [`Alertmanager, ${name}`, sender] as const),
      ...Object.entries(mailed).map(([name, sender]) => [`${name}, by mail`, sender] as const),
      ['Prometheus', rulers.prometheus],
      ['vmalert', rulers.vmalert],
      ['pdjs', pdjs(await service('pdjs'), packages, certificates)],
      ['opsgenie-sdk', opsgenieSdk(await service('opsgenie-sdk'), packages)],
      ['Zabbix, PagerDuty', zabbix('PagerDuty', await service('zabbix pagerduty'))],
      ['Zabbix, Opsgenie', zabbix('Opsgenie', await service('zabbix opsgenie'))],
      ['Zabbix, VictorOps', zabbix('VictorOps', await service('zabbix victorops'))],
    ]);
  });

  afterAll(async () => {
    for (const [name, { service }] of senders ?? []) {
      const counts = Map.groupBy(service.requests, ({ method, path, status }) => {
        const address = path.replaceAll(service.key, 'KEY').replace(/\/alerts\/[0-9a-f-]{36,64}\//, '/alerts/ID/');
        return `${method} ${address} → ${status ?? 'killed'}`;
      });
      console.log(name, Object.fromEntries([...counts].map(([request, { length }]) => [request, length])));
    }
    await stopSenders();
    await world?.close();
    certificates?.remove();
  });

  /** Does the work for each tool, all at once: each waits for its own clock. Results are by tool, in their order. */
  const ofEach = async <Result>(work: (sender: Sender, name: string) => Promise<Result>) =>
    Object.fromEntries(
      await Promise.all([...senders].map(async ([name, sender]) => [name, await work(sender, name)] as const)),
    );
  const allOf = <Value>(value: Value) => Object.fromEntries([...senders.keys()].map((name) => [name, value]));

  const untilEach = async (alert: string, expected: object): Promise<void> => {
    await expect.poll(() => ofEach(({ service }) => service.alert(alert)), PATIENTLY).toMatchObject(allOf(expected));
  };

  const namesOf = (delivered: Readonly<Record<string, boolean>>, isDelivered: boolean) =>
    Object.entries(delivered).flatMap(([name, outcome]) => (outcome === isDelivered ? [name] : []));

  /** Lets whatever runs the tools that gave up run them again, as Zabbix's own process for actions does. */
  async function fireAgain(alert: string, delivered: Readonly<Record<string, boolean>>): Promise<void> {
    for (const name of namesOf(delivered, false)) {
      await expect.poll(() => senders.get(name)?.fire(alert), PATIENTLY).toBe(true);
    }
  }

  test('an alert pages once, however often it is repeated', async () => {
    expect(await ofEach((sender) => sender.fire('first'))).toEqual(allOf(true));
    await untilEach('first', { incidentStatus: 'triggered', incidents: 1, pages: 1 });
    await expect
      .poll(() => world.w.phone.messages.map(({ to }) => to).toSorted(), PATIENTLY)
      .toEqual([...senders.values()].map(({ service }) => service.responder.phone).toSorted());
    await repeat('first');
    await untilEach('first', { incidentStatus: 'triggered', incidents: 1, pages: 1 });
  });

  test('what was acknowledged here stays so while the tool repeats it', async () => {
    await ofEach(async ({ service: { alert, responder } }) => {
      const { incidentId } = (await alert('first'))!;
      await world.w.expectOk('acknowledge_incident', { incidentId }, { key: responder.key });
    });
    await repeat('first');
    await untilEach('first', { incidentStatus: 'acknowledged', incidents: 1, pages: 1 });
    const { incidents } = await world.w.expectOk('list_incidents', { status: 'triggered' });
    expect(incidents).toEqual([]);
  });

  test('what is refused because too much arrives is sent again, and pages once', async () => {
    const delivered = await ofEach(async ({ service, fire }) => {
      const before = service.requests.length;
      await world.overload(service);
      const firing = fire('second');
      const isRefused = async (): Promise<boolean> => {
        const answers = service.requests.slice(before).map(({ status }) => status ?? 0);
        if (answers.some((status) => status >= 400)) return true;
        await world.overload(service);
        return false;
      };
      await expect.poll(isRefused, PATIENTLY).toBe(true);
      return await firing;
    });
    expect(namesOf(delivered, false)).toEqual(['Zabbix, PagerDuty', 'Zabbix, Opsgenie', 'Zabbix, VictorOps']);
    await fireAgain('second', delivered);
    await untilEach('second', { incidentStatus: 'triggered', incidents: 1, pages: 1 });
  });

  test('what happens while the process is dead is sent once it lives, and pages once', async () => {
    await world.kill('api');
    const fired = ofEach(async (sender) => await sender.fire('third'));
    const metDead = () => ofEach(async ({ service }) => service.requests.some(({ status }) => status === null));
    await expect.poll(metDead, PATIENTLY).toEqual(allOf(true));
    await world.start('api');
    await fireAgain('third', await fired);
    await untilEach('third', { incidentStatus: 'triggered', incidents: 1, pages: 1 });
    await untilEach('first', { incidentStatus: 'acknowledged', incidents: 1, pages: 1 });
  });

  test('what the tool takes back is resolved in its name', async () => {
    for (const alert of ['first', 'second', 'third']) {
      expect(await ofEach((sender) => sender.resolve(alert))).toEqual(allOf(true));
    }
    for (const alert of ['first', 'second', 'third']) {
      await untilEach(alert, { incidentStatus: 'resolved', incidents: 1, pages: 1 });
      await untilEach(alert, { resolvedByTool: expect.any(String) });
    }
  });

  /** Waits until a tool that repeats has done so twice, and lets the others send the same again. */
  async function repeat(alert: string): Promise<void> {
    await ofEach(async ({ service, isPersistent, fire }) => {
      const occurrences = async (): Promise<number> => (await service.alert(alert))?.occurrences ?? 0;
      const before = await occurrences();
      if (!isPersistent) await fire(alert);
      await expect.poll(occurrences, PATIENTLY).toBeGreaterThan(before + (isPersistent ? 1 : 0));
    });
  }
});
