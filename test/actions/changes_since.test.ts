import { expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { setExceptionSettings } from '#modules/exceptions/operations/set_exception_settings.ts';
import { updateOwnContact } from '#modules/contacts/operations/update_own_contact.ts';
import { renameOrganization, setTraceLink } from '#modules/organizations/operations/organization.ts';
import { editRetention } from '#modules/services/operations/set_retention.ts';
import { editService } from '#modules/services/operations/update_service.ts';
import { editTeamMember } from '#modules/teams/operations/update_team_member.ts';
import { renameTeam } from '#modules/teams/operations/update_team.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { world } from '#test/kit/world.ts';

test('of two changes of the same the second is refused, and of two different ones both are kept', async () => {
  const w = await world();
  const anna = await givenPerson(w, { role: 'owner', name: 'Anna' });
  const { serviceId } = await w.given.service({ name: 'checkout' });
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const { memberId } = await w.expectOk('add_team_member', { teamId, userId: anna.userId });
  const run = (operation: AnyOperation, input: object) =>
    runOperation(w, operation, memberCaller(w.orgId, anna.userId, 'owner'), input);
  const contact = { phone: null, smsEnabled: true, callEnabled: true, pushEnabled: true, emailEnabled: true };
  const facts = { name: 'checkout', environment: null, scmOwner: null, scmRepo: null };
  const link = (host: string) => `https://${host}.example.com/{traceId}`;
  const noise = { filters: [], patterns: [], secretNames: [], eventsPerHour: null, learnsSpikes: false };
  const retention = { serviceId, capability: 'metrics', basedOn: 30 };

  /**
   * Operations with the input that was read, a change of it, another change of the same, and the query for what is
   * stored.
   */
  const cases: [AnyOperation, object, object, object][] = [
    [editService, { serviceId, ...facts, basedOn: facts }, { name: 'till' }, { name: 'shop' }],
    [editRetention, retention, { retentionDays: 7 }, { retentionDays: 8 }],
    [setExceptionSettings, { serviceId, ...noise, basedOn: noise }, { patterns: ['a *'] }, { patterns: ['b *'] }],
    [renameTeam, { teamId, basedOn: 'Payments' }, { name: 'Refunds' }, { name: 'Money' }],
    [editTeamMember, { memberId, ...contact, basedOn: contact }, { phone: '+31612345671' }, { phone: '+31612345672' }],
    [renameOrganization, { basedOn: 'Acme' }, { name: 'Northwind' }, { name: 'Contoso' }],
    [setTraceLink, { basedOn: null }, { traceLink: link('one') }, { traceLink: link('two') }],
    [
      updateOwnContact,
      { teamId: null, ...contact, basedOn: contact },
      { phone: '+31612345673' },
      { phone: '+31612345674' },
    ],
  ];
  for (const [operation, read, first, second] of cases) {
    const both = await Promise.allSettled([
      run(operation, { ...read, ...first }),
      run(operation, { ...read, ...second }),
    ]);
    const refused = both.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(refused, operation.name).toEqual(['conflict']);
    const done = both[0].status === 'fulfilled' ? first : second;
    // The same change again is none.
    await run(operation, { ...read, ...done });
    const entries = await w.context.db.sql.rows(`select 1 from audit_log where action = $1 and result = 'done'`, [
      operation.name,
    ]);
    expect(entries, operation.name).toHaveLength(1);
  }
  const service = await w.expectOk('get_service', { serviceId });
  const other = { serviceId, ...facts, environment: 'staging', basedOn: facts };
  expect(await run(editService, other)).toMatchObject({ name: service.name, environment: 'staging' });
  const quiet = { serviceId, ...noise, secretNames: ['iban'], basedOn: noise };
  expect(await run(setExceptionSettings, quiet)).toMatchObject({
    secretNames: ['iban'],
    patterns: [expect.stringMatching(/^[ab] \*$/)],
  });
  const limit = { serviceId, ...noise, basedOn: noise };
  await run(setExceptionSettings, { ...limit, learnsSpikes: true });
  await expect(run(setExceptionSettings, { ...limit, eventsPerHour: 10 })).rejects.toThrow('somebody has changed');
  const member = await run(editTeamMember, { memberId, ...contact, smsEnabled: false, basedOn: contact });
  expect(member).toMatchObject({ phone: expect.stringMatching(/^\+3161234567[12]$/), smsEnabled: false });
});
