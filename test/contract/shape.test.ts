import { afterAll, expect, test } from 'vitest';

import { ask, callsMade } from '#test/contract/ask.ts';
import { buildFixture, EACH_ACTION, exampleBody } from '#test/contract/fixture.ts';
import { faultyBodies, whollyWrongBody } from '#test/contract/faulty_bodies.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const fixture = await buildFixture(w);
afterAll(() => console.log(`${callsMade()} faulty bodies were sent`));

test.each(EACH_ACTION)('%s refuses every fault of shape with its path, and nothing happens', async (name, action) => {
  const before = await traces();
  const faulty = faultyBodies(action.input, exampleBody(action, fixture));
  const place = EACH_ACTION.findIndex(([other]) => other === name) % 6;
  for (const { fault, path, body } of sweep(faulty, 6, faulty.length > 6 ? place : 0)) {
    const answer = await ask(w, name, { body });
    const description = `${fault} at ${path}: ${body} answered ${answer.text}`;
    expect(answer.status, description).toBe(400);
    expect(answer.body.code, description).toBe('invalid_input');
    expect(pathsOf(answer.body), description).toEqual([path]);
    expect(answer.body.detail, description).toBe(`${path}: ${answer.body.errors[0].message}`);
    expect(answer.body.errors[0].message, description).not.toMatch(/schema|undefined|\[object|^$/);
  }
  expect(await traces()).toEqual(before);
});

test.each(EACH_ACTION)('%s names all faults of a body at once', async (name, action) => {
  const { body, paths } = whollyWrongBody(action.input);
  const answer = await ask(w, name, { body });
  expect(answer.status).toBe(400);
  expect(pathsOf(answer.body)).toEqual(paths.toSorted());
  const required: readonly string[] = action.input.required ?? [];
  const nothing = await ask(w, name, { body: { unheard_of: 1 } });
  expect(pathsOf(nothing.body)).toEqual([...required, 'unheard_of'].toSorted());
});

function pathsOf(problem: { errors: { path: string }[] }): string[] {
  return problem.errors.map(({ path }) => path).toSorted();
}

/** Counts the rows that a change would leave behind. */
async function traces(): Promise<unknown> {
  const counts = ['audit_log', 'services', 'dashboards', 'teams', 'schedules', 'alert_rules', 'incidents'];
  return await w.context.db.sql.rows(counts.map((table) => `select count(*) as n from ${table}`).join(' union all '));
}
