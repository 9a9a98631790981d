import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, onTestFinished, test } from 'vitest';

import { getConsoleOperation } from '#actions/registry.ts';
import { runAction } from '#actions/run_action.ts';
import { operatorIn } from '#actions/operator.ts';
import { installationOf } from '#entry/installation.ts';
import { storesOf } from '#modules/stores.ts';
import { SILENCE_MS } from '#modules/moving_in/decide/move_in_state.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld, type World } from '#test/kit/world.ts';
import { pagerDutyDouble } from '#test/modules/moving_in/vendor_double.ts';

const shared = await fileWorld();

const origin = { requestId: 'req_move_in', address: null };

// eslint-disable-next-line typescript/no-explicit-any -- tests look into results of any shape
async function run(w: World, name: string, input: object): Promise<any> {
  return await runAction(w.context.actions, getConsoleOperation(name), operatorIn(w.orgId), input, origin);
}

async function begun(w: World, tool: string): Promise<string> {
  const { moveInId } = await run(w, 'create_move_in', { tool });
  return moveInId;
}

// eslint-disable-next-line typescript/no-explicit-any -- as above
async function seen(w: World): Promise<any> {
  await w.context.actions.moveIns.idle();
  return (await run(w, 'get_move_in', {})).moveIn;
}

const FEED = [
  'BEGIN:VCALENDAR',
  'X-WR-CALNAME:On call',
  'BEGIN:VEVENT',
  'UID:1',
  'SUMMARY:Ada',
  'ATTENDEE;CN=Ada:mailto:ada@example.com',
  'DTSTART:20260101T080000Z',
  'DTEND:20260102T080000Z',
  'RRULE:FREQ=DAILY',
  'END:VEVENT',
  'END:VCALENDAR',
].join('\r\n');

describe('a move that the console leads through', () => {
  test('reads with a key that is kept nowhere, plans, applies, and plans nothing then', async () => {
    const w = await shared.forOrganization();
    const double = await pagerDutyDouble();
    try {
      const moveInId = await begun(w, 'pagerduty');
      await run(w, 'read_move_in', { moveInId, key: 'first-key', baseUrl: double.url });
      const read = await seen(w);
      expect(read).toMatchObject({ status: 'read', fault: null, tool: 'pagerduty' });
      expect(read.summary).toMatchObject({ read: { user: 3, schedule: 1 }, different: [] });
      expect(read.summary.equal).toBe(read.summary.minutes);
      expect(read.plan.byKind).toMatchObject({ person: 3, team: 2, schedule: 1 });
      const { items, next } = await run(w, 'list_move_in_items', { moveInId, verdict: 'compiled' });
      expect(next).toBeNull();
      expect(items.map(({ verdict }: { verdict: string }) => verdict)).toEqual(items.map(() => 'compiled'));
      const { text } = await run(w, 'get_move_in_text', { moveInId, what: 'markdown' });
      expect(text).toContain('# Moving in from PagerDuty');
      await run(w, 'apply_move_in', { moveInId, fingerprint: read.plan.fingerprint });
      expect(await seen(w)).toMatchObject({ status: 'applied', fault: null, plan: { changes: 0 } });
      const { items: exact } = await run(w, 'list_move_in_items', { moveInId, verdict: 'exact' });
      const schedule = exact.find(({ kind }: { kind: string }) => kind === 'schedule');
      const { scheduleId } = (
        await w.context.db.sql.rows<{ scheduleId: string }>(
          'select id as "scheduleId" from schedules where org_id = $1',
          [w.orgId],
        )
      )[0]!;
      expect(schedule).toMatchObject({ id: 'PSCHED', here: { kind: 'schedule', id: scheduleId } });
      expect(await run(w, 'list_managed', { ids: [scheduleId] })).toMatchObject({
        managed: [{ id: scheduleId, key: 'pagerduty-PSCHED', file: 'move-in-pagerduty.yaml' }],
      });
      const rows = await w.context.db.session().db.selectFrom('move_in_answers').selectAll().execute();
      expect(rows).toEqual([]);
      for (const table of ['move_ins', 'audit_log', 'move_in_items'] as const) {
        const all = await w.context.db.session().db.selectFrom(table).selectAll().execute();
        expect(JSON.stringify(all)).not.toContain('first-key');
      }
    } finally {
      await double.close();
    }
  });

  test('goes on where it stopped when the key expired halfway, and says so', async () => {
    const w = await shared.forOrganization();
    const double = await pagerDutyDouble();
    try {
      double.faults.set(6, 'expired');
      const moveInId = await begun(w, 'pagerduty');
      await run(w, 'read_move_in', { moveInId, key: 'first-key', baseUrl: double.url });
      const failed = await seen(w);
      expect(failed.status).toBe('failed');
      expect(failed.fault).toMatch(
        /refused the key in the form with status 401: it may have expired after \d+ answers/,
      );
      double.accepted.add('second-key');
      await run(w, 'read_move_in', { moveInId, key: 'second-key', baseUrl: double.url });
      expect(await seen(w)).toMatchObject({ status: 'read', summary: { read: { user: 3 } } });
      expect(new Set(double.answered).size).toBe(double.answered.length);
    } finally {
      await double.close();
    }
  });

  test('asks no address within the network of the server', async () => {
    const w = await shared.forOrganization();
    const { installation } = w.context.actions;
    const { allowsInternalAddresses: before } = installation;
    const { allowsInternalAddresses } = installationOf(
      { ...w.context.config, allowInternalAddresses: 'false' },
      w.clock,
    );
    Object.assign(installation, { allowsInternalAddresses });
    onTestFinished(() => void Object.assign(installation, { allowsInternalAddresses: before }));
    const moveInId = await begun(w, 'goalert');
    await run(w, 'read_move_in', { moveInId, key: 'first-key', baseUrl: 'https://169.254.169.254' });
    const failed = await seen(w);
    expect(failed).toMatchObject({ status: 'failed', summary: null });
    expect(failed.fault).toContain('not on the public Internet');
  });

  test('is stopped while the tool does not answer, which leaves room for other organizations', async () => {
    const w = await shared.forOrganization();
    const double = await pagerDutyDouble();
    const silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, 'request');
    const first = await begun(w, 'pagerduty');
    await run(w, 'read_move_in', { moveInId: first, key: 'first-key', baseUrl: `http://127.0.0.1:${port}` });
    await asked;
    const second = await begun(w, 'pagerduty');
    await expect(run(w, 'read_move_in', { moveInId: second, key: 'first-key', baseUrl: double.url })).rejects.toThrow(
      'another move of your organization',
    );
    const other = await w.forOrganization('Other');
    const moveInId = await begun(other, 'pagerduty');
    await run(other, 'read_move_in', { moveInId, key: 'first-key', baseUrl: double.url });
    await run(w, 'stop_move_in', { moveInId: first });
    expect((await seen(other)).status).toBe('read');
    const { moveIns } = storesOf(w.context.db.session());
    expect(await moveIns.get(w.orgId, first)).toMatchObject({
      status: 'failed',
      fault: expect.stringContaining('was stopped'),
    });
    await expect(run(w, 'stop_move_in', { moveInId: first })).rejects.toThrow('is not being read');
    silent.closeAllConnections();
    silent.close();
    await double.close();
  });

  test('reads files, put together of their parts, also after the server was stopped while it read', async () => {
    const w = await shared.forOrganization();
    const moveInId = await begun(w, 'ical');
    await run(w, 'add_move_in_file', { moveInId, name: 'feed.ics', part: 1, text: FEED.slice(100) });
    await run(w, 'add_move_in_file', { moveInId, name: 'feed.ics', part: 0, text: FEED.slice(0, 100) });
    await run(w, 'add_move_in_file', { moveInId, name: 'feed.ics', part: 0, text: FEED.slice(0, 100) });
    const { moveIns } = storesOf(w.context.db.session());
    const { id } = await moveIns.get(w.orgId, moveInId);
    await moveIns.save(id, { status: 'reading', updatedAt: w.clock.now() });
    await expect(run(w, 'read_move_in', { moveInId })).rejects.toThrow('is being worked on');
    w.clock.advance({ milliseconds: SILENCE_MS });
    expect(await seen(w)).toMatchObject({ status: 'failed', fault: expect.stringContaining('was stopped') });
    await run(w, 'read_move_in', { moveInId });
    expect(await seen(w)).toMatchObject({ status: 'read', summary: { verdicts: { horizon: 2 } } });
    await expect(run(w, 'read_move_in', { moveInId })).rejects.toThrow('was read already');
  });

  test('says why nothing could be read, and takes other files then', async () => {
    const w = await shared.forOrganization();
    const moveInId = await begun(w, 'pagerduty');
    await expect(run(w, 'read_move_in', { moveInId })).rejects.toThrow('add files, or give a key');
    await run(w, 'add_move_in_file', { moveInId, name: 'half.json', part: 0, text: '{"users": [' });
    await run(w, 'read_move_in', { moveInId });
    const failed = await seen(w);
    expect(failed.status).toBe('failed');
    expect(failed.fault).toContain('half.json: It is no JSON: it may have been cut off.');
  });

  test('applies neither another plan than the one that was reviewed nor one of somebody who is no admin any more', async () => {
    const w = await shared.forOrganization();
    const moveInId = await begun(w, 'ical');
    await run(w, 'add_move_in_file', { moveInId, name: 'feed.ics', part: 0, text: FEED.replace(/ATTENDEE.*\r\n/, '') });
    await run(w, 'read_move_in', { moveInId });
    const { plan } = await seen(w);
    await expect(run(w, 'apply_move_in', { moveInId, fingerprint: 'another' })).rejects.toThrow('another one by now');
    const { userId } = await w.given.user({ name: 'Vera', role: 'viewer' });
    const asAdmin = memberCaller(w.orgId, userId, 'admin');
    await runOperation(w, getConsoleOperation('apply_move_in'), asAdmin, { moveInId, fingerprint: plan.fingerprint });
    expect(await seen(w)).toMatchObject({
      status: 'read',
      fault: expect.stringContaining('no owner or admin any more'),
    });
    await w.expectOk('create_team', { name: 'iCal: without a team' });
    await run(w, 'apply_move_in', { moveInId, fingerprint: plan.fingerprint });
    expect(await seen(w)).toMatchObject({ status: 'read', fault: expect.stringContaining('plan again'), applied: 0 });
    await run(w, 'plan_move_in', { moveInId });
    expect((await seen(w)).plan.fingerprint).not.toBe(plan.fingerprint);
  });
});
