import { describe, expect, test } from 'vitest';

import { type Browser, givenPerson, openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const viewer = await signedIn(w, (await givenPerson(w, { role: 'viewer' })).email, '198.51.100.1');
const owner = await signedIn(w, (await givenPerson(w, { role: 'owner' })).email, '198.51.100.2');

const read = (browser: Browser, ...reads: readonly { action: string; input: object }[]) =>
  browser.post(`/organizations/${w.orgId}/reads`, { reads });

describe('several reads in one request', () => {
  test('are answered as each by itself, in their order', async () => {
    const wanted = [
      { action: 'search_services', input: { limit: 5 } },
      { action: 'count_incidents', input: {} },
      { action: 'list_teams', input: {} },
    ];
    const { status, body } = await read(viewer, ...wanted);
    expect(status).toBe(200);
    for (const [index, { action, input }] of wanted.entries()) {
      const alone = await viewer.invoke(w.orgId, action, input);
      expect(body.result.answers[index], action).toEqual({ result: alone.body.result });
    }
  });

  test('leave each other alone: one that is refused, faulty or unknown is a problem of its own', async () => {
    const { status, body } = await read(
      viewer,
      { action: 'list_audit_log', input: {} },
      { action: 'search_incidents', input: { limit: 'many' } },
      { action: 'no_such_action', input: {} },
      { action: 'get_incident', input: { incidentId: 'incident_00000000000000000000000000' } },
      { action: 'count_incidents', input: {} },
    );
    expect(status).toBe(200);
    const outcomes = body.result.answers.map((answer: { problem?: { status: number; code: string } }) =>
      answer.problem === undefined ? 'done' : `${answer.problem.status} ${answer.problem.code}`,
    );
    expect(outcomes).toEqual(['403 forbidden', '400 invalid_input', '404 unknown_action', '404 not_found', 'done']);
    expect(body.result.answers[1].problem.errors).toMatchObject([{ path: 'limit' }]);
  });

  test('change nothing: an operation that does is refused before any begins', async () => {
    const { status, body } = await read(
      owner,
      { action: 'list_teams', input: {} },
      { action: 'create_team', input: { name: 'Platform' } },
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_input', errors: [{ path: 'reads[1].action' }] });
    const download = await read(owner, { action: 'export_audit_log', input: {} });
    expect(download).toMatchObject({ status: 400, body: { errors: [{ path: 'reads[0].action' }] } });
    expect((await owner.invoke(w.orgId, 'list_teams')).body.result.teams).toEqual([]);
  });

  test('are for members, from pages of this server, and at most twenty', async () => {
    const one = { action: 'list_teams', input: {} };
    const path = `/organizations/${w.orgId}/reads`;
    expect((await read(openBrowser(w), one)).status).toBe(401);
    const elsewhere = await w.given.organization('Other');
    expect((await viewer.post(`/organizations/${elsewhere.orgId}/reads`, { reads: [one] })).status).toBe(404);
    expect((await viewer.ask('POST', path, { body: { reads: [one] }, origin: 'https://evil.test' })).status).toBe(403);
    for (const body of [{}, [], { reads: [] }, { reads: [{ action: 'list_teams' }] }, { reads: [one], more: 1 }]) {
      expect(await viewer.post(path, body), JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_input' },
      });
    }
    expect((await viewer.ask('POST', path, {})).status).toBe(400);
    const many = Array.from({ length: 21 }, () => one);
    expect((await viewer.post(path, { reads: many })).body).toMatchObject({ errors: [{ path: 'reads' }] });
    expect((await viewer.post(path, { reads: many.slice(1) })).body.result.answers).toHaveLength(20);
  });
});
