import { expect, test } from 'vitest';

import { askPerson, proposeAction } from '#modules/agents/operations/proposals.ts';
import { takeLease } from '#modules/agents/operations/responder_tools.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { runOperation } from '#test/kit/run_operation.ts';

inBrowser('agents that respond', () => {
  test('an owner enables one, a person approves what it proposes, and one click stops all of them', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service();
    const incidentId = await h.incident(serviceId, 'Latency: avg(latency) is 120 > 100');
    await h.given.apiKey({ permissions: ['oncall:view'] });
    const [found] = await h.context.db.sql.rows<{ id: string }>(
      `update api_keys set name = 'Night agent' where permissions = '{oncall:view}' returning id`,
    );
    const responder = { agentId: found!.id, agentName: 'Night agent' };
    const { page } = await h.visitor({ path: '/settings/agents' });
    await page.getByRole('heading', { name: 'Who may respond to incidents' }).waitFor();
    await page.getByLabel('Night agent may respond to incidents').click({ force: true });
    await page.getByText('Night agent may respond now.').waitFor();

    const actor = { kind: 'api_key', apiKeyId: found!.id, apiKeyName: 'Night agent' } as Caller['actor'];
    const agent: Caller = {
      orgId: h.orgId,
      actor,
      via: 'mcp',
      mustStepUp: false,
      permissions: new Set(['oncall:view']),
      responder,
    };
    await runOperation(h, takeLease, agent, { incidentId, minutes: 5 });
    const { answerUrl } = await runOperation(h, proposeAction, agent, {
      incidentId,
      action: 'acknowledge_incident',
      input: { incidentId },
      reason: 'The rollback of 2.4.1 is under way; nobody else needs to be woken.',
      evidence: ['release 2.4.1 at 03:02', 'p95 of latency 85 ms before it, 420 ms after it'],
    });
    const question = 'Was the rollout of 2.4.1 stopped by somebody?';
    await runOperation(h, askPerson, agent, { incidentId, question });
    // The page that a client is asked to open for its person.
    await page.goto(answerUrl);
    await page.getByText('at work').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve and do it' }).click();
    await page.getByText('approved and done').waitFor();
    expect((await h.expectOk('get_incident', { incidentId })).status).toBe('acknowledged');

    await page.getByLabel('A few words (optional)').fill('It still runs');
    await page.getByRole('button', { name: 'No', exact: true }).click();
    await page.getByText(/: It still runs$/).waitFor();
    await page.getByText(/said no to #\d+ of the agent .*: It still runs\.$/).waitFor();

    await page.goto(`${h.baseUrl}/settings/agents`);
    await page.getByRole('button', { name: 'Stop all agents' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop all agents' }).click();
    await page.getByRole('button', { name: 'Allow agents again' }).waitFor();
    await expect(runOperation(h, takeLease, agent, { incidentId })).rejects.toThrow('stopped all agents');
  });
});
