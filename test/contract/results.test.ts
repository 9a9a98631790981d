import { expect, test } from 'vitest';
import { Check } from 'typebox/value';

import { ask } from '#test/contract/ask.ts';
import { buildFixture, EACH_ACTION_IN_TURN, exampleBody, leastBody } from '#test/contract/fixture.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const fixtures = [
  { bodyOf: exampleBody, fixture: await buildFixture(w) },
  { bodyOf: leastBody, fixture: await buildFixture(w) },
];

test.each(EACH_ACTION_IN_TURN)(
  '%s takes its example and the least it needs, and answers in its shape',
  async (_, action) => {
    for (const { bodyOf, fixture } of fixtures) {
      const body = bodyOf(action, fixture);
      if (action.name === 'add_team_member') body['userId'] = (await w.given.user()).userId;
      const answer = await ask(w, action.name, { body });
      expect(answer.status, answer.text).toBe(200);
      expect(Object.keys(answer.body)).toEqual(['result']);
      expect(Check(action.result, answer.body.result), answer.text).toBe(true);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
    }
  },
);
